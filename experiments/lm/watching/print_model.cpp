#include "print_model.h"

#include "../../../autograd/check/tape_page.h"
#include "../../../nn/model.h"
#include "../../harness/table.h"
#include "../training/corpus.h"
#include "../training/train.h"
#include "model_costs.h"

namespace isobar {
namespace {

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

std::string print_model(const LmConfig& config) {
  const int64_t vocabulary = config.vocab_size > 0
                                 ? config.vocab_size
                                 : open_corpus(config.corpus, config.tokenizer).tokenizer().vocab_size();
  LanguageModel model(config.model(vocabulary), Rng(0));
  const ModelCosts costs = costs_of(model);
  const ModuleCost& whole = costs.modules.front();
  const auto of_step = [&](int64_t bytes) { return bytes * config.batch_size; };

  Table table({"module", "type", "own parameters", "parameters", "share", "kept a step", "flops a token"});
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
  const std::string again = config.activation_checkpointing
                                ? fmt::format("{} more while backward computes a block again\n",
                                              mebibytes(of_step(costs.kept_again)))
                                : "";
  return table.text() +
         fmt::format(
             "\ntotal: {} parameters in {}\n"
             "{} kept for backward {} {} x {} tokens (measured on one sequence, times {})\n{}"
             "{:.4g} flops a token of training, {:.4g} a step (6 a weight, 12 T C a layer for attention)\n",
             with_commas(whole.parameters), count_types(costs), mebibytes(of_step(costs.kept)), when,
             config.batch_size, config.block_size, config.batch_size, again, whole.flops,
             whole.flops * static_cast<double>(batches * config.batch_size * config.block_size));
}

std::string write_page_of_step(const LmConfig& config, const std::string& path) {
  const Corpus corpus = open_corpus(config.corpus, config.tokenizer);
  const Rng rng(0);
  LanguageModel model(config.model(corpus.tokenizer().vocab_size()), rng.split("model"));
  const Batch batch = corpus.train(config.block_size).random_batch(1, rng.split("batch").split(0));
  const TapeTrace trace;
  gradients_of(model, batch, rng.split("dropout").split(0));
  tape_page(trace, path, named_parameters(model));
  return fmt::format("{}: {} ops of one step on {} tokens; open it in a browser\n", path, trace.ops().size(),
                     config.block_size);
}

}  // namespace isobar
