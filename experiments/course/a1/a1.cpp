#include "a1.h"

// Task 1: record.
Var Tape::leaf(const Tensor& value) {
  slots.push_back({});
  return {value, static_cast<int64_t>(slots.size()) - 1};
}

Var Tape::record(const Tensor& value, const std::vector<Var>& inputs, const Backward& backward) {
  Slot slot{.inputs = {}, .backward = backward, .gradient = {}};
  bool needed = false;
  for (const Var& input : inputs) {
    slot.inputs.push_back(input.slot);
    needed |= input.slot >= 0;
  }
  if (!needed) return {value, -1};
  slots.push_back(std::move(slot));
  return {value, static_cast<int64_t>(slots.size()) - 1};
}

// Task 2: walk.
std::vector<int64_t> walk(const std::vector<Slot>& slots, int64_t start) {
  // An op is recorded after its inputs, so going down is the order; it only remains to see who is reached.
  std::vector<bool> reached(start + 1, false);
  reached[start] = true;
  std::vector<int64_t> order;
  for (int64_t slot = start; slot >= 0; --slot) {
    if (!reached[slot]) continue;
    order.push_back(slot);
    for (const int64_t input : slots[slot].inputs)
      if (input >= 0) reached[input] = true;
  }
  return order;
}

// Task 3: accumulate.
void accumulate(Tensor& adjoint, const Tensor& dx) {
  if (!dx.defined()) return;
  if (!adjoint.defined()) {
    adjoint = dx;
    return;
  }
  check(adjoint.shape() == dx.shape(), "accumulate: wanted a gradient of {}, got {}", adjoint.shape(),
        dx.shape());
  const std::vector<double> a = adjoint.to_vector<double>(), b = dx.to_vector<double>();
  Tensor sum(dx.shape(), Dtype::f64);
  double* const out = raw::write<double>(sum);
  for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] + b[i];
  adjoint = sum;
}

// Task 4: backward, of walk and accumulate.
void Tape::backward(const Var& loss) {
  check(loss.slot >= 0 && loss.slot < static_cast<int64_t>(slots.size()),
        "backward: loss does not stand on this tape; it depends on no leaf");
  check(loss.value.numel() == 1, "backward: loss must be a single number, got {}", loss.value.shape());
  std::vector<Tensor> adjoints(loss.slot + 1);
  adjoints[loss.slot] = isobar::ones(loss.value.shape(), Dtype::f64);
  for (const int64_t at : walk(slots, loss.slot)) {
    Slot& slot = slots[at];
    if (!adjoints[at].defined()) continue;  // all who use it return no gradient for it
    if (!slot.backward) {
      accumulate(slot.gradient, adjoints[at]);
      continue;
    }
    const std::vector<Tensor> dx = slot.backward(adjoints[at]);
    for (size_t i = 0; i < slot.inputs.size(); ++i)
      if (slot.inputs[i] >= 0) accumulate(adjoints[slot.inputs[i]], dx[i]);
  }
}

// Task 5: several steps.
Tensor Tape::gradient(const Var& leaf) const {
  check(leaf.slot >= 0 && leaf.slot < static_cast<int64_t>(slots.size()),
        "gradient: this value does not stand on this tape");
  return slots[leaf.slot].gradient;
}

void Tape::clear_gradients() {
  for (Slot& slot : slots) slot.gradient = Tensor();
}
