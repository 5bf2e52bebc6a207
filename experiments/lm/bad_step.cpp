#include "bad_step.h"

#include "../../core/blas.h"
#include "../../data/checked_file.h"
#include "../harness/environment.h"
#include "stored_state.h"

namespace isobar {
namespace {

// Version 2 is the first one in safetensors.
const FileKind bad_step_kind{"bad step", 2, "replay it with the isobar that wrote it"};

Tensor batch_tokens(const Safetensors& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  check(found != file.tensors.end(), "it has no tensor '{}'", name);
  return found->second;
}

BadStep parse_bad_step(const Safetensors& file) {
  BadStep step;
  step.before.config = stored_text(file, "config");
  step.before.tokenizer = tokenizer_from_json(stored_text(file, "tokenizer"));
  step.before.model = stored_tensors(file, "model");
  step.before.step = stored_number<int64_t>(file, "step");
  step.batch = {batch_tokens(file, "batch/x"), batch_tokens(file, "batch/y")};
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

}  // namespace

std::string this_build() {
  return fmt::format("isobar {}, OpenBLAS {} {}", isobar_version(), blas_version(), blas_core());
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

BadStep load_bad_step(const std::string& path) {
  const Safetensors file = read_checked(path, bad_step_kind);
  try {
    return parse_bad_step(file);
  } catch (const Error& error) {
    throw_error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace isobar
