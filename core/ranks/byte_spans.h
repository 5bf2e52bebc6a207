// Parts of tensors as the bytes of messages.
#pragma once

#include <cstring>

#include "../raw.h"
#include "rank_link.h"

namespace isobar {

// Elements begin … end − 1 of a contiguous tensor, to be read; and to be written.
inline ByteSpan span_of(const Tensor& x, int64_t begin, int64_t end, void* numbers) {
  const auto size = static_cast<int64_t>(size_of(x.dtype()));
  return {static_cast<char*>(numbers) + begin * size, static_cast<size_t>((end - begin) * size)};
}
inline ByteSpan span_of(const Tensor& x, int64_t begin, int64_t end) {
  return span_of(x, begin, end,
                 const_cast<void*>(raw::address(x)));  // a message is sent from where it may be received
}
inline ByteSpan span_of(const Tensor& x) { return span_of(x, 0, x.numel()); }
inline ByteSpan span_to_fill(const Tensor& x, int64_t begin, int64_t end) {
  return span_of(x, begin, end, raw::write_any(x, "Shards"));
}
inline ByteSpan span_to_fill(const Tensor& x) { return span_to_fill(x, 0, x.numel()); }

inline void copy(const ByteSpan& to, const ByteSpan& from) { std::memcpy(to.data, from.data, from.bytes); }

// The spans of a list of intervals, each of a tensor's elements; a tensor that is undefined has none.
template <class Some>
std::vector<ByteSpan> spans(const std::vector<Tensor>& tensors, const Some& intervals, bool to_fill = false) {
  std::vector<ByteSpan> all;
  for (const auto& interval : intervals)
    if (const Tensor& x = tensors[interval.parameter]; x.defined())
      all.push_back(to_fill ? span_to_fill(x, interval.begin, interval.end)
                            : span_of(x, interval.begin, interval.end));
  return all;
}

}  // namespace isobar
