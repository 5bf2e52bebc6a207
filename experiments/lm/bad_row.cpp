#include "bad_row.h"

#include <cmath>
#include <optional>
#include <vector>

#include "../../autograd/ops.h"

namespace isobar {
namespace {

using RunBatch = std::function<std::unique_ptr<BadOpSearch>(const Batch&)>;

// Rows begin … end − 1 and positions 0 … length − 1 of a batch.
Batch part_of(const Batch& batch, int64_t begin, int64_t end, int64_t length) {
  const auto part = [&](const Tensor& all) {
    return contiguous(slice(slice(all, 0, begin, end), 1, 0, length));
  };
  return {part(batch.x), part(batch.y)};
}

std::unique_ptr<BadOpSearch> run_quietly(const RunBatch& run, const Batch& batch) {
  try {
    return run(batch);
  } catch (const Error&) {  // a model may refuse a smaller batch; then nothing is known
    return nullptr;
  }
}

// The first dimension of the bad tensor that `extent − 1` of what it had `extent` of made shorter, and how many of its
// indices each of them takes.
struct BatchDimension {
  int dim;
  int64_t each;
};
std::optional<BatchDimension> dimension_of(const BadOp& bad, const BadOpSearch* fewer, int64_t extent) {
  if (fewer == nullptr) return std::nullopt;
  const Shape& shape = bad.values.shape();
  const std::optional<Shape> other = fewer->shape_of(bad);
  if (!other || other->ndim() != shape.ndim()) return std::nullopt;
  for (int d = 0; d < shape.ndim(); ++d) {
    if ((*other)[d] == shape[d]) continue;
    const int64_t each = shape[d] / extent;
    if (each * extent != shape[d] || (*other)[d] != each * (extent - 1)) return std::nullopt;
    return BatchDimension{d, each};
  }
  return std::nullopt;
}

// Calls visit(index) for each element that is not finite, in row-major order.
void each_bad_index(const Tensor& values, const auto& visit) {
  const Tensor whole = contiguous(values);
  const Shape& shape = whole.shape();
  dispatch_float("bad_row", whole.dtype(), [&]<class T>() {
    std::vector<int64_t> index(static_cast<size_t>(shape.ndim()));
    for (int64_t i = 0; i < whole.numel(); ++i) {
      if (std::isfinite(whole.data<T>()[i])) continue;
      int64_t rest = i;
      for (int d = shape.ndim() - 1; d >= 0; --d) {
        index[static_cast<size_t>(d)] = rest % shape[d];
        rest /= shape[d];
      }
      visit(index);
    }
  });
}

// By the indices of the values.
BadRow by_index(const BadOp& bad, const Batch& batch, const RunBatch& run) {
  const int64_t rows = batch.x.size(0), length = batch.x.size(1);
  BadRow found{.rows = rows};
  const auto of_rows =
      rows > 1 ? dimension_of(bad, run_quietly(run, part_of(batch, 0, rows - 1, length)).get(), rows)
               : std::nullopt;
  if (!of_rows && rows > 1) return found;
  const auto of_positions =
      length > 1 ? dimension_of(bad, run_quietly(run, part_of(batch, 0, rows, length - 1)).get(), length)
                 : std::nullopt;
  const auto position_in = [&](const std::vector<int64_t>& index) -> int64_t {
    if (!of_positions) return -1;
    const int64_t i = index[static_cast<size_t>(of_positions->dim)];
    if (!of_rows || of_positions->dim != of_rows->dim) return i / of_positions->each;
    return i % of_rows->each / (of_rows->each / length);  // rows and positions in one dimension, rows first
  };
  std::vector<bool> is_bad(static_cast<size_t>(rows));
  each_bad_index(bad.values, [&](const std::vector<int64_t>& index) {
    const int64_t row = of_rows ? index[static_cast<size_t>(of_rows->dim)] / of_rows->each : 0;
    if (found.row < 0 || row < found.row) found.row = row, found.position = position_in(index);
    is_bad[static_cast<size_t>(row)] = true;
  });
  for (const bool one : is_bad) found.bad_rows += one;
  return found;
}

}  // namespace

std::string BadRow::text() const {
  if (row < 0)
    return alone ? fmt::format("no row of the {} alone gives it: it takes several together", rows)
                 : "row unknown";
  const std::string place = position < 0 ? "" : fmt::format(", position {}", position);
  if (bad_rows == rows && rows > 1)
    return fmt::format("every row of the {} gives it: the first is row 0{}", rows, place);
  const std::string others = bad_rows > 1 ? fmt::format(" and {} more", bad_rows - 1) : "";
  return fmt::format("row {} of {}{}{}{}", row, rows, others, place,
                     alone ? ", found by running each row alone" : "");
}

BadRow bad_row_of(const BadOp& bad, const Batch& batch, const RunBatch& run) {
  BadRow found = by_index(bad, batch, run);
  const bool some = found.row >= 0 && found.bad_rows < found.rows;
  if (some || found.rows == 1) return found;
  BadRow single{.rows = found.rows, .alone = true};
  for (int64_t row = 0; row < single.rows; ++row) {
    const auto search = run_quietly(run, part_of(batch, row, row + 1, batch.x.size(1)));
    if (search == nullptr || !search->found()) continue;
    ++single.bad_rows;
    if (single.row < 0) single.row = row;
  }
  if (single.bad_rows == 0 && found.row >= 0) return found;
  if (single.row == found.row) single.position = found.position;
  return single;
}

}  // namespace isobar
