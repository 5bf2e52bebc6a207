#include "record.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../harness/lists.h"
#include "../harness/process.h"
#include "../harness/settings.h"
#include "../harness/table.h"
#include "../lm/checkpoints/checkpoint.h"
#include "../lm/training/corpus.h"
#include "../lm/training/train.h"

namespace isobar::fixtures {
extern const char race_records[];  // race/*.json in one object
}  // namespace isobar::fixtures

namespace isobar::race {
namespace {

constexpr const char* folder = "runs/race";
constexpr const char* ours = "train_lm";
constexpr const char* nanogpt = "nanogpt_cpu";  // the record of nanoGPT's own setting

// The flags of train_lm that make a setting: not where its text is, nor what it shows and keeps.
std::vector<std::string> setting_names() {
  LmConfig config;
  std::vector<std::string> names{"preset", "seed"};
  for (const Setting& setting : settings_of(config)) names.push_back(setting.name);
  for (const char* other : {"corpus", "tokenizer", "init_from", "seeds", "keep", "eval_interval",
                            "eval_iters", "log_interval", "checkpoint_interval"})
    std::erase(names, other);
  return names;
}

// The words of a setting. Whoever re-runs a stranger's record runs no other options.
std::vector<std::string> words_of_setting(const std::string& flags, const std::string& who) {
  const auto words = shell_words(flags);
  check(words.has_value(), "{}: a quote is not closed in {}", who, flags);
  const std::vector<std::string> known = setting_names();
  for (const std::string& word : *words) {
    if (word.size() < 2 || word[0] != '-' || std::isdigit(word[1])) continue;
    std::string name = word.substr(0, word.find('='));
    name.erase(0, name.find_first_not_of('-'));
    std::ranges::replace(name, '-', '_');
    if (name.starts_with("no_")) name.erase(0, 3);
    check(word.starts_with("--") && std::ranges::find(known, name) != known.end(),
          "{}: {} is no setting of a training; wanted flags of train_lm such as --max_iters{}", who, word,
          did_you_mean(name, known));
  }
  return *words;
}

std::string hash_of(const std::vector<NamedTensor>& weights) {
  std::string all;
  for (const auto& [name, tensor] : weights) all += name + " " + checksum_of(tensor) + "\n";
  return checksum(all);
}

// On the tokens of train_lm's own evaluations.
double loss_of_weights(const Checkpoint& checkpoint) {
  LanguageModel model = model_of(checkpoint);
  const Corpus corpus = open_corpus_with("", *checkpoint.tokenizer);
  const TokenDataset validation = corpus.validation(std::min<int64_t>(64, config_of(checkpoint).block_size));
  return mean_loss(model, validation, 200, 12, Rng(0).split("validation"));
}

double machine_load() {
  double load = 0;
  check(getloadavg(&load, 1) == 1, "race: the system does not say its load");
  return load;
}

double number(const Json& record, const char* key) { return record[key].get<double>(); }
std::string seconds(double value) { return fmt::format("{:.2f}", value); }

// The fastest of those that `counts`; null where there is none.
template <class Counts>
const Records::value_type* fastest(const Records& records, const Counts& counts) {
  const Records::value_type* best = nullptr;
  for (const auto& record : records)
    if (counts(record) &&
        (best == nullptr || number(record.second, "train_s") < number(best->second, "train_s")))
      best = &record;
  return best;
}

}  // namespace

const Records& shipped() {
  static const Records all = [] {
    Records records;
    const Json texts = parse_json_or_throw<Json>(fixtures::race_records);
    for (const auto& [name, record] : texts.items())
      records[name] = read_record(record.dump(), "race/" + name + ".json");
    return records;
  }();
  return all;
}

Json read_record(const std::string& text, const std::string& who) {
  const Json record = parse_json<Json>(text);
  check(record.is_object(), "{}: wanted a record as JSON; isobar race --add {} -- FLAGS makes one", who, who);
  for (const char* key : {"program", "flags", "hash", "date"})
    check(record.contains(key) && record[key].is_string(), "{}: wanted a text as \"{}\"", who, key);
  for (const char* key : {"steps", "val_loss", "train_s", "train_cpu_s", "load"})
    check(record.contains(key) && record[key].is_number(), "{}: wanted a number as \"{}\"", who, key);
  check(!record.contains("compile_s") || record["compile_s"].is_number(),
        "{}: wanted a number as \"compile_s\"", who);
  check(record.contains("environment") && record["environment"].is_object(),
        "{}: wanted an object as \"environment\"", who);
  if (record["program"] == ours) words_of_setting(record["flags"], who);
  return record;
}

Json run(const std::string& flags) {
  const std::vector<std::string> setting = words_of_setting(flags, "--add");
  std::vector<std::string> words = setting;
  for (const char* word : {"--out", folder, "--force", "--checkpoint_interval", "0", "--eval_interval",
                           "1000000000", "--log_interval", "1000000000", "--threads"})
    words.emplace_back(word);
  words.push_back(std::to_string(threads()));
  const double load = machine_load();
  const Finished finished =
      run_child(std::filesystem::path(own_path()).parent_path() / ours, words, Complaints::kept);
  // 1: the loss is not what train_lm expects of a preset, which is for the record to say.
  if (finished.code > 1) throw_again({finished.code, finished.err});
  const Json summary = parse_json_or_throw<Json>(read_file(std::string(folder) + "/summary.json", 1 << 26));
  const Checkpoint checkpoint = newest_checkpoint(folder);
  Json environment = summary["environment"];
  for (const char* key : {"out", "corpus"}) environment.erase(key);
  return {{"program", ours},
          {"flags", shell_line(setting)},
          {"steps", checkpoint.step},
          {"val_loss", loss_of_weights(checkpoint)},
          {"hash", hash_of(checkpoint.model)},
          {"train_s", summary["timing"]["train_s"]},
          {"train_cpu_s", summary["timing"]["train_cpu_s"]},
          {"load", load},
          {"date", summary["timing"]["date"]},
          {"environment", environment}};
}

std::string table(const Records& records) {
  std::vector<std::pair<std::string, Json>> rows(records.begin(), records.end());
  std::ranges::sort(rows, {}, [](const auto& row) { return number(row.second, "train_s"); });
  Table table({"record", "steps", "loss", "seconds", "compiling", "processor", "load", "date"}, "lrrrrrrr");
  for (const auto& [name, record] : rows)
    table.row({name, record["steps"].dump(), fmt::format("{:.4f}", number(record, "val_loss")),
               seconds(number(record, "train_s")),
               record.contains("compile_s") ? seconds(number(record, "compile_s")) : "",
               seconds(number(record, "train_cpu_s")), fmt::format("{:.1f}", number(record, "load")),
               record["date"]});
  std::string text = table.text(80);
  const auto* own = fastest(records, [](const auto& one) { return one.first == nanogpt; });
  const auto* rival = fastest(records, [](const auto& one) { return one.second["program"] != ours; });
  const auto* best = fastest(records, [](const auto& one) {
    return one.second["program"] == ours && number(one.second, "val_loss") <= target;
  });
  const auto compare = [&](const char* what, const auto* fast, const auto* slow, bool each_step) {
    if (fast == nullptr || slow == nullptr || fast == slow) return;
    const auto ratio = [&](const char* key) {
      const double steps = each_step ? number(slow->second, "steps") / number(fast->second, "steps") : 1;
      return number(slow->second, key) / number(fast->second, key) / steps;
    };
    text += fmt::format("{} {} is {:.2f} times as fast as {} (by processor time {:.2f})\n", what, fast->first,
                        ratio("train_s"), slow->first, ratio("train_cpu_s"));
  };
  text += "\n";
  compare("the library: a step of", own, rival, true);
  compare("the setting:", best, own, false);
  compare("both:", best, rival, false);
  return text;
}

std::string side_by_side(const Json& record, const Json& again) {
  Table table({"", "record", "here"}, "lrr");
  for (const char* key : {"steps", "val_loss", "hash", "train_s", "train_cpu_s", "load", "date"}) {
    const auto cell = [&](const Json& of) {
      return of[key].is_string() ? of[key].get<std::string>() : fmt::format("{}", number(of, key));
    };
    table.row({key, cell(record), cell(again)});
  }
  std::string text = table.text() + "\n";
  if (same(record, again)) return text + "the same steps, loss and hash\n";
  text += "NOT the same steps, loss and hash\n";
  // What bits depend on besides the setting.
  for (const char* key : {"version", "commit", "compiler", "cpu", "blas", "blas_core", "precision"}) {
    const Json was = record["environment"].value(key, Json()), is = again["environment"].value(key, Json());
    if (was != is) text += fmt::format("{}: {} there, {} here\n", key, was.dump(), is.dump());
  }
  return text;
}

bool same(const Json& record, const Json& again) {
  return record["steps"] == again["steps"] && record["val_loss"] == again["val_loss"] &&
         record["hash"] == again["hash"];
}

}  // namespace isobar::race
