#include "checkpoint.h"

#include "../../../data/file.h"
#include "../../../data/json_text.h"
#include "../../../nn/lm/hugging_face.h"
#include "../../../nn/model.h"
#include "../../run/settings.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

// Version 3 is the first one in safetensors; its models are read, its trainings are not resumed.
const FileKind checkpoint_kind{
    "checkpoint", 4, "the isobar that wrote it exports its model (isobar export), which isobar import reads",
    3};
constexpr std::string_view checkpoint_extension = ".safetensors";

std::string bad_number(const NamedTensor& named) {
  if (!is_float(named.tensor.dtype())) return "";
  const Tensor values = contiguous(named.tensor);
  return dispatch_float("checkpoint", values.dtype(), [&]<class T>() {
    const T* x = values.data<T>();
    const T* bad = std::find_if(x, x + values.numel(), [](T number) { return !std::isfinite(number); });
    return bad == x + values.numel() ? "" : fmt::format("element {} of {} is {}", bad - x, named.name, *bad);
  });
}

// Version 3 had the series in the checkpoint itself.
int64_t lines_of_modules(const Safetensors& file) {
  return file.metadata.contains("module_lines") ? stored_number<int64_t>(file, "module_lines")
                                                : Run::Lines::unknown;
}

// Settings of earlier versions that decide no weight: what products are rounded to, and what is computed twice.
std::string without_old_settings(const std::string& config) {
  Json json = parse_json<Json>(config);
  if (!json.is_object()) return config;
  const size_t all = json.size();
  for (const char* name : {"precision", "activation_checkpointing"}) json.erase(name);
  return json.size() == all ? config : json_text(json);
}

// The content of a file whose checksum is right, still distrusted.
Checkpoint parse(const Safetensors& file) {
  Checkpoint checkpoint;
  checkpoint.config = without_old_settings(stored_text(file, "config"));
  checkpoint.tokenizer = tokenizer_from_json(stored_text(file, "tokenizer"));
  checkpoint.model = stored_tensors(file, "model");
  checkpoint.step = stored_number<int64_t>(file, "step");
  checkpoint.key = stored_number<uint64_t>(file, "key");
  checkpoint.optimizer = stored_tensors(file, "optimizer");
  checkpoint.best_val_loss = stored_number<double>(file, "best_val_loss");
  checkpoint.skipped_steps = stored_number<int64_t>(file, "skipped_steps");
  checkpoint.corpus = stored_text(file, "corpus");
  const auto text_or_none = [&](const std::string& key) {
    return file.metadata.contains(key) ? stored_text(file, key) : "";
  };
  checkpoint.lines = {checkpoint.step, lines_of_modules(file), text_or_none("metrics_sum"),
                      text_or_none("modules_sum")};
  checkpoint.origin = text_or_none("origin");
  // A checkpoint of 0.3 does not say when its best loss was measured: --patience then counts from here.
  checkpoint.best_step =
      file.metadata.contains("best_step") ? stored_number<int64_t>(file, "best_step") : checkpoint.step;
  const int64_t steps = config_of(checkpoint).max_iters;
  check(checkpoint.step >= 0 && checkpoint.step <= steps, "wanted a step from 0 to {}, got {}", steps,
        checkpoint.step);
  check(checkpoint.skipped_steps >= 0 && checkpoint.skipped_steps <= checkpoint.step,
        "wanted from 0 to {} skipped steps, got {}", checkpoint.step, checkpoint.skipped_steps);
  check(checkpoint.best_step >= 0 && checkpoint.best_step <= checkpoint.step,
        "wanted a best_step from 0 to {}, got {}", checkpoint.step, checkpoint.best_step);
  check(checkpoint.lines.modules >= Run::Lines::unknown && checkpoint.lines.modules <= checkpoint.step,
        "wanted from 0 to {} module_lines, got {}", checkpoint.step, checkpoint.lines.modules);
  return checkpoint;
}

// The number in "step_000250.safetensors", or -1.
int64_t step_in_name(std::string_view name) {
  if (!name.starts_with("step_") || !name.ends_with(checkpoint_extension)) return -1;
  const std::string_view digits = name.substr(5, name.size() - 5 - checkpoint_extension.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  return error == std::errc() && end == digits.data() + digits.size() ? step : -1;
}

bool is_checkpoint_name(const std::string& name) {
  return step_in_name(name) >= 0 || name == best_checkpoint;
}

// Whether a file is a checkpoint by its first bytes, a damaged or an older one too.
bool is_checkpoint(const std::string& path) {
  try {
    return looks_checked(path);
  } catch (const Error&) {  // what cannot be read is left alone
    return false;
  }
}

// Removes a checkpoint or a symbolic link, and nothing else that may have a checkpoint's name.
void remove_checkpoint(const std::string& path) {
  const bool link = fs::symlink_status(path).type() == fs::file_type::symlink;
  std::error_code error;
  if (link || is_checkpoint(path)) fs::remove(path, error);
  check(!error, "file: cannot remove '{}': {}", path, error.message());
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
  Safetensors file;
  file.metadata = {{"config", checkpoint.config},
                   {"tokenizer", checkpoint.tokenizer->to_json()},
                   {"step", std::to_string(checkpoint.step)},
                   {"key", std::to_string(checkpoint.key)},
                   {"best_val_loss", fmt::format("{}", checkpoint.best_val_loss)},
                   {"best_step", std::to_string(checkpoint.best_step)},
                   {"skipped_steps", std::to_string(checkpoint.skipped_steps)},
                   {"corpus", checkpoint.corpus},
                   {"module_lines", std::to_string(checkpoint.lines.modules)}};
  for (const auto& [key, text] : {std::pair("origin", checkpoint.origin),
                                  {"metrics_sum", checkpoint.lines.steps_sum},
                                  {"modules_sum", checkpoint.lines.modules_sum}})
    if (!text.empty()) file.metadata[key] = text;
  store_tensors(file, "model", checkpoint.model);
  store_tensors(file, "optimizer", checkpoint.optimizer);
  return checked_bytes(std::move(file), checkpoint_kind);
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  write_file_atomically(path, checkpoint_bytes(checkpoint), PathFrom::user);
}

Checkpoint load_checkpoint(const std::string& path) { return parse_checked(path, checkpoint_kind, parse); }

std::vector<std::string> checkpoint_files(const std::string& run_folder) {
  const std::string folder = run_folder + "/checkpoints";
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string& name : names_in(folder))
    if (is_checkpoint_name(name)) found.emplace_back(step_in_name(name), folder + "/" + name);
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (const auto& [step, path] : found) paths.push_back(path);
  return paths;
}

std::string foreign_checkpoint(const std::string& run_folder) {
  for (const std::string& path : checkpoint_files(run_folder))
    if (!fs::is_symlink(path) && !is_checkpoint(path)) return path;
  return "";
}

Checkpoint newest_checkpoint(const std::string& run_folder,
                             const std::function<void(const std::string&)>& complain) {
  const std::vector<std::string> paths = checkpoint_files(run_folder);
  check(!paths.empty(), "{}: wanted a run's folder with checkpoints/step_*.safetensors, found none",
        run_folder);
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
  config.check_together();
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

void store_tensors(Safetensors& file, const std::string& group, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& named : tensors) file.tensors.emplace(group + "/" + named.name, named.tensor);
}

std::vector<NamedTensor> stored_tensors(const Safetensors& file, const std::string& group) {
  std::vector<NamedTensor> tensors;
  const std::string prefix = group + "/";
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(prefix)) tensors.push_back({name.substr(prefix.size()), tensor});
  return tensors;
}

const std::string& stored_text(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  check(found != file.metadata.end(), "its metadata have no {}", key);
  return found->second;
}

std::string checksum_of(const Tensor& values) {
  const Tensor whole = contiguous(values);
  return dispatch_float("checksum_of", whole.dtype(), [&]<class T>() {
    return checksum(
        {reinterpret_cast<const char*>(whole.data<T>()), static_cast<size_t>(whole.numel()) * sizeof(T)});
  });
}

std::string checksum_of(const std::vector<NamedTensor>& tensors) {
  std::string sums;
  for (const NamedTensor& named : tensors) sums += checksum_of(named.tensor);
  return checksum(sums);
}

CheckpointFolder::CheckpointFolder(const std::string& run_folder, int64_t keep)
    : run_folder_(run_folder), folder_((fs::path(run_folder) / "checkpoints").string()), keep_(keep) {
  check(keep_ >= 1, "--keep: wanted at least 1, got {}", keep_);
  refuse_link(folder_);
  remove_temporaries(folder_, [](const std::string& name) { return is_checkpoint_name(name); });
}

void CheckpointFolder::save(const Checkpoint& checkpoint, SaveAs as) {
  make_folder_durably(folder_);
  const std::string bytes = checkpoint_bytes(checkpoint);
  if (as.best) write_file_atomically(folder_ + "/" + best_checkpoint, bytes);
  if (!as.step) return;
  const std::string saved = fmt::format("{}/step_{:06}.safetensors", folder_, checkpoint.step);
  write_file_atomically(saved, bytes);
  bool later = true;
  int64_t kept = 0;
  for (const std::string& path : checkpoint_files(run_folder_)) {
    if (fs::path(path).filename() == best_checkpoint) continue;
    if (path == saved) later = false;
    if (later || kept++ >= keep_) remove_checkpoint(path);
  }
}

void CheckpointFolder::clear() {
  for (const std::string& old : checkpoint_files(run_folder_)) remove_checkpoint(old);
}

Checkpoint checkpoint_at(const std::string& path) {
  if (!fs::is_directory(path)) return load_checkpoint(path);
  return newest_checkpoint(path,
                           [](const std::string& why) { complain(stderr, "warning", why + "; skipped"); });
}

Trained load_trained(const std::string& path) {
  const Checkpoint checkpoint = checkpoint_at(path);
  return {checkpoint.tokenizer, model_of(checkpoint)};
}

}  // namespace isobar
