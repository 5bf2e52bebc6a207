#include "sum_over_ranks.h"

#include <cstring>
#include <deque>

#include "../kernels/sweep.h"
#include "../raw.h"

namespace isobar {
namespace {

// Elements of one tensor.
struct Interval {
  size_t tensor;
  int64_t begin, end;
};
// What one message holds.
using Bucket = std::vector<Interval>;

// Returns buckets of one size, as many for each rank; of a small model some ranks may have none. They are small
// enough that those of all ranks fit into 4 MiB and a receiver sees soon that something arrives, and large
// enough that a message's own costs do not show.
std::vector<Bucket> buckets_of(const std::vector<Tensor>& tensors, int ranks) {
  int64_t elements = 0;
  for (const Tensor& x : tensors) elements += x.numel();
  const int64_t least = kernels::Sweep::grain;
  const int64_t most = std::max(least, (int64_t{1} << 20) / std::max(8, ranks));
  const int64_t rounds = std::max<int64_t>(1, chunk_count(elements, most * ranks));
  const int64_t size = std::max(least, chunk_count(elements, rounds * ranks));
  std::vector<Bucket> buckets;
  int64_t left = 0;  // of the last bucket
  for (size_t i = 0; i < tensors.size(); ++i)
    for (int64_t begin = 0, end = 0; begin < tensors[i].numel(); begin = end) {
      if (left == 0) {
        buckets.emplace_back();
        left = size;
      }
      end = std::min(tensors[i].numel(), begin + left);
      left -= end - begin;
      buckets.back().push_back({i, begin, end});
    }
  return buckets;
}

ByteSpan span_of(const Tensor& x, const Interval& of, void* numbers) {
  const auto size = static_cast<int64_t>(size_of(x.dtype()));
  return {static_cast<char*>(numbers) + of.begin * size, static_cast<size_t>((of.end - of.begin) * size)};
}
ByteSpan span_to_fill(const Tensor& x, const Interval& of) {
  return span_of(x, of, raw::write_any(x, "sum_over_ranks"));
}

// The bucket's part of contiguous tensors, for a message; an undefined one has none.
std::vector<ByteSpan> spans_to_fill(const std::vector<Tensor>& tensors, const Bucket& bucket) {
  std::vector<ByteSpan> spans;
  for (const Interval& interval : bucket)
    if (const Tensor& x = tensors[interval.tensor]; x.defined()) spans.push_back(span_to_fill(x, interval));
  return spans;
}
std::vector<ByteSpan> spans_to_send(const std::vector<Tensor>& tensors, const Bucket& bucket) {
  std::vector<ByteSpan> spans;
  for (const Interval& interval : bucket)
    if (const Tensor& x = tensors[interval.tensor]; x.defined())
      spans.push_back(span_of(x, interval, const_cast<void*>(raw::address(x))));  // it is only read
  return spans;
}

class SumOverRanks {
 public:
  SumOverRanks(Ranks& ranks, std::vector<TreeSum::Block> mine, const std::vector<std::string>& present,
               int64_t pieces, const std::vector<Tensor>& like)
      : ranks_(ranks),
        size_(static_cast<size_t>(ranks.size())),
        rank_(static_cast<size_t>(ranks.rank())),
        mine_(std::move(mine)),
        present_(present),
        like_(like),
        blocks_(blocks_of_all(ranks, pieces)),
        buckets_(buckets_of(like, ranks.size())),
        sums_(like.size()) {
    for (TreeSum::Block& block : mine_)
      for (Tensor& sum : block.sums)
        if (sum.defined()) sum = raw::contiguous(std::move(sum));
    for (size_t i = 0; i < like.size(); ++i)
      if (std::any_of(blocks_.begin(), blocks_.end(), [&](const Held& block) { return has(block, i); }))
        sums_[i] = Tensor(like[i].shape(), like[i].dtype());
  }

  std::vector<Tensor> run() {
    std::vector<Ranks::Message> messages;
    send_blocks(messages);
    receive_sums(messages);
    // Receives for about 16 MiB are posted ahead: a request queues behind data in flight.
    const size_t ahead = std::max<size_t>(4, 32 / size_);
    std::deque<Incoming> posted;
    for (size_t b = rank_, next = rank_; b < buckets_.size(); b += size_) {
      for (; posted.size() < ahead && next < buckets_.size(); next += size_)
        posted.push_back(receive_blocks(buckets_[next]));
      add(std::move(posted.front()), buckets_[b]);
      posted.pop_front();
      send_sums(buckets_[b], messages);
    }
    ranks_.wait(std::move(messages));
    return std::move(sums_);
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

  bool has(const Held& block, size_t i) const {
    const std::string& all = present_[static_cast<size_t>(block.rank)];
    return all.empty() || all[block.number * like_.size() + i] == '1';
  }

  // Calls f(rank, bucket) for the buckets of the other ranks: their first ones, then their second ones and so
  // on, so that all ranks have work from the start.
  void each_foreign_bucket(const std::function<void(int rank, const Bucket& bucket)>& f) const {
    for (size_t round = 0; round < buckets_.size(); round += size_)
      for (size_t step = 1; step < size_; ++step) {
        const size_t rank = (rank_ + step) % size_;
        if (round + rank < buckets_.size()) f(static_cast<int>(rank), buckets_[round + rank]);
      }
  }

  void send_blocks(std::vector<Ranks::Message>& messages) {
    each_foreign_bucket([&](int to, const Bucket& bucket) {
      for (const TreeSum::Block& block : mine_)
        if (const std::vector<ByteSpan> what = spans_to_send(block.sums, bucket); !what.empty())
          messages.push_back(ranks_.send(to, Ranks::Tag::block, what));
    });
  }

  void receive_sums(std::vector<Ranks::Message>& messages) {
    each_foreign_bucket([&](int from, const Bucket& bucket) {
      if (const std::vector<ByteSpan> where = spans_to_fill(sums_, bucket); !where.empty())
        messages.push_back(ranks_.receive(from, Ranks::Tag::sum, where));
    });
  }

  // A bucket's part of the blocks, by block and interval; those of other ranks are on their way.
  struct Incoming {
    std::vector<std::vector<Tensor>> parts;
    std::vector<Ranks::Message> messages;
  };

  Incoming receive_blocks(const Bucket& bucket) {
    Incoming in;
    for (const Held& block : blocks_) {
      std::vector<Tensor>& parts = in.parts.emplace_back();
      std::vector<ByteSpan> where;
      for (const auto& [i, begin, end] : bucket) {
        parts.emplace_back();
        if (!has(block, i)) continue;
        if (block.rank == ranks_.rank()) {
          parts.back() = raw::as_strided(mine_[block.number].sums[i], Shape(end - begin), {1}, begin);
        } else {
          parts.back() = Tensor(Shape(end - begin), like_[i].dtype());
          where.push_back(span_to_fill(parts.back(), {i, 0, end - begin}));
        }
      }
      if (!where.empty()) in.messages.push_back(ranks_.receive(block.rank, Ranks::Tag::block, where));
    }
    return in;
  }

  // Adds the parts into this rank's bucket of the sums.
  void add(Incoming in, const Bucket& bucket) {
    ranks_.wait(std::move(in.messages));
    TreeSum tree;
    for (size_t k = 0; k < blocks_.size(); ++k) tree.add(std::move(in.parts[k]), blocks_[k].pieces);
    const std::vector<Tensor> added = tree.take();
    for (size_t j = 0; j < added.size(); ++j)
      if (added[j].defined()) {
        const ByteSpan to = span_to_fill(sums_[bucket[j].tensor], bucket[j]);
        std::memcpy(to.data, raw::address(added[j]), to.bytes);
      }
  }

  void send_sums(const Bucket& bucket, std::vector<Ranks::Message>& messages) {
    const std::vector<ByteSpan> what = spans_to_send(sums_, bucket);
    for (size_t step = 1; step < size_ && !what.empty(); ++step)
      messages.push_back(ranks_.send(static_cast<int>((rank_ + step) % size_), Ranks::Tag::sum, what));
  }

  Ranks& ranks_;
  const size_t size_, rank_;
  std::vector<TreeSum::Block> mine_;
  const std::vector<std::string>& present_;  // by rank
  const std::vector<Tensor>& like_;
  const std::vector<Held> blocks_;
  const std::vector<Bucket> buckets_;
  std::vector<Tensor> sums_;
};

}  // namespace

std::vector<Tensor> sum_over_ranks(Ranks& ranks, std::vector<TreeSum::Block> mine,
                                   const std::vector<std::string>& present, int64_t pieces,
                                   const std::vector<Tensor>& like) {
  return SumOverRanks(ranks, std::move(mine), present, pieces, like).run();
}

std::string presence(const std::vector<TreeSum::Block>& blocks) {
  std::string text;
  for (const TreeSum::Block& block : blocks)
    for (const Tensor& sum : block.sums) text += sum.defined() ? '1' : '0';
  return text.find('0') == std::string::npos ? "" : text;
}

}  // namespace isobar
