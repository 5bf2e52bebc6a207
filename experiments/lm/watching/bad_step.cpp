#include "bad_step.h"

#include "../../../core/blas.h"
#include "../../../data/utf8_stream.h"
#include "../../../nn/model.h"
#include "../../run/environment.h"
#include "../training/train.h"

namespace isobar {
namespace {

// Version 2 is the first one in safetensors.
const FileKind bad_step_kind{"bad step", 2, "replay it with the isobar that wrote it"};

BadStep parse_bad_step(const Safetensors& file) {
  BadStep step;
  step.before.config = stored_text(file, "config");
  step.before.tokenizer = tokenizer_from_json(stored_text(file, "tokenizer"));
  step.before.model = stored_tensors(file, "model");
  step.before.step = stored_number<int64_t>(file, "step");
  for (const auto& [name, tokens] : {std::pair{"batch/x", &step.batch.x}, {"batch/y", &step.batch.y}}) {
    check(file.tensors.contains(name), "it has no tensor '{}'", name);
    *tokens = file.tensors.at(name);
  }
  step.masks_key = stored_number<uint64_t>(file, "masks_key");
  step.report = stored_text(file, "report");
  step.written_by = stored_text(file, "written_by");
  const Tensor &x = step.batch.x, &y = step.batch.y;
  check(x.ndim() == 2 && x.numel() > 0 && is_integer(x.dtype()) && y.shape() == x.shape() &&
            is_integer(y.dtype()),
        "wanted a batch of integers, (rows, tokens) twice, got {} {} and {} {}", x.dtype(), x.shape(),
        y.dtype(), y.shape());
  const int64_t pieces = config_of(step.before).gradient_accumulation_steps;
  check(x.size(0) % pieces == 0, "wanted {} equal pieces of a batch, got {} rows", pieces, x.size(0));
  return step;
}

using RunBatch = std::function<std::unique_ptr<TapeTrace>(const Batch&)>;

// Rows begin … end − 1 and positions 0 … length − 1 of a batch.
Batch part_of(const Batch& batch, int64_t begin, int64_t end, int64_t length) {
  const auto part = [&](const Tensor& all) {
    return contiguous(slice(slice(all, 0, begin, end), 1, 0, length));
  };
  return {part(batch.x), part(batch.y)};
}

std::unique_ptr<TapeTrace> run_quietly(const RunBatch& run, const Batch& batch) {
  try {
    return run(batch);
  } catch (const Error&) {  // a model may refuse a smaller batch; then nothing is known
    return nullptr;
  }
}

// The first dimension of the bad tensor that `extent − 1` of what it had `extent` of made shorter, and how
// many of its indices each of them takes.
struct BatchDimension {
  int dim;
  int64_t each;
};
std::optional<BatchDimension> dimension_of(const BadOp& bad, const TapeTrace* fewer, int64_t extent) {
  if (fewer == nullptr) return std::nullopt;
  const Shape& shape = bad.values.shape();
  const std::optional<Shape> other = shape_in(*fewer, bad);
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
  const auto dimension = [&](int64_t extent, int64_t row_end, int64_t position_end) {
    if (extent == 1) return std::optional<BatchDimension>();
    return dimension_of(bad, run_quietly(run, part_of(batch, 0, row_end, position_end)).get(), extent);
  };
  const auto of_rows = dimension(rows, rows - 1, length);
  if (!of_rows && rows > 1) return found;
  const auto of_positions = dimension(length, rows, length - 1);
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

// Errors that `run` throws count as nothing found.
BadRow bad_row_of(const BadOp& bad, const Batch& batch, const RunBatch& run) {
  BadRow found = by_index(bad, batch, run);
  const bool some = found.row >= 0 && found.bad_rows < found.rows;
  if (some || found.rows == 1) return found;
  BadRow single{.rows = found.rows, .alone = true};
  for (int64_t row = 0; row < single.rows; ++row) {
    const auto trace = run_quietly(run, part_of(batch, row, row + 1, batch.x.size(1)));
    if (trace == nullptr || !first_bad_op(*trace)) continue;
    ++single.bad_rows;
    if (single.row < 0) single.row = row;
  }
  if (single.bad_rows == 0 && found.row >= 0) return found;
  if (single.row == found.row) single.position = found.position;
  return single;
}

// A step that is run from the same weights and buffers as often as wanted.
struct Rerun {
  const BadStep& step;
  LanguageModel model;

  std::unique_ptr<TapeTrace> operator()(const Batch& batch, const Rng& masks, int64_t pieces,
                                        Gradients* gradients = nullptr) {
    load_state(model, step.before.model);
    clear_gradients(parameters(model));
    auto trace = std::make_unique<TapeTrace>();
    const Gradients of_batch = gradients_of(model, batch, masks, {.accumulation_steps = pieces});
    if (gradients != nullptr) *gradients = of_batch;
    return trace;
  }
};

std::string number_or_nan(double value) { return std::isnan(value) ? "NaN" : fmt::format("{}", value); }

// The name of the first parameter that is wanted, or "".
std::string name_of_parameter(Module& model, const auto& wanted) {
  for (const NamedTensor& named : named_parameters(model))
    if (wanted(named.tensor)) return named.name;
  return "";
}

// The tokens of a row up to a position, as text.
std::string text_of_row(const BadStep& step, int64_t row, int64_t position) {
  constexpr int64_t most = 32;
  const Tensor& x = step.batch.x;
  const int64_t end = position < 0 ? std::min(most, x.size(1)) : position + 1;
  const std::vector<double> all = x.to_vector<double>();
  const auto begin_of_row = all.begin() + row * x.size(1);
  const std::vector<int32_t> tokens(begin_of_row + std::max<int64_t>(0, end - most), begin_of_row + end);
  return one_line(step.before.tokenizer->decode(tokens));
}

std::string line_of(const StepFinding& found, int64_t pieces) {
  if (found.op)
    return fmt::format("{}{}; {}",
                       pieces == 1 ? "" : fmt::format("piece {} of {}: ", found.op->tape + 1, pieces),
                       found.op->text(found.parameter), found.row.text());
  if (!found.parameter.empty())
    return fmt::format("the gradient of {} is not finite, though each of its terms is", found.parameter);
  if (std::isfinite(found.loss) && std::isfinite(found.gradient_norm))
    return "run alone the step is finite: something decides it besides weights, buffers, batch and masks; "
           "does a module keep numbers that fields() does not list?";
  return "the norm of all gradients is not finite, though each of them is";
}

std::string report_of(const BadStep& step, const StepFinding& found) {
  std::string text = fmt::format("step {}: loss {}, norm of all gradients {}\n{}\n", step.before.step + 1,
                                 number_or_nan(found.loss), number_or_nan(found.gradient_norm), found.line);
  if (!found.op) return text;
  text += fmt::format("  not finite: {}, checksum {}\n", range_of(found.op->values).text(),
                      checksum_of(found.op->values));
  if (found.row.row < 0) return text;
  text += fmt::format("  row {}{}: \"{}\"\n", found.row.row, found.row.position < 0 ? "" : " up to there",
                      text_of_row(step, found.first_row + found.row.row, found.row.position));
  return text;
}

}  // namespace

std::string this_build() {
  return fmt::format("isobar {}, products: {}, {}", isobar_version(), blas_version(), blas_core());
}

void save_bad_step(const std::string& path, const BadStep& step) {
  Safetensors file;
  file.metadata = {{"written_by", step.written_by},
                   {"config", step.before.config},
                   {"tokenizer", step.before.tokenizer->to_json()},
                   {"step", std::to_string(step.before.step)},
                   {"masks_key", std::to_string(step.masks_key)},
                   {"report", step.report}};
  store_tensors(file, "model", step.before.model);
  file.tensors.emplace("batch/x", step.batch.x);
  file.tensors.emplace("batch/y", step.batch.y);
  write_file_atomically(path, checked_bytes(std::move(file), bad_step_kind));
}

BadStep load_bad_step(const std::string& path) { return parse_checked(path, bad_step_kind, parse_bad_step); }

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

StepFinding examine(const BadStep& step) {
  const LmConfig config = config_of(step.before);
  const WithProducts products(products_from_name(config.products));
  Rerun run{step, model_of(step.before)};
  const int64_t pieces = config.gradient_accumulation_steps;
  const Rng masks(step.masks_key);
  Gradients gradients{};
  StepFinding found;
  found.op = first_bad_op(*run(step.batch, masks, pieces, &gradients));
  found.loss = gradients.loss;
  found.gradient_norm = gradients.norm;
  if (found.op) {
    const auto is_leaf = [&](const Tensor& p) {
      return found.op->leaf.defined() && p.id() == found.op->leaf.id();
    };
    found.parameter = name_of_parameter(run.model, is_leaf);
    const int64_t rows = step.batch.x.size(0) / pieces;
    found.first_row = found.op->tape * rows;
    const auto piece = [&](const Tensor& all) {
      return slice(all, 0, found.first_row, found.first_row + rows);
    };
    const Rng masks_of_piece = pieces == 1 ? masks : masks.split(static_cast<uint64_t>(found.op->tape));
    found.row = bad_row_of(*found.op, {piece(step.batch.x), piece(step.batch.y)},
                           [&](const Batch& batch) { return run(batch, masks_of_piece, 1); });
  } else {
    found.parameter = name_of_parameter(
        run.model, [](const Tensor& p) { return p.grad().defined() && !all_finite(p.grad()); });
  }
  found.line = line_of(found, pieces);
  found.report = report_of(step, found);
  return found;
}

std::string replay(const std::string& path) {
  const BadStep step = load_bad_step(path);
  const std::string report = examine(step).report;
  if (report == step.report) return report;
  throw Diverged(fmt::format("{}: run again here ({}) the step gave '{}', where it was written ({}) '{}'",
                             path, this_build(), one_line(report, 400), step.written_by,
                             one_line(step.report, 400)));
}

}  // namespace isobar
