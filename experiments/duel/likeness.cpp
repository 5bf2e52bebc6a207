#include "likeness.h"

#include "../../nn/model.h"
#include "../claims/rules.h"
#include "../run/grid.h"

namespace isobar::duel {
namespace {

// The loss, then the gradient of each parameter, undefined where it has none.
std::vector<Tensor> step_of(const Task& task, Module& net) {
  Tape tape;
  const Tensor loss = task.loss(net, 0);
  tape.backward(loss);
  std::vector<Tensor> values{loss.detach()};
  for (const Tensor& parameter : parameters(net)) values.push_back(parameter.grad());
  clear_gradients(parameters(net));
  return values;
}

double largest(const Tensor& x) { return max(abs(x.detach())).item(); }

double distance_of_steps(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double scale = 0, difference = std::abs(a[0].item() - b[0].item()) / std::abs(a[0].item());
  for (size_t i = 1; i < a.size(); ++i)
    if (a[i].defined()) scale = std::max(scale, largest(a[i]));
  for (size_t i = 1; i < a.size(); ++i) {
    if (a[i].defined() != b[i].defined()) return claims::infinity;
    if (a[i].defined()) difference = std::max(difference, largest(a[i] - b[i]) / scale);
  }
  return std::isfinite(difference) ? difference : claims::infinity;
}

// Parameters of one place get the same numbers.
void move(std::vector<Tensor> all) {
  const NoTape pause;
  for (size_t i = 0; i < all.size(); ++i) {
    const Rng rng = Rng(0).split("moved").split(static_cast<int64_t>(i));
    assign(all[i], all[i] + rng.normal(all[i].shape(), 0, 0.1, all[i].dtype()));
  }
}

}  // namespace

double distance_of_nets(const Task& task, const Contestant& a, const Contestant& b) {
  if (a.flags != b.flags) return claims::infinity;
  const std::unique_ptr<Module> first = task.net(a, Rng(0)), second = task.net(b, Rng(0));
  for (Module* const net : {first.get(), second.get()}) convert(*net, Dtype::f64);
  const std::vector<Tensor> of_first = parameters(*first), of_second = parameters(*second);
  if (!std::ranges::equal(of_first, of_second, {}, &Tensor::shape, &Tensor::shape)) return claims::infinity;
  const double at_start = distance_of_steps(step_of(task, *first), step_of(task, *second));
  move(of_first);
  move(of_second);
  return std::max(at_start, distance_of_steps(step_of(task, *first), step_of(task, *second)));
}

Likeness likeness_of(double distance, const Trained& a, const Trained& b) {
  if (!(distance < rounding_of_f64)) return Likeness::different;
  return text_of(row_values(a)) == text_of(row_values(b)) ? Likeness::to_the_bit : Likeness::up_to_rounding;
}

}  // namespace isobar::duel
