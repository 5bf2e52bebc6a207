// run_ranks: ranks that are threads of one process, for tests. Their RankLink keeps the promises of a
// message-passing library and no more: a message larger than `eager` bytes is read from the sender's memory
// when the receiver takes it, and done for the sender only then.
//
//   run_ranks(4, [&](Ranks& ranks) { CHECK(ranks.gather("x").size() == 4); });
//
// Each rank has serial loops. The first error in the order of ranks is thrown again once all have ended;
// where one fails alone, the others end with Aborted at their next message.
#pragma once

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include "../core/ranks/ranks.h"
#include "../core/serial_loops.h"

namespace isobar {

// What the others meet after a rank has called abort().
class Aborted : public Error {
 public:
  using Error::Error;
};

struct ThreadRanks {
  size_t eager = 64;                   // bytes
  std::chrono::microseconds delay{0};  // every third message takes so long
};

// What all links of a run share.
class Mailboxes {
 public:
  struct Message {
    std::vector<ByteSpan> spans;
    std::string copy;  // of an eager one
    size_t bytes;
    std::chrono::steady_clock::time_point due;
    bool taken = false;
  };
  using Sent = std::shared_ptr<Message>;
  using Route = std::tuple<int, int, int>;  // from, to, tag

  explicit Mailboxes(ThreadRanks options) : options_(std::move(options)) {}

  Sent send(const Route& route, const std::vector<ByteSpan>& spans) {
    const std::lock_guard lock(mutex_);
    auto sent = std::make_shared<Message>();
    sent->bytes = bytes_of(spans);
    if (sent->bytes <= options_.eager) {
      sent->taken = true;
      for (const ByteSpan& part : spans) sent->copy.append(static_cast<char*>(part.data), part.bytes);
    } else {
      sent->spans = spans;
    }
    sent->due = std::chrono::steady_clock::now();
    if (++sent_ % 3 == 0) sent->due += options_.delay;
    boxes_[route].push_back(sent);
    return sent;
  }
  std::optional<size_t> next(const Route& route) {
    const std::lock_guard lock(mutex_);
    check_running();
    const std::deque<Sent>& box = boxes_[route];
    if (box.empty() || box.front()->due > std::chrono::steady_clock::now()) return std::nullopt;
    return box.front()->bytes;
  }
  // Moves the route's next message there, when it has come.
  bool take(const Route& route, const std::vector<ByteSpan>& spans) {
    const std::lock_guard lock(mutex_);
    check_running();
    std::deque<Sent>& box = boxes_[route];
    if (box.empty() || box.front()->due > std::chrono::steady_clock::now()) return false;
    Message& sent = *box.front();
    check(sent.bytes == bytes_of(spans), "a message of {} bytes meets a receiver of {}", sent.bytes,
          bytes_of(spans));
    std::string bytes = sent.copy;
    for (const ByteSpan& part : sent.spans) bytes.append(static_cast<char*>(part.data), part.bytes);
    for (size_t done = 0, i = 0; i < spans.size(); done += spans[i++].bytes)
      if (spans[i].bytes > 0) std::memcpy(spans[i].data, &bytes[done], spans[i].bytes);
    sent.taken = true;
    box.pop_front();
    return true;
  }
  bool taken(const Sent& sent) {
    const std::lock_guard lock(mutex_);
    check_running();
    return sent->taken;
  }
  void abort(int code) {
    const std::lock_guard lock(mutex_);
    if (!aborted_) aborted_ = code;
  }
  std::optional<int> aborted() {
    const std::lock_guard lock(mutex_);
    return aborted_;
  }

 private:
  static size_t bytes_of(const std::vector<ByteSpan>& spans) {
    return std::accumulate(spans.begin(), spans.end(), size_t{0},
                           [](size_t sum, const ByteSpan& part) { return sum + part.bytes; });
  }
  void check_running() const {
    if (aborted_) throw Aborted(fmt::format("aborted with {}", *aborted_));
  }

  const ThreadRanks options_;
  std::mutex mutex_;
  std::map<Route, std::deque<Sent>> boxes_;
  size_t sent_ = 0;
  std::optional<int> aborted_;
};

class ThreadLink final : public RankLink {
 public:
  ThreadLink(std::shared_ptr<Mailboxes> mailboxes, int rank, int size)
      : mailboxes_(std::move(mailboxes)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override { return "threads"; }
  size_t send(int to, int tag, const std::vector<ByteSpan>& spans) override {
    messages_[++last_] = {{rank_, to, tag}, {}, mailboxes_->send({rank_, to, tag}, spans)};
    return last_;
  }
  size_t receive(int from, int tag, const std::vector<ByteSpan>& spans) override {
    messages_[++last_] = {{from, rank_, tag}, spans, nullptr};
    return last_;
  }
  // Those of a route are taken in the order in which they were begun.
  bool done(size_t number) override {
    const Own& own = messages_.at(number);
    bool taken = own.sent != nullptr ? mailboxes_->taken(own.sent) : own.taken;
    for (auto it = messages_.begin(); !own.sent && !taken; ++it) {
      Own& before = it->second;
      if (before.sent || before.taken || before.route != own.route) continue;
      before.taken = mailboxes_->take(before.route, before.spans);
      if (!before.taken) return false;
      taken = it->first == number;
    }
    if (taken) messages_.erase(number);
    return taken;
  }
  std::optional<size_t> arrived(int from, int tag) override { return mailboxes_->next({from, rank_, tag}); }
  void abort(int code) override { mailboxes_->abort(code); }

 private:
  struct Own {
    Mailboxes::Route route;
    std::vector<ByteSpan> spans;
    Mailboxes::Sent sent;  // null: one to receive
    bool taken = false;
  };
  std::shared_ptr<Mailboxes> mailboxes_;
  int rank_, size_;
  size_t last_ = 0;
  std::map<size_t, Own> messages_;
};

inline void run_ranks(int size, const std::function<void(Ranks&)>& body, const ThreadRanks& options = {}) {
  const auto mailboxes = std::make_shared<Mailboxes>(options);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const SerialLoops serial;
        Ranks ranks(std::make_unique<ThreadLink>(mailboxes, rank, size));
        body(ranks);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::exception_ptr aborted;
  for (const std::exception_ptr& error : errors) try {
      if (error) std::rethrow_exception(error);
    } catch (const Aborted&) {
      aborted = error;
    }
  if (aborted) std::rethrow_exception(aborted);
}

}  // namespace isobar
