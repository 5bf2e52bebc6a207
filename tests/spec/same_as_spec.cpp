// Compares every op of the engine with its definition (spec.h), forward and back, byte by byte, f32 and f64.
//
//   same_as_spec [NAME]     a line for each op, and for random numbers, optimizers and models; or for the ops
//                           alone whose names have NAME in them; exits with 1 where a byte differs
//   same_as_spec --hashes [STEPS…]   a line "name<TAB>hash" for each, of what the engine computes, and two for
//                           so many steps of a model of nanoGPT's size: .ci/hashes compares machines by it
//   same_as_spec --nanogpt STEPS     these two alone, by the definition
//
// Of two NaN the bits do not count.
#include <fmt/ranges.h>

#include "conv.h"
#include "layers.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include <isobar/core/ranks/tree_sum.h>
#include <isobar/data/synthetic.h>
#include <isobar/isobar.h>
#include <isobar/lm.h>

namespace {

using spec::Int, spec::Shape;

// What was compared, for one op or for all, and what the engine's bytes hash to (FNV-1a).
struct Count {
  Int runs = 0, bytes = 0, differing = 0;
  std::string first = {};
  uint64_t hash = 0xCBF29CE484222325;

  template <class T> void add(const T* numbers, Int n) {
    for (Int i = 0; i < n; ++i) {
      unsigned char each[sizeof(T)] = {};
      if (!std::isnan(static_cast<double>(numbers[i]))) std::memcpy(each, numbers + i, sizeof(T));
      for (const unsigned char byte : each) hash = (hash ^ byte) * 0x100000001B3;
    }
  }
};
Count all;
std::string_view wanted;
bool hashes = false;

template <class T>
void compare(Count& count, const std::string& where, const T* spec, const T* engine, Int n) {
  count.add(engine, n);
  for (Int i = 0; i < n; ++i) {
    if (std::isnan(spec[i]) && std::isnan(engine[i])) continue;
    const auto *p = reinterpret_cast<const char*>(spec + i), *q = reinterpret_cast<const char*>(engine + i);
    for (size_t byte = 0; byte < sizeof(T); ++byte) count.differing += p[byte] != q[byte];
    if (std::memcmp(p, q, sizeof(T)) != 0 && count.first.empty())
      count.first =
          fmt::format("{} [{}]: {} in the definition, {} in the engine", where, i, spec[i], engine[i]);
  }
  count.bytes += n * static_cast<Int>(sizeof(T));
}

isobar::Shape shape_of(const Shape& shape) { return isobar::Shape(std::span<const Int>(shape)); }
template <class T> isobar::Tensor tensor_of(const spec::Array<T>& a) {
  return isobar::tensor<T>(shape_of(a.shape), a.x);
}
template <class T> void compare(Count& count, const std::string& where, const spec::Array<T>& spec,
                                const isobar::Tensor& engine) {
  const std::vector<T> numbers = engine.defined() ? engine.to_vector<T>() : std::vector<T>(spec.x.size());
  if (numbers.size() == spec.x.size() && (!engine.defined() || engine.shape() == shape_of(spec.shape)))
    return compare(count, where, spec.x.data(), numbers.data(), spec.size());
  ++count.differing;
  count.first = fmt::format("{}: [{}] in the definition, {} in the engine", where,
                            fmt::join(spec.shape, ", "), engine.shape());
}

// Numbers that depend on the seed: most of them small, some far from zero, some 0 or −0, and some below all
// normal numbers where `tiny` is set.
template <class T> spec::Array<T> numbers(const Shape& shape, uint64_t seed, bool tiny = false) {
  return spec::made<T>(shape, [&](Int i) {
    const uint64_t bits = (static_cast<uint64_t>(i) + 1 + seed * 7919) * 0x9E3779B97F4A7C15;
    const double unit = static_cast<double>((bits ^ bits >> 29) >> 11) * 0x1p-53 - 0.5;
    const uint64_t kind = bits >> 7 & 31;
    if (tiny && kind == 3) return static_cast<T>(unit * 1e6) * std::numeric_limits<T>::denorm_min();
    return static_cast<T>(kind == 0 ? 0.0 : kind == 1 ? -0.0 : unit * (kind == 2 ? 60 : 4));
  });
}

// Runs f(inputs) in both and back, and compares the result and all gradients. With `strided` the inputs are
// views of tensors that are stored by columns.
// Of the engine's inputs all are trainable, or one alone; then they are views of tensors with a column more.
template <class T, class F> void compare(Count& count, const std::string& name,
                                         const std::vector<Shape>& shapes, bool strided, const F& f,
                                         std::optional<size_t> alone = {}) {
  std::string where = fmt::format("{} {}{}", name, sizeof(T) == 4 ? "f32" : "f64", strided ? " strided" : "");
  // Attention's sums of tiny numbers may be 0 or −0 (README.md).
  const bool tiny = shapes.size() < 3;
  std::vector<spec::Tensor<T>> x;
  std::vector<isobar::Tensor> y;
  for (const Shape& shape : shapes) {
    where += fmt::format(" [{}]", fmt::join(shape, ", "));
    const spec::Array<T> values = numbers<T>(shape, x.size(), tiny);
    const bool turned = strided && shape.size() >= 2;
    x.push_back(spec::trainable(turned ? spec::transposed(values) : values));
    y.push_back(tensor_of(x.back().value()));
    if (alone.value_or(y.size() - 1) == y.size() - 1) y.back().set_trainable();
  }
  isobar::Tape tape;
  const auto viewed = [&](const auto& all_of) {
    auto result = all_of;
    for (size_t i = 0; i < shapes.size(); ++i)
      if (strided && shapes[i].size() >= 2) result[i] = transpose(result[i]);
    return result;
  };
  const auto a = f(viewed(x));
  std::vector<isobar::Tensor> views = viewed(y);
  for (isobar::Tensor& view : views)
    if (alone && view.ndim() >= 2) view = slice(pad(view, {0, 1}), -1, 0, view.size(-1));
  const isobar::Tensor b = f(views);
  compare(count, where, a.value(), b);
  const spec::Array<T> dy = numbers<T>(a.shape(), 99, tiny);
  spec::backward(a, dy);
  if (alone && x[*alone].grad().x.empty()) return;  // the op does not read it
  tape.backward(b, tensor_of(dy));
  for (size_t i = 0; i < x.size(); ++i)
    if (y[i].trainable())
      compare(count, fmt::format("{}, gradient {}", where, i),
              x[i].grad().x.empty() ? spec::filled(x[i].shape(), T(0)) : x[i].grad(), y[i].grad());
  count.runs += 1;
}

void report(const std::string& name, const Count& count) {
  if (hashes)
    std::printf("%s\t%016llx\n", name.c_str(), static_cast<unsigned long long>(count.hash));
  else
    std::printf("%-24s %5lld runs %11lld bytes %9lld differ\n", name.c_str(),
                static_cast<long long>(count.runs), static_cast<long long>(count.bytes),
                static_cast<long long>(count.differing));
  if (!count.first.empty()) std::fprintf(hashes ? stderr : stdout, "    %s\n", count.first.c_str());
  all.runs += count.runs, all.bytes += count.bytes, all.differing += count.differing;
}

// One op over many lists of shapes.
template <class F>
void op(const std::string& name, const std::vector<std::vector<Shape>>& cases, const F& f) {
  if (name.find(wanted) == name.npos) return;
  Count count;
  for (size_t i = 0; i < cases[0].size(); ++i)
    compare<float>(count, name, cases[cases.size() / 2], false, f, i);
  for (const std::vector<Shape>& shapes : cases)
    for (const bool strided : {false, true}) {
      if (strided && std::none_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.size() >= 2; }))
        continue;
      compare<float>(count, name, shapes, strided, f);
      compare<double>(count, name, shapes, strided, f);
    }
  report(name, count);
}

// Empty, one, odd, whole registers and tails, several dimensions, more than one chunk.
const std::vector<Shape> shapes{{0},       {1},       {2},      {3},      {7},       {8},         {15},
                                {16},      {17},      {31},     {33},     {100},     {0, 4},      {4, 0},
                                {1, 1},    {3, 5},    {16, 16}, {5, 17},  {33, 129}, {2, 3, 4},   {3, 1, 7},
                                {2, 0, 3}, {4, 5, 6}, {17000},  {60, 90}, {129, 7},  {2, 3, 4, 5}};

std::vector<std::vector<Shape>> alone() {
  std::vector<std::vector<Shape>> cases;
  for (const Shape& shape : shapes) cases.push_back({shape});
  return cases;
}
// Pairs of one shape, and pairs that broadcast.
std::vector<std::vector<Shape>> pairs() {
  std::vector<std::vector<Shape>> cases{
      {{3, 5}, {5}},      {{5}, {3, 5}}, {{3, 1}, {1, 5}},    {{40, 7}, {40, 1}}, {{2, 3, 4}, {3, 1}},
      {{70, 300}, {300}}, {{1}, {7}},    {{4, 1, 6}, {5, 1}}, {{0, 4}, {4}},      {{2, 2, 2}, {1, 1, 1}}};
  for (const Shape& shape : shapes) cases.push_back({shape, shape});
  return cases;
}

void arithmetic() {
  op("add", pairs(), [](const auto& x) { return x[0] + x[1]; });
  op("subtract", pairs(), [](const auto& x) { return x[0] - x[1]; });
  op("multiply", pairs(), [](const auto& x) { return x[0] * x[1]; });
  op("divide", pairs(), [](const auto& x) { return x[0] / (square(x[1]) + 0.5); });
  op("times a number", alone(), [](const auto& x) { return x[0] * 0.3; });
  op("divide by a number", alone(), [](const auto& x) { return x[0] / 0.3; });
  op("affine", alone(), [](const auto& x) { return affine(x[0], 1.7, -0.3); });
  op("a + a", alone(), [](const auto& x) { return x[0] + x[0] * x[0]; });
  op("exp", alone(), [](const auto& x) { return exp(x[0] * 4.0); });
  op("log", alone(), [](const auto& x) { return log(x[0] * 1e20); });
  op("log near 0 of floats", alone(), [](const auto& x) { return log(square(x[0]) * 1e-38); });
  op("tanh", alone(), [](const auto& x) { return tanh(x[0]); });
  op("sigmoid", alone(), [](const auto& x) { return sigmoid(x[0]); });
  op("erf", alone(), [](const auto& x) { return erf(x[0]); });
  op("square", alone(), [](const auto& x) { return square(x[0]); });
  op("sqrt", alone(), [](const auto& x) { return sqrt(x[0]); });
}

void sums() {
  op("sum", alone(), [](const auto& x) { return sum(x[0]); });
  op("mean", alone(), [](const auto& x) { return mean(x[0]); });
  std::vector<std::vector<Shape>> matrices{{{20000, 3}}, {{3, 20000}}, {{2000, 70}}, {{1, 9}}, {{9, 1}}};
  for (const Shape& shape : shapes)
    if (shape.size() >= 2) matrices.push_back({shape});
  for (const Int rows : {2, 15, 64, 100, 1100})
    matrices.push_back({{rows, 33}}), matrices.push_back({{7, rows}});
  op("sum over rows", matrices, [](const auto& x) { return sum(x[0], {0}); });
  op("sum over columns", matrices, [](const auto& x) { return sum(x[0], {-1}, true); });
  op("mean over rows", matrices, [](const auto& x) { return mean(x[0], {0}, true); });
  op("reshape", matrices, [](const auto& x) { return reshape(x[0], {x[0].numel()}); });
  op("permute", matrices, [](const auto& x) {
    return permute(reshape(x[0], {1, x[0].numel(), 1}), {2, 1, 0});
  });
  op("transpose", matrices, [](const auto& x) { return transpose(x[0]); });
}

void products() {
  std::vector<std::vector<Shape>> cases{{{2, 3, 4}, {4, 5}},
                                        {{2, 3, 4}, {2, 4, 5}},
                                        {{4, 5}, {2, 5, 3}},
                                        {{3, 1, 8, 6}, {2, 6, 40}},
                                        {{2, 9, 33}, {1, 33, 7}}};
  std::vector<std::vector<Shape>> layers;
  for (const Int m : {0, 1, 3, 8, 33})
    for (const Int n : {1, 5, 32, 50})
      for (const Int k : {1, 7, 70}) {
        cases.push_back({{m, k}, {k, n}});
        layers.push_back({{m, k}, {n, k}, {n}});
      }
  cases.push_back({{130, 140}, {140, 150}}), cases.push_back({{40, 1100}, {1100, 50}});
  layers.push_back({{130, 140}, {150, 140}, {150}}), layers.push_back({{2, 5, 9}, {6, 9}, {6}});
  op("matmul", cases, [](const auto& x) { return matmul(x[0], x[1]); });
  op("linear", layers, [](const auto& x) { return linear(x[0], x[1], x[2]); });
}

void activations() {
  op("relu", alone(), [](const auto& x) { return relu(x[0]); });
  op("relu of a long one", {{{300000}}}, [](const auto& x) { return relu(x[0]); });
  op("leaky_relu", alone(), [](const auto& x) { return leaky_relu(x[0], 0.2); });
  op("round", alone(), [](const auto& x) { return round(x[0]); });
  op("gelu", alone(), [](const auto& x) { return gelu(x[0]); });
  op("gelu_tanh", alone(), [](const auto& x) { return gelu_tanh(x[0]); });
  op("silu", alone(), [](const auto& x) { return silu(x[0]); });
  op("softcap", alone(), [](const auto& x) { return softcap(x[0], 3.0); });
  std::vector<std::vector<Shape>> alike;
  for (const Shape& shape : shapes) alike.push_back({shape, shape});
  op("swiglu", alike, [](const auto& x) { return swiglu(x[0], x[1]); });
}

// Inputs and numbers for each channel: x, then two or three more.
std::vector<std::vector<Shape>> channels(bool with_number) {
  std::vector<std::vector<Shape>> cases;
  for (const Int columns : {1, 2, 7, 16, 33, 512})
    for (const Int rows : {0, 1, 5, 17, 40}) cases.push_back({{rows, columns}, {columns}, {columns}});
  cases.push_back({{70, 300}, {300}, {300}}), cases.push_back({{2000, 9}, {9}, {9}});
  cases.push_back({{3, 4, 5}, {4, 5}, {4, 5}}), cases.push_back({{2, 17000}, {17000}, {17000}});
  if (with_number)
    for (std::vector<Shape>& shapes_of : cases) shapes_of.insert(shapes_of.begin() + 1, {1});
  return cases;
}

void norms() {
  std::vector<std::vector<Shape>> rows = channels(false);
  rows.push_back({{3, 0}, {0}, {0}});
  op("layer_norm", rows, [](const auto& x) { return layer_norm(x[0], x[1].shape(), x[1], x[2], 1e-5); });
  op("layer_norm far from 0", channels(false),
     [](const auto& x) { return layer_norm(x[0] + 1000.0, x[1].shape(), x[1], x[2], 1e-5); });
  op("layer_norm of x alone", channels(false),
     [](const auto& x) { return layer_norm(x[0], x[1].shape(), {}, {}, 1e-5); });
  op("rms_norm", channels(false), [](const auto& x) { return rms_norm(x[0], x[1].shape(), x[1], 1e-6); });
  op("rms_norm of a part", channels(false),
     [](const auto& x) { return rms_norm(x[0], x[1].shape(), x[1], 1e-6, 1); });
  op("layer_norm, overflow", channels(false),
     [](const auto& x) { return layer_norm(x[0] * 1e200, x[1].shape(), x[1], x[2], 1e-5); });
  op("rms_norm, overflow", channels(false),
     [](const auto& x) { return rms_norm(x[0] * 1e200, x[1].shape(), x[1], 1e-6); });
  op("rms_norm, underflow", channels(false),
     [](const auto& x) { return rms_norm(x[0] * 1e-155, x[1].shape(), x[1], 1e-318); });
  op("dyt", channels(true), [](const auto& x) { return dyt(x[0], x[1], x[2], x[3]); });
  op("dyt without bias", channels(true), [](const auto& x) { return dyt(x[0], x[1], x[2], {}); });
  op("dyisru", channels(true), [](const auto& x) { return dyisru(x[0], x[1], x[2], x[3]); });
  std::vector<std::vector<Shape>> images;
  for (const Int n : {2, 3, 17, 40})
    for (const Int c : {2, 4, 34})
      for (const Shape& x : {Shape{n, c}, Shape{n, c, 5}, Shape{n, c, 3, 4}}) images.push_back({x, {c}, {c}});
  op("batch_norm", images, [](const auto& x) { return batch_norm(x[0], x[1], x[2], 1e-5); });
  op("group_norm", images, [](const auto& x) { return group_norm(x[0], 2, x[1], x[2], 1e-5); });
}

// A convolution's or a pool's settings, for rows and for columns; in one dimension those for columns.
struct Windows {
  std::array<Int, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  Int groups = 1;
};
spec::Window window_of(const Shape& shape, const std::array<Int, 2>& kernel, const Windows& s) {
  const auto axis = [&](size_t d, Int in) {
    return spec::Axis{in, kernel[d], s.stride[d], s.padding[d], s.dilation[d]};
  };
  return {shape.size() == 4 ? axis(0, shape[2]) : spec::Axis{}, axis(1, shape.back())};
}
isobar::PerDim each_of(size_t dims, const std::array<Int, 2>& numbers) {
  return dims == 4 ? isobar::PerDim{numbers[0], numbers[1]} : isobar::PerDim(numbers[1]);
}
// (N, channels, positions) as (N, channels, OH, OW), or (N, channels, OL).
Shape image_of(Int samples, Int channels, const spec::Window& w, size_t dims) {
  return dims == 4 ? Shape{samples, channels, w.rows.out(), w.columns.out()}
                   : Shape{samples, channels, w.columns.out()};
}

template <class T> auto convolved(const std::vector<spec::Tensor<T>>& x, const Windows& s) {
  const Shape &in = x[0].shape(), &of = x[1].shape();
  const spec::Window w = window_of(in, {of[of.size() - 2], of.back()}, s);
  return spec::convolution(x[0], x[1], x.size() > 2 ? x[2] : spec::Tensor<T>(), w, s.groups,
                           image_of(in[0], of[0], w, in.size()));
}
isobar::Tensor convolved(const std::vector<isobar::Tensor>& x, const Windows& s) {
  const auto dims = static_cast<size_t>(x[0].ndim());
  const isobar::ConvOptions options{.stride = each_of(dims, s.stride),
                                    .padding = each_of(dims, s.padding),
                                    .dilation = each_of(dims, s.dilation),
                                    .groups = s.groups};
  const isobar::Tensor bias = x.size() > 2 ? x[2] : isobar::Tensor();
  return dims == 4 ? conv2d(x[0], x[1], bias, options) : conv1d(x[0], x[1], bias, options);
}

// Unfolded by a window of 2 × 3, and folded again.
const Windows folds{{2, 1}, {1, 2}, {1, 2}};
template <class T> auto unfolded(const spec::Tensor<T>& x) {
  return spec::unfold(x, window_of(x.shape(), {2, 3}, folds));
}
template <class T> auto folded(const spec::Tensor<T>& x) {
  return spec::fold(unfolded(x), x.shape(), window_of(x.shape(), {2, 3}, folds));
}
isobar::WindowOptions fold_options(const isobar::Tensor& x) {
  const auto dims = static_cast<size_t>(x.ndim());
  return {.stride = each_of(dims, folds.stride),
          .padding = each_of(dims, folds.padding),
          .dilation = each_of(dims, folds.dilation)};
}
isobar::Tensor unfolded(const isobar::Tensor& x) {
  return isobar::unfold(x, each_of(static_cast<size_t>(x.ndim()), {2, 3}), fold_options(x));
}
isobar::Tensor folded(const isobar::Tensor& x) {
  return isobar::fold(unfolded(x), x.shape().last(x.ndim() - 2),
                      each_of(static_cast<size_t>(x.ndim()), {2, 3}), fold_options(x));
}

// Windows of 3 × 2 that overlap and reach into the padding.
const Windows pooled{{2, 1}, {1, 1}};
template <class T> auto pooled_by(const spec::Tensor<T>& x, bool largest) {
  const spec::Window w = window_of(x.shape(), {3, 2}, pooled);
  const Shape shape = image_of(x.size(0), x.size(1), w, x.shape().size());
  return largest ? spec::max_pool(x, w, shape) : spec::avg_pool(x, w, shape);
}
isobar::Tensor pooled_by(const isobar::Tensor& x, bool largest) {
  const auto dims = static_cast<size_t>(x.ndim());
  const isobar::PerDim window = each_of(dims, {3, 2});
  const isobar::MaxPoolOptions max{.stride = each_of(dims, pooled.stride),
                                   .padding = each_of(dims, pooled.padding)};
  const isobar::AvgPoolOptions mean{.stride = max.stride, .padding = max.padding};
  if (dims == 3) return largest ? max_pool1d(x, window, max) : avg_pool1d(x, window, mean);
  return largest ? max_pool2d(x, window, max) : avg_pool2d(x, window, mean);
}
template <class T> auto parts_of(const spec::Tensor<T>& x, Int out) {
  return spec::adaptive_avg_pool(x, out);
}
isobar::Tensor parts_of(const isobar::Tensor& x, Int out) { return isobar::adaptive_avg_pool2d(x, out); }

void convolutions() {
  std::vector<std::vector<Shape>> images, times, bare, grouped, alone_of;
  for (const Int n : {0, 1, 3, 20})
    for (const Int c : {1, 3})
      for (const Int o : {1, 5, 17})
        for (const Shape& hw : {Shape{6, 5}, Shape{9, 18}}) {
          images.push_back({{n, c, hw[0], hw[1]}, {o, c, 3, 3}, {o}});
          bare.push_back({{n, 2 * c, hw[0], hw[1]}, {2 * o, c, 2, 3}});
          grouped.push_back({{n, 3 * c, hw[0], hw[1]}, {3 * o, c, 3, 1}, {3 * o}});
          times.push_back({{n, c, hw[0] * hw[1]}, {o, c, 3}, {o}});
          alone_of.push_back({{n, c, hw[0], hw[1]}}), alone_of.push_back({{n, c, hw[0] * hw[1]}});
        }
  images.push_back({{18, 9, 14, 17}, {70, 9, 3, 3}, {70}});  // a sample a thread, two panels of filters
  images.push_back({{2, 70, 9, 8}, {30, 70, 3, 3}, {30}});   // two blocks of K
  times.push_back({{1, 4, 1300}, {33, 4, 5}, {33}});         // several blocks of positions
  op("unfold", alone_of, [](const auto& x) { return unfolded(x[0]); });
  op("fold", alone_of, [](const auto& x) { return folded(x[0]); });
  op("max_pool", alone_of, [](const auto& x) { return pooled_by(x[0], true); });
  op("avg_pool", alone_of, [](const auto& x) { return pooled_by(x[0], false); });
  std::vector<std::vector<Shape>> planes;
  for (const std::vector<Shape>& shapes_of : images) planes.push_back({shapes_of[0]});
  op("adaptive_avg_pool", planes, [](const auto& x) { return parts_of(x[0], 4); });
  op("conv2d", images, [](const auto& x) { return convolved(x, {}); });
  op("conv2d, padded", images, [](const auto& x) { return convolved(x, {.padding = {1, 1}}); });
  op("conv2d of two groups", bare, [](const auto& x) {
    return convolved(x, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2});
  });
  op("conv2d of three groups", grouped, [](const auto& x) {
    return convolved(x, {.stride = {2, 3}, .padding = {2, 0}, .groups = 3});
  });
  op("conv1d", times, [](const auto& x) {
    return convolved(x, {.stride = {1, 2}, .padding = {0, 3}, .dilation = {1, 2}});
  });
}

// Indices below a bound, some of them twice; and the same as a tensor of the engine.
std::vector<Int> indices(Int n, Int bound, bool some_ignored) {
  std::vector<Int> result;
  for (Int i = 0; i < n; ++i) result.push_back(some_ignored && i % 5 == 3 ? -100 : i * 7 % bound);
  return result;
}
template <class T> auto chosen_loss(const spec::Tensor<T>& x, const std::vector<Int>& targets) {
  return spec::cross_entropy(x, targets);
}
isobar::Tensor chosen_loss(const isobar::Tensor& x, const std::vector<Int>& targets) {
  return isobar::cross_entropy(x, isobar::tensor<Int>({static_cast<Int>(targets.size())}, targets));
}
// Of class c the weight is 0.5 + c mod 3.
template <class T> auto smoothed_loss(const spec::Tensor<T>& x, const std::vector<Int>& targets) {
  std::vector<T> weights;
  for (Int c = 0; c < x.size(1); ++c) weights.push_back(T(0.5) + static_cast<T>(c % 3));
  return spec::cross_entropy(x, targets, weights, 0.1);
}
isobar::Tensor smoothed_loss(const isobar::Tensor& x, const std::vector<Int>& targets) {
  const isobar::Tensor weight = isobar::dispatch_float("weights", x.dtype(), [&]<class T>() {
    std::vector<T> weights;
    for (Int c = 0; c < x.size(1); ++c) weights.push_back(T(0.5) + static_cast<T>(c % 3));
    return isobar::tensor({x.size(1)}, weights);
  });
  return isobar::cross_entropy(x, isobar::tensor<Int>({static_cast<Int>(targets.size())}, targets),
                               {.weight = weight, .label_smoothing = 0.1});
}
template <class T> auto chosen_rows(const spec::Tensor<T>& w, const std::vector<Int>& rows) {
  return spec::embedding(rows, {static_cast<Int>(rows.size())}, w);
}
isobar::Tensor chosen_rows(const isobar::Tensor& w, const std::vector<Int>& rows) {
  return isobar::embedding(isobar::tensor<Int>({static_cast<Int>(rows.size())}, rows), w);
}

void logits() {
  std::vector<std::vector<Shape>> cases;
  for (const Int columns : {1, 2, 7, 16, 33, 512})
    for (const Int rows : {1, 5, 17, 40}) cases.push_back({{rows, columns}});
  cases.push_back({{3, 20000}}), cases.push_back({{20000, 2}}), cases.push_back({{2, 3, 4}});
  op("softmax", cases, [](const auto& x) { return softmax(x[0]); });
  op("log_softmax", cases, [](const auto& x) { return log_softmax(x[0]); });
  cases.pop_back();
  op("cross_entropy", cases,
     [](const auto& x) { return chosen_loss(x[0], indices(x[0].size(0), x[0].size(1), false)); });
  op("cross_entropy, ignored", cases,
     [](const auto& x) { return chosen_loss(x[0], indices(x[0].size(0), x[0].size(1), true)); });
  op("cross_entropy, smoothed", cases,
     [](const auto& x) { return smoothed_loss(x[0], indices(x[0].size(0), x[0].size(1), true)); });
  op("embedding", cases, [](const auto& x) { return chosen_rows(x[0], indices(101, x[0].size(0), false)); });
}

template <class T> auto attend(const std::vector<spec::Tensor<T>>& x, bool causal, double softcap) {
  return spec::attention(x[0], x[1], x[2], causal, softcap);
}
isobar::Tensor attend(const std::vector<isobar::Tensor>& x, bool causal, double softcap) {
  return isobar::attention(x[0], x[1], x[2], {.causal = causal, .softcap = softcap});
}

template <class T> auto attend_masked(const std::vector<spec::Tensor<T>>& x) {
  return spec::attention(x[0], x[1], x[2], x[3]);
}
isobar::Tensor attend_masked(const std::vector<isobar::Tensor>& x) {
  return isobar::attention(x[0], x[1], x[2], {.attn_mask = x[3]});
}

void attentions() {
  std::vector<std::vector<Shape>> cases;
  for (const Int time : {1, 2, 7, 8, 9, 17, 70, 130})
    for (const Int dim : {2, 6, 16})
      cases.push_back({{2, time, 4, dim}, {2, time, 2, dim}, {2, time, 2, dim}}),
          cases.push_back({{1, time, 1, dim}, {1, time + 5, 1, dim}, {1, time + 5, 1, dim}});
  op("attention", cases, [](const auto& x) { return attend(x, false, 0); });
  op("attention, causal", cases, [](const auto& x) { return attend(x, true, 0); });
  op("attention, softcap", cases, [](const auto& x) { return attend(x, true, 5); });
  std::vector<std::vector<Shape>> masked;
  for (const Int time : {1, 2, 7, 9, 17, 70})
    for (const Int dim : {2, 6, 16})
      masked.push_back(
          {{2, time, 3, dim}, {2, time + 5, 3, dim}, {2, time + 5, 3, dim}, {2, 1, time, time + 5}});
  op("attention, added mask", masked, [](const auto& x) { return attend_masked(x); });
  std::vector<std::vector<Shape>> heads;
  for (const std::vector<Shape>& shapes_of : cases) heads.push_back({shapes_of[1]});
  op("rope", heads, [](const auto& x) { return rope(x[0], 1e4); });
}

template <class T> void random_numbers() {
  Count count;
  const isobar::Dtype dtype = isobar::dtype_of<T>();
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const spec::Rng a = spec::Rng{seed * 77}.split("layer").split(seed % 2 == 0 ? seed : ~seed);
    const isobar::Rng b = isobar::Rng(seed * 77).split("layer").split(seed % 2 == 0 ? seed : ~seed);
    const Shape shape{static_cast<Int>(seed) + 1, 300};
    const isobar::Shape theirs = shape_of(shape);
    namespace init = isobar::init;
    compare(count, "key", &a.key, std::array{b.key()}.data(), 1);
    compare(count, "uniform", a.uniform<T>(shape, -2, 3), b.uniform(theirs, -2, 3, dtype));
    compare(count, "normal", a.normal<T>(shape, 0.5, 2), b.normal(theirs, 0.5, 2, dtype));
    compare(count, "linear_default", spec::linear_default<T>(shape, 300, a),
            init::linear_default(theirs, 300, b, dtype));
    compare(count, "xavier", spec::uniform_of_std<T>(shape, spec::xavier_std(300, shape[0]), a),
            init::xavier_uniform(theirs, b, 1, dtype));
    compare(count, "he", a.normal<T>(shape, 0, spec::he_std(300)),
            init::he_normal(theirs, b, init::he_gain, dtype));
    count.runs += 6;
  }
  report(fmt::format("random numbers {}", sizeof(T) == 4 ? "f32" : "f64"), count);
}

template <class T> auto masked(const spec::Tensor<T>& x, double p) {
  return spec::dropout(x, p, spec::Rng{5});
}
isobar::Tensor masked(const isobar::Tensor& x, double p) { return isobar::dropout(x, p, isobar::Rng(5)); }

// Ten steps of each optimizer on three tensors, the gradients clipped.
template <class T, class Ours, class Theirs>
void steps(const std::string& name, Ours ours, const Theirs& made) {
  Count count;
  std::vector<spec::Tensor<T>> a;
  std::vector<isobar::Tensor> b;
  for (const Int n : {5000, 1, 9000, 37}) {
    a.push_back(spec::trainable(numbers<T>({n}, n)));
    b.push_back(tensor_of(a.back().value()).set_trainable());
  }
  const auto theirs = made(b);
  for (uint64_t step = 0; step < 10; ++step) {
    for (size_t i = 0; i < a.size(); ++i) {
      a[i].grad() = numbers<T>(a[i].shape(), step * 10 + i);
      b[i].set_grad(tensor_of(a[i].grad()));
    }
    const double norm = spec::grad_norm(a), factor = spec::clip_factor(norm, step % 2 == 0 ? 1 : 1e9);
    compare(count, name + " norm", &norm, std::array{isobar::grad_norm(b)}.data(), 1);
    ours.step(a, factor);
    theirs->step(factor);
    for (size_t i = 0; i < a.size(); ++i) compare(count, name, a[i].value(), b[i]);
    count.runs += 1;
  }
  report(fmt::format("{} {}", name, sizeof(T) == 4 ? "f32" : "f64"), count);
}

template <class T> void optimizers() {
  using isobar::SGD, isobar::AdamW;
  steps<T>("SGD", spec::SGD<T>{.lr = 0.1, .decay = 0.01}, [](const auto& w) {
    return std::make_unique<SGD>(w, isobar::SGDOptions{.lr = 0.1, .weight_decay = 0.01});
  });
  steps<T>("SGD, momentum", spec::SGD<T>{.lr = 0.1, .momentum = 0.9}, [](const auto& w) {
    return std::make_unique<SGD>(w, isobar::SGDOptions{.lr = 0.1, .momentum = 0.9});
  });
  steps<T>("SGD, Nesterov", spec::SGD<T>{.lr = 0.1, .momentum = 0.9, .nesterov = true}, [](const auto& w) {
    return std::make_unique<SGD>(w, isobar::SGDOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true});
  });
  steps<T>("RMSprop", spec::RMSprop<T>{.momentum = 0.9, .centered = true}, [](const auto& w) {
    return std::make_unique<isobar::RMSprop>(w, isobar::RMSpropOptions{.momentum = 0.9, .centered = true});
  });
  steps<T>("AdamW", spec::AdamW<T>{}, [](const auto& w) { return std::make_unique<AdamW>(w); });
}

// Gradients whose squares leave the range of doubles, and zeros.
void extreme_norms() {
  Count count;
  for (const double scale : {0.0, 1e-200, 1e170, 1e300}) {
    std::vector<spec::Tensor<double>> a;
    std::vector<isobar::Tensor> b;
    for (const Int n : {5000, 1, 9000}) {
      a.push_back(spec::trainable(numbers<double>({n}, n)));
      b.push_back(tensor_of(a.back().value()).set_trainable());
      a.back().grad() = numbers<double>({n}, n + 1);
      for (double& d : a.back().grad().x) d *= scale;
      b.back().set_grad(tensor_of(a.back().grad()));
    }
    const double norm = spec::grad_norm(a);
    compare(count, fmt::format("norm of {}", scale), &norm, std::array{isobar::grad_norm(b)}.data(), 1);
    count.runs += 1;
  }
  report("norms far from 1", count);
}

template <class T> void pieces() {
  Count count;
  for (Int n = 1; n < 24; ++n) {
    std::vector<spec::Array<T>> parts;
    isobar::TreeSum tree;
    for (Int i = 0; i < n; ++i) parts.push_back(numbers<T>({50, n}, i)), tree.add({tensor_of(parts.back())});
    compare(count, fmt::format("{} pieces", n), spec::tree_sum(parts), tree.take()[0]);
    count.runs += 1;
  }
  report(fmt::format("tree of pieces {}", sizeof(T) == 4 ? "f32" : "f64"), count);
}

using Model = spec::LanguageModel<float>;

// So many tokens of step `step`; those one further on are its targets.
std::vector<Int> tokens_of(uint64_t step, Int count, Int vocabulary, Int on) {
  std::vector<Int> tokens;
  for (Int i = 0; i < count; ++i) {
    const Int at = static_cast<Int>(step) * 5 + i + on;
    tokens.push_back(at * at % vocabulary);
  }
  return tokens;
}

// A model and AdamW by the definition, and by the engine. A step gives its loss: dropout, clipping, AdamW.
struct Ours {
  Model model;
  spec::AdamW<float> adam{.lr = 1e-2};

  explicit Ours(const Model::Config& config) : model(config, spec::Rng{1}) {}
  spec::Array<float> step(uint64_t number, Int batch, Int time) {
    const Int vocabulary = model.config.vocabulary;
    spec::Masks masks{spec::Rng{2}.split(number)};
    const spec::Tensor<float> loss =
        model.loss(tokens_of(number, batch * time, vocabulary, 0),
                   tokens_of(number, batch * time, vocabulary, 1), batch, &masks);
    spec::backward(loss);
    adam.step(model.parameters, spec::clip_factor(spec::grad_norm(model.parameters), 1));
    return loss.value();
  }
};

struct Theirs {
  isobar::LanguageModel model;
  std::vector<isobar::Tensor> weights;
  isobar::AdamW optimizer;

  explicit Theirs(const Model::Config& config)
      : model({.vocab_size = config.vocabulary,
               .block_size = config.length,
               .n_layer = config.layers,
               .n_head = config.heads,
               .n_embd = config.width,
               .positions = config.rope_base == 0 ? isobar::Positions::learned : isobar::Positions::rope,
               .rope_base = config.rope_base == 0 ? 1e4 : config.rope_base,
               .norm = "layernorm",
               .ffn = "gelu",
               .dropout = config.dropout},
              isobar::Rng(1)),
        weights(isobar::parameters(model)),
        optimizer(weights, {.lr = 1e-2}) {}
  isobar::Tensor step(uint64_t number, Int batch, Int time) {
    isobar::Tape tape({.rng = isobar::Rng(2).split(number)});
    const auto symbols = [&](Int on) {
      return isobar::tensor<Int>({batch, time}, tokens_of(number, batch * time, model.config.vocab_size, on));
    };
    const isobar::Tensor loss = model.loss(symbols(0), symbols(1));
    tape.backward(loss);
    optimizer.step(isobar::clip_factor(isobar::grad_norm(weights), 1));
    return loss.detach();
  }
};

// So many steps of two blocks: the loss of each is compared, and all parameters at the end. before_step(ours, theirs,
// step) sets their rates.
void train_both(const char* name, const Model::Config& config, uint64_t steps, const auto& before_step) {
  Count count;
  Ours ours(config);
  Theirs theirs(config);
  for (uint64_t step = 0; step < steps; ++step) {
    before_step(ours, theirs, step);
    const spec::Array<float> loss = ours.step(step, 3, 17);
    compare(count, fmt::format("loss of step {}", step), loss, theirs.step(step, 3, 17));
    count.runs += 1;
  }
  for (size_t i = 0; i < theirs.weights.size(); ++i)
    compare(count, fmt::format("parameter {}", i), ours.model.parameters[i].value(), theirs.weights[i]);
  report(name, count);
}

void language_model() {
  train_both("language model", {31, 20, 2, 2, 16, 0.1}, 100, [](Ours&, Theirs&, uint64_t) {});
}

// With rotary positions, and a learning rate that follows a cosine.
void rotary_model() {
  const spec::WarmupCosine ours_rate{1e-2, 1e-3, 4, 18};
  const isobar::WarmupCosine theirs_rate{1e-2, 1e-3, 4, 18};
  train_both("rope, AdamW, cosine", {31, 20, 2, 2, 16, 0.1, 1e4}, 20,
             [&](Ours& ours, Theirs& theirs, uint64_t step) {
               ours.adam.lr = ours_rate(static_cast<Int>(step));
               theirs.optimizer.set_lr(theirs_rate(static_cast<Int>(step)));
             });
}

// What the engine alone computes: a synthetic text, and tokens that a model draws after 5 steps.
void drawn_tokens() {
  const auto add = [](Count& count, const std::vector<int32_t>& tokens) {
    for (const int32_t token : tokens) count.add(std::array{static_cast<double>(token)}.data(), 1);
    count.runs += 1;
  };
  Count text, sampled;
  const isobar::MarkovSource source;
  add(text, source.generate(100'000, isobar::Rng(1)));
  text.add(std::array{source.bigram_loss(), source.entropy_floor(64)}.data(), 2);
  report("synthetic text", text);
  Theirs theirs({31, 20, 2, 2, 16, 0, 1e4});
  for (uint64_t step = 0; step < 5; ++step) theirs.step(step, 3, 17);
  add(sampled, isobar::generate(theirs.model, {1, 2, 3}, 100,
                                {.temperature = 0.8, .top_k = 20, .top_p = 0.95}, isobar::Rng(3)));
  report("100 sampled tokens", sampled);
}

// The logits of texts that three models read token by token, with a cache. The definition has none: they are compared
// with those of the engine's forward pass of the whole texts.
void decoded_logits() {
  const isobar::LanguageModelConfig llama{
      .vocab_size = 61, .block_size = 48, .n_layer = 2, .n_head = 5, .n_embd = 70, .init_std = 0.2};
  isobar::LanguageModelConfig grouped = llama, gpt = llama;
  grouped.n_kv_head = 1, grouped.qk_norm = true;
  gpt.positions = isobar::Positions::learned, gpt.norm = "layernorm", gpt.ffn = "gelu", gpt.bias = true;
  Count count;
  for (const isobar::LanguageModelConfig& config : {llama, grouped, gpt}) {
    isobar::LanguageModel model(config, isobar::Rng(1));
    const Int time = config.block_size;
    const isobar::Tensor text = isobar::Rng(2).integers({2, time}, config.vocab_size), whole = model(text);
    isobar::KeyValueCache cache;
    for (Int t = 0; t < time; ++t) {
      const std::vector<float> whole_t = slice(whole, 1, t, t + 1).to_vector<float>(),
                               got = model(slice(text, 1, t, t + 1), cache).to_vector<float>();
      count.add(got.data(), std::ssize(got));
      count.bytes += std::ssize(got) * static_cast<Int>(sizeof(float));
      if (std::memcmp(got.data(), whole_t.data(), got.size() * sizeof(float)) == 0) continue;
      count.differing += 1;
      count.first = fmt::format("token {}: its logits differ from those of the whole text", t);
    }
    count.runs += 1;
  }
  report("decoded logits", count);
}

// Steps of a model of nanoGPT's size, by one of the two alone, for a definition is slow: its losses, then its
// weights and the moments of AdamW as a checkpoint has them.
void nanogpt(uint64_t steps, bool by_definition) {
  const Model::Config config{65, 64, 4, 4, 128, 0.1};
  Count losses, checkpoint;
  const auto add = [](Count& count, const isobar::Tensor& x) {
    count.add(x.to_vector<float>().data(), x.numel());
  };
  if (by_definition) {
    Ours ours(config);
    for (uint64_t step = 0; step < steps; ++step) losses.add(ours.step(step, 12, 64).x.data(), 1);
    for (const auto& w : ours.model.parameters) {
      const auto& [first, second] = ours.adam.moments[w.node->number];
      for (const std::vector<float>& numbers : {w.value().x, first, second})
        checkpoint.add(numbers.data(), w.numel());
    }
  } else {
    Theirs theirs(config);
    for (uint64_t step = 0; step < steps; ++step) add(losses, theirs.step(step, 12, 64));
    std::map<std::string, isobar::Tensor> state;
    for (const auto& [name, tensor] : isobar::named_state(theirs.optimizer)) state[name] = tensor;
    for (size_t i = 0; i < theirs.weights.size(); ++i) {
      add(checkpoint, theirs.weights[i]);
      for (const char* moment : {"first_moment", "second_moment"})
        add(checkpoint, state.at(fmt::format("{}.{}", i, moment)));
    }
  }
  report(fmt::format("nanoGPT, {} steps", steps), losses);
  report(fmt::format("its checkpoint after {}", steps), checkpoint);
}

// The eight layers of decay_study, with RMSNorm and without: each output, and the gradients of all weights.
void eight_layers(bool normed) {
  Count count;
  const spec::Rng rng{1};
  const spec::EightLayers<float> ours(rng.split("net"));
  const auto outputs = ours(spec::Tensor<float>(rng.split("x").normal<float>({32, 512}, 0, 1)), normed);
  const spec::Array<float> dy = rng.split("loss").normal<float>({32, 512}, 0, 1);
  spec::backward(sum(spec::Tensor<float>(dy) * outputs.back()));

  const isobar::Rng own(1);
  isobar::Tensor x = own.split("x").normal({32, 512});
  isobar::Tape tape;
  std::vector<std::unique_ptr<isobar::Linear>> layers;
  for (size_t i = 0; i < outputs.size(); ++i) {
    layers.push_back(std::make_unique<isobar::Linear>(
        512, 512, own.split("net").split(fmt::format("layer {}", i + 1)).split("linear1")));
    x = (*layers.back())(x);
    if (normed) x = isobar::RMSNorm(512)(x);
    x = relu(x);
    compare(count, fmt::format("layer {}", i + 1), outputs[i].value(), x);
  }
  tape.backward(sum(tensor_of(dy) * x));
  for (size_t i = 0; i < layers.size(); ++i) {
    compare(count, fmt::format("weight {}", i + 1), ours.layers[i].weight.grad(), layers[i]->weight.grad());
    compare(count, fmt::format("bias {}", i + 1), ours.layers[i].bias.grad(), layers[i]->bias.grad());
  }
  count.runs = 1;
  report(normed ? "eight layers, RMSNorm" : "eight layers", count);
}

void training() {
  op("dropout", alone(), [](const auto& x) { return masked(x[0], 0.3); });
  if (!wanted.empty()) return;
  random_numbers<float>();
  random_numbers<double>();
  optimizers<float>();
  optimizers<double>();
  extreme_norms();
  pieces<float>();
  pieces<double>();
  language_model();
  rotary_model();
  if (hashes) drawn_tokens();
  decoded_logits();
  eight_layers(false);
  eight_layers(true);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view first = count > 1 ? words[1] : "";
  hashes = first.starts_with("--");
  if (first == "--nanogpt" && count > 2) return nanogpt(std::stoull(words[2]), true), 0;
  if (!hashes) wanted = first;
  arithmetic();
  sums();
  products();
  convolutions();
  activations();
  norms();
  logits();
  attentions();
  training();
  for (int i = 2; hashes && i < count; ++i) nanogpt(std::stoull(words[i]), false);
  if (!hashes) report("all", all);
  return all.differing > 0;
}
