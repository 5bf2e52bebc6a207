// The tree by recursion: ranks or leaves [first, end) are split at the largest power of two below their
// number.
#include "a10.h"

#include <cmath>
#include <limits>

Part share(int64_t count, int size, int rank) {
  check(rank >= 0 && rank < size, "there is no rank {} among {}", rank, size);
  Part part{0, 0};
  for (int r = 0; r <= rank; ++r) {
    part.begin = part.end;
    const int64_t left = count - part.begin, takers = size - r;
    part.end += (left + takers - 1) / takers;
  }
  return part;
}

namespace {

using Values = std::vector<float>;

int64_t split(int64_t count) {
  int64_t half = 1;
  while (2 * half < count) half *= 2;
  return half;
}

Values plus(const Values& a, const Values& b) {
  Values sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

// On rank `first` the sum of ranks [first, end).
Values up(Link& link, int first, int end, const Values& mine) {
  const int rank = link.rank();
  if (end - first == 1) return mine;
  const int middle = first + static_cast<int>(split(end - first));
  const Values part = rank < middle ? up(link, first, middle, mine) : up(link, middle, end, mine);
  if (rank == middle) link.send(first, part);
  return rank == first ? plus(part, link.receive(middle).values) : part;
}

Values down(Link& link, int first, int end, Values whole) {
  const int rank = link.rank();
  if (end - first == 1) return whole;
  const int middle = first + static_cast<int>(split(end - first));
  if (rank == first) link.send(middle, whole);
  if (rank == middle) whole = link.receive(first).values;
  return rank < middle ? down(link, first, middle, whole) : down(link, middle, end, whole);
}

}  // namespace

Tensor reduce_tree(Link& link, const Tensor& x) { return vector_of(up(link, 0, link.size(), numbers(x))); }

Tensor all_reduce(Link& link, const Tensor& x) {
  return vector_of(down(link, 0, link.size(), up(link, 0, link.size(), numbers(x))));
}

Tensor all_reduce_chunks(Link& link, const Tensor& x, int64_t most) {
  Values all = numbers(x);
  const int64_t count = all.size();
  auto each = [&](auto f) {
    for (int64_t first = 0; first < count; first += most) {
      const int64_t end = first + most < count ? first + most : count;
      const Values part = f(Values(all.begin() + first, all.begin() + end));
      std::copy(part.begin(), part.end(), all.begin() + first);
    }
  };
  each([&](const Values& part) { return up(link, 0, link.size(), part); });
  each([&](const Values& part) { return down(link, 0, link.size(), part); });
  return vector_of(all);
}

// The rows first, then gradients that are weighted by their share of them.
Tensor step(Link& link, const Tensor& w, const Tensor& x, const Tensor& y, float rate) {
  const float rows = all_reduce(link, vector_of({static_cast<float>(x.size(0))})).data<float>()[0];
  Values part(w.numel());
  if (x.size(0) > 0) part = numbers(mean_gradient(w, x, y));
  for (float& value : part) value *= x.size(0) / rows;
  const Tensor gradient = all_reduce(link, vector_of(part));
  Values next;
  for (int64_t c = 0; c < w.numel(); ++c)
    next.push_back(w.data<float>()[c] - rate * gradient.data<float>()[c]);
  return vector_of(next);
}

Tensor sum_leaves(Link& link, const Tensor& leaves, int64_t count) {
  const int64_t width = leaves.size(1), begin = share(count, link.size(), link.rank()).begin;
  auto owner = [&](int64_t leaf) {
    for (int rank = 0;; ++rank)
      if (leaf < share(count, link.size(), rank).end) return rank;
  };
  auto node = [&](auto& self, int64_t first, int64_t end) -> Values {
    const int rank = link.rank();
    if (end - first == 1) {
      if (owner(first) != rank) return {};
      const float* const row = leaves.data<float>() + (first - begin) * width;
      return Values(row, row + width);
    }
    const int64_t middle = first + split(end - first);
    const Values left = self(self, first, middle);
    Values right = self(self, middle, end);
    const int source = owner(middle), target = owner(first);
    if (rank == source && source != target) link.send(target, right);
    if (rank == target && source != target) right = link.receive(source).values;
    return rank == target ? plus(left, right) : Values();
  };
  return vector_of(down(link, 0, link.size(), node(node, 0, count)));
}

namespace {

[[noreturn]] void mourn(int dead) { isobar::throw_error(fmt::format("the link to rank {} is cut", dead)); }

// As up and down; a message with a tag is no sum, but its tag − 1 is the rank that is dead. `dead` is −1, or
// that rank.
void up_safely(Link& link, int first, int end, Values& sum, int& dead) {
  if (end - first == 1) return;
  const int rank = link.rank(), middle = first + static_cast<int>(split(end - first));
  rank < middle ? up_safely(link, first, middle, sum, dead) : up_safely(link, middle, end, sum, dead);
  if (rank == middle && !link.send(first, dead < 0 ? sum : Values(), dead + 1)) dead = first;
  if (rank != first) return;
  const Message part = link.receive(middle);
  if (part.dead || part.tag > 0)
    dead = part.dead ? middle : part.tag - 1;
  else if (dead < 0)
    sum = plus(sum, part.values);
}

void down_safely(Link& link, int first, int end, Values& sum, int& dead) {
  if (end - first == 1) return;
  const int rank = link.rank(), middle = first + static_cast<int>(split(end - first));
  if (rank == first) link.send(middle, dead < 0 ? sum : Values(), dead + 1);
  if (rank == middle) {
    const Message whole = link.receive(first);
    if (whole.dead || whole.tag > 0) dead = whole.dead ? first : whole.tag - 1;
    sum = whole.values;
  }
  rank < middle ? down_safely(link, first, middle, sum, dead) : down_safely(link, middle, end, sum, dead);
}

}  // namespace

Tensor all_reduce_safely(Link& link, const Tensor& x) {
  Values sum = numbers(x);
  int dead = -1;
  up_safely(link, 0, link.size(), sum, dead);
  down_safely(link, 0, link.size(), sum, dead);
  if (dead >= 0) mourn(dead);
  return vector_of(sum);
}
