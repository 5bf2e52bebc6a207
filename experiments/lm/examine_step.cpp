#include "examine_step.h"

#include <algorithm>
#include <cmath>

#include "../../autograd/ops.h"
#include "../../data/utf8_stream.h"
#include "../../nn/model.h"
#include "../harness/json.h"
#include "../harness/process.h"
#include "stored_state.h"
#include "train.h"

namespace isobar {
namespace {

LanguageModel model_before(const BadStep& step) {
  Checkpoint plain = step.before;
  Json config = Json::parse(plain.config);
  config["activation_checkpointing"] = false;
  plain.config = json_text(config);
  return model_of(plain);
}

// A step that is run from the same weights and buffers as often as wanted.
struct Rerun {
  const BadStep& step;
  LanguageModel model;

  std::unique_ptr<BadOpSearch> operator()(const Batch& batch, const Rng& masks, int64_t pieces,
                                          Gradients* gradients = nullptr) {
    load_state(model, step.before.model);
    clear_gradients(parameters(model));
    auto search = std::make_unique<BadOpSearch>();
    const Gradients of_batch = gradients_of(model, batch, masks, {.accumulation_steps = pieces});
    if (gradients != nullptr) *gradients = of_batch;
    return search;
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
    return "run alone the step is finite: something decides it besides weights, buffers, batch and masks; does a "
           "module keep numbers that fields() does not list?";
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

StepFinding examine(const BadStep& step) {
  const LmConfig config = config_of(step.before);
  const WithPrecision precision(precision_from_name(config.precision));
  Rerun run{step, model_before(step)};
  const int64_t pieces = config.gradient_accumulation_steps;
  const Rng masks(step.masks_key);
  Gradients gradients{};
  StepFinding found;
  found.op = run(step.batch, masks, pieces, &gradients)->found();
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
