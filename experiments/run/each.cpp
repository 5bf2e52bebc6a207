#include "each.h"

#include <fmt/ranges.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "../../core/parallel.h"
#include "../../core/profile.h"
#include "../../core/serial_loops.h"
#include "process.h"
#include "progress.h"

namespace isobar {
namespace {

using namespace std::chrono_literals;
using EachClock = std::chrono::steady_clock;

// A message between ranks; results and failures are also what threads tell their rank's main thread.
struct ItemMessage {
  enum Kind : char {
    asks,      // to the first rank: `number` threads are idle; the text is n
    begins,    // from it: item `number` is yours
    result,    // of item `number`, as bytes: to the first rank as it comes, from it in order
    failure,   // the same of an item that threw: the exit code of what it threw, as a byte, and its words
    alive,     // nothing else
    advances,  // to the first rank: `number` steps of its progress bar; the text is shown beside it
    leaves,    // to the first rank: nothing runs here any more
    end,       // from it: nothing runs anywhere
  };
  Kind kind;
  int64_t number = 0;
  std::string text = {};
  std::exception_ptr thrown = {};  // on this rank; `text` is made when it is sent

  std::string packed() const {
    std::string bytes(1, kind);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    if (thrown == nullptr) return bytes + text;
    try {
      std::rethrow_exception(thrown);
    } catch (...) {
      const Failure what = failure_here();
      return bytes + static_cast<char>(what.code) + what.message;
    }
  }
  static ItemMessage unpacked(const std::string& bytes) {
    ItemMessage message{static_cast<Kind>(bytes[0])};
    std::memcpy(&message.number, &bytes[1], sizeof message.number);
    message.text = bytes.substr(1 + sizeof message.number);
    return message;
  }
  [[noreturn]] void throw_failure() const {
    if (thrown != nullptr) std::rethrow_exception(thrown);
    throw_again({static_cast<unsigned char>(text[0]), text.substr(1)});
  }
};

// Between a rank's threads, which work on items, and its main thread, which talks. Threads of the first rank
// take the numbers of items themselves.
class ItemQueue {
 public:
  ItemQueue(int64_t n, bool first) : n_(n), first_(first) {}

  // A thread's work: one item after the other, until there are no more.
  void work(const std::function<std::string(int64_t)>& item) {
    progress_relay = [this](Progress& bar, int64_t steps, std::string_view note) {
      const std::lock_guard lock(mutex_);
      bar_ = &bar;
      advance_.number += first_ ? 0 : steps;
      advance_.text = note;
      return !first_;  // the first rank's bar shows its own steps
    };
    while (const std::optional<int64_t> i = next_of_thread()) {
      ItemMessage message{ItemMessage::result, *i};
      try {
        message.text = item(*i);
      } catch (...) {
        message = {ItemMessage::failure, *i, "", std::current_exception()};
      }
      const std::lock_guard lock(mutex_);
      if (message.kind == ItemMessage::failure) begun_ = n_;  // no more begin
      complete_.push_back(std::move(message));
      --running_;
      tell_main();
    }
  }

  // On the first rank: a number for another one's thread; and the bar, once a thread has used it.
  std::optional<int64_t> next() {
    const std::lock_guard lock(mutex_);
    return begun_ < n_ ? std::optional(begun_++) : std::nullopt;
  }
  Progress* bar() {
    const std::lock_guard lock(mutex_);
    return bar_;
  }
  // On the others: a number that came from there; how many threads have nothing to do; and how far items
  // advanced a bar.
  void give(int64_t i) {
    const std::lock_guard lock(mutex_);
    given_.push_back(i);
    given_or_closed_.notify_one();
  }
  int64_t idle() {
    const std::lock_guard lock(mutex_);
    return idle_ - std::ssize(given_);
  }
  ItemMessage take_advance() {
    const std::lock_guard lock(mutex_);
    return std::exchange(advance_, {ItemMessage::advances});
  }
  // What became of items since the last call.
  std::vector<ItemMessage> take_complete() {
    const std::lock_guard lock(mutex_);
    return std::exchange(complete_, {});
  }
  // No more items begin on the first rank; `closed`: threads end, after what was given to them.
  void stop(bool closed) {
    const std::lock_guard lock(mutex_);
    begun_ = n_;
    closed_ |= closed;
    given_or_closed_.notify_all();
  }
  // Whether nothing runs here, nor waits to be taken.
  bool quiet() {
    const std::lock_guard lock(mutex_);
    return running_ == 0 && given_.empty() && complete_.empty();
  }
  // Until a thread has something to say, for so long at most. Whether one had.
  bool wait(EachClock::duration most) {
    std::unique_lock lock(mutex_);
    news_for_main_.wait_for(lock, most, [&] { return news_; });
    return std::exchange(news_, false);
  }

 private:
  void tell_main() {
    news_ = true;
    news_for_main_.notify_one();
  }
  std::optional<int64_t> next_of_thread() {
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

// Messages to and from other ranks, and who of them lives. Main threads alone send and receive, and speak
// every quarter of the time-out.
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
    if (peers_.empty()) return;
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

// The main thread's part. The first rank hands out numbers, collects what became of them, and tells all
// others the results in order; the others ask it for items for idle threads.
class ItemLoop {
 public:
  using Done = std::function<void(int64_t, const std::string&)>;
  ItemLoop(Ranks& ranks, int64_t n, ItemQueue& queue, const Done& done)
      : ranks_(ranks), n_(n), queue_(queue), done_(done), channel_(ranks) {}
  ~ItemLoop() { queue_.stop(true); }

  // Until all results are everywhere and nothing runs any more. Throws what the first item threw that did.
  void run();

 private:
  // Takes what has come and answers it. Whether anything had.
  bool round_of_first();
  bool round_of_other();
  void take(int rank, ItemMessage message);
  void conclude(const ItemMessage& message);
  bool concluded() const { return head_ == n_ || failure_; }
  [[noreturn]] void lose(const std::vector<int>& silent);

  Ranks& ranks_;
  const int64_t n_;
  ItemQueue& queue_;
  const Done& done_;
  Channel channel_;
  int64_t head_ = 0;                    // items before it are done
  std::optional<ItemMessage> failure_;  // of the item of lowest number that threw, or of done()
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
  for (auto last = EachClock::now();;) {
    if (ranks_.first() ? round_of_first() : round_of_other()) last = EachClock::now();
    if (const std::vector<int> silent = channel_.tend(); !silent.empty()) lose(silent);
    if (over_ && channel_.all_sent()) break;
    const Phase waiting(nullptr);
    // Who talks to nobody has no need to look. Others look after pauses that grow to a few milliseconds.
    const EachClock::duration pause = (EachClock::now() - last) / 16;
    if (queue_.wait(ranks_.size() == 1 ? 1h : std::clamp<EachClock::duration>(pause, 20us, 5ms)))
      last = EachClock::now();
  }
  if (failure_) failure_->throw_failure();
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
    if (message.kind == ItemMessage::failure) queue_.stop(false);
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
      it->second = {ItemMessage::failure, head_, "", std::current_exception()};
      conclude(it->second);
    }
    channel_.send_all(it->second);
    complete_.erase(it);
  }
  if (concluded() && queue_.quiet() && left_ == std::ssize(channel_.peers())) {
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
    if (const ItemMessage message = queue_.take_advance(); message.number > 0) channel_.send(0, message);
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
    failure_ = message;
  else
    done_(head_, message.text), ++head_;
  if (concluded()) queue_.stop(true);
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

void run_each(Ranks& ranks, int64_t n, const std::function<std::string(int64_t)>& item,
              const std::function<void(int64_t, const std::string&)>& done) {
  if (n <= 0) return;
  ItemQueue queue(n, ranks.first());
  // A single item may use all threads, unless it belongs to an item itself: then threads() is 1.
  const bool serial = n > 1 || threads() == 1;
  std::vector<std::jthread> workers;  // each is joined when it is destroyed, after the loop has ended
  ItemLoop loop(ranks, n, queue, done);
  for (int64_t t = std::min<int64_t>(n, threads()); t > 0; --t)
    workers.emplace_back([&, caller = Timeline::here()] {
      std::optional<SerialLoops> loops;
      if (serial) loops.emplace();
      std::optional<Timeline> timeline;  // in the caller's profile, if there is one
      if (caller != nullptr) timeline.emplace(caller->profile());
      queue.work(item);
    });
  loop.run();
}

}  // namespace isobar
