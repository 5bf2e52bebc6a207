// isobar race: how fast a small language model reaches a validation loss of 1.91 on Tiny Shakespeare. Exit
// codes: 0 the table, or a re-run with the record's bits; 1 other bits, or a new record above the loss; 2 bad
// usage or input.
#include <fmt/ranges.h>

#include <filesystem>

#include "../../data/file.h"
#include "../harness/lists.h"
#include "../harness/tool.h"
#include "../race/record.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

// Of a record that travels inside the program, or of a file.
Json record_at(const std::string& word) {
  if (const auto found = race::shipped().find(word); found != race::shipped().end()) return found->second;
  Words known;
  for (const auto& [known_name, record] : race::shipped()) known.push_back(known_name);
  check(std::filesystem::exists(word), "{}: neither a file nor a record; {}", word, not_one_of(known, word));
  return race::read_record(read_file(word, 1 << 20), word);
}

int verify_record(const std::string& word) {
  const Json record = record_at(word);
  check(record["program"] == "train_lm", "{}: a record of {}; tests/bench/race.py runs it", word,
        record["program"].get<std::string>());
  const Json again = race::run(record["flags"]);
  write_out(race::side_by_side(record, again));
  return race::same(record, again) ? 0 : 1;
}

int add_record(const std::string& file, const Words& flags) {
  check(!std::filesystem::exists(file), "--add: {} is there already; choose another name", file);
  const Json record = race::run(shell_line(flags));
  write_file_atomically(file, json_text(record));
  write_out(race::table({{std::filesystem::path(file).stem(), record}}));
  if (record["val_loss"] <= race::target) return 0;
  write_out(fmt::format("does not reach {}\n", race::target));
  return 1;
}

}  // namespace

int race(const Words& words) {
  // Flags of train_lm stand after --.
  const auto end = std::ranges::find(words, "--");
  const Words own(words.begin(), end), flags(end == words.end() ? end : end + 1, words.end());
  Words records;
  std::string file;
  Tool tool(
      "isobar race",
      fmt::format("How fast does a setting of train_lm reach a validation loss of {} on Tiny Shakespeare? "
                  "Without words, the table of the records; with one, that record is run again.",
                  race::target),
      "isobar race\nisobar race nanogpt_cpu\n"
      "isobar race --add mine.json -- --preset nanogpt_cpu --max_iters 300");
  tool.words("RECORD", records, "a record's name or file: the training is in runs/race then");
  tool.option("--add", file, "train by the flags of train_lm that stand after --, and write this record");
  return tool.run(own, [&] {
    check(file.empty() == (end == words.end()),
          "--add FILE and -- FLAGS belong together: what to write, and what to train");
    check(records.size() <= (file.empty() ? 1 : 0), "RECORD: wanted one record, or --add alone, got {}",
          fmt::join(records, " "));
    if (!file.empty()) return add_record(file, flags);
    if (!records.empty()) return verify_record(records[0]);
    write_out(race::table(race::shipped()));
    return 0;
  });
}

}  // namespace isobar::verbs
