// Data parallel: one batch over many processes, and one sum of what they found.
//
// This file is given and stays as it is. P ranks 0 … P − 1 are processes of the same program; each has a Link
// to the others and only its own part of the data. N numbers, Dtype::f32. Functions return new tensors.
#pragma once

#include <vector>

#include "tensors.h"

constexpr int anyone = -1;

struct Message {
  int from = anyone;
  bool dead = false;  // `from` is dead: nothing was received
  int tag = 0;        // what the sender said it is
  std::vector<float> values;
};

// A rank's way to the others. Between two ranks, messages arrive in the order in which they were sent.
class Link {
 public:
  virtual ~Link() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  // P
  // Waits until rank `to` has received it; false when that rank is dead.
  virtual bool send(int to, const std::vector<float>& values, int tag = 0) = 0;
  // Waits for a message of rank `from`, or of whoever comes first.
  virtual Message receive(int from = anyone) = 0;
};

// Tensor (N) or any other, f32, to its numbers, and back to a Tensor of shape (N).
inline std::vector<float> numbers(const Tensor& x) {
  return std::vector<float>(x.data<float>(), x.data<float>() + x.numel());
}
inline Tensor vector_of(const std::vector<float>& values) {
  Tensor y({static_cast<int64_t>(values.size())}, Dtype::f32);
  for (size_t i = 0; i < values.size(); ++i) raw::write<float>(y)[i] = values[i];
  return y;
}

// --- task 1: rank r's part of `count` rows: from `begin` to before `end`. Parts follow each other, differ by
// at most one row, and the larger ones come first. Throws isobar::Error, naming the rank, unless 0 ≤ rank <
// size.
struct Part {
  int64_t begin, end;
};
Part share(int64_t count, int size, int rank);

// In tasks 2 to 6 no rank dies, and all ranks call the same function. "The tree": in round s = 1, 2, 4, …
// rank r, a multiple of 2s, adds what rank r + s has, if there is such a rank. Five ranks: ((x0 + x1) + (x2 +
// x3)) + x4.

// --- task 2: x (N), every rank's own. On rank 0 the sum by the tree; what others return does not count. At
// most P − 1 messages; no chain of more than ⌈log2 P⌉ messages, each sent after the one before was received.
Tensor reduce_tree(Link& link, const Tensor& x);

// --- task 3: the same sum on every rank. At most 2(P − 1) messages, no chain of more than 2⌈log2 P⌉; no rank
// sends, and none receives, more than ⌈log2 P⌉ N numbers.
Tensor all_reduce(Link& link, const Tensor& x);

// --- task 4: the same, with at most `most` numbers in a message: at most 2(P − 1) messages for each chunk.
// Chains are as short as in task 3, so the chunks overlap.
Tensor all_reduce_chunks(Link& link, const Tensor& x, int64_t most);

// --- task 5: one step of gradient descent, w − rate · gradient, the same on every rank. The gradient is that
// of the mean of (x·w − y)²/2 over the rows of *all* ranks; x (B, C) and y (B) are this rank's, B differs
// between ranks and may be 0. mean_gradient (C), which is given, is over this rank's rows alone.
Tensor mean_gradient(const Tensor& w, const Tensor& x, const Tensor& y);
Tensor step(Link& link, const Tensor& w, const Tensor& x, const Tensor& y, float rate);

// --- task 6: the sum of `count` leaves in the tree's order, leaf by leaf as above rank by rank, so with the
// same bits for every P. Rank r has the leaves of share(count, P, r): their numbers are leaves (their count,
// N). A message for each node of the tree whose halves begin in different ranks, and P − 1 to tell the sum;
// no chain of more than ⌈log2 count⌉ + ⌈log2 P⌉.
Tensor sum_leaves(Link& link, const Tensor& leaves, int64_t count);

// --- task 7: all_reduce where a rank may die at any time. Whoever cannot have the whole sum throws
// isobar::Error, which names the dead rank and no other but its own: also ranks that never speak to the dead
// one. Nobody waits for ever, and none returns a wrong sum.
Tensor all_reduce_safely(Link& link, const Tensor& x);

// --- task 8: seconds to sum `bytes` over `size` ranks, where a message of b bytes takes alpha + b / beta
// seconds, and ranks work at the same time: by the tree of task 3, and by a ring of 2(P − 1) rounds in which
// each rank sends bytes / P. `from` is how many bytes the ring needs to be quicker (0: it is quicker at any
// size > 0; infinity: never).
struct Times {
  double tree, ring, from;
};
Times predict(int size, double alpha, double beta, double bytes);
