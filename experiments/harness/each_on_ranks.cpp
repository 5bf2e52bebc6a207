// each() over several ranks. The first rank hands out numbers, collects what became of them, and tells all others the results
// in order; the others ask it for as many items as they have idle threads. Main threads alone send and receive: they look
// for messages now and then, with pauses that grow to a few milliseconds, and speak every quarter of the time-out, however
// long items take.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <thread>

#include "../../core/parallel.h"
#include "../../core/profile.h"
#include "desk.h"
#include "each.h"
#include "workers.h"

namespace isobar {
namespace {

using EachClock = std::chrono::steady_clock;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;

// Letters to and from other ranks, and who of them lives.
class Post {
 public:
  explicit Post(Ranks& ranks) : ranks_(ranks), heard_(static_cast<size_t>(ranks.size()), EachClock::now()) {
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (rank != ranks.rank() && (ranks.first() || rank == 0)) peers_.push_back(rank);
  }

  const std::vector<int>& peers() const { return peers_; }
  void send(int to, const Letter& letter) { send(to, std::make_shared<std::string>(letter.packed())); }
  void send_all(const Letter& letter) {
    const auto text = std::make_shared<std::string>(letter.packed());
    for (const int peer : peers_) send(peer, text);
  }
  std::optional<Letter> next(int from) {
    if (!ranks_.arrived(from, Ranks::Tag::job)) return std::nullopt;
    const std::string text = ranks_.receive_text(from, Ranks::Tag::job);
    heard_[static_cast<size_t>(from)] = EachClock::now();
    return Letter::unpacked(text);
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
      send_all({Letter::alive});
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
class Rounds {
 public:
  using Done = std::function<void(int64_t, const std::string&)>;
  Rounds(Ranks& ranks, int64_t n, Desk& desk, const Done& done)
      : ranks_(ranks), n_(n), desk_(desk), done_(done), post_(ranks) {}

  // Until all results are everywhere and nothing runs any more. Throws what the first item threw that did.
  void run();

 private:
  // Takes what has come and answers it. Whether anything had.
  bool round_of_first();
  bool round_of_other();
  void take(int rank, Letter letter);
  void conclude(const Letter& letter);
  bool concluded() const { return head_ == n_ || !failure_.empty() || thrown_ != nullptr; }
  [[noreturn]] void lose(const std::vector<int>& silent);

  Ranks& ranks_;
  const int64_t n_;
  Desk& desk_;
  const Done& done_;
  Post post_;
  int64_t head_ = 0;           // items before it are done
  std::string failure_;        // of the item of lowest number that threw
  std::exception_ptr thrown_;  // by done()
  bool over_ = false;
  // Of the first rank.
  std::deque<int> asking_;              // ranks, one for each thread that is idle
  std::map<int64_t, int> given_;        // what other ranks have, to whom
  std::map<int64_t, Letter> complete_;  // results from head_ on
  int left_ = 0;                        // ranks
  Letter advanced_{Letter::advances};   // by others, and not shown yet
  // Of the others.
  int64_t asked_ = 0;  // items
  bool leaves_ = false;
  EachClock::time_point advance_told_ = EachClock::now();
};

void Rounds::run() {
  std::optional<Phase> waiting;
  for (auto last = EachClock::now(); !over_ || !post_.all_sent();) {
    waiting.reset();
    if (ranks_.first() ? round_of_first() : round_of_other()) last = EachClock::now();
    if (const std::vector<int> silent = post_.tend(); !silent.empty()) lose(silent);
    waiting.emplace(nullptr);
    const EachClock::duration pause = (EachClock::now() - last) / 16;
    if (desk_.wait(std::clamp<EachClock::duration>(pause, 20us, 5ms))) last = EachClock::now();
  }
  waiting.reset();
  if (thrown_) std::rethrow_exception(thrown_);
  if (!failure_.empty()) throw_packed(failure_);
}

// What another rank says to the first.
void Rounds::take(int rank, Letter letter) {
  if (letter.kind == Letter::asks) {
    check(letter.text == std::to_string(n_), "{} and {} went different ways: one has {} items, the other {}",
          ranks_.name(), ranks_.name_of(rank), n_, letter.text);
    asking_.insert(asking_.end(), static_cast<size_t>(letter.number), rank);
  } else if (letter.kind == Letter::leaves) {
    ++left_;
  } else if (letter.kind == Letter::advances) {
    advanced_.number += letter.number;
    advanced_.text = letter.text;
  } else if (letter.kind != Letter::alive) {
    given_.erase(letter.number);
    if (letter.kind == Letter::failure) desk_.stop();
    complete_.emplace(letter.number, std::move(letter));
  }
}

bool Rounds::round_of_first() {
  if (over_) return false;  // what comes now belongs to the next each()
  bool any = false;
  for (const int rank : post_.peers())
    while (std::optional<Letter> letter = post_.next(rank)) any = true, take(rank, std::move(*letter));
  if (Progress* const bar = advanced_.number > 0 ? desk_.bar() : nullptr) {
    bar->advance(advanced_.number, advanced_.text);
    advanced_.number = 0;
  }
  for (Letter& letter : desk_.take_complete()) complete_.emplace(letter.number, std::move(letter));
  while (!asking_.empty()) {
    const std::optional<int64_t> i = desk_.next();
    if (!i) break;
    given_[*i] = asking_.front();
    post_.send(asking_.front(), {Letter::begins, *i});
    asking_.pop_front();
  }
  for (auto it = complete_.find(head_); !concluded() && it != complete_.end(); it = complete_.find(head_)) {
    try {
      conclude(it->second);
    } catch (...) {  // of done(): the others throw it too
      thrown_ = std::current_exception();
      it->second = {Letter::failure, head_, packed_failure_here()};
      desk_.close();
    }
    post_.send_all(it->second);
    complete_.erase(it);
  }
  if (!over_ && concluded() && desk_.quiet() && left_ == std::ssize(post_.peers())) {
    post_.send_all({Letter::end});
    over_ = true;
  }
  return any;
}

bool Rounds::round_of_other() {
  if (over_) return false;
  bool any = false;
  while (std::optional<Letter> letter = over_ ? std::nullopt : post_.next(0)) {
    any = true;
    if (letter->kind == Letter::begins) {
      --asked_;
      desk_.give(letter->number);
    } else if (letter->kind == Letter::end) {
      over_ = true;
    } else if (letter->kind != Letter::alive) {
      conclude(*letter);
    }
  }
  for (const Letter& letter : desk_.take_complete()) post_.send(0, letter);
  if (!leaves_ && EachClock::now() - advance_told_ > 100ms) {
    advance_told_ = EachClock::now();
    if (const std::optional<Letter> letter = desk_.take_advance()) post_.send(0, *letter);
  }
  if (const int64_t idle = desk_.idle() - asked_; idle > 0 && !concluded()) {
    asked_ += idle;
    post_.send(0, {Letter::asks, idle, std::to_string(n_)});
  }
  if (!leaves_ && concluded() && desk_.quiet()) {
    leaves_ = true;
    post_.send(0, {Letter::leaves});
  }
  return any;
}

// The next one in order.
void Rounds::conclude(const Letter& letter) {
  if (letter.kind == Letter::failure)
    failure_ = letter.text;
  else
    done_(head_, letter.text), ++head_;
  if (concluded()) desk_.close();
}

void Rounds::lose(const std::vector<int>& silent) {
  std::vector<std::string> names;
  for (const int rank : silent) names.push_back(ranks_.name_of(rank));
  const auto item = std::ranges::find(given_, silent.front(), &std::pair<const int64_t, int>::second);
  const std::string where = item == given_.end() ? "" : fmt::format(", in item {}", item->first);
  // Of those that miss the first rank, one says so first, and its end is that of all.
  if (!ranks_.first()) std::this_thread::sleep_for(std::min(ranks_.rank() - 1, 4) * 500ms);
  ranks_.give_up(RankLost(fmt::format("{} {} not answered for {:g} s{}", fmt::join(names, ", "),
                                      names.size() > 1 ? "have" : "has", ranks_.timeout(), where)));
}

}  // namespace

void run_each_on(Ranks& ranks, int64_t n, const std::function<std::string(int64_t)>& item,
                 const std::function<void(int64_t, const std::string&)>& done) {
  if (n <= 0) return;
  Desk desk(n, ranks.first());
  Rounds rounds(ranks, n, desk, done);
  const Workers workers(
      std::min<int64_t>(n, threads()), n > 1 || threads() == 1, [&] { desk.work(item); },
      [&] { desk.close(); });
  rounds.run();
}

}  // namespace isobar
