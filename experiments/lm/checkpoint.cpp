#include "checkpoint.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "../../autograd/ops.h"
#include "../../data/checksum.h"
#include "../../data/file.h"
#include "../../nn/affordable.h"
#include "../../nn/model.h"
#include "../harness/settings.h"
#include "stored_state.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_file = size_t{1} << 36;

std::string bad_number(const NamedTensor& named) {
  if (!is_float(named.tensor.dtype())) return "";
  const Tensor values = contiguous(named.tensor);
  return dispatch_float("checkpoint", values.dtype(), [&]<class T>() {
    const T* x = values.data<T>();
    const T* bad = std::find_if(x, x + values.numel(), [](T number) { return !std::isfinite(number); });
    return bad == x + values.numel() ? "" : fmt::format("element {} of {} is {}", bad - x, named.name, *bad);
  });
}

void write_run(Hdf5File& file, const RunState& run) {
  for (const char* group : {"/run/series", "/run/lists", "/run/csv"}) file.make_group(group);
  for (const auto& [name, values] : run.series) file.write("/run/series/" + name, values);
  for (const auto& [name, texts] : run.lists) file.write("/run/lists/" + name, texts);
  for (const auto& [name, text] : run.csvs) store_text(file, "/run/csv/" + name, text);
}

RunState read_run(const Hdf5File& file) {
  RunState run;
  for (const std::string& name : file.names("/run/series")) {
    const Tensor values = file.read("/run/series/" + name);
    check(values.dtype() == Dtype::f64 && (values.ndim() == 1 || values.ndim() == 2),
          "wanted rows of f64 in series '{}', got {} {}", name, values.dtype(), values.shape());
    run.series.emplace(name, values);
  }
  for (const std::string& name : file.names("/run/lists"))
    run.lists.emplace(name, file.read_strings("/run/lists/" + name));
  for (const std::string& name : file.names("/run/csv"))
    run.csvs.emplace(name, read_stored_text(file, "/run/csv/" + name));
  return run;
}

// The content of a file whose checksum is right, still distrusted.
Checkpoint parse(const Hdf5File& file) {
  Checkpoint checkpoint;
  const int64_t newest = std::exchange(checkpoint.format, file.int_attribute("/", "format"));
  check(checkpoint.format >= 1 && checkpoint.format <= newest,
        "wanted format 1 to {}, got {}; a newer isobar wrote it", newest, checkpoint.format);
  checkpoint.config = read_stored_text(file, "/config");
  checkpoint.tokenizer = tokenizer_from_json(read_stored_text(file, "/tokenizer"));
  checkpoint.model = read_stored_tensors(file, "/model");
  checkpoint.step = file.int_attribute("/", "step");
  checkpoint.key = std::bit_cast<uint64_t>(file.int_attribute("/", "key"));
  checkpoint.optimizer = read_stored_tensors(file, "/optimizer");
  checkpoint.best_val_loss = file.double_attribute("/", "best_val_loss");
  checkpoint.skipped_steps = file.int_attribute("/", "skipped_steps");
  checkpoint.corpus = file.text_attribute("/", "corpus");
  checkpoint.run = read_run(file);
  const int64_t steps = config_of(checkpoint).max_iters;
  check(checkpoint.step >= 0 && checkpoint.step <= steps, "wanted a step from 0 to {}, got {}", steps,
        checkpoint.step);
  check(checkpoint.skipped_steps >= 0 && checkpoint.skipped_steps <= checkpoint.step,
        "wanted from 0 to {} skipped steps, got {}", checkpoint.step, checkpoint.skipped_steps);
  return checkpoint;
}

// The number in "step_000250.h5", or -1.
int64_t step_in_name(std::string_view name) {
  if (!name.starts_with("step_") || !name.ends_with(".h5")) return -1;
  const std::string_view digits = name.substr(5, name.size() - 8);
  int64_t step = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  return error == std::errc() && end == digits.data() + digits.size() ? step : -1;
}

}  // namespace

std::string not_finite(const Checkpoint& checkpoint) {
  for (const auto* tensors : {&checkpoint.model, &checkpoint.optimizer})
    for (const NamedTensor& named : *tensors)
      if (const std::string bad = bad_number(named); !bad.empty()) return bad;
  return "";
}

std::string checkpoint_bytes(const Checkpoint& checkpoint) {
  const std::string bad = not_finite(checkpoint);
  check(bad.empty(), "checkpoint: {}; nothing was saved", bad);
  Hdf5File file = Hdf5File::create("checkpoint");
  file.set_attribute("/", "format", checkpoint.format);
  store_text(file, "/config", checkpoint.config);
  store_text(file, "/tokenizer", checkpoint.tokenizer->to_json());
  store_tensors(file, "/model", checkpoint.model);
  file.set_attribute("/", "step", checkpoint.step);
  file.set_attribute("/", "key", std::bit_cast<int64_t>(checkpoint.key));
  store_tensors(file, "/optimizer", checkpoint.optimizer);
  file.set_attribute("/", "best_val_loss", checkpoint.best_val_loss);
  file.set_attribute("/", "skipped_steps", checkpoint.skipped_steps);
  file.set_attribute("/", "corpus", checkpoint.corpus);
  write_run(file, checkpoint.run);
  return add_checksum_header("checkpoint", file.image());
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  write_file_atomically(path, checkpoint_bytes(checkpoint));
}

Checkpoint load_checkpoint(const std::string& path) {
  const std::string bytes = read_file(path, largest_file);
  const std::string_view image = without_checksum_header("checkpoint", bytes, path);
  try {
    return parse(Hdf5File::open_image(image, "its content"));
  } catch (const Error& error) {
    throw_error(fmt::format("{}: {}", path, error.what()));
  }
}

std::vector<std::string> checkpoint_files(const std::string& run_folder) {
  const fs::path folder = fs::path(run_folder) / "checkpoints";
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code none;  // then there are no checkpoints
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (const int64_t step = step_in_name(name); step >= 0 || name == "best.h5")
      found.emplace_back(step, entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (const auto& [step, path] : found) paths.push_back(path);
  return paths;
}

Checkpoint newest_checkpoint(const std::string& run_folder,
                             const std::function<void(const std::string&)>& complain) {
  const std::vector<std::string> paths = checkpoint_files(run_folder);
  check(!paths.empty(), "{}: wanted a run's folder with checkpoints/step_*.h5, found none", run_folder);
  for (const std::string& path : paths) try {
      return load_checkpoint(path);
    } catch (const Error& error) {
      if (complain) complain(error.what());
    }
  throw_error(fmt::format("{}: none of its {} checkpoints can be read", run_folder, paths.size()));
}

LmConfig config_of(const Checkpoint& checkpoint) {
  LmConfig config;
  for (const auto& [name, value] : read_settings(checkpoint.config, "configuration"))
    if (name != "seed" && name != "preset") set_setting(config, name, value, "configuration: " + name);
  config.check_values();
  return config;
}

LanguageModel model_of(const Checkpoint& checkpoint) {
  const LanguageModelConfig config = config_of(checkpoint).model(checkpoint.tokenizer->vocab_size());
  int64_t numbers = 0;
  for (const NamedTensor& named : checkpoint.model) numbers += named.tensor.numel();
  check_affordable(config, static_cast<int64_t>(checkpoint.model.size()), numbers, "checkpoint");
  LanguageModel model(config, Rng(0));
  load_state(model, checkpoint.model);
  return model;
}

}  // namespace isobar
