// The tree's parts are taken in the order in which they come, and added in the tree's; a step first sums the
// rows, then gradients that are weighted by their share of them.
#include "a10.h"

#include <map>

Tensor reduce_tree(Link& link, const Tensor& x) {
  const int rank = link.rank();
  std::map<int, std::vector<float>> parts;  // by rank, which is the order of the strides
  int stride = 1;
  for (; stride < link.size() && rank % (2 * stride) == 0; stride *= 2)
    if (rank + stride < link.size()) parts[rank + stride] = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    const Message part = link.receive();
    parts.at(part.from) = part.values;
  }
  std::vector<float> sum = numbers(x);
  for (const auto& [from, part] : parts)
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  if (rank != 0) link.send(rank - stride, sum);
  return rank == 0 ? vector_of(sum) : Tensor();
}

Tensor step(Link& link, const Tensor& w, const Tensor& x, const Tensor& y, float rate) {
  const float rows = all_reduce(link, vector_of({static_cast<float>(x.size(0))})).data<float>()[0];
  std::vector<float> part(w.numel()), next = numbers(w);
  if (x.size(0) > 0) part = numbers(mean_gradient(w, x, y));
  for (float& value : part) value *= x.size(0) / rows;
  const std::vector<float> gradient = numbers(all_reduce(link, vector_of(part)));
  for (size_t c = 0; c < next.size(); ++c) next[c] -= rate * gradient[c];
  return vector_of(next);
}
