#include "shards.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <utility>

#include "kernels/sweep.h"
#include "raw.h"

namespace isobar {
namespace {

char* bytes_of(const Tensor& x) { return static_cast<char*>(raw::Access::address(x, x.dtype())); }

Stretch stretch(const Tensor& x, int64_t begin, int64_t end) {
  const auto size = static_cast<int64_t>(size_of(x.dtype()));
  return {bytes_of(x) + begin * size, static_cast<size_t>((end - begin) * size)};
}

Tensor view(const Tensor& x, int64_t begin, int64_t end) {
  return raw::as_strided(x, Shape(end - begin), {1}, begin);
}

void copy(const Stretch& to, const Stretch& from) { std::memcpy(to.data, from.data, from.bytes); }

// The stretches of a list of runs; a tensor that is undefined has none.
template <class Runs>
std::vector<Stretch> stretches(const std::vector<Tensor>& tensors, const Runs& runs) {
  std::vector<Stretch> all;
  for (const auto& run : runs)
    if (const Tensor& x = tensors[run.parameter]; x.defined()) all.push_back(stretch(x, run.begin, run.end));
  return all;
}

// A block of a step's pieces: whose it is, and the how manieth of that rank's.
struct Held {
  int rank;
  size_t number;
  int64_t first, pieces;
};

std::vector<Held> blocks_of_all(const Ranks& ranks, int64_t pieces) {
  std::vector<Held> all;
  for (int rank = ranks.size() - 1; rank >= 0; --rank) {
    const Share share = ranks.share(pieces, rank);
    size_t number = 0;
    for (const TreeSum::Block& block : TreeSum::blocks_of(share.begin, share.end))
      all.push_back({rank, number++, block.first, block.pieces});
  }
  return all;
}

}  // namespace

Shards::Shards(std::vector<Tensor> parameters, Ranks& ranks, const std::vector<Tensor>& whole)
    : parameters_(std::move(parameters)), ranks_(ranks) {
  if (ranks_.size() == 1) {
    mine_ = parameters_;
    return;
  }
  for (size_t i = 0; i < parameters_.size(); ++i)
    check(parameters_[i].is_contiguous(), "shards: parameter {} {} is not contiguous; train a clone() of it",
          i, parameters_[i].shape());
  divide(whole);
  take_mine();
}

// Whole parameters first, each to the rank that has least; then the others in order, until a rank has its fair part.
void Shards::divide(const std::vector<Tensor>& whole) {
  const auto is_whole = [&](const Tensor& x) {
    return std::any_of(whole.begin(), whole.end(), [&](const Tensor& other) { return other.id() == x.id(); });
  };
  const auto size = static_cast<size_t>(ranks_.size());
  shards_.assign(size, {});
  std::vector<int64_t> elements(size, 0);
  int64_t all = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const int64_t n = parameters_[i].numel();
    all += n;
    if (!is_whole(parameters_[i])) continue;
    const size_t least = std::min_element(elements.begin(), elements.end()) - elements.begin();
    shards_[least].push_back({i, 0, n});
    elements[least] += n;
  }
  const int64_t fair = (all + ranks_.size() - 1) / ranks_.size();
  int64_t position = 0;  // in the concatenation
  size_t rank = 0;
  for (size_t i = 0; i < parameters_.size(); position += parameters_[i++].numel()) {
    const int64_t n = parameters_[i].numel();
    if (is_whole(parameters_[i])) continue;
    for (int64_t begin = 0, end = 0; begin < n; begin = end) {
      const int64_t grain = kernels::Sweep::grain, place = position + begin;
      end = std::min(n, begin + grain - place % grain);
      while (rank + 1 < size && elements[rank] + (end - begin) / 2 > fair) ++rank;
      elements[rank] += end - begin;
      Runs& runs = shards_[rank];
      if (!runs.empty() && runs.back().parameter == i)
        runs.back().end = end;
      else
        runs.push_back({i, begin, end});
    }
  }
  for (Runs& runs : shards_)
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.parameter < b.parameter; });
}

void Shards::take_mine() {
  owners_.resize(parameters_.size());
  for (size_t rank = 0; rank < shards_.size(); ++rank)
    for (const Run& run : shards_[rank])
      owners_[run.parameter].emplace_back(run.begin, static_cast<int>(rank));
  for (auto& runs : owners_) std::sort(runs.begin(), runs.end());
  for (const Runs& runs : shards_) buckets_.push_back(buckets(runs));
  for (const Tensor& parameter : parameters_) {
    const Shape none = parameter.ndim() == 2 ? Shape{0, parameter.size(1)} : Shape(0);
    mine_.push_back(Tensor(none, parameter.dtype()).set_trainable());
  }
  for (const Run& run : shards_[static_cast<size_t>(ranks_.rank())]) {
    const Tensor& parameter = parameters_[run.parameter];
    mine_[run.parameter] = run.end - run.begin == parameter.numel()
                               ? parameter
                               : view(parameter, run.begin, run.end).set_trainable();
  }
}

Shards::Owner Shards::owner(size_t i, int64_t element) const {
  const auto& runs = owners_[i];
  const auto after = std::upper_bound(runs.begin(), runs.end(), std::pair(element, ranks_.size()));
  return {after[-1].second, after[-1].first};
}

// Small enough that those of all ranks fit into 4 MiB and a receiver sees soon that something arrives, large enough that
// a message's own costs do not show.
std::vector<Shards::Runs> Shards::buckets(const Runs& runs) const {
  const int64_t most =
      std::max<int64_t>(kernels::Sweep::grain, (int64_t{1} << 20) / std::max(8, ranks_.size()));
  std::vector<Runs> all;
  int64_t room = 0;
  for (const Run& run : runs)
    for (int64_t begin = run.begin, end = 0; begin < run.end; begin = end) {
      if (room == 0) {
        all.emplace_back();
        room = most;
      }
      end = std::min(run.end, begin + room);
      room -= end - begin;
      all.back().push_back({run.parameter, begin, end});
    }
  return all;
}

// f(rank, bucket): the ranks' first ones, then their second ones and so on, so that all ranks have work from the start.
void Shards::each_bucket(const std::function<void(int, const Runs&)>& f) const {
  size_t most = 0;
  for (const auto& buckets : buckets_) most = std::max(most, buckets.size());
  for (size_t b = 0; b < most; ++b)
    for (int step = 1; step <= ranks_.size(); ++step) {
      const int rank = (ranks_.rank() + step) % ranks_.size();
      const auto& buckets = buckets_[static_cast<size_t>(rank)];
      if (b < buckets.size()) f(rank, buckets[b]);
    }
}

std::string Shards::presence(const std::vector<TreeSum::Block>& blocks) {
  std::string text;
  for (const TreeSum::Block& block : blocks)
    for (const Tensor& sum : block.sums) text += sum.defined() ? '1' : '0';
  return text.find('0') == std::string::npos ? "" : text;
}

void Shards::sum(std::vector<TreeSum::Block> mine, const std::vector<std::string>& present, int64_t pieces) {
  const int me = ranks_.rank();
  const std::vector<Held> held = blocks_of_all(ranks_, pieces);
  const auto has = [&](const Held& block, size_t i) {
    const std::string& all = present[static_cast<size_t>(block.rank)];
    return all.empty() || all[block.number * parameters_.size() + i] == '1';
  };
  for (TreeSum::Block& block : mine)
    for (Tensor& sum : block.sums)
      if (sum.defined()) sum = raw::contiguous(std::move(sum));

  std::vector<Ranks::Message> sent;
  each_bucket([&](int to, const Runs& bucket) {
    if (to == me) return;
    for (const TreeSum::Block& block : mine)
      if (const std::vector<Stretch> what = stretches(block.sums, bucket); !what.empty())
        sent.push_back(ranks_.send(to, Ranks::Tag::sum, what));
  });

  // A bucket's sums, by block and run; those of others are on their way.
  struct Incoming {
    std::vector<std::vector<Tensor>> sums;
    std::vector<Ranks::Message> messages;
  };
  const auto order = [&](const Runs& bucket) {
    Incoming in;
    for (const Held& block : held) {
      std::vector<Tensor>& sums = in.sums.emplace_back();
      std::vector<Stretch> where;
      for (const Run& run : bucket) {
        sums.emplace_back();
        if (!has(block, run.parameter)) continue;
        if (block.rank == me) {
          sums.back() = view(mine[block.number].sums[run.parameter], run.begin, run.end);
        } else {
          sums.back() = Tensor(Shape(run.end - run.begin), parameters_[run.parameter].dtype());
          where.push_back(stretch(sums.back(), 0, run.end - run.begin));
        }
      }
      if (!where.empty()) in.messages.push_back(ranks_.receive(block.rank, Ranks::Tag::sum, where));
    }
    return in;
  };

  std::vector<Tensor> gradients(parameters_.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    if (std::any_of(held.begin(), held.end(), [&](const Held& block) { return has(block, i); }))
      gradients[i] = Tensor(mine_[i].shape(), mine_[i].dtype());
  std::vector<int64_t> filled(parameters_.size(), 0);
  const std::vector<Runs>& own = buckets_[static_cast<size_t>(me)];
  // Some 16 MiB are ordered ahead, for an order that goes the way of the data waits behind them.
  const size_t ahead = std::max(4, 32 / ranks_.size());
  std::deque<Incoming> ordered;
  for (size_t b = 0; b < own.size(); ++b) {
    while (ordered.size() < ahead && b + ordered.size() < own.size())
      ordered.push_back(order(own[b + ordered.size()]));
    Incoming now = std::move(ordered.front());
    ordered.pop_front();
    ranks_.wait(std::move(now.messages));
    TreeSum tree;
    for (size_t k = 0; k < held.size(); ++k) tree.add(std::move(now.sums[k]), held[k].pieces);
    const std::vector<Tensor> sums = tree.take();
    for (size_t j = 0; j < sums.size(); ++j) {
      if (!sums[j].defined()) continue;
      int64_t& from = filled[own[b][j].parameter];
      copy(stretch(gradients[own[b][j].parameter], from, from + sums[j].numel()),
           stretch(sums[j], 0, sums[j].numel()));
      from += sums[j].numel();
    }
  }
  ranks_.wait(std::move(sent));
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) mine_[i].set_grad(std::move(gradients[i]));
}

// Every rank's shard of the tensors, which are like the parameters, to all.
void Shards::move(const std::vector<Tensor>& tensors) const {
  std::vector<Ranks::Message> messages;
  each_bucket([&](int from, const Runs& bucket) {
    const std::vector<Stretch> places = stretches(tensors, bucket);
    if (places.empty()) return;
    if (from != ranks_.rank()) {
      messages.push_back(ranks_.receive(from, Ranks::Tag::spread, places));
      return;
    }
    for (int step = 1; step < ranks_.size(); ++step)
      messages.push_back(ranks_.send((from + step) % ranks_.size(), Ranks::Tag::spread, places));
  });
  ranks_.wait(std::move(messages));
}

void Shards::spread() {
  if (ranks_.size() == 1) return;
  for (const Tensor& parameter : parameters_)
    raw::Access::of(parameter).storage->version->count_write("Shards");
  move(parameters_);
}

void Shards::spread_gradients() const {
  if (ranks_.size() == 1) return;
  std::vector<Tensor> whole(parameters_.size());
  for (size_t i = 0; i < whole.size(); ++i)
    if (mine_[i].grad().defined()) whole[i] = Tensor(parameters_[i].shape(), parameters_[i].dtype());
  for (const Run& run : shards_[static_cast<size_t>(ranks_.rank())])
    if (whole[run.parameter].defined())
      copy(stretch(whole[run.parameter], run.begin, run.end),
           stretch(mine_[run.parameter].grad(), 0, run.end - run.begin));
  move(whole);
  for (size_t i = 0; i < whole.size(); ++i)
    if (whole[i].defined()) parameters_[i].set_grad(std::move(whole[i]));
}

void Shards::clear_gradients() const {
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].id() != mine_[i].id()) parameters_[i].clear_grad();
}

std::vector<Tensor> Shards::collect(const std::vector<Tensor>& parts, const std::vector<size_t>& of) {
  if (ranks_.size() == 1) return parts;
  std::vector<Tensor> whole(parts.size());
  if (ranks_.first())
    for (size_t k = 0; k < parts.size(); ++k) whole[k] = Tensor(parameters_[of[k]].shape(), parts[k].dtype());
  std::vector<Ranks::Message> messages;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_.first() && rank != ranks_.rank()) continue;
    std::vector<Stretch> places;  // whole ones on the first rank, on another its parts
    for (size_t k = 0; k < parts.size(); ++k)
      for (const Run& run : shards_[static_cast<size_t>(rank)])
        if (run.parameter == of[k] && rank == 0)
          copy(stretch(whole[k], run.begin, run.end), stretch(parts[k], 0, run.end - run.begin));
        else if (run.parameter == of[k])
          places.push_back(ranks_.first() ? stretch(whole[k], run.begin, run.end)
                                          : stretch(parts[k], 0, run.end - run.begin));
    if (places.empty()) continue;
    messages.push_back(ranks_.first() ? ranks_.receive(rank, Ranks::Tag::collect, places)
                                      : ranks_.send(0, Ranks::Tag::collect, places));
  }
  ranks_.wait(std::move(messages));
  return whole;
}

Tensor Shards::part(size_t i, const Tensor& whole) const {
  if (ranks_.size() == 1) return whole;
  check(whole.shape() == parameters_[i].shape(), "shards: wanted {}, as parameter {}, got {}",
        parameters_[i].shape(), i, whole.shape());
  Tensor part(mine_[i].shape(), whole.dtype());
  for (const Run& run : shards_[static_cast<size_t>(ranks_.rank())])
    if (run.parameter == i)
      copy(stretch(part, 0, run.end - run.begin), stretch(raw::contiguous(whole), run.begin, run.end));
  return part;
}

}  // namespace isobar
