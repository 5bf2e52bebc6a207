// Ranks: the processes of one run. There is one process, unless a launcher such as mpirun started more. All
// functions work for one process too, so that programs need no `if`.
//
//   Ranks ranks;                                        // joins the others; first in main
//   const IndexRange mine = ranks.share(pieces);        // this rank's pieces: the same division for all
//   sum_over_ranks(ranks, …);                           // gradients of all pieces (sum_over_ranks.h)
//   ranks.gather(losses, pieces);                       // one number a piece, in order, on every rank
//
// Results do not depend on which process computes a piece: MPI moves bytes, and we add the numbers in a fixed
// order. All ranks call the same functions in the same order, from one thread. A process finds the others by
// the environment variables of the launcher. They communicate through a plugin (rank_link.h), which is loaded
// only then.
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

// The error for a rank that does not answer.
class RankLost : public Error {
 public:
  using Error::Error;
};

class Ranks {
 public:
  // `timeout` is the number of seconds after which a silent rank counts as lost. Throws Error if a launcher
  // started several processes and there is no plugin for it.
  explicit Ranks(double timeout = 300);
  explicit Ranks(std::unique_ptr<RankLink> link, double timeout = 300);
  // Disconnects; all ranks must do so. While an exception is in flight, aborts the processes of all ranks.
  ~Ranks();
  Ranks(const Ranks&) = delete;

  // The ranks that this process joined in main, or alone().
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

  // Sets the number of seconds after which a silent rank counts as lost.
  void set_timeout(double seconds) { timeout_ = seconds; }
  double timeout() const { return timeout_; }
  // Sets what this rank is doing now, such as "step 12", for errors.
  void set_location(const std::string& place) { place_ = place; }

  // Returns the part of 0 … n − 1 of this rank, or of another one. All parts have the same length, except one
  // that may be shorter. The first rank has the last part, because it writes, and observers show the last
  // piece of a step. If there are more ranks than n, some parts are empty.
  IndexRange share(int64_t n) const { return share(n, rank_); }
  IndexRange share(int64_t n, int rank) const;

  // Returns the texts of all ranks, in the order of ranks, on every rank.
  std::vector<std::string> gather(const std::string& mine);
  // Returns n numbers on every rank; `mine` are those of share(n).
  std::vector<double> gather(const std::vector<double>& mine, int64_t n);
  // Throws Error that names the first rank with another text than the first rank: "rank 3 of 8 (node7) has
  // <what> …".
  void check_same(const std::string& what, const std::string& mine, const std::string& repair);

  // Called by a rank that fails. Returns true if all others fail within seconds too, so that all may exit
  // normally.
  bool end_together();
  // Whether a launcher started this process together with others.
  static bool launched();
  // The number of this process among them, or 0.
  static int launched_rank();

  // Asks all ranks to stop; they learn it in the next gather().
  void ask_to_stop(bool asks) { asks_ = asks; }
  // Whether any rank had asked to stop when the last gather() began: the same result on all ranks.
  bool stop_asked() const { return size_ == 1 ? asks_ : asked_; }

  // Messages, for functions that are built on Ranks.
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
  // Whether a text has arrived.
  bool arrived(int from, Tag tag) { return link_->arrived(from, static_cast<int>(tag)).has_value(); }
  // Waits for a text and returns it.
  std::string receive_text(int from, Tag tag);

  // Whether the caller is on the thread that made this object, which is the only one that may send and
  // receive.
  bool on_own_thread() const { return std::this_thread::get_id() == thread_; }

  // Sets the function that fail_lost() calls. It prints the error and ends all processes.
  void on_lost(std::function<void(const RankLost&)> end) { end_ = std::move(end); }
  // For callers with other running threads: an exception would reach main only after their end.
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
