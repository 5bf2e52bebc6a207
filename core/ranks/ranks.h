// Ranks: the processes that make one run together. One, unless a launcher such as mpirun started more; every
// verb then does what it does for one, so that programs have no `if`.
//
//   Ranks ranks;                                        // joins the others; first in main
//   const IndexRange mine = ranks.share(pieces);        // this rank's pieces: the same division for all
//   sum_over_ranks(ranks, …);                           // gradients of all pieces (sum_over_ranks.h)
//   ranks.gather(losses, pieces);                       // one number a piece, in order, on every rank
//   each(nets, train);                                  // of experiments/run: nets on the next free rank
//
// Who computes what never shows in a bit: MPI moves bytes, we add numbers. All ranks call the same verbs in
// the same order, from one thread. The processes of a run are found by the environment that the launcher
// gives them, and talk through a plugin (rank_link.h), which is opened only then.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "../error.h"
#include "../index_range.h"
#include "rank_link.h"

namespace isobar {

// Thrown where a rank does not answer.
class RankLost : public Error {
 public:
  using Error::Error;
};

class Ranks {
 public:
  // `timeout`: seconds after which a silent rank counts as lost. Throws Error where a launcher started
  // several processes and there is no plugin for it.
  explicit Ranks(double timeout = 300);
  explicit Ranks(std::unique_ptr<RankLink> link, double timeout = 300);
  // Disconnects; all ranks must do so. While an exception is in flight, aborts the processes of all ranks.
  ~Ranks();
  Ranks(const Ranks&) = delete;

  // The ranks that this process joined in main; alone() where it did not.
  static Ranks& here();
  // One rank.
  static Ranks& alone();

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Whether this is the rank that prints and writes files.
  bool first() const { return rank_ == 0; }
  // "rank 3 of 8 (node7)".
  std::string name() const { return name_of(rank_); }
  std::string name_of(int rank) const;
  std::string library() const { return link_ != nullptr ? link_->library() : ""; }
  // Ranks on this machine.
  int64_t neighbours() const {
    return std::count(hosts_.begin(), hosts_.end(), hosts_[static_cast<size_t>(rank_)]);
  }

  // Seconds after which a silent rank counts as lost; and what this rank does now ("step 12"), for the error.
  void set_timeout(double seconds) { timeout_ = seconds; }
  double timeout() const { return timeout_; }
  void set_location(const std::string& place) { place_ = place; }

  // The part of 0 … n − 1 that is this rank's, or another's. Parts have one length, but for one that is
  // shorter. The first rank has the last part: it writes, and what is observed of a step is its last piece.
  // With more ranks than n, some have no part.
  IndexRange share(int64_t n) const { return share(n, rank_); }
  IndexRange share(int64_t n, int rank) const;

  // A text of each rank, in the order of ranks, on every rank.
  std::vector<std::string> gather(const std::string& mine);
  // n numbers, of which `mine` are this rank's share, on every rank.
  std::vector<double> gather(const std::vector<double>& mine, int64_t n);
  // Throws Error that names the first rank whose text is not the first rank's: "rank 3 of 8 (node7) has
  // <what> …".
  void check_same(const std::string& what, const std::string& mine, const std::string& repair);

  // Called by a rank that fails. True where all others fail within seconds too, so that all may exit
  // normally.
  bool end_together();
  // Whether a launcher started this process together with others; and this one's number there, else 0.
  static bool launched();
  static int launched_rank();

  // Whether any rank had asked to stop when the last gather() began: the same answer on all ranks.
  void ask_to_stop(bool asks) { asks_ = asks; }
  bool stop_asked() const { return size_ == 1 ? asks_ : asked_; }

  // Messages, for what builds on ranks.
  enum class Tag { gather, block, sum, job, alive, end };
  struct Message {
    int peer;
    size_t number;
  };
  Message send(int to, Tag tag, const std::vector<ByteSpan>& what) {
    return {to, link_->send(to, static_cast<int>(tag), what)};
  }
  Message receive(int from, Tag tag, const std::vector<ByteSpan>& where) {
    return {from, link_->receive(from, static_cast<int>(tag), where)};
  }
  bool done(const Message& message) { return link_->done(message.number); }
  // Waits until all are complete. Throws RankLost.
  void wait(std::vector<Message> messages);
  // Whether a text has arrived; and the text, after waiting for it.
  bool arrived(int from, Tag tag) { return link_->arrived(from, static_cast<int>(tag)).has_value(); }
  std::string receive_text(int from, Tag tag);

  // Whether the caller is on the thread that made this, the only one that may send and receive.
  bool on_own_thread() const { return std::this_thread::get_id() == thread_; }

  // What fail_lost() calls: it prints the error's text and ends all processes.
  void on_lost(std::function<void(const RankLost&)> end) { end_ = std::move(end); }
  // For callers with other threads at work: an exception would reach main only after those.
  [[noreturn]] void fail_lost(const RankLost& error) {
    if (end_) end_(error);
    throw error;
  }
  // Ends the processes of all ranks.
  void abort(int code) {
    if (link_ != nullptr) link_->abort(code);
  }

 private:
  class Deadline;
  void find_silent(std::span<const int> awaited);

  std::unique_ptr<RankLink> link_;  // null: alone
  int rank_ = 0, size_ = 1;
  std::vector<std::string> hosts_;
  double timeout_;
  std::string place_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::function<void(const RankLost&)> end_;
  bool asks_ = false, asked_ = false;
  uint64_t gathered_ = 0;  // how often
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace isobar
