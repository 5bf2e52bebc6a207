#include "config.h"

#include "../../data/utf8_stream.h"

namespace isobar::duel {

void Config::fields(Fields& f) {
  f("a", a, "the first contestant");
  f("b", b, "the second contestant");
  f("task", task, "next letter of a text, or digits", one_of({"shakespeare", "synthetic", "digits"}));
  f("corpus", corpus, "your own text file");
  f("size", size, "sets steps, n_layer, width, block_size and batch_size", one_of({"small", "medium"}));
  f("optimizer", optimizer, "muon: Muon for matrices inside blocks, AdamW for the rest",
    one_of({"adamw", "muon"}));
  f("margin", margin, "nats; smaller differences count as equal", above(0));
  f("max_pairs", max_pairs, "pairs of trainings after which the duel ends undecided", at_least(1));
  f("share", share, "share of the error rate of 1 %; `isobar duel --ledger` sets it", between(1e-8, 1));
  f("shared", shared, "file of B's trainings that duels share; `isobar duel --ledger` and --table set it");
  f("settings", settings, "all: then in sixteen others", one_of({"one", "all"}));
  f("seeds", seeds, "trainings of each learning rate in the search for the best one", at_least(1));
  f("learning_rate", learning_rate, "learning rate of both; 0: each has its best one", between(0, 1));
  f("steps", steps, "steps of each training", at_least(1));
  f("n_layer", n_layer, "blocks; for digits, hidden layers or blocks", at_least(1));
  f("width", width, "width of the residual stream, a multiple of 8", at_least(8));
  f("block_size", block_size, "letters that the model sees at once", at_least(1));
  f("batch_size", batch_size, "blocks in a step; for digits, eight times as many images", at_least(1));
  f("eval_iters", eval_iters, "batches of each half of the validation text", at_least(1));
  f("train_tokens", train_tokens, "first letters of the training part that are used; 0: all", at_least(0));
}

void Config::take_size(const std::set<std::string>& given) {
  if (size == "small") return;
  const auto take = [&](const char* name, int64_t& value, int64_t of_size) {
    if (!given.contains(name)) value = of_size;
  };
  take("steps", steps, 1000);
  take("n_layer", n_layer, 6);
  take("width", width, 128);
  take("block_size", block_size, 128);
  take("batch_size", batch_size, 16);
}

void Config::settle_settings(bool given) {
  if (!given && (!why_one_setting().empty() || !shared.empty() || share < 1)) settings = "one";
}

std::string Config::why_one_setting() const {
  if (!corpus.empty()) return "the settings have texts of their own; drop it, or --corpus";
  if (task == "digits") return "the settings are those of language models; drop it, or --task digits";
  for (const std::string& words : {a, b})
    if (words.find("--optimizer") != std::string::npos)
      return fmt::format("'{}' has an optimizer of its own, and the settings have theirs; drop one of both",
                         one_line(words));
  return "";
}

void Config::check_together() const {
  check(corpus.empty() || task == "shakespeare", "--corpus: a text of your own is no part of --task {}",
        task);
  check(train_tokens == 0 || task != "digits", "--train_tokens: digits are no text; drop it");
  check(train_tokens == 0 || train_tokens > block_size,
        "--train_tokens: wanted more than --block_size ({}), or 0, got {}", block_size, train_tokens);
  check(settings == "one" || why_one_setting().empty(), "--settings all: {}", why_one_setting());
  check(width % 8 == 0, "--width: wanted a multiple of 8, got {}", width);
}

TinyConfig Config::tiny() const {
  TinyConfig tiny;
  tiny.corpus = task == "synthetic" ? task : corpus;
  tiny.block_size = block_size;
  tiny.batch_size = batch_size;
  tiny.eval_iters = eval_iters;
  tiny.init_std = init_std > 0 ? init_std : 1 / std::sqrt(3.0 * static_cast<double>(width));
  tiny.embedding_std = embedding_std;
  return tiny;
}

}  // namespace isobar::duel
