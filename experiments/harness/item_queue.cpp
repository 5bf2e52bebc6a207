#include "item_queue.h"

#include <cstring>

#include "process.h"

namespace isobar {
std::string ItemMessage::packed() const {
  std::string bytes(1, kind);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  return bytes + text;
}

ItemMessage ItemMessage::unpacked(const std::string& bytes) {
  ItemMessage message{static_cast<Kind>(bytes[0])};
  std::memcpy(&message.number, &bytes[1], sizeof message.number);
  message.text = bytes.substr(1 + sizeof message.number);
  return message;
}

std::string packed_failure_here() {
  const Failure failure = failure_here();
  return static_cast<char>(failure.code) + failure.message;
}

void throw_packed(const std::string& failure) {
  throw_again({static_cast<unsigned char>(failure[0]), failure.substr(1)});
}

void ItemQueue::work(const std::function<std::string(int64_t)>& item) {
  const ProgressRelay relay(
      [this](Progress& bar, int64_t steps, std::string_view note) { return advance(bar, steps, note); });
  while (const std::optional<int64_t> i = next_of_thread()) {
    ItemMessage message{ItemMessage::result, *i};
    try {
      message.text = item(*i);
    } catch (...) {
      message.kind = ItemMessage::failure;
      message.text = packed_failure_here();
    }
    const std::lock_guard lock(mutex_);
    if (message.kind == ItemMessage::failure) begun_ = n_;  // no more begin
    complete_.push_back(std::move(message));
    --running_;
    tell_main();
  }
}

std::optional<int64_t> ItemQueue::next() {
  const std::lock_guard lock(mutex_);
  return begun_ < n_ ? std::optional(begun_++) : std::nullopt;
}

void ItemQueue::give(int64_t i) {
  const std::lock_guard lock(mutex_);
  given_.push_back(i);
  given_or_closed_.notify_one();
}

int64_t ItemQueue::idle() {
  const std::lock_guard lock(mutex_);
  return idle_ - std::ssize(given_);
}

std::vector<ItemMessage> ItemQueue::take_complete() {
  const std::lock_guard lock(mutex_);
  return std::exchange(complete_, {});
}

void ItemQueue::stop() {
  const std::lock_guard lock(mutex_);
  begun_ = n_;
}

void ItemQueue::close() {
  const std::lock_guard lock(mutex_);
  begun_ = n_;
  closed_ = true;
  given_or_closed_.notify_all();
}

bool ItemQueue::quiet() {
  const std::lock_guard lock(mutex_);
  return running_ == 0 && given_.empty() && complete_.empty();
}

bool ItemQueue::advance(Progress& bar, int64_t steps, std::string_view note) {
  const std::lock_guard lock(mutex_);
  bar_ = &bar;
  if (first_) return false;
  advance_.number += steps;
  advance_.text = note;
  return true;
}

std::optional<ItemMessage> ItemQueue::take_advance() {
  const std::lock_guard lock(mutex_);
  if (advance_.number == 0) return std::nullopt;
  return std::exchange(advance_, {ItemMessage::advances});
}

Progress* ItemQueue::bar() {
  const std::lock_guard lock(mutex_);
  return bar_;
}

bool ItemQueue::wait(std::chrono::steady_clock::duration most) {
  std::unique_lock lock(mutex_);
  news_for_main_.wait_for(lock, most, [&] { return news_; });
  return std::exchange(news_, false);
}

void ItemQueue::tell_main() {
  news_ = true;
  news_for_main_.notify_one();
}

std::optional<int64_t> ItemQueue::next_of_thread() {
  std::unique_lock lock(mutex_);
  std::optional<int64_t> next;
  if (first_) {
    if (begun_ < n_) next = begun_++;
  } else {
    ++idle_;
    tell_main();
    given_or_closed_.wait(lock, [&] { return !given_.empty() || closed_; });
    --idle_;
    if (!given_.empty()) next = given_.front(), given_.pop_front();
  }
  if (next) ++running_;
  return next;
}

}  // namespace isobar
