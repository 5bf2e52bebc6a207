#include "a10.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

// Task 1.
Part share(int64_t count, int size, int rank) {
  check(rank >= 0 && rank < size, "share: wanted a rank of 0 to {}, got {}", size - 1, rank);
  const int64_t each = count / size, more = count % size;
  const int64_t begin = rank * each + std::min<int64_t>(rank, more);
  return {begin, begin + each + (rank < more ? 1 : 0)};
}

namespace {

void add(std::vector<float>& sum, const std::vector<float>& other) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
}

// The sum by the tree on rank 0; what others return is a part of it.
std::vector<float> reduce(Link& link, std::vector<float> sum) {
  const int rank = link.rank();
  for (int stride = 1; stride < link.size(); stride *= 2) {
    if (rank % (2 * stride) != 0) {
      link.send(rank - stride, sum);
      return sum;
    }
    if (rank + stride < link.size()) add(sum, link.receive(rank + stride).values);
  }
  return sum;
}

}  // namespace

// Task 2.
Tensor reduce_tree(Link& link, const Tensor& x) {
  const std::vector<float> sum = reduce(link, numbers(x));
  return link.rank() == 0 ? vector_of(sum) : Tensor();
}

namespace {

// Rank 0's numbers, on every rank, down the same tree.
void broadcast(Link& link, std::vector<float>& values) {
  const int rank = link.rank();
  int stride = 1;
  while (stride < link.size()) stride *= 2;
  for (stride /= 2; stride > 0; stride /= 2) {
    if (rank % (2 * stride) == stride) values = link.receive(rank - stride).values;
    if (rank % (2 * stride) == 0 && rank + stride < link.size()) link.send(rank + stride, values);
  }
}

}  // namespace

// Task 3.
Tensor all_reduce(Link& link, const Tensor& x) {
  std::vector<float> sum = reduce(link, numbers(x));
  broadcast(link, sum);
  return vector_of(sum);
}

// Task 4.
Tensor all_reduce_chunks(Link& link, const Tensor& x, int64_t most) {
  const std::vector<float> all = numbers(x);
  const int64_t count = all.size();
  std::vector<std::vector<float>> chunks;
  for (int64_t first = 0; first < count; first += most)
    chunks.emplace_back(all.begin() + first, all.begin() + std::min(first + most, count));
  for (auto& chunk : chunks) chunk = reduce(link, chunk);
  for (auto& chunk : chunks) broadcast(link, chunk);
  std::vector<float> sum;
  for (const auto& chunk : chunks) sum.insert(sum.end(), chunk.begin(), chunk.end());
  return vector_of(sum);
}

// Given: the gradient of the mean of (x·w − y)²/2 over these rows; of no rows it is 0/0.
Tensor mean_gradient(const Tensor& w, const Tensor& x, const Tensor& y) {
  const int64_t rows = x.size(0), columns = w.numel();
  std::vector<float> sum(columns);
  for (int64_t row = 0; row < rows; ++row) {
    float error = -y.data<float>()[row];
    for (int64_t c = 0; c < columns; ++c) error += x.data<float>()[row * columns + c] * w.data<float>()[c];
    for (int64_t c = 0; c < columns; ++c) sum[c] += error * x.data<float>()[row * columns + c];
  }
  for (float& value : sum) value /= rows;
  return vector_of(sum);
}

// Task 5.
Tensor step(Link& link, const Tensor& w, const Tensor& x, const Tensor& y, float rate) {
  const float rows = x.size(0);
  std::vector<float> mine = numbers(mean_gradient(w, x, y));
  for (float& value : mine) value = rows > 0 ? value * rows : 0;
  mine.push_back(rows);
  std::vector<float> total = numbers(all_reduce(link, vector_of(mine)));
  const float all_rows = total.back();
  std::vector<float> next = numbers(w);
  for (size_t c = 0; c < next.size(); ++c) next[c] -= rate * total[c] / all_rows;
  return vector_of(next);
}

namespace {

int owner(int64_t leaf, int64_t count, int size) {
  int rank = 0;
  while (share(count, size, rank).end <= leaf) ++rank;
  return rank;
}

}  // namespace

// Task 6.
Tensor sum_leaves(Link& link, const Tensor& leaves, int64_t count) {
  const std::vector<float> all = numbers(leaves);
  const int64_t width = leaves.size(1), mine = share(count, link.size(), link.rank()).begin;
  std::map<int64_t, std::vector<float>> sums;  // of the node that begins at a leaf
  for (int64_t i = 0; i < leaves.size(0); ++i)
    sums[mine + i].assign(all.begin() + i * width, all.begin() + (i + 1) * width);
  for (int64_t stride = 1; stride < count; stride *= 2)
    for (int64_t first = 0; first + stride < count; first += 2 * stride) {
      const int left = owner(first, count, link.size()), right = owner(first + stride, count, link.size());
      if (link.rank() == right && left != right) link.send(left, sums[first + stride]);
      if (link.rank() == left)
        add(sums[first], left == right ? sums[first + stride] : link.receive(right).values);
    }
  broadcast(link, sums[0]);
  return vector_of(sums[0]);
}

namespace {

constexpr int nobody = -1;

// The dead rank that a message tells of, by its tag or by being none; or nobody.
int heard_of(const Message& message) { return message.dead ? message.from : message.tag - 1; }

}  // namespace

// Task 7.
Tensor all_reduce_safely(Link& link, const Tensor& x) {
  const int rank = link.rank(), size = link.size();
  std::vector<float> sum = numbers(x);
  int dead = nobody, stride = 1;
  for (; stride < size && rank % (2 * stride) == 0; stride *= 2) {
    if (rank + stride >= size) continue;
    const Message part = link.receive(rank + stride);
    if (heard_of(part) != nobody)
      dead = heard_of(part);
    else
      add(sum, part.values);
  }
  if (rank != 0) {
    if (!link.send(rank - stride, sum, dead + 1)) dead = rank - stride;
    const Message whole = link.receive(rank - stride);
    if (heard_of(whole) != nobody) dead = heard_of(whole);
    sum = whole.values;
  }
  for (stride /= 2; stride > 0; stride /= 2)
    if (rank + stride < size) link.send(rank + stride, sum, dead + 1);
  check(dead == nobody, "all_reduce: rank {} is dead, rank {} has no sum", dead, rank);
  return vector_of(sum);
}

// Task 8.
Times predict(int size, double alpha, double beta, double bytes) {
  const double rounds = std::ceil(std::log2(size)), others = size - 1;
  const double tree = 2 * rounds * (alpha + bytes / beta), ring = 2 * others * (alpha + bytes / size / beta);
  const double saved = rounds - others / size;  // of a byte's time
  const double from =
      size == 1 ? std::numeric_limits<double>::infinity() : alpha * beta * (others - rounds) / saved;
  return {tree, ring, from};
}
