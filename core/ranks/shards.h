// Shards: which rank moves and keeps the state of which part of each parameter (ZeRO stage 1, Rajbhandari et
// al. 2020).
//
//   Shards shards(parameters(model), ranks);
//   AdamW optimizer(shards.mine());                 // its moments are of this rank's parts alone
//   …
//   shards.sum(…);                                  // by backward_in_pieces: gradients of mine()
//   optimizer.step(clip_factor(grad_norm(shards), 1.0));
//   shards.spread();                                // every rank has all weights again
//
// A step moves the bytes of one all-reduce: each rank sends its sums of a shard to the shard's rank, which
// adds them in the order of core/ranks/tree_sum.h, and that rank sends the new weights to all. On one rank a
// parameter is its own shard, and nothing is moved.
#pragma once

#include <concepts>

#include "ranks.h"
#include "tree_sum.h"

namespace isobar {

class Shards {
 public:
  // The parameters count as one concatenation, cut into as many shards of about the same size as there are
  // ranks, at multiples of the chunks of kernels/sweep.h. Those in `whole`, as Muon's matrices, are not cut:
  // each goes to the rank that has least. Throws Error for a parameter that is not contiguous, or given
  // twice. `ranks` must outlive it.
  explicit Shards(std::vector<Tensor> parameters, Ranks& ranks = Ranks::alone(),
                  const std::vector<Tensor>& whole = {});

  Ranks& ranks() const { return ranks_; }
  const std::vector<Tensor>& parameters() const { return parameters_; }
  // This rank's part of each parameter, on the parameter's own numbers: all of it under its shape, or a part
  // (n), of no elements where another rank has it. For optimizers.
  const std::vector<Tensor>& mine() const { return mine_; }
  // The parts of the parameters that `wanted` chooses, for an optimizer's groups: it sees whole parameters,
  // whose shapes do not depend on the number of ranks, as those of mine() do.
  //
  //   const auto matrix = [](const Tensor& whole) { return whole.ndim() == 2; };
  //   AdamW optimizer({{.parameters = shards.mine(matrix)},
  //                    {.parameters = shards.mine(std::not_fn(matrix)), .weight_decay = 0}});
  template <std::predicate<const Tensor&> Wanted>
  std::vector<Tensor> mine(const Wanted& wanted) const {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (wanted(parameters_[i])) parts.push_back(mine_[i]);
    return parts;
  }
  // The rank that has this element of parameter i, and the first element that it has of it.
  struct Owner {
    int rank;
    int64_t first;
  };
  Owner owner(size_t i, int64_t element) const;

  // Adds up the gradients of all ranks' pieces: `mine` has the blocks of this rank's share of them, a tensor
  // or an undefined one for each parameter, and `present` the presence() of each rank's. Gives mine() their
  // gradients; a parameter that has none in any piece gets none. Overwrites the blocks' numbers.
  void sum(std::vector<TreeSum::Block> mine, const std::vector<std::string>& present, int64_t pieces);
  // Which tensors of the blocks are defined, as a text; empty for all.
  static std::string presence(const std::vector<TreeSum::Block>& blocks);

  // After mine() were written: brings every rank's shard of the parameters to all.
  void spread();
  // Gives every parameter its whole gradient, on every rank.
  void spread_gradients() const;
  // Clears them, but for those of mine().
  void clear_gradients() const;

  // Joins the ranks' parts of tensors, which are shaped like mine(), on the first rank; undefined tensors on the
  // others. parts[k] belongs to parameter of[k].
  std::vector<Tensor> collect(const std::vector<Tensor>& parts, const std::vector<size_t>& of);
  // This rank's part of a tensor that is shaped like parameter i, a copy.
  Tensor part(size_t i, const Tensor& whole) const;

 private:
  // Elements of one parameter.
  struct Interval {
    size_t parameter;
    int64_t begin, end;
  };
  using Intervals = std::vector<Interval>;

  class Sum;

  void divide(const std::vector<Tensor>& whole);
  void take_mine();
  // Intervals cut into what one message holds.
  std::vector<Intervals> buckets(const Intervals& intervals) const;
  void each_bucket(const std::function<void(int rank, const Intervals& bucket)>& f) const;
  void move(const std::vector<Tensor>& tensors) const;

  std::vector<Tensor> parameters_, mine_;
  Ranks& ranks_;
  std::vector<Intervals> shards_;                // by rank; of a parameter a rank has one interval at most
  std::vector<std::vector<Intervals>> buckets_;  // by rank
  std::vector<std::vector<std::pair<int64_t, int>>> owners_;  // by parameter: first elements and ranks
};

}  // namespace isobar
