// backward counts who still owes a part, and calls closures in another order; gradients are added to zeros.
#include <map>

#include "a1.h"

void accumulate(Tensor& adjoint, const Tensor& dx) {
  if (!dx.defined()) return;
  if (!adjoint.defined()) adjoint = isobar::zeros(dx.shape(), Dtype::f64);
  if (!(adjoint.shape() == dx.shape()))
    isobar::throw_error(fmt::format("wanted {}, got {}", adjoint.shape(), dx.shape()));
  Tensor next = raw::clone(adjoint);
  double* to = raw::write<double>(next);
  for (const double v : dx.to_vector<double>()) *to++ += v;
  adjoint = next;
}

void Tape::backward(const Var& loss) {
  if (loss.slot < 0 || loss.slot >= std::ssize(slots)) isobar::throw_error("backward: not on this tape");
  check(loss.value.numel() == 1, "backward: wanted one number, got {}", loss.value.shape());
  std::map<int64_t, int> owed;  // users that have not been called yet
  for (const int64_t at : walk(slots, loss.slot))
    for (const int64_t input : slots[at].inputs)
      if (input >= 0) ++owed[input];
  std::map<int64_t, Tensor> arrived;
  arrived[loss.slot] = isobar::full(loss.value.shape(), 1, Dtype::f64);
  std::vector<int64_t> ready{loss.slot};
  while (!ready.empty()) {
    const int64_t at = ready.back();
    ready.pop_back();
    const Tensor dy = arrived[at];
    std::vector<Tensor> dx(slots[at].inputs.size());
    if (dy.defined() && slots[at].backward) dx = slots[at].backward(dy);
    if (dy.defined() && !slots[at].backward) accumulate(slots[at].gradient, dy);
    for (size_t i = 0; i < dx.size(); ++i) {
      const int64_t input = slots[at].inputs[i];
      if (input < 0) continue;
      accumulate(arrived[input], dx[i]);
      if (--owed[input] == 0) ready.push_back(input);
    }
  }
}
