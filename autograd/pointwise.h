// pointwise: an op from its formula alone. The formula is a lambda over `auto`, in the functions of ops.h
// that work element by element; its gradients, to any order, are derived from it.
//
//   Tensor mish(const Tensor& x) {
//     return pointwise("mish", [](auto x) { return x * tanh(softplus(x)); }, x);
//   }
//   Tensor dyt(const Tensor& x, const Tensor& alpha, const Tensor& weight, const Tensor& bias) {
//     return pointwise("dyt", [](auto x, auto a, auto w, auto b) { return w * tanh(a * x) + b; }, x,
//                      scalar(alpha), channel(weight), channel(bias));
//   }
//
// The lambda is called with three types of values. With vector registers (core/kernels/lane.h) it computes y
// in one pass over memory. With registers and their derivatives (core/kernels/dual.h) it computes y again in
// the backward pass, and all gradients, in one pass. With tensors it is the composed form, for tapes of
// higher order.
//
// Of this library's headers only this one needs the library's compiler options: a program that includes it
// links isobar::pointwise (find_package(isobar COMPONENTS pointwise)).
#pragma once

#include <bit>
#include <type_traits>

#include "../core/kernels/pointwise.h"
#include "ops.h"
#include "tape.h"

namespace isobar {

// An argument of pointwise() with one number for all elements of y; see scalar().
struct ScalarArgument {
  Tensor tensor;
  const char* name;
};
// Returns an argument of pointwise() from a tensor of shape [1] or []. `name` is for errors.
inline ScalarArgument scalar(const Tensor& number, const char* name = "a scalar") { return {number, name}; }

// An argument of pointwise() with one number for each channel; see channel().
struct ChannelArgument {
  Tensor tensor;
  const char* name;
  std::optional<double> absent;
};
// Returns an argument of pointwise() from a tensor whose shape is that of the last dimensions of y. If
// `absent` is given, an undefined tensor is read as that number, and gets no gradient. `name` is for errors.
inline ChannelArgument channel(const Tensor& numbers, const char* name = "a channel",
                               std::optional<double> absent = {}) {
  return {numbers, name, absent};
}

// --- implementation
namespace pointwise_op {

// Holds where a formula's numbers are its own: it captures neither a reference nor a pointer nor a Tensor, so
// backward computes with the numbers of forward. The language reads bytes as an F in a constant expression
// only where F has no reference and no pointer in it. What this does not see: a global or static variable.
template <class F>
constexpr bool made_of_bytes() {
  [[maybe_unused]] const F f = std::bit_cast<F>(std::array<unsigned char, sizeof(F)>{});
  return true;
}
template <class F>
concept KeepsNoReference = std::is_trivially_copyable_v<F> &&
    (std::is_empty_v<F> || requires { typename std::bool_constant<made_of_bytes<F>()>; });

// Holds where F can also be called with a register for each argument. What the body of F cannot do with
// registers is an error of its own.
template <class>
using RegisterFor = kernels::Lane<float>;
template <class F, class... Arguments>
concept Formula = KeepsNoReference<F> && requires(const F& f, RegisterFor<Arguments>... v) {
  f(v...);
};

enum class Kind { full, scalar, channel };
struct Argument {
  Kind kind;
  const Tensor* tensor;
  const char* name;
  bool optional;
};
inline Argument argument(const Tensor& x) { return {Kind::full, &x, "x", false}; }
inline Argument argument(const ScalarArgument& a) { return {Kind::scalar, &a.tensor, a.name, false}; }
inline Argument argument(const ChannelArgument& a) {
  return {Kind::channel, &a.tensor, a.name, a.absent.has_value()};
}

// The result's shape and dtype, and its size as rows of channels; one column without channels.
struct Layout {
  Shape shape, channels;
  Dtype dtype;
  int64_t rows, columns;

  // y, which is computed on tensors, in the result's shape.
  Tensor fitted(const Tensor& y) const;
};
// Throws Error unless the arguments fit; the first is a full one. `Machine` names the registers that the
// compiler's options allow. The library has the function for its own options alone: a program with others
// does not link, because its inline functions would have the names of the library's, and other registers.
template <class Machine>
Layout layout_of(const char* op, std::span<const Argument> arguments);

// An argument for the composed form, and as contiguous numbers for the kernels.
inline const Tensor& composed(const Tensor& x, const Layout&) { return x; }
inline const Tensor& composed(const ScalarArgument& a, const Layout&) { return a.tensor; }
inline Tensor composed(const ChannelArgument& a, const Layout& layout) {
  return a.tensor.defined() ? a.tensor : full({}, *a.absent, layout.dtype);
}
inline Tensor numbers(const Tensor& x, const Layout&) { return raw::contiguous(x.detach()); }
inline Tensor numbers(const ScalarArgument& a, const Layout&) { return a.tensor.detach(); }
inline Tensor numbers(const ChannelArgument& a, const Layout& layout) {
  return a.tensor.defined() ? raw::contiguous(a.tensor.detach())
                            : full(layout.channels, *a.absent, layout.dtype);
}

// The kernels' input for an argument of this type.
template <class T, class ArgumentType>
auto kernel_input(const Tensor& x, T* dx) {
  if constexpr (std::is_same_v<ArgumentType, ScalarArgument>)
    return kernels::ScalarInput<T>{*x.data<T>(), dx};
  else if constexpr (std::is_same_v<ArgumentType, ChannelArgument>)
    return kernels::ChannelInput<T>{x.data<T>(), dx};
  else
    return kernels::FullInput<T>{x.data<T>(), dx};
}

template <class F, class... Arguments>
struct Op {
  static constexpr size_t count = sizeof...(Arguments);
  OpName name;
  Layout layout;
  F f;
  std::array<Tensor, count> x;

  Tensor forward() const {
    Tensor y(layout.shape, layout.dtype);
    dispatch_float(name, layout.dtype, [&]<class T>() {
      [&]<size_t... k>(std::index_sequence<k...>) {
        kernels::pointwise(layout.rows, layout.columns, f, raw::write<T>(y),
                           kernel_input<T, Arguments>(x[k], nullptr)...);
      }
      (std::make_index_sequence<count>{});
    });
    return y;
  }

  // The first gradient is written over dy, where dy has no other owner.
  std::array<Tensor, count> operator()(Tensor upstream, Wants wants) const {
    const Tensor dy = raw::contiguous(std::move(upstream));
    std::array<Tensor, count> dx{room_for_gradient(dy)};
    for (size_t k = 1; k < count; ++k)
      if (wants[k]) dx[k] = Tensor(x[k].shape(), layout.dtype);
    dispatch_float(name, layout.dtype, [&]<class T>() {
      [&]<size_t... k>(std::index_sequence<k...>) {
        kernels::pointwise_backward(
            layout.rows, layout.columns, f, dy.data<T>(),
            kernel_input<T, Arguments>(x[k], dx[k].defined() ? raw::write<T>(dx[k]) : nullptr)...);
      }
      (std::make_index_sequence<count>{});
    });
    return dx;
  }
};

}  // namespace pointwise_op

// y = f(inputs…), recorded as one op. The first input is a Tensor, which gives y its shape and dtype; each of
// the others is another Tensor of that shape, a scalar() or a channel(). All have one dtype, f32 or f64. f is
// called with all inputs, in order, in forward and again in backward. It captures numbers by value; a global
// variable that it reads must not change before backward.
template <class F, class... Arguments>
Tensor pointwise(OpName name, const F& f, const Tensor& x, const Arguments&... others) {
  namespace op = pointwise_op;
  if constexpr (op::Formula<F, Tensor, Arguments...>) {
    const op::Layout layout =
        op::layout_of<kernels::Machine>(name, std::array{op::argument(x), op::argument(others)...});
    if (composed_wanted()) return layout.fitted(f(op::composed(x, layout), op::composed(others, layout)...));
    op::Op<F, Tensor, Arguments...> node{
        name, layout, f, {op::numbers(x, layout), op::numbers(others, layout)...}};
    Tensor y = node.forward();
    return record(name, y, {x, *op::argument(others).tensor...}, std::move(node));
  } else {  // nothing more of the formula is compiled: errors of that would hide the sentence
    static_assert(
        op::KeepsNoReference<F>,
        "pointwise: the formula may capture numbers by value only, as in [=] or [s = size]: backward calls "
        "it again, after a captured reference may have ended; give a Tensor as scalar() or channel()");
    static_assert(
        !op::KeepsNoReference<F>,
        "pointwise: the formula gets one value for each input, a register where that is a Tensor. What "
        "varies goes in as an argument, a Tensor as scalar() or channel(); write tanh(v), not std::tanh(v), "
        "and where(v > 0, a, b), not v > 0 ? a : b");
    return {};
  }
}

}  // namespace isobar
