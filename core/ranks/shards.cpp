#include "shards.h"

#include <unordered_set>

#include "../kernels/sweep.h"
#include "byte_spans.h"

namespace isobar {
Shards::Shards(std::vector<Tensor> parameters, Ranks& ranks, const std::vector<Tensor>& whole)
    : parameters_(std::move(parameters)), ranks_(ranks) {
  std::unordered_set<const void*> ids;
  for (size_t i = 0; i < parameters_.size(); ++i)
    check(ids.insert(parameters_[i].id()).second, "shards: parameter {} {} is given twice", i,
          parameters_[i].shape());
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

// Whole parameters first, each to the rank that has least; then the others in order, until a rank has its
// fair part.
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
      Intervals& intervals = shards_[rank];
      if (!intervals.empty() && intervals.back().parameter == i)
        intervals.back().end = end;
      else
        intervals.push_back({i, begin, end});
    }
  }
}

void Shards::take_mine() {
  owners_.resize(parameters_.size());
  for (size_t rank = 0; rank < shards_.size(); ++rank)
    for (const Interval& interval : shards_[rank])
      owners_[interval.parameter].emplace_back(interval.begin, static_cast<int>(rank));
  for (auto& intervals : owners_) std::sort(intervals.begin(), intervals.end());
  for (const Intervals& intervals : shards_) buckets_.push_back(buckets(intervals));
  for (const Tensor& parameter : parameters_) {
    const Shape none = parameter.ndim() == 2 ? Shape{0, parameter.size(1)} : Shape(0);
    mine_.push_back(Tensor(none, parameter.dtype()).set_trainable());
  }
  for (const Interval& interval : shards_[static_cast<size_t>(ranks_.rank())]) {
    const Tensor& parameter = parameters_[interval.parameter];
    mine_[interval.parameter] =
        interval.end - interval.begin == parameter.numel()
            ? parameter
            : raw::as_strided(parameter, Shape(interval.end - interval.begin), {1}, interval.begin)
                  .set_trainable();
  }
}

Shards::Owner Shards::owner(size_t i, int64_t element) const {
  const auto& intervals = owners_[i];
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), std::pair(element, ranks_.size()));
  return {after[-1].second, after[-1].first};
}

// Small enough that those of all ranks fit into 4 MiB and a receiver sees soon that something arrives, large
// enough that a message's own costs do not show.
std::vector<Shards::Intervals> Shards::buckets(const Intervals& intervals) const {
  const int64_t most =
      std::max<int64_t>(kernels::Sweep::grain, (int64_t{1} << 20) / std::max(8, ranks_.size()));
  std::vector<Intervals> all;
  int64_t room = 0;
  for (const Interval& interval : intervals)
    for (int64_t begin = interval.begin, end = 0; begin < interval.end; begin = end) {
      if (room == 0) {
        all.emplace_back();
        room = most;
      }
      end = std::min(interval.end, begin + room);
      room -= end - begin;
      all.back().push_back({interval.parameter, begin, end});
    }
  return all;
}

// f(rank, bucket): the ranks' first ones, then their second ones and so on, so that all ranks have work from
// the start.
void Shards::each_bucket(const std::function<void(int, const Intervals&)>& f) const {
  size_t most = 0;
  for (const auto& buckets : buckets_) most = std::max(most, buckets.size());
  for (size_t b = 0; b < most; ++b)
    for (int step = 1; step <= ranks_.size(); ++step) {
      const int rank = (ranks_.rank() + step) % ranks_.size();
      const auto& buckets = buckets_[static_cast<size_t>(rank)];
      if (b < buckets.size()) f(rank, buckets[b]);
    }
}

// Every rank's shard of the tensors, which are like the parameters, to all.
void Shards::move(const std::vector<Tensor>& tensors) const {
  std::vector<Ranks::Message> messages;
  each_bucket([&](int from, const Intervals& bucket) {
    const std::vector<ByteSpan> places = spans(tensors, bucket, from != ranks_.rank());
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
  if (ranks_.size() > 1) move(parameters_);
}

void Shards::spread_gradients() const {
  if (ranks_.size() == 1) return;
  std::vector<Tensor> whole(parameters_.size());
  for (size_t i = 0; i < whole.size(); ++i)
    if (mine_[i].grad().defined()) whole[i] = Tensor(parameters_[i].shape(), parameters_[i].dtype());
  for (const Interval& interval : shards_[static_cast<size_t>(ranks_.rank())])
    if (whole[interval.parameter].defined())
      copy(span_to_fill(whole[interval.parameter], interval.begin, interval.end),
           span_of(mine_[interval.parameter].grad()));
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
    std::vector<ByteSpan> places;  // whole ones on the first rank, on another its parts
    for (size_t k = 0; k < parts.size(); ++k)
      for (const Interval& interval : shards_[static_cast<size_t>(rank)])
        if (interval.parameter == of[k] && rank == 0)
          copy(span_to_fill(whole[k], interval.begin, interval.end), span_of(parts[k]));
        else if (interval.parameter == of[k])
          places.push_back(ranks_.first() ? span_to_fill(whole[k], interval.begin, interval.end)
                                          : span_of(parts[k]));
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
  for (const Interval& interval : shards_[static_cast<size_t>(ranks_.rank())])
    if (interval.parameter == i)
      copy(span_to_fill(part), span_of(raw::contiguous(whole), interval.begin, interval.end));
  return part;
}

}  // namespace isobar
