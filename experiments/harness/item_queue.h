// ItemQueue: between a rank's threads, which work on items of each(), and its main thread, which talks.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "progress.h"

namespace isobar {

// A message between ranks.
struct ItemMessage {
  enum Kind : char {
    asks,      // to the first rank: `number` threads are idle; the text is n
    begins,    // from it: item `number` is yours
    result,    // of item `number`, as bytes: to the first rank as it comes, from it in order
    failure,   // the same of an item that threw
    alive,     // nothing else
    advances,  // to the first rank: `number` steps of its progress bar; the text is shown beside it
    leaves,    // to the first rank: nothing runs here any more
    end,       // from it: nothing runs anywhere
  };
  Kind kind;
  int64_t number = 0;
  std::string text = {};

  std::string packed() const;
  static ItemMessage unpacked(const std::string& bytes);
};

class ItemQueue {
 public:
  // For items 0 … n − 1. The threads of the first rank take their numbers themselves.
  ItemQueue(int64_t n, bool first) : n_(n), first_(first) {}

  // A thread's work: one item after the other, until there are no more.
  void work(const std::function<std::string(int64_t)>& item);

  // On the first rank: a number for another one's thread.
  std::optional<int64_t> next();
  // On the others: a number that came from there; and how many threads have nothing to do.
  void give(int64_t i);
  int64_t idle();
  // What became of items since the last call: results and failures.
  std::vector<ItemMessage> take_complete();
  // No more items begin on the first rank.
  void stop();
  // The threads end, after what was given to them.
  void close();
  // Whether nothing runs here, nor waits to be taken.
  bool quiet();
  // How far items advance a bar: from a thread, which the first rank's bar shows itself; then, of the others,
  // the message that says so, and on the first rank the bar, once a thread has used it.
  bool advance(Progress& bar, int64_t steps, std::string_view note);
  std::optional<ItemMessage> take_advance();
  Progress* bar();
  // Until a thread has something to say, for so long at most. Whether one had.
  bool wait(std::chrono::steady_clock::duration most);

 private:
  void tell_main();
  std::optional<int64_t> next_of_thread();

  const int64_t n_;
  const bool first_;
  std::mutex mutex_;
  std::condition_variable given_or_closed_, news_for_main_;
  int64_t begun_ = 0, idle_ = 0, running_ = 0;  // begun_: on the first rank, by anyone
  std::deque<int64_t> given_;
  std::vector<ItemMessage> complete_;
  bool closed_ = false, news_ = false;
  Progress* bar_ = nullptr;
  ItemMessage advance_{ItemMessage::advances};
};

// What is being thrown as the text of a message: its exit code (its type) and its words. And thrown again.
std::string packed_failure_here();
[[noreturn]] void throw_packed(const std::string& failure);

}  // namespace isobar
