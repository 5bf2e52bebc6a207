// Shards::sum(): each rank sends its blocks of a shard to the shard's rank, bucket after bucket, and that
// rank adds them in the order of the tree.
#include <algorithm>
#include <deque>

#include "byte_spans.h"
#include "shards.h"

namespace isobar {
class Shards::Sum {
 public:
  Sum(const Shards& shards, std::vector<TreeSum::Block> mine, const std::vector<std::string>& present,
      int64_t pieces)
      : shards_(shards),
        ranks_(shards.ranks_),
        mine_(std::move(mine)),
        present_(present),
        blocks_(blocks_of_all(shards.ranks_, pieces)) {
    for (TreeSum::Block& block : mine_)
      for (Tensor& sum : block.sums)
        if (sum.defined()) sum = raw::contiguous(std::move(sum));
  }

  // The gradients of shards.mine().
  std::vector<Tensor> run() {
    const std::vector<Ranks::Message> sent = send_mine();
    std::vector<Tensor> gradients = gradients_to_fill();
    std::vector<int64_t> filled(gradients.size(), 0);
    const std::vector<Intervals>& buckets = shards_.buckets_[static_cast<size_t>(ranks_.rank())];
    // Receives for about 16 MiB are posted ahead: a request queues behind data in flight.
    const size_t ahead = std::max(4, 32 / ranks_.size());
    std::deque<Incoming> posted;
    for (size_t b = 0; b < buckets.size(); ++b) {
      while (posted.size() < ahead && b + posted.size() < buckets.size())
        posted.push_back(receive(buckets[b + posted.size()]));
      const std::vector<Tensor> sums = added(std::move(posted.front()));
      posted.pop_front();
      for (size_t j = 0; j < sums.size(); ++j) {
        if (!sums[j].defined()) continue;
        int64_t& from = filled[buckets[b][j].parameter];
        copy(span_to_fill(gradients[buckets[b][j].parameter], from, from + sums[j].numel()),
             span_of(sums[j]));
        from += sums[j].numel();
      }
    }
    ranks_.wait(sent);
    return gradients;
  }

 private:
  // A block of a step's pieces: whose it is, and its number among that rank's.
  struct Held {
    int rank;
    size_t number;
    int64_t pieces;
  };

  // In the order of the pieces.
  static std::vector<Held> blocks_of_all(const Ranks& ranks, int64_t pieces) {
    std::vector<Held> all;
    for (int rank = ranks.size() - 1; rank >= 0; --rank) {
      const IndexRange share = ranks.share(pieces, rank);
      size_t number = 0;
      for (const TreeSum::Block& block : TreeSum::blocks_of(share.begin, share.end))
        all.push_back({rank, number++, block.pieces});
    }
    return all;
  }

  // A bucket's sums, by block and interval; those of other ranks are on their way.
  struct Incoming {
    std::vector<std::vector<Tensor>> sums;
    std::vector<Ranks::Message> messages;
  };

  bool has(const Held& block, size_t parameter) const {
    const std::string& all = present_[static_cast<size_t>(block.rank)];
    return all.empty() || all[block.number * shards_.parameters_.size() + parameter] == '1';
  }

  std::vector<Ranks::Message> send_mine() {
    std::vector<Ranks::Message> sent;
    shards_.each_bucket([&](int to, const Intervals& bucket) {
      if (to == ranks_.rank()) return;
      for (const TreeSum::Block& block : mine_)
        if (const std::vector<ByteSpan> what = spans(block.sums, bucket); !what.empty())
          sent.push_back(ranks_.send(to, Ranks::Tag::sum, what));
    });
    return sent;
  }

  std::vector<Tensor> gradients_to_fill() const {
    std::vector<Tensor> gradients(shards_.parameters_.size());
    for (size_t i = 0; i < gradients.size(); ++i)
      if (std::any_of(blocks_.begin(), blocks_.end(), [&](const Held& block) { return has(block, i); }))
        gradients[i] = Tensor(shards_.mine_[i].shape(), shards_.mine_[i].dtype());
    return gradients;
  }

  Incoming receive(const Intervals& bucket) {
    Incoming in;
    for (const Held& block : blocks_) {
      std::vector<Tensor>& sums = in.sums.emplace_back();
      std::vector<ByteSpan> where;
      for (const Interval& interval : bucket) {
        sums.emplace_back();
        if (!has(block, interval.parameter)) continue;
        const Shape shape(interval.end - interval.begin);
        if (block.rank == ranks_.rank()) {
          sums.back() =
              raw::as_strided(mine_[block.number].sums[interval.parameter], shape, {1}, interval.begin);
        } else {
          sums.back() = Tensor(shape, shards_.parameters_[interval.parameter].dtype());
          where.push_back(span_to_fill(sums.back()));
        }
      }
      if (!where.empty()) in.messages.push_back(ranks_.receive(block.rank, Ranks::Tag::sum, where));
    }
    return in;
  }

  std::vector<Tensor> added(Incoming in) {
    ranks_.wait(std::move(in.messages));
    TreeSum tree;
    for (size_t k = 0; k < blocks_.size(); ++k) tree.add(std::move(in.sums[k]), blocks_[k].pieces);
    return tree.take();
  }

  const Shards& shards_;
  Ranks& ranks_;
  std::vector<TreeSum::Block> mine_;
  const std::vector<std::string>& present_;  // by rank
  const std::vector<Held> blocks_;
};

std::string Shards::presence(const std::vector<TreeSum::Block>& blocks) {
  std::string text;
  for (const TreeSum::Block& block : blocks)
    for (const Tensor& sum : block.sums) text += sum.defined() ? '1' : '0';
  return text.find('0') == std::string::npos ? "" : text;
}

void Shards::sum(std::vector<TreeSum::Block> mine, const std::vector<std::string>& present, int64_t pieces) {
  std::vector<Tensor> gradients = Sum(*this, std::move(mine), present, pieces).run();
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) mine_[i].set_grad(std::move(gradients[i]));
}

}  // namespace isobar
