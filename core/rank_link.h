// RankLink: what Ranks needs of a message-passing library. ranks_mpi.cpp gives it MPI's, in a library of its own that is
// opened only under a launcher: without one nothing of MPI is linked or loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace isobar {

// Bytes that stand together; a message is a list of them, of the same sum on both sides.
struct Stretch {
  void* data;
  size_t bytes;
};

class RankLink {
 public:
  virtual ~RankLink() = default;  // takes leave of the other processes, which do the same

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string library() const = 0;  // "Open MPI v4.1.4"

  // Begin a message: its stretches stay where they are until done(). Between two ranks messages of one tag arrive in the
  // order in which they were begun.
  virtual size_t send(int to, int tag, const std::vector<Stretch>& stretches) = 0;
  virtual size_t receive(int from, int tag, const std::vector<Stretch>& stretches) = 0;
  // Whether the message with this number is complete; once it is, the number is free for another.
  virtual bool done(size_t message) = 0;
  // The bytes of the next message of this tag from this rank, when it is there.
  virtual std::optional<size_t> arrived(int from, int tag) = 0;
  // Ends all processes of all ranks.
  virtual void abort(int code) = 0;
};

// What a plugin gives away, by the name "isobar_rank_link".
using MakeRankLink = RankLink*();

}  // namespace isobar
