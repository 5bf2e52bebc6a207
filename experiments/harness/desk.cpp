#include "desk.h"

#include <cstring>
#include <utility>

#include "process.h"
#include "progress_relay.h"

namespace isobar {
std::string Letter::packed() const {
  std::string bytes(1, kind);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  return bytes + text;
}

Letter Letter::unpacked(const std::string& bytes) {
  Letter letter{static_cast<Kind>(bytes[0])};
  std::memcpy(&letter.number, &bytes[1], sizeof letter.number);
  letter.text = bytes.substr(1 + sizeof letter.number);
  return letter;
}

std::string packed_failure_here() {
  const Failure failure = failure_here();
  return static_cast<char>(failure.code) + failure.message;
}

void throw_packed(const std::string& failure) {
  throw_again({static_cast<unsigned char>(failure[0]), failure.substr(1)});
}

void Desk::work(const std::function<std::string(int64_t)>& item) {
  const ProgressRelay relay(
      [this](Progress& bar, int64_t steps, std::string_view note) { return advance(bar, steps, note); });
  while (const std::optional<int64_t> i = next_of_thread()) {
    Letter letter{Letter::result, *i};
    try {
      letter.text = item(*i);
    } catch (...) {
      letter.kind = Letter::failure;
      letter.text = packed_failure_here();
    }
    const std::lock_guard lock(mutex_);
    if (letter.kind == Letter::failure) begun_ = n_;  // no more begin
    complete_.push_back(std::move(letter));
    --running_;
    tell_main();
  }
}

std::optional<int64_t> Desk::next() {
  const std::lock_guard lock(mutex_);
  return begun_ < n_ ? std::optional(begun_++) : std::nullopt;
}

void Desk::give(int64_t i) {
  const std::lock_guard lock(mutex_);
  given_.push_back(i);
  given_or_closed_.notify_one();
}

int64_t Desk::idle() {
  const std::lock_guard lock(mutex_);
  return idle_ - std::ssize(given_);
}

std::vector<Letter> Desk::take_complete() {
  const std::lock_guard lock(mutex_);
  return std::exchange(complete_, {});
}

void Desk::stop() {
  const std::lock_guard lock(mutex_);
  begun_ = n_;
}

void Desk::close() {
  const std::lock_guard lock(mutex_);
  begun_ = n_;
  closed_ = true;
  given_or_closed_.notify_all();
}

bool Desk::quiet() {
  const std::lock_guard lock(mutex_);
  return running_ == 0 && given_.empty() && complete_.empty();
}

bool Desk::advance(Progress& bar, int64_t steps, std::string_view note) {
  const std::lock_guard lock(mutex_);
  bar_ = &bar;
  if (first_) return false;
  advance_.number += steps;
  advance_.text = note;
  return true;
}

std::optional<Letter> Desk::take_advance() {
  const std::lock_guard lock(mutex_);
  if (advance_.number == 0) return std::nullopt;
  return std::exchange(advance_, {Letter::advances});
}

Progress* Desk::bar() {
  const std::lock_guard lock(mutex_);
  return bar_;
}

bool Desk::wait(std::chrono::steady_clock::duration most) {
  std::unique_lock lock(mutex_);
  news_for_main_.wait_for(lock, most, [&] { return news_; });
  return std::exchange(news_, false);
}

void Desk::tell_main() {
  news_ = true;
  news_for_main_.notify_one();
}

std::optional<int64_t> Desk::next_of_thread() {
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
