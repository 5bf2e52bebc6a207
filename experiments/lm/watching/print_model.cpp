#include "print_model.h"

#include <fmt/ranges.h>

#include <set>

#include "../../../autograd/check/tape_page.h"
#include "../../../core/memory.h"
#include "../../../core/raw.h"
#include "../../../data/file.h"
#include "../../../nn/lm/grouped_query_attention.h"
#include "../../../nn/model.h"
#include "../../../nn/observe.h"
#include "../../run/table.h"
#include "../training/corpus.h"
#include "../training/train.h"

namespace isobar {
namespace {

int64_t bytes_in_use() { return static_cast<int64_t>(memory::stats().bytes_in_use); }

// What a block of this size takes from the allocator.
int64_t bytes_taken(size_t size) {
  const int64_t before = bytes_in_use();
  const Storage block(size);
  return bytes_in_use() - before;
}

// Tells which module the bytes belong to that a forward leaves. Outputs come in the order in which
// modules finish, so all that was allocated since the last one counts as this module's; an output that dies
// later was never kept, and is taken off again.
class KeptBytes : public Observer {
 public:
  KeptBytes() : last_(bytes_in_use()) {}

  void on_output(const Module& module, const Tensor& y) override {
    settle();
    const int64_t now = bytes_in_use();
    kept_.push_back({module.path(), now - last_});
    last_ = now;
    const bool known = std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
      return output.storage.lock() == raw::storage(y);
    });
    if (!known) outputs_.push_back({raw::storage(y), bytes_taken(raw::storage(y)->bytes), kept_.size() - 1});
  }
  void on_output_gradient(const Module&, const Tensor&) override {}

  // What was allocated since the last output: the loss's. Call it once, with the loss still there.
  int64_t finish() {
    settle();
    return bytes_in_use() - last_;
  }
  // Of the module and of what is within it.
  int64_t of(const std::string& path) const {
    int64_t total = 0;
    for (const Kept& kept : kept_)
      if (path.empty() || kept.path == path || kept.path.starts_with(path + ".")) total += kept.bytes;
    return total;
  }

 private:
  struct Kept {
    std::string path;
    int64_t bytes;
  };
  struct Output {
    std::weak_ptr<Storage> storage;
    int64_t bytes;
    size_t index;  // of its module in kept_
  };

  // Outputs that are gone were not kept: their modules lose the bytes, whose return the next one would gain.
  void settle() {
    std::erase_if(outputs_, [&](const Output& output) {
      if (!output.storage.expired()) return false;
      kept_[output.index].bytes -= output.bytes;
      last_ -= output.bytes;
      return true;
    });
  }

  std::vector<Kept> kept_;
  std::vector<Output> outputs_;
  int64_t last_;
};

// Inside of attention and the feed-forward part, what an op keeps cannot be distinguished from the next
// module's.
bool measured(const std::string& path) {
  return !path.starts_with("blocks.") || std::count(path.begin(), path.end(), '.') <= 2;
}

// Brings a model's buffers back: a measurement must not move running statistics.
struct KeptBuffers {
  std::vector<std::pair<Tensor, Tensor>> all;  // and copies

  explicit KeptBuffers(Module& model) {
    visit_tensors(model, [&](const std::string&, Tensor& tensor, bool is_buffer) {
      if (is_buffer) all.emplace_back(tensor, clone(tensor));
    });
  }
  ~KeptBuffers() {
    for (auto& [buffer, before] : all) assign(buffer, before);
  }
};

double own_flops(Module& module, const LanguageModelConfig& config) {
  if (auto* linear_part = dynamic_cast<Linear*>(&module))
    return 6 * static_cast<double>(linear_part->weight.numel());
  if (dynamic_cast<GroupedQueryAttention*>(&module) != nullptr)
    return 12 * static_cast<double>(config.block_size) * static_cast<double>(config.n_embd);
  return 0;
}

// The parameters that a module has itself; those seen before are tied.
class OwnParameters : public Fields {
 public:
  explicit OwnParameters(std::set<const void*>& seen) : seen_(seen) {}
  std::vector<std::string> shapes;

 protected:
  void on_parameter(std::string_view name, Tensor& tensor) override {
    shapes.push_back(
        fmt::format("{} {}{}", name, tensor.shape(), seen_.insert(tensor.id()).second ? "" : " tied"));
  }

 private:
  std::set<const void*>& seen_;
};

// The gradient of lm_head's weight is made with the loss where that is fused, and is no activation.
int64_t early_gradient(const LanguageModel& model) {
  return model.fuses_loss() ? bytes_taken(raw::storage(model.lm_head.weight)->bytes) : 0;
}

std::string with_commas(int64_t number) {
  return number < 1000 ? std::to_string(number)
                       : fmt::format("{},{:03}", with_commas(number / 1000), number % 1000);
}

std::string mebibytes(int64_t bytes) {
  return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::string percent(double part, double whole) {
  return part == 0 ? "" : fmt::format("{:.1f} %", 100 * part / whole);
}

// "8 SwiGLUs", the most frequent first.
std::string count_types(const ModelCosts& costs) {
  std::map<std::string, int> counts;
  for (size_t i = 1; i < costs.modules.size(); ++i) ++counts[costs.modules[i].type];
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [type, count] : counts) order.emplace_back(-count, type);
  std::sort(order.begin(), order.end());
  std::vector<std::string> texts;
  for (const auto& [count, type] : order)
    texts.push_back(fmt::format("{} {}{}", -count, type, count < -1 ? "s" : ""));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

ModelCosts costs_of(LanguageModel& model) {
  for (const NamedModule& part : named_modules(model))
    check(
        !part.module->observed(),
        "costs_of: the model is observed, and what observers keep would count as its own; call it without a Watch");
  const LanguageModelConfig& config = model.config;
  const Tensor symbols = zeros({1, config.block_size}, Dtype::i64), next = clone(symbols);
  const KeptBuffers buffers(model);
  KeptBytes kept;
  ModelCosts costs;
  const int64_t before = bytes_in_use();
  {
    const Watch watch(model, kept);
    const Tape tape({.rng = Rng(0)});
    const Tensor loss = model.loss(symbols, next);
    const int64_t gradient = early_gradient(model);
    costs.loss_kept = kept.finish() - gradient;
    costs.kept = bytes_in_use() - before - gradient;
  }
  // Parameters of a part count where fields() comes to them first.
  std::set<const void*> counted, shown;
  for (const NamedModule& part : named_modules(model)) {
    ModuleCost cost{.path = part.path,
                    .type = part.module->type_name(),
                    .shapes = "",
                    .parameters = 0,
                    .kept = std::nullopt,
                    .flops = 0};
    for (const Tensor& parameter : parameters(*part.module))
      if (!counted.contains(parameter.id())) cost.parameters += parameter.numel();
    OwnParameters own(shown);
    part.module->fields(own);
    cost.shapes = fmt::format("{}", fmt::join(own.shapes, ", "));
    if (measured(part.path)) cost.kept = kept.of(part.path);
    const std::vector<NamedModule> within = named_modules(*part.module);
    for (const NamedModule& one : within) cost.flops += own_flops(*one.module, config);
    if (within.size() == 1)
      for (const Tensor& parameter : parameters(*part.module)) counted.insert(parameter.id());
    costs.modules.push_back(std::move(cost));
  }
  return costs;
}

std::string print_model(const LmConfig& config) {
  const int64_t vocabulary = config.vocab_size > 0
                                 ? config.vocab_size
                                 : open_corpus(config.corpus, config.tokenizer).tokenizer().vocab_size();
  LanguageModel model(config.model(vocabulary), Rng(0));
  const ModelCosts costs = costs_of(model);
  const ModuleCost& whole = costs.modules.front();
  const auto of_step = [&](int64_t bytes) { return bytes * config.batch_size; };

  Table table(
      {"module", "type", "own parameters", "parameters", "share", "saved per step", "flops per token"},
      "lllrrrr");
  for (const ModuleCost& part : costs.modules)
    if (part.type != "Dropout" && part.type != "Identity")
      table.row({part.path.empty() ? "(model)" : part.path, part.type, part.shapes,
                 part.parameters > 0 ? with_commas(part.parameters) : "",
                 percent(static_cast<double>(part.parameters), static_cast<double>(whole.parameters)),
                 part.kept ? mebibytes(of_step(*part.kept)) : "",
                 part.flops > 0 ? fmt::format("{:.4g}", part.flops) : ""});
  table.row({"(loss)", model.fuses_loss() ? "linear_cross_entropy" : "cross_entropy", "", "", "",
             mebibytes(of_step(costs.loss_kept)), ""});
  const int64_t batches = config.gradient_accumulation_steps;
  const std::string when =
      batches == 1 ? "in a step of" : fmt::format("in each of the {} batches of a step,", batches);
  return table.text() +
         fmt::format(
             "\ntotal: {} parameters in {}\n"
             "{} kept for backward {} {} x {} tokens (measured on one sequence, times {})\n"
             "{:.4g} flops a token of training, {:.4g} a step (6 a weight, 12 T C a layer for attention)\n",
             with_commas(whole.parameters), count_types(costs), mebibytes(of_step(costs.kept)), when,
             config.batch_size, config.block_size, config.batch_size, whole.flops,
             whole.flops * static_cast<double>(batches * config.batch_size * config.block_size));
}

std::string write_page_of_step(const LmConfig& config, const std::string& path) {
  const Corpus corpus = open_corpus(config.corpus, config.tokenizer);
  const Rng rng(0);
  LanguageModel model(config.model(corpus.tokenizer().vocab_size()), rng.split("model"));
  const Batch batch = corpus.train(config.block_size).random_batch(1, rng.split("batch").split(0));
  const TapeTrace trace;
  gradients_of(model, batch, rng.split("dropout").split(0));
  write_file_atomically(path, tape_page(trace, named_parameters(model)), PathFrom::user);
  return fmt::format("{}: {} ops of one step on {} tokens; open it in a browser\n", path, trace.ops().size(),
                     config.block_size);
}

}  // namespace isobar
