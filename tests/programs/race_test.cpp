// isobar race as its users meet it: the table, a record made and run again, and records that are wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "../../experiments/harness/json.h"
#include "../run.h"

namespace isobar::race_test {

// A second's training whose own last evaluation reads what a record's loss is of.
const std::string tiny =
    "-- --preset nanogpt_cpu --n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 8 --max_iters 3 --seed 5";

TEST_CASE("a record that is run again on other threads has its hash; with other bits the code is 1") {
  const TemporaryFolder folder;
  // 1: three steps do not reach the loss.
  REQUIRE(run_built("isobar race", "--add my.json --threads 2 " + tiny, folder.path()).code == 1);
  Json record = Json::parse(file_text(folder / "my.json"));
  CHECK(record["steps"] == 3);
  CHECK(record["val_loss"] == Json::parse(file_text(folder / "runs/race/summary.json"))["val_loss"]);
  const Outcome again = ran("isobar race", "my.json --threads 1", folder.path());
  CHECK(holds(again.out, "\nthe same steps, loss and hash\n"));

  record["hash"] = "0123456789abcdef";
  record["environment"]["blas_core"] = "Z80";
  folder.write("other.json", record.dump());
  const Outcome other = run_built("isobar race", "other.json", folder.path());
  CHECK(other.code == 1);
  CHECK(holds(other.out, "\nNOT the same steps, loss and hash\nblas_core: \"Z80\" there, "));
}

TEST_CASE("the race's table has the numbers of the records, which experiments/duel/README.md shows") {
  const std::string table = ran("isobar race", "").out;
  std::map<std::string, Json> records;
  for (const auto& entry : std::filesystem::directory_iterator(ISOBAR_SOURCE_DIR "/experiments/race"))
    if (entry.path().extension() == ".json")
      records[entry.path().stem()] = Json::parse(file_text(entry.path()));
  REQUIRE(records.size() >= 4);
  for (const auto& entry : records) {
    const std::string& name = entry.first;
    const Json& record = entry.second;
    const size_t at = table.find("\n" + name + " ");
    REQUIRE_MESSAGE(at != std::string::npos, name);
    const std::string row = table.substr(at + 1, table.find('\n', at + 1) - at - 1);
    for (const std::string& cell :
         {record["steps"].dump(), fmt::format("{:.4f}", record["val_loss"].get<double>()),
          fmt::format("{:.2f}", record["train_s"].get<double>()),
          fmt::format("{:.2f}", record["train_cpu_s"].get<double>())})
      CHECK_MESSAGE(holds(row, " " + cell + " "), name, ": ", row);
  }
  const auto ratio = [&](const std::string& slow, const std::string& fast, const std::string& of) {
    return records.at(slow)[of].get<double>() / records.at(fast)[of].get<double>();
  };
  const std::string eager = "pytorch_eager", compiled = "pytorch_compiled";
  const std::string rival = ratio(eager, compiled, "train_s") < 1 ? eager : compiled;
  const auto times = [](double factor) { return fmt::format(" is {:.2f} times as fast as ", factor); };
  CHECK(
      holds(table, "nanogpt_cpu" +
                       times(ratio(rival, "nanogpt_cpu", "train_s") / ratio(rival, "nanogpt_cpu", "steps")) +
                       rival));
  CHECK(holds(table, "fast" + times(ratio("nanogpt_cpu", "fast", "train_s")) + "nanogpt_cpu"));
  CHECK(holds(table, "fast" + times(ratio(rival, "fast", "train_s")) + rival));
  CHECK(records.at("fast")["val_loss"] <= 1.91);
  CHECK(holds(file_text(ISOBAR_SOURCE_DIR "/experiments/duel/README.md"), "```text\n" + table + "```"));
}

TEST_CASE("race refuses what is no record, what trains on other texts, and words that do not go together") {
  const TemporaryFolder folder;
  const Json good = {{"program", "train_lm"},
                     {"flags", "--seed 1"},
                     {"hash", ""},
                     {"date", ""},
                     {"steps", 1},
                     {"val_loss", 2},
                     {"train_s", 1},
                     {"train_cpu_s", 1},
                     {"load", 0},
                     {"environment", Json::object()}};
  const auto with = [&](const char* key, const Json& value) {
    Json record = good;
    record[key] = value;
    return record.dump();
  };
  folder.write("text.json", "1.91");
  folder.write("steps.json", with("steps", "many"));
  folder.write("environment.json", with("environment", 3));
  folder.write("out.json", with("flags", "--seed 1 --out /tmp/x"));
  folder.write("torch.json", with("program", "PyTorch 2.6.0"));
  check_refusals(
      {{"isobar race", "text.json", "text.json: wanted a record as JSON; isobar race --add"},
       {"isobar race", "steps.json", "steps.json: wanted a number as \"steps\""},
       {"isobar race", "environment.json", "wanted an object as \"environment\""},
       {"isobar race", "out.json", "out.json: --out is no setting of a training"},
       {"isobar race", "torch.json", "a record of PyTorch 2.6.0; tests/bench/race.py runs it"},
       {"isobar race", "nanogpt_cqu", "neither a file nor a record"},
       {"isobar race", "a b", "wanted one record"},
       {"isobar race", "--add new.json", "--add FILE and -- FLAGS belong together"},
       {"isobar race", "--add new.json -- --corpus my.txt", "--corpus is no setting of a training"},
       {"isobar race", "--add new.json -- --max_iter 3", "did you mean max_iters?"},
       {"isobar race", "--add new.json -- --max_iters 0", "--max_iters"},
       {"isobar race", "--add text.json -- --seed 1", "text.json is there already"}},
      folder);
}

}  // namespace isobar::race_test
