// RankLink: what Ranks needs from a message-passing library. The plugin ranks_mpi.cpp implements it with MPI.
// It is loaded only under a launcher such as mpirun: without one nothing of MPI is linked or loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace isobar {

// A contiguous range of bytes. A message is a list of ranges; sender and receiver agree on the total size.
struct ByteSpan {
  void* data;
  size_t bytes;
};

class RankLink {
 public:
  virtual ~RankLink() = default;  // disconnects; all processes must do so

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string library() const = 0;  // "Open MPI v4.1.4"

  // Begin a message; its bytes must stay valid until done(). Between two ranks, messages of one tag arrive in
  // the order in which they were begun.
  virtual size_t send(int to, int tag, const std::vector<ByteSpan>& spans) = 0;
  virtual size_t receive(int from, int tag, const std::vector<ByteSpan>& spans) = 0;
  // Whether this message is complete. Its number may then be used for another one.
  virtual bool done(size_t message) = 0;
  // The size of the next message of this tag from this rank, if it has arrived.
  virtual std::optional<size_t> arrived(int from, int tag) = 0;
  // Ends all processes of all ranks.
  virtual void abort(int code) = 0;
};

// The function that a plugin exports as "isobar_rank_link".
using MakeRankLink = RankLink*();

}  // namespace isobar
