#include "each.h"

#include <atomic>
#include <iterator>

#include "../../core/parallel.h"
#include "../../core/profile.h"
#include "../../core/serial_loops.h"
#include "item_queue.h"

namespace isobar {
namespace {

// Threads that take items one after the other, each with what belongs to a thread of a study.
class Workers {
 public:
  // Calls work() on `count` threads: with serial loops, if wanted, and in the caller's profile, if there is
  // one. When it ends it calls stop(), which must bring them to their end, and waits for them.
  Workers(int64_t count, bool serial, std::function<void()> work, std::function<void()> stop)
      : work_(std::move(work)), stop_(std::move(stop)) {
    for (int64_t t = 0; t < count; ++t)
      threads_.emplace_back([this, serial, caller = Timeline::here()] {
        std::optional<SerialLoops> loops;
        if (serial) loops.emplace();
        std::optional<Timeline> timeline;
        if (caller != nullptr) timeline.emplace(caller->profile());
        work_();
      });
  }
  ~Workers() { stop_(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  const std::function<void()> work_, stop_;
  std::vector<std::jthread> threads_;  // each is joined when it is destroyed
};

// Hands out the numbers 0 … n − 1 and remembers what became of each.
class Items {
 public:
  explicit Items(int64_t n) : n_(n), ended_(static_cast<size_t>(n)), failures_(static_cast<size_t>(n)) {}

  // A thread's work: one item after the other, until none is left.
  void work(const std::function<void(int64_t)>& item) {
    for (int64_t i = next_++; i < n_; i = next_++) {
      std::exception_ptr failure;
      try {
        item(i);
      } catch (...) {
        failure = std::current_exception();
        stop();
      }
      {
        const std::lock_guard lock(mutex_);
        ended_[static_cast<size_t>(i)] = true;
        failures_[static_cast<size_t>(i)] = failure;
      }
      changed_.notify_one();
    }
  }
  // Waits for the end of item i; rethrows what it threw. Lower numbers begin earlier, so the items before one
  // that failed have all begun, and a caller that waits for 0, 1, … meets the failure of lowest number.
  void wait(int64_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_[static_cast<size_t>(i)]; });
    if (failures_[static_cast<size_t>(i)] != nullptr)
      std::rethrow_exception(failures_[static_cast<size_t>(i)]);
  }
  // No more items begin.
  void stop() { next_ = n_; }

 private:
  const int64_t n_;
  std::atomic<int64_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> ended_;
  std::vector<std::exception_ptr> failures_;
};

// --- Over several ranks. The first rank hands out numbers, collects what became of them, and tells all
// others the results in order; the others ask it for items for idle threads. Main threads alone send and
// receive, with pauses that grow to a few milliseconds, and speak every quarter of the time-out.

using EachClock = std::chrono::steady_clock;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;

// Messages to and from other ranks, and who of them lives.
class Channel {
 public:
  explicit Channel(Ranks& ranks)
      : ranks_(ranks), heard_(static_cast<size_t>(ranks.size()), EachClock::now()) {
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (rank != ranks.rank() && (ranks.first() || rank == 0)) peers_.push_back(rank);
  }

  const std::vector<int>& peers() const { return peers_; }
  void send(int to, const ItemMessage& message) { send(to, std::make_shared<std::string>(message.packed())); }
  void send_all(const ItemMessage& message) {
    const auto text = std::make_shared<std::string>(message.packed());
    for (const int peer : peers_) send(peer, text);
  }
  std::optional<ItemMessage> next(int from) {
    if (!ranks_.arrived(from, Ranks::Tag::job)) return std::nullopt;
    const std::string text = ranks_.receive_text(from, Ranks::Tag::job);
    heard_[static_cast<size_t>(from)] = EachClock::now();
    return ItemMessage::unpacked(text);
  }
  // Says that this rank lives, when it is time. Returns those that have not been heard for too long.
  std::vector<int> tend() {
    std::erase_if(sent_, [&](const auto& sent) { return ranks_.done(sent.first); });
    const auto now = EachClock::now();
    const auto timeout = std::chrono::duration<double>(ranks_.timeout());
    if (now - tended_ > timeout / 2)  // this process was stopped itself
      std::ranges::fill(heard_, now);
    tended_ = now;
    if (now - told_ > timeout / 4) {
      told_ = now;
      send_all({ItemMessage::alive});
    }
    std::vector<int> silent;
    std::ranges::copy_if(peers_, std::back_inserter(silent),
                         [&](int peer) { return now - heard_[static_cast<size_t>(peer)] > timeout; });
    return silent;
  }
  bool all_sent() const { return sent_.empty(); }

 private:
  void send(int to, const std::shared_ptr<std::string>& text) {
    sent_.push_back({ranks_.send(to, Ranks::Tag::job, {{text->data(), text->size()}}), text});
  }

  Ranks& ranks_;
  std::vector<int> peers_;
  std::vector<EachClock::time_point> heard_;  // by rank
  EachClock::time_point tended_ = EachClock::now(), told_ = tended_;
  std::vector<std::pair<Ranks::Message, std::shared_ptr<std::string>>> sent_;  // under way
};

// The main thread's part.
class ItemLoop {
 public:
  using Done = std::function<void(int64_t, const std::string&)>;
  ItemLoop(Ranks& ranks, int64_t n, ItemQueue& queue, const Done& done)
      : ranks_(ranks), n_(n), queue_(queue), done_(done), channel_(ranks) {}

  // Until all results are everywhere and nothing runs any more. Throws what the first item threw that did.
  void run();

 private:
  // Takes what has come and answers it. Whether anything had.
  bool round_of_first();
  bool round_of_other();
  void take(int rank, ItemMessage message);
  void conclude(const ItemMessage& message);
  bool concluded() const { return head_ == n_ || !failure_.empty() || thrown_ != nullptr; }
  [[noreturn]] void lose(const std::vector<int>& silent);

  Ranks& ranks_;
  const int64_t n_;
  ItemQueue& queue_;
  const Done& done_;
  Channel channel_;
  int64_t head_ = 0;           // items before it are done
  std::string failure_;        // of the item of lowest number that threw
  std::exception_ptr thrown_;  // by done()
  bool over_ = false;
  // Of the first rank.
  std::deque<int> asking_;                       // ranks, one for each thread that is idle
  std::map<int64_t, int> given_;                 // what other ranks have, to whom
  std::map<int64_t, ItemMessage> complete_;      // results from head_ on
  int left_ = 0;                                 // ranks
  ItemMessage advanced_{ItemMessage::advances};  // by others, and not shown yet
  // Of the others.
  int64_t asked_ = 0;  // items
  bool leaves_ = false;
  EachClock::time_point advance_told_ = EachClock::now();
};

void ItemLoop::run() {
  std::optional<Phase> waiting;
  for (auto last = EachClock::now(); !over_ || !channel_.all_sent();) {
    waiting.reset();
    if (ranks_.first() ? round_of_first() : round_of_other()) last = EachClock::now();
    if (const std::vector<int> silent = channel_.tend(); !silent.empty()) lose(silent);
    waiting.emplace(nullptr);
    const EachClock::duration pause = (EachClock::now() - last) / 16;
    if (queue_.wait(std::clamp<EachClock::duration>(pause, 20us, 5ms))) last = EachClock::now();
  }
  waiting.reset();
  if (thrown_) std::rethrow_exception(thrown_);
  if (!failure_.empty()) throw_packed(failure_);
}

// What another rank says to the first.
void ItemLoop::take(int rank, ItemMessage message) {
  if (message.kind == ItemMessage::asks) {
    check(message.text == std::to_string(n_), "{} and {} went different ways: one has {} items, the other {}",
          ranks_.name(), ranks_.name_of(rank), n_, message.text);
    asking_.insert(asking_.end(), static_cast<size_t>(message.number), rank);
  } else if (message.kind == ItemMessage::leaves) {
    ++left_;
  } else if (message.kind == ItemMessage::advances) {
    advanced_.number += message.number;
    advanced_.text = message.text;
  } else if (message.kind != ItemMessage::alive) {
    given_.erase(message.number);
    if (message.kind == ItemMessage::failure) queue_.stop();
    complete_.emplace(message.number, std::move(message));
  }
}

bool ItemLoop::round_of_first() {
  if (over_) return false;  // what comes now belongs to the next each()
  bool any = false;
  for (const int rank : channel_.peers())
    while (std::optional<ItemMessage> message = channel_.next(rank))
      any = true, take(rank, std::move(*message));
  if (Progress* const bar = advanced_.number > 0 ? queue_.bar() : nullptr) {
    bar->advance(advanced_.number, advanced_.text);
    advanced_.number = 0;
  }
  for (ItemMessage& message : queue_.take_complete()) complete_.emplace(message.number, std::move(message));
  while (!asking_.empty()) {
    const std::optional<int64_t> i = queue_.next();
    if (!i) break;
    given_[*i] = asking_.front();
    channel_.send(asking_.front(), {ItemMessage::begins, *i});
    asking_.pop_front();
  }
  for (auto it = complete_.find(head_); !concluded() && it != complete_.end(); it = complete_.find(head_)) {
    try {
      conclude(it->second);
    } catch (...) {  // of done(): the others throw it too
      thrown_ = std::current_exception();
      it->second = {ItemMessage::failure, head_, packed_failure_here()};
      queue_.close();
    }
    channel_.send_all(it->second);
    complete_.erase(it);
  }
  if (!over_ && concluded() && queue_.quiet() && left_ == std::ssize(channel_.peers())) {
    channel_.send_all({ItemMessage::end});
    over_ = true;
  }
  return any;
}

bool ItemLoop::round_of_other() {
  if (over_) return false;
  bool any = false;
  while (std::optional<ItemMessage> message = over_ ? std::nullopt : channel_.next(0)) {
    any = true;
    if (message->kind == ItemMessage::begins) {
      --asked_;
      queue_.give(message->number);
    } else if (message->kind == ItemMessage::end) {
      over_ = true;
    } else if (message->kind != ItemMessage::alive) {
      conclude(*message);
    }
  }
  for (const ItemMessage& message : queue_.take_complete()) channel_.send(0, message);
  if (!leaves_ && EachClock::now() - advance_told_ > 100ms) {
    advance_told_ = EachClock::now();
    if (const std::optional<ItemMessage> message = queue_.take_advance()) channel_.send(0, *message);
  }
  if (const int64_t idle = queue_.idle() - asked_; idle > 0 && !concluded()) {
    asked_ += idle;
    channel_.send(0, {ItemMessage::asks, idle, std::to_string(n_)});
  }
  if (!leaves_ && concluded() && queue_.quiet()) {
    leaves_ = true;
    channel_.send(0, {ItemMessage::leaves});
  }
  return any;
}

// The next one in order.
void ItemLoop::conclude(const ItemMessage& message) {
  if (message.kind == ItemMessage::failure)
    failure_ = message.text;
  else
    done_(head_, message.text), ++head_;
  if (concluded()) queue_.close();
}

void ItemLoop::lose(const std::vector<int>& silent) {
  std::vector<std::string> names;
  for (const int rank : silent) names.push_back(ranks_.name_of(rank));
  const auto item = std::ranges::find(given_, silent.front(), &std::pair<const int64_t, int>::second);
  const std::string where = item == given_.end() ? "" : fmt::format(", in item {}", item->first);
  // Of those that miss the first rank, one says so first, and its end is that of all.
  if (!ranks_.first()) std::this_thread::sleep_for(std::min(ranks_.rank() - 1, 4) * 500ms);
  ranks_.fail_lost(RankLost(fmt::format("{} {} not answered for {:g} s{}", fmt::join(names, ", "),
                                        names.size() > 1 ? "have" : "has", ranks_.timeout(), where)));
}

}  // namespace

void run_each(int64_t n, const std::function<void(int64_t)>& item, const std::function<void(int64_t)>& done) {
  if (n <= 0) return;
  Items items(n);
  // A single item may use all threads, unless it belongs to an item itself: then threads() is 1.
  const Workers workers(
      std::min<int64_t>(n, threads()), n > 1 || threads() == 1, [&] { items.work(item); },
      [&] { items.stop(); });
  for (int64_t i = 0; i < n; ++i) {
    {
      const Phase waiting(nullptr);
      items.wait(i);
    }
    done(i);
  }
}

void run_each_on(Ranks& ranks, int64_t n, const std::function<std::string(int64_t)>& item,
                 const std::function<void(int64_t, const std::string&)>& done) {
  if (n <= 0) return;
  ItemQueue queue(n, ranks.first());
  ItemLoop loop(ranks, n, queue, done);
  const Workers workers(
      std::min<int64_t>(n, threads()), n > 1 || threads() == 1, [&] { queue.work(item); },
      [&] { queue.close(); });
  loop.run();
}

}  // namespace isobar
