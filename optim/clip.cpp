#include "clip.h"

#include <iterator>
#include <unordered_set>

#include "../core/kernels/map.h"
#include "../core/kernels/squares.h"
#include "../core/kernels/sweep.h"
#include "../core/phase.h"
#include "../core/raw.h"

namespace isobar {
namespace {

// Each tensor once, in the order of the list: a tied weight may be listed with both of its modules. The list
// itself where no tensor repeats, so that a step allocates nothing for it, else `shorter`.
const std::vector<Tensor>& once_each(const std::vector<Tensor>& listed, std::vector<Tensor>& shorter) {
  if (listed.size() < 2) return listed;
  std::unordered_set<const void*> seen;
  const auto repeats = [&](const Tensor& tensor) { return !seen.insert(tensor.id()).second; };
  std::vector<const void*> ids(listed.size());
  std::ranges::transform(listed, ids.begin(), &Tensor::id);
  std::ranges::sort(ids);
  if (std::ranges::adjacent_find(ids) == ids.end()) return listed;
  std::ranges::remove_copy_if(listed, std::back_inserter(shorter), repeats);
  return shorter;
}

// Gives the parameter the same gradient in other memory.
void store_gradient(const Tensor& parameter, Tensor gradient) {
  const GradientAge age = raw::gradient_age(parameter);
  parameter.set_grad(std::move(gradient));
  raw::gradient_age(parameter) = age;
}

// One pass over the gradients; a parameter without one counts as an empty array.
kernels::Sweep sweep_over_gradients(const std::vector<Tensor>& parameters) {
  return {parameters.size(), [&](size_t i) {
            const Tensor& dw = parameters[i].grad();
            return dw.defined() ? dw.numel() : 0;
          }};
}

// Σ (scale · dw)² over elements begin … end of a contiguous gradient.
double sum_of_squares(const Tensor& dw, int64_t begin, int64_t end, double scale) {
  return dispatch_float("grad_norm", dw.dtype(), [&]<class T>() {
    return kernels::lane_sum(end - begin, [x = dw.data<T>() + begin, scale](int64_t j) {
      const double scaled = static_cast<double>(x[j]) * scale;
      return scaled * scaled;
    });
  });
}

double largest_of(const std::vector<Tensor>& parameters) {
  double largest = 0;
  for (const Tensor& parameter : parameters) {
    const Tensor& dw = parameter.grad();
    if (!dw.defined()) continue;
    dispatch_float("grad_norm", dw.dtype(), [&]<class T>() {
      const auto element = [x = dw.data<T>()](int64_t j) { return x[j]; };
      largest = std::max(largest, kernels::largest_of(dw.numel(), element));
    });
  }
  return largest;
}

kernels::Squares squares_of(const std::vector<Tensor>& listed) {
  const Phase phase("gradient norm");
  std::vector<Tensor> shorter;
  const std::vector<Tensor>& parameters = once_each(listed, shorter);
  for (const Tensor& parameter : parameters)
    if (const Tensor& dw = parameter.grad(); dw.defined() && !dw.is_contiguous())
      store_gradient(parameter, raw::contiguous(dw));
  const auto sum_of = [&](double scale) {
    return sweep_over_gradients(parameters).sum([&](size_t i, int64_t begin, int64_t end) {
      return sum_of_squares(parameters[i].grad(), begin, end, scale);
    });
  };
  const double sum = sum_of(1);
  if (kernels::squares_fit(sum)) return {sum};
  const double scale = kernels::scale_for(largest_of(parameters));
  return scale == 1 ? kernels::Squares{sum} : kernels::Squares{sum_of(scale), scale};
}

}  // namespace

double grad_norm(const std::vector<Tensor>& listed) { return squares_of(listed).root(); }

double clip_factor(double norm, double max_norm) {
  check(max_norm >= 0, "clip: max_norm must not be negative, got {}", max_norm);
  if (std::isinf(norm) && !std::isinf(max_norm)) return std::nan("");
  const double factor = max_norm / (norm + 1e-6);
  return factor >= 1 ? 1 : factor;  // written so that NaN stays NaN
}

double clip_grad_norm(const std::vector<Tensor>& listed, double max_norm) {
  std::vector<Tensor> shorter;
  const std::vector<Tensor>& parameters = once_each(listed, shorter);
  check(std::any_of(parameters.begin(), parameters.end(), [](const Tensor& p) { return p.grad().defined(); }),
        "clip_grad_norm: none of {} parameters has a gradient; call tape.backward(loss) before clipping",
        parameters.size());
  const kernels::Squares squares = squares_of(parameters);
  const double norm = squares.root();
  if (clip_factor(norm, max_norm) == 1) return norm;
  // In two factors: the norm of finite gradients may overflow, and one factor be below the numbers of floats.
  const double first = std::isinf(norm) ? squares.scale : norm > 0x1p100 ? 0x1p-100 : 1;
  const double second =
      std::isinf(norm) ? max_norm / std::sqrt(squares.sum) : clip_factor(norm, max_norm) / first;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    // Two parameters may share one gradient tensor (y = a + b gives both the same dy), which must be scaled
    // once for each.
    if (!raw::sole_owner(parameter.grad())) store_gradient(parameter, raw::clone(parameter.grad()));
    Tensor dw = parameter.grad();
    dispatch_float("clip_grad_norm", dw.dtype(), [&]<class T>() {
      T* x = raw::write<T>(dw, "clip_grad_norm()");
      kernels::map_elements(
          dw.numel(), x,
          [f = static_cast<T>(first), s = static_cast<T>(second)](T value) { return s * (f * value); }, x);
    });
  }
  return norm;
}

}  // namespace isobar
