// The walk by a heap of slots to visit; backward in one loop of its own, without walk; sums in plain vectors.
#include <queue>

#include "a1.h"

namespace {

Tensor plus(const Tensor& a, const Tensor& b) {
  std::vector<double> total = a.to_vector<double>();
  const std::vector<double> other = b.to_vector<double>();
  for (size_t i = 0; i < total.size(); ++i) total[i] += other[i];
  return isobar::tensor(a.shape(), total);
}

}  // namespace

Var Tape::leaf(const Tensor& value) {
  slots.push_back(Slot{});
  return {value, int64_t(slots.size() - 1)};
}

Var Tape::record(const Tensor& value, const std::vector<Var>& inputs, const Backward& backward) {
  std::vector<int64_t> from;
  int64_t largest = -1;
  for (const Var& input : inputs) {
    from.push_back(input.slot);
    largest = std::max(largest, input.slot);
  }
  if (largest < 0) return {value};
  slots.push_back(Slot{from, backward, Tensor()});
  return {value, int64_t(slots.size() - 1)};
}

std::vector<int64_t> walk(const std::vector<Slot>& slots, int64_t start) {
  std::priority_queue<int64_t> heap;
  heap.push(start);
  std::vector<int64_t> order;
  while (!heap.empty()) {
    const int64_t at = heap.top();
    while (!heap.empty() && heap.top() == at) heap.pop();
    order.push_back(at);
    for (const int64_t input : slots[at].inputs)
      if (input >= 0) heap.push(input);
  }
  return order;
}

void accumulate(Tensor& adjoint, const Tensor& dx) {
  if (!dx.defined()) return;
  if (adjoint.defined())
    check(adjoint.shape() == dx.shape(), "accumulate: {} is not {}", adjoint.shape(), dx.shape());
  adjoint = adjoint.defined() ? plus(adjoint, dx) : dx;
}

void Tape::backward(const Var& loss) {
  check(loss.slot >= 0 && size_t(loss.slot) < slots.size(),
        "backward: loss is a constant, or of another tape");
  check(loss.value.numel() == 1, "backward: wanted a single number, got {}", loss.value.shape());
  std::vector<std::vector<Tensor>> parts(slots.size());  // gradients by slot, not yet summed
  parts[loss.slot].push_back(isobar::ones(loss.value.shape(), Dtype::f64));
  for (int64_t at = loss.slot; at >= 0; --at) {
    if (parts[at].empty()) continue;
    Tensor dy = parts[at][0];
    for (size_t i = 1; i < parts[at].size(); ++i) dy = plus(dy, parts[at][i]);
    if (slots[at].inputs.empty()) {
      Tensor& total = slots[at].gradient;
      total = total.defined() ? plus(total, dy) : dy;
      continue;
    }
    const std::vector<Tensor> dx = slots[at].backward(dy);
    for (size_t i = 0; i < dx.size(); ++i)
      if (dx[i].defined() && slots[at].inputs[i] >= 0) parts[slots[at].inputs[i]].push_back(dx[i]);
  }
}

Tensor Tape::gradient(const Var& leaf) const {
  if (leaf.slot < 0 || size_t(leaf.slot) >= slots.size()) isobar::throw_error("gradient: no such leaf here");
  return slots[leaf.slot].gradient;
}

void Tape::clear_gradients() {
  for (size_t i = 0; i < slots.size(); ++i) slots[i].gradient = Tensor();
}
