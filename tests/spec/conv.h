// The definition of convolutions and pools, beside spec.h. One spatial dimension is two, of which the first has an
// extent of 1. Sections: 1 windows, 2 unfolded values, 3 convolution, 4 pools.
#pragma once

#include "spec.h"

namespace spec {

// --- 1  windows -------------------------------------------------------------------------------------------
// A window has `kernel` entries, `dilation` apart, and moves by `stride` over a row with `padding` more elements on
// either side.
struct Axis {
  Int in = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;

  Int out() const { return (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
  // The place of entry k at position o; in the padding it is no place of the row.
  Int at(Int o, Int k) const { return o * stride + k * dilation - padding; }
  bool inside(Int i) const { return i >= 0 && i < in; }
};
struct Window {
  Axis rows, columns;

  Int entries() const { return rows.kernel * columns.kernel; }
  Int positions() const { return rows.out() * columns.out(); }
  Int pixels() const { return rows.in * columns.in; }
  // The pixel under entry k = (ky, kx) at position p = (oy, ox), or −1 in the padding.
  Int pixel(Int k, Int p) const {
    const Int y = rows.at(p / columns.out(), k / columns.kernel);
    const Int x = columns.at(p % columns.out(), k % columns.kernel);
    return rows.inside(y) && columns.inside(x) ? y * columns.in + x : -1;
  }
};

// --- 2  unfolded values -----------------------------------------------------------------------------------
// u (N, C · entries, positions) of x (N, C, pixels): the pixel under each entry at each position, or 0.
template <class T> Array<T> unfolded(const Array<T>& x, const Window& w) {
  const Int channels = x.extent(1), k = channels * w.entries(), p = w.positions();
  return made<T>({x.extent(0), k, p}, [&](Int i) {
    const Int pixel = w.pixel(i / p % k % w.entries(), i % p);
    return pixel < 0 ? T(0) : x.x[i / p / w.entries() * w.pixels() + pixel];
  });
}
// The adjoint: a pixel is the sum of its values in u, in the order of positions, from 0 on.
template <class T> Array<T> folded(const Array<T>& u, const Shape& shape, const Window& w) {
  Array<T> x = filled(shape, T(0));
  for (Int image = 0; image < shape[0] * shape[1]; ++image)
    for (Int p = 0; p < w.positions(); ++p)
      for (Int k = 0; k < w.entries(); ++k)
        if (const Int pixel = w.pixel(k, p); pixel >= 0)
          x.x[image * w.pixels() + pixel] += u.x[(image * w.entries() + k) * w.positions() + p];
  return x;
}
template <class T> Tensor<T> unfold(const Tensor<T>& x, const Window& w) {
  return recorded(unfolded(x.value(), w), [=](const Array<T>& dy) { give(x, folded(dy, x.shape(), w)); });
}
template <class T> Tensor<T> fold(const Tensor<T>& u, const Shape& shape, const Window& w) {
  return recorded(folded(u.value(), shape, w), [=](const Array<T>& dy) { give(u, unfolded(dy, w)); });
}

// --- 3  convolution ---------------------------------------------------------------------------------------
// In each group a product of the weight (O, K) with the unfolded values (K, P) of each sample. An element is one
// chain of fused multiply-adds from the bias, or 0, on:  y in the order of K,  dW in that of samples and positions,
// Wᵀ dy in that of O; this is folded to dx. dbias is a sum over positions, rounded to T, and one over samples.
template <class T> Tensor<T> convolution(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias,
                                         const Window& w, Int groups, Shape shape) {
  const Int n = x.size(0), all = weight.size(0), o = all / groups, p = w.positions();
  const Int k = weight.numel() / all;
  const Array<T> u = unfolded(x.value(), w);
  const auto value = [=](const Array<T>& v, Int sample, Int group, Int l, Int at) {
    return v.x[((sample * groups + group) * k + l) * p + at];
  };
  const Array<T> y = made<T>(shape, [&](Int i) {
    const Int filter = i / p % all;
    T sum = bias.defined() ? bias.value().x[filter] : T(0);
    for (Int l = 0; l < k; ++l)
      sum = std::fma(weight.value().x[filter * k + l], value(u, i / p / all, filter / o, l, i % p), sum);
    return sum;
  });
  return recorded(y, [=](const Array<T>& dy) {
    const Array<T> du = made<T>(u.shape, [&](Int i) {
      const Int group = i / p / k % groups, sample = i / p / k / groups;
      T sum = 0;
      for (Int f = group * o; f < (group + 1) * o; ++f)
        sum = std::fma(weight.value().x[f * k + i / p % k], dy.x[(sample * all + f) * p + i % p], sum);
      return sum;
    });
    give(x, folded(du, x.shape(), w));
    give(weight, made<T>(weight.shape(), [&](Int i) {
           T sum = 0;
           for (Int sample = 0; sample < n; ++sample)
             for (Int at = 0; at < p; ++at)
               sum = std::fma(value(u, sample, i / k / o, i % k, at), dy.x[(sample * all + i / k) * p + at],
                              sum);
           return sum;
         }));
    if (bias.defined())
      give(bias, summed(Array<T>{{n, all}, summed(Array<T>{{n, all, p}, dy.x}, {false, false, true}).x},
                        {true, false}));
  });
}

// --- 4  pools ---------------------------------------------------------------------------------------------
// Over each image, one channel of one sample. dx is 0, to which positions add in their order.

// y is the largest value of the window, the first of ties; its pixel gets dy.
template <class T> Tensor<T> max_pool(const Tensor<T>& x, const Window& w, const Shape& shape) {
  const Array<Int> taken = made<Int>(shape, [&](Int i) {
    const Int image = i / w.positions() * w.pixels();
    Int best = -1;
    for (Int k = 0; k < w.entries(); ++k)
      if (const Int pixel = w.pixel(k, i % w.positions()); pixel >= 0)
        if (best < 0 || x.value().x[image + pixel] > x.value().x[best]) best = image + pixel;
    return best;
  });
  return recorded(made<T>(shape, [&](Int i) { return x.value().x[taken.x[i]]; }), [=](const Array<T>& dy) {
    Array<T> dx = filled(x.shape(), T(0));
    for (Int i = 0; i < dy.size(); ++i) dx.x[taken.x[i]] += dy.x[i];
    give(x, dx);
  });
}
// y is the sum of a window's pixels, in double and in their order, divided by the window's count.
template <class T, class Pixels> Tensor<T> means(const Tensor<T>& x, Int size, Int positions,
                                                 const Shape& shape, const Pixels& pixels,
                                                 const std::function<Int(Int p)>& count) {
  const Array<T> y = made<T>(shape, [&](Int i) {
    double sum = 0;
    for (Int pixel : pixels(i % positions))
      sum += static_cast<double>(x.value().x[i / positions * size + pixel]);
    return static_cast<T>(sum / static_cast<double>(count(i % positions)));
  });
  return recorded(y, [=](const Array<T>& dy) {
    Array<T> dx = filled(x.shape(), T(0));
    for (Int i = 0; i < dy.size(); ++i)
      for (Int pixel : pixels(i % positions))
        dx.x[i / positions * size + pixel] += dy.x[i] / static_cast<T>(count(i % positions));
    give(x, dx);
  });
}
// The count is that of all entries, the padding's too.
template <class T> Tensor<T> avg_pool(const Tensor<T>& x, const Window& w, const Shape& shape) {
  const auto pixels = [=](Int p) {
    std::vector<Int> result;
    for (Int k = 0; k < w.entries(); ++k)
      if (const Int pixel = w.pixel(k, p); pixel >= 0) result.push_back(pixel);
    return result;
  };
  return means(x, w.pixels(), w.positions(), shape, pixels, [=](Int) { return w.entries(); });
}
// x (N, C, H, W) → (N, C, out, out). Output o has the rows from ⌊o H / out⌋ up to ⌈(o + 1) H / out⌉, and so columns.
template <class T> Tensor<T> adaptive_avg_pool(const Tensor<T>& x, Int out) {
  const Int height = x.size(2), width = x.size(3);
  const auto pixels = [=](Int p) {
    std::vector<Int> result;
    const Int oy = p / out, ox = p % out;
    for (Int y = oy * height / out; y < pieces_of((oy + 1) * height, out); ++y)
      for (Int at = ox * width / out; at < pieces_of((ox + 1) * width, out); ++at)
        result.push_back(y * width + at);
    return result;
  };
  return means(x, height * width, out * out, {x.size(0), x.size(1), out, out}, pixels,
               [=](Int p) { return static_cast<Int>(pixels(p).size()); });
}

}  // namespace spec
