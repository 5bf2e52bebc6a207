#include "pointwise.h"

#include "ops/checks.h"

namespace isobar::pointwise_op {
namespace {

std::string text_of(const Tensor& x) {
  return x.defined() ? fmt::format("{} {}", x.shape(), x.dtype()) : "an undefined tensor";
}

void check_full(const char* op, const Tensor& x, const Tensor& other) {
  if (other.defined() && x.shape() == other.shape() && x.dtype() == other.dtype()) return;
  std::string repair;
  if (other.defined() && other.ndim() < x.ndim() && x.shape().last(other.ndim()) == other.shape())
    repair = "; in pointwise() one number per channel is channel(weight)";
  if (other.defined() && other.ndim() <= 1 && other.numel() == 1 && x.numel() != 1)
    repair = "; in pointwise() one number for all elements is scalar(alpha)";
  throw_error(fmt::format("{}: wanted tensors of one shape and dtype, got {} {} and {}{}", op, x.shape(),
                          x.dtype(), text_of(other), repair));
}

void check_scalar(const char* op, const Argument& a) {
  if (a.tensor->defined() && a.tensor->ndim() <= 1 && a.tensor->numel() == 1) return;
  throw_error(fmt::format("{}: {} must be [1], got {}", op, a.name,
                          a.tensor->defined() ? a.tensor->shape().text() : text_of(*a.tensor)));
}

// The first channel's shape is that of all.
void check_channel(const char* op, const Argument& a, const Shape& x, const Argument* first) {
  const Tensor& numbers = *a.tensor;
  if (!numbers.defined() && a.optional) return;
  check(numbers.defined(), "{}: {} is undefined, and must have the last dimensions of x {}", op, a.name, x);
  if (first != nullptr)
    check(numbers.shape() == first->tensor->shape(), "{}: {} must be {} for x {}, got {}", op, a.name,
          first->tensor->shape(), x, numbers.shape());
  else
    check(numbers.ndim() <= x.ndim() && x.last(numbers.ndim()) == numbers.shape(),
          "{}: {} {} must have the last dimensions of x {}", op, a.name, numbers.shape(), x);
}

}  // namespace

template <class Machine>
Layout layout_of(const char* op, std::span<const Argument> arguments) {
  const Tensor& x = *arguments[0].tensor;
  check(x.defined(), "{}: x is an undefined tensor", op);
  const Argument* first_channel = nullptr;
  bool any_channel = false;
  for (const Argument& a : arguments.subspan(1)) {
    if (a.kind == Kind::full) check_full(op, x, *a.tensor);
    if (a.kind == Kind::scalar) check_scalar(op, a);
    if (a.kind == Kind::channel) check_channel(op, a, x.shape(), first_channel);
    if (a.kind == Kind::channel && a.tensor->defined() && first_channel == nullptr) first_channel = &a;
    any_channel |= a.kind == Kind::channel;
    check_same_dtype(op, "x", x, a.name, *a.tensor);
  }
  Layout layout{x.shape(), {}, x.dtype(), x.numel(), 1};
  if (!any_channel) return layout;
  layout.channels = first_channel != nullptr ? first_channel->tensor->shape() : x.shape().last(1);
  layout.columns = layout.channels.numel();
  layout.rows = layout.columns > 0 ? x.numel() / layout.columns : 0;
  return layout;
}
template Layout layout_of<kernels::Machine>(const char* op, std::span<const Argument> arguments);

Tensor Layout::fitted(const Tensor& y) const {
  if (y.shape() == shape) return y;
  return y.numel() == shape.numel() ? reshape(y, shape) : broadcast_to(y, shape);
}

}  // namespace isobar::pointwise_op
