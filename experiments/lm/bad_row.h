// Which row of a batch, and which position in that row, the values that are not finite belong to.
//
// No shape says which dimension is the batch. So the step is run without its last row, and without its last position:
// the dimension that became shorter is the one. Where there is none, as in the gradient of a weight, or where all rows are
// bad, each row is run alone.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "../../autograd/bad_op.h"
#include "../../data/dataset.h"

namespace isobar {

struct BadRow {
  int64_t row = -1;       // the first bad one; -1: unknown, or it takes several rows together
  int64_t bad_rows = 0;   // how many rows are bad
  int64_t rows = 0;       // of the batch
  int64_t position = -1;  // of the first value in that row; -1: unknown
  bool alone = false;     // found by running each row alone

  // "row 3 of 16, position 17".
  std::string text() const;
};

// `run` goes forward and back through a batch under a search. Errors that it throws count as nothing found.
BadRow bad_row_of(const BadOp& bad, const Batch& batch,
                  const std::function<std::unique_ptr<BadOpSearch>(const Batch&)>& run);

}  // namespace isobar
