// Dataset: a numbered collection of examples, from which batches are made. A Loader determines their order.
//
//   Batch [x, y] = dataset.batch(indices);   // x: inputs, y: targets, examples along the first dimension
//
// A Dataset is read-only once built: any number of threads may call batch() at the same time.
#pragma once

#include <cstdint>

#include "../core/tensor.h"

namespace isobar {

struct Batch {
  Tensor x, y;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  // The number of examples; their indices are 0 … size() − 1.
  virtual int64_t size() const = 0;
  // The examples with these indices, in this order; an index may repeat. Throws Error for an index outside of
  // 0 … size() − 1.
  virtual Batch batch(std::span<const int64_t> indices) const = 0;
};

}  // namespace isobar
