// Sweep: one parallel pass over many arrays of different sizes, as over all parameters of a model.
//
//   const Sweep sweep(count, [&](size_t i) { return size of array i; });
//   sweep.each([&](size_t i, int64_t begin, int64_t end) { elements begin … end of array i });
//
// The arrays count as one concatenation, which is cut into chunks of fixed size: a chunk holds a part of a
// large array, or several small arrays. Borders depend on the sizes alone, so sums have the same bits for any
// number of threads.
#pragma once

#include "reduce.h"

namespace isobar::kernels {

class Sweep {
 public:
  static constexpr int64_t grain = 1 << 13;  // elements in one chunk: 32 KiB of floats per array

  template <class Size>
  Sweep(size_t count, const Size& size) : count_(count), first_(static_cast<int64_t>(count) + 1) {
    first_[0] = 0;
    for (size_t i = 0; i < count; ++i) first_[i + 1] = first_[i] + static_cast<int64_t>(size(i));
  }

  // body(i, begin, end) for intervals that cover every array once.
  template <class Body>
  void each(const Body& body) const {
    parallel_for(first_[count_], grain, [&](int64_t begin, int64_t end) { intervals(begin, end, body); });
  }

  // Σ body(i, begin, end): the intervals of a chunk in order, then the chunks as lane_sum adds them.
  template <class Body>
  double sum(const Body& body) const {
    const int64_t chunks = chunk_count(first_[count_], grain);
    const Scratch<double> partial(chunks);
    parallel_for(first_[count_], grain, [&](int64_t begin, int64_t end) {
      double total = 0;
      intervals(begin, end, [&](size_t i, int64_t from, int64_t to) { total += body(i, from, to); });
      partial[begin / grain] = total;
    });
    return lane_sum(chunks, [&](int64_t chunk) { return partial[chunk]; });
  }

 private:
  // The intervals between two positions of the concatenation.
  template <class Body>
  void intervals(int64_t begin, int64_t end, const Body& body) const {
    const int64_t* const start = first_.data();
    const int64_t* const holder = std::upper_bound(start, start + count_ + 1, begin) - 1;
    for (size_t i = holder - start; i < count_ && first_[i] < end; ++i) {
      const int64_t from = std::max(begin, first_[i]), to = std::min(end, first_[i + 1]);
      if (from < to) body(i, from - first_[i], to - first_[i]);
    }
  }

  const size_t count_;
  const Scratch<int64_t> first_;  // array i begins at position first_[i] of the concatenation
};

}  // namespace isobar::kernels
