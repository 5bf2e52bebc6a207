// Parts of tensors as the bytes of messages.
#pragma once

#include <cstring>
#include <vector>

#include "rank_link.h"
#include "raw.h"

namespace isobar {

// Elements begin … end − 1 of a contiguous tensor, to be read; and to be written.
inline Stretch stretch(const Tensor& x, int64_t begin, int64_t end, void* numbers) {
  const auto size = static_cast<int64_t>(size_of(x.dtype()));
  return {static_cast<char*>(numbers) + begin * size, static_cast<size_t>((end - begin) * size)};
}
inline Stretch stretch(const Tensor& x, int64_t begin, int64_t end) {
  return stretch(x, begin, end,
                 const_cast<void*>(raw::address(x)));  // a message is sent from where it may be received
}
inline Stretch stretch(const Tensor& x) { return stretch(x, 0, x.numel()); }
inline Stretch stretch_to_fill(const Tensor& x, int64_t begin, int64_t end) {
  return stretch(x, begin, end, raw::write_any(x, "Shards"));
}
inline Stretch stretch_to_fill(const Tensor& x) { return stretch_to_fill(x, 0, x.numel()); }

inline void copy(const Stretch& to, const Stretch& from) { std::memcpy(to.data, from.data, from.bytes); }

// The stretches of a list of runs, each of a tensor's elements; a tensor that is undefined has none.
template <class Runs>
std::vector<Stretch> stretches(const std::vector<Tensor>& tensors, const Runs& runs, bool to_fill = false) {
  std::vector<Stretch> all;
  for (const auto& run : runs)
    if (const Tensor& x = tensors[run.parameter]; x.defined())
      all.push_back(to_fill ? stretch_to_fill(x, run.begin, run.end) : stretch(x, run.begin, run.end));
  return all;
}

}  // namespace isobar
