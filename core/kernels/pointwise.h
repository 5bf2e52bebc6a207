// A formula over arrays, written once: y = f(inputs…), element by element, in one pass; and its backward in
// one pass, which computes f again on duals. An input is
//
//   FullInput      an array of y's size                                    dx = dy · slope
//   ScalarInput    one number                                              dx = Σ dy · slope
//   ChannelInput   a row of C numbers, y being (N, C)                      dx = Σ over rows of dy · slope
//
// Sums have a fixed order: lanes in double, chunks of rows, then chunks in order.
#pragma once

#include "dual.h"
#include "norm.h"

namespace isobar::kernels {

// An input's numbers, and where its gradient goes: nowhere where dx is null; dx may be dy for one FullInput.
// `io`, i and c are those of for_span().
template <class T>
struct FullInput {
  const T* x;
  T* dx;
  Lane<T> read(const auto& io, int64_t i, int64_t) const {
    fetch_ahead(x + i);
    return io.load(x + i);
  }
};
template <class T>
struct ScalarInput {
  T x;
  T* dx;
  Lane<T> read(const auto&, int64_t, int64_t) const { return splat<Vec<T>>(x); }
};
template <class T>
struct ChannelInput {
  const T* x;
  T* dx;
  Lane<T> read(const auto& io, int64_t, int64_t c) const { return io.load(x + c); }
};

template <class Input>
inline constexpr bool is_channel = false;
template <class T>
inline constexpr bool is_channel<ChannelInput<T>> = true;

// body(io, i, c) for the registers of rows begin … end, i the first element of each and c its column. Without
// channels the array is one long column.
template <class T, bool by_row, class Body>
void for_span(int64_t begin, int64_t end, int64_t columns, const Body& body) {
  if constexpr (by_row)
    for (int64_t n = begin; n < end; ++n)
      for_registers<T>(columns, [&](auto io, int64_t c) { body(io, n * columns + c, c); });
  else
    for_registers<T>(end - begin, [&](auto io, int64_t i) { body(io, begin + i, i); });
}

// Rows begin … end of y. The function and the inputs are copies: no store to y can change them, so the
// compiler computes what depends on numbers alone once, before the loop.
template <class T, bool by_row, class F, class... Inputs>
void pointwise_rows(int64_t begin, int64_t end, int64_t columns, F f, T* y, Store how, Inputs... inputs) {
  for_span<T, by_row>(begin, end, columns, [&](auto io, int64_t i, int64_t c) {
    io.store(Lane<T>(f(inputs.read(io, i, c)...)).v, y + i, how);
  });
  finish_stores(how);
}

// y = f(inputs…), y (rows, columns); columns is 1 where no input is a channel.
template <class T, class F, class... Inputs>
void pointwise(int64_t rows, int64_t columns, const F& f, T* y, const Inputs&... inputs) {
  constexpr bool by_row = (... || is_channel<Inputs>);
  assert(valid_arrays(rows * columns, y) && (by_row || columns == 1));
  const Store how = store_for(rows * columns, by_row ? columns : width<T>, y);
  parallel_for(
      rows, grain_of_rows(columns, map_grain), [&](int64_t begin, int64_t end) __attribute__((flatten)) {
        pointwise_rows<T, by_row>(begin, end, columns, f, y, how, inputs...);
      });
}

// --- the gradient of each kind of input. open() makes the chunk of some rows, which takes the terms
//     dy · slope register by register; close() ends that chunk, and finish() the gradient

template <class Input>
struct Gradient;

template <class T>
struct Gradient<FullInput<T>> {
  FullInput<T> input;
  Store how;
  Gradient(const FullInput<T>& in, int64_t rows, int64_t columns, int64_t, const T* dy)
      : input(in), how(store_for(rows * columns, columns == 1 ? width<T> : columns, in.dx, dy)) {}

  struct Chunk : FullInput<T> {
    Store how;
    void add(const auto& io, const Lane<T>& term, int64_t i, int64_t) {
      if (this->dx != nullptr) io.store(term.v, this->dx + i, how);
    }
    void add(const auto& io, None, int64_t i, int64_t c) { add(io, Lane<T>(0), i, c); }
  };
  Chunk open(int64_t) { return {input, how}; }
  void close(int64_t, const Chunk&) { finish_stores(how); }
  void finish() {}
};

template <class T>
struct Gradient<ScalarInput<T>> {
  ScalarInput<T> input;
  int64_t grain, chunks;
  Scratch<double> sums;
  Gradient(const ScalarInput<T>& in, int64_t rows, int64_t, int64_t step, const T*)
      : input(in), grain(step), chunks(chunk_count(rows, step)), sums(chunks) {}

  struct Chunk : ScalarInput<T> {
    LaneSums<T> sum;
    // keep(): a slope at the zero padding may be infinite.
    void add(const auto& io, const Lane<T>& term, int64_t, int64_t c) { sum.add(io.keep(term.v), c); }
    void add(const auto&, None, int64_t, int64_t) {}
  };
  Chunk open(int64_t) { return {input, {}}; }
  void close(int64_t begin, const Chunk& chunk) { sums[begin / grain] = chunk.sum.total(); }
  void finish() {
    if (input.dx == nullptr) return;
    *input.dx = static_cast<T>(lane_sum(chunks, [&](int64_t i) { return sums[i]; }));
  }
};

template <class T>
struct Gradient<ChannelInput<T>> {
  ChannelInput<T> input;
  ChunkSums<T> sums;
  Gradient(const ChannelInput<T>& in, int64_t rows, int64_t columns, int64_t, const T*)
      : input(in), sums(rows, columns, in.dx != nullptr) {}

  struct Chunk : ChannelInput<T> {
    T* line;
    void add(const auto& io, const Lane<T>& term, int64_t, int64_t c) {
      if (line != nullptr) io.store(io.load(line + c) + term.v, line + c);
    }
    void add(const auto&, None, int64_t, int64_t) {}
  };
  Chunk open(int64_t begin) { return {input, sums.line(begin)}; }
  void close(int64_t, const Chunk&) {}
  void finish() { sums.combine(input.dx); }
};

// Input number j of a formula: its slope by itself is 1.
template <size_t j, class T, size_t... k>
auto seed(const Lane<T>& x, std::index_sequence<k...>) {
  return with_slopes(x, Slopes<std::conditional_t<k == j, Lane<T>, None>...>(
                            std::conditional_t<k == j, Lane<T>, None>(1)...));
}

// d times the slope by input j; a result that is a constant has none.
template <size_t j, class T, class Y>
auto term(const Lane<T>& d, const Y& y) {
  if constexpr (is_dual<Y>)
    return d * std::get<j>(y.plain) + (d * y.factor) * std::get<j>(y.shared);
  else
    return None();
}

// What rows begin … end add to the gradients; f is a copy as above.
template <class T, bool by_row, class F, size_t... j, class... Chunks>
void add_gradients(int64_t begin, int64_t end, int64_t columns, F f, const T* dy,
                   std::index_sequence<j...> all, Chunks&... chunks) {
  for_span<T, by_row>(begin, end, columns, [&](auto io, int64_t i, int64_t c) {
    fetch_ahead(dy + i);
    const Lane<T> d = io.load(dy + i);
    const auto y = f(seed<j>(chunks.read(io, i, c), all)...);
    (chunks.add(io, term<j>(d, y), i, c), ...);
  });
}

// The gradients of all inputs, given dy.
template <class T, class F, class... Inputs>
void pointwise_backward(int64_t rows, int64_t columns, const F& f, const T* dy, const Inputs&... inputs) {
  constexpr bool by_row = (... || is_channel<Inputs>);
  assert(valid_arrays(rows * columns, dy) && (by_row || columns == 1));
  const int64_t grain = by_row ? column_grain(rows, columns) : map_grain;
  const auto run = [&](auto&&... gradients) {
    const auto chunk = [&](int64_t begin, int64_t end, auto... chunks) {
      add_gradients<T, by_row>(begin, end, columns, f, dy, std::index_sequence_for<Inputs...>{}, chunks...);
      (gradients.close(begin, chunks), ...);
    };
    parallel_for(
        rows, grain, [&](int64_t begin, int64_t end) __attribute__((flatten)) {
          chunk(begin, end, gradients.open(begin)...);
        });
    (gradients.finish(), ...);
  };
  run(Gradient<Inputs>(inputs, rows, columns, grain, dy)...);
}

}  // namespace isobar::kernels
