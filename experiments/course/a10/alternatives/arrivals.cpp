// Each rank knows its parent and its children in the tree. It takes messages as they come, and adds them in the tree's order.
#include "a10.h"

#include <cmath>
#include <limits>
#include <map>

Part share(int64_t count, int size, int rank) {
  check(rank >= 0, "a rank of {} is below 0", rank);
  check(rank < size, "a rank of {} is not below {}", rank, size);
  auto begin = [&](int r) { return r * (count / size) + (r < count % size ? r : count % size); };
  return {begin(rank), begin(rank + 1)};
}

namespace {

using Values = std::vector<float>;

struct Place {
  int parent;                 // −1 for rank 0
  std::vector<int> children;  // in the order in which they are added
};

Place place_of(int rank, int size) {
  Place place{rank == 0 ? -1 : rank & (rank - 1), {}};
  for (int bit = 1; (rank & bit) == 0 && rank + bit < size; bit *= 2) place.children.push_back(rank + bit);
  return place;
}

// What `count` ranks have sent, by rank.
std::map<int, Message> taken(Link& link, size_t count) {
  std::map<int, Message> messages;
  while (messages.size() < count) {
    const Message message = link.receive();
    messages[message.from] = message;
  }
  return messages;
}

Values up(Link& link, Values sum) {
  const Place place = place_of(link.rank(), link.size());
  for (const auto& [from, message] : taken(link, place.children.size()))
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += message.values[i];
  if (place.parent >= 0) link.send(place.parent, sum);
  return sum;
}

Values down(Link& link, Values whole) {
  const Place place = place_of(link.rank(), link.size());
  if (place.parent >= 0) whole = link.receive(place.parent).values;
  for (const int child : place.children) link.send(child, whole);
  return whole;
}

}  // namespace

Tensor reduce_tree(Link& link, const Tensor& x) {
  const Values sum = up(link, numbers(x));
  return link.rank() > 0 ? Tensor() : vector_of(sum);
}

Tensor all_reduce(Link& link, const Tensor& x) { return vector_of(down(link, up(link, numbers(x)))); }

// All chunks go up before the first comes down.
Tensor all_reduce_chunks(Link& link, const Tensor& x, int64_t most) {
  const Place place = place_of(link.rank(), link.size());
  Values sum = numbers(x);
  const int64_t count = sum.size(), chunks = (count + most - 1) / most;
  auto end = [&](int64_t c) { return sum.begin() + (c + 1 < chunks ? (c + 1) * most : count); };
  for (int64_t c = 0; c < chunks; ++c) {
    for (const int child : place.children) {
      const Values part = link.receive(child).values;
      for (size_t i = 0; i < part.size(); ++i) sum[c * most + i] += part[i];
    }
    if (place.parent >= 0) link.send(place.parent, Values(sum.begin() + c * most, end(c)));
  }
  for (int64_t c = 0; c < chunks; ++c) {
    const Values part = down(link, Values(sum.begin() + c * most, end(c)));
    for (size_t i = 0; i < part.size(); ++i) sum[c * most + i] = part[i];
  }
  return vector_of(sum);
}

Tensor mean_gradient(const Tensor& w, const Tensor& x, const Tensor& y) {
  const int64_t rows = x.size(0), columns = w.numel();
  Values sum(columns);
  for (int64_t row = 0; row < rows; ++row) {
    float error = -y.data<float>()[row];
    for (int64_t c = 0; c < columns; ++c) error += x.data<float>()[row * columns + c] * w.data<float>()[c];
    for (int64_t c = 0; c < columns; ++c) sum[c] += error * x.data<float>()[row * columns + c];
  }
  for (float& value : sum) value /= rows;
  return vector_of(sum);
}

Tensor step(Link& link, const Tensor& w, const Tensor& x, const Tensor& y, float rate) {
  Values mine{static_cast<float>(x.size(0))};
  const Values mean = numbers(mean_gradient(w, x, y));
  for (const float value : mean) mine.push_back(mine[0] == 0 ? 0 : value * mine[0]);
  const Values total = down(link, up(link, mine));
  Tensor next = raw::clone(w);
  for (size_t c = 1; c < total.size(); ++c) raw::write<float>(next)[c - 1] -= total[c] / total[0] * rate;
  return next;
}

// Only who has a part in a node does anything for it.
Tensor sum_leaves(Link& link, const Tensor& leaves, int64_t count) {
  const int64_t width = leaves.size(1);
  const Part mine = share(count, link.size(), link.rank());
  std::vector<int> owners;
  for (int rank = 0; rank < link.size(); ++rank) {
    const Part part = share(count, link.size(), rank);
    owners.insert(owners.end(), part.end - part.begin, rank);
  }
  std::vector<Values> sums(count);
  for (int64_t leaf = mine.begin; leaf < mine.end; ++leaf)
    for (int64_t c = 0; c < width; ++c)
      sums[leaf].push_back(leaves.data<float>()[(leaf - mine.begin) * width + c]);
  for (int64_t bit = 1; bit < count; bit *= 2)
    for (int64_t leaf = bit; leaf < count; leaf += 2 * bit) {
      if (owners[leaf] == link.rank() && owners[leaf - bit] != link.rank())
        link.send(owners[leaf - bit], sums[leaf]);
      if (owners[leaf - bit] != link.rank()) continue;
      if (owners[leaf] != link.rank()) sums[leaf] = link.receive(owners[leaf]).values;
      for (int64_t c = 0; c < width; ++c) sums[leaf - bit][c] += sums[leaf][c];
    }
  return vector_of(down(link, sums[0]));
}

// A message of tag 1 holds one number: which rank is dead.
Tensor all_reduce_safely(Link& link, const Tensor& x) {
  const Place place = place_of(link.rank(), link.size());
  Values sum = numbers(x);
  std::vector<int> dead;
  auto hear = [&](const Message& message) {
    if (message.dead) dead.push_back(message.from);
    if (message.tag == 1) dead.push_back(static_cast<int>(message.values[0]));
    return !message.dead && message.tag == 0;
  };
  auto tell = [&](int to) {
    return dead.empty() ? link.send(to, sum) : link.send(to, {static_cast<float>(dead.front())}, 1);
  };
  for (const int child : place.children) {
    const Message message = link.receive(child);
    if (hear(message))
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += message.values[i];
  }
  if (place.parent >= 0) {
    tell(place.parent);
    const Message whole = link.receive(place.parent);
    if (hear(whole)) sum = whole.values;
  }
  for (const int child : place.children) tell(child);
  if (!dead.empty()) isobar::throw_error(fmt::format("rank {} has died", dead.front()));
  return vector_of(sum);
}

Times predict(int size, double alpha, double beta, double bytes) {
  double rounds = 0;
  for (int reached = 1; reached < size; reached *= 2) ++rounds;
  const double p = size, tree = 2 * rounds * alpha + 2 * rounds / beta * bytes;
  const double ring = 2 * (p - 1) * alpha + 2 * (p - 1) / (p * beta) * bytes;
  if (size == 1) return {tree, ring, std::numeric_limits<double>::infinity()};
  const double equal = alpha * (p - 1 - rounds) / (rounds / beta - (p - 1) / (p * beta));
  return {tree, ring, equal > 0 ? equal : 0};
}
