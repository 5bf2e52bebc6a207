// Steps of train_lm that are not finite: the op, the row and the values are found, and a file runs the step
// again.
//
// Faults are planted by a norm that misbehaves at one element, by weights and by tokens. ISOBAR_FAULTS=200
// plants that many in place of a dozen, and prints the table.
#include "../../experiments/lm/watching/bad_step.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "../../data/checked_file.h"
#include "../file_size_limit.h"
#include "../message_of.h"
#include "../run.h"
#include "planted_fault.h"

namespace isobar::bad_step_test {

struct Score {
  int64_t faults = 0, producers = 0, rows = 0, replays = 0;
};

TEST_CASE("of faults planted in a training step the producer and the row are found, and replay finds them") {
  const char* const wanted = std::getenv("ISOBAR_FAULTS");
  const uint64_t count = wanted != nullptr ? std::stoull(wanted) : fault_kinds.size();
  const TemporaryFolder folder;
  std::map<std::string, Score> scores;
  Score all;
  for (uint64_t i = 0; i < count; ++i) {
    const Rng rng = Rng(19).split(i);
    const std::string kind = fault_kinds[i % fault_kinds.size()];
    const uint64_t round = i / fault_kinds.size();
    const int64_t rows = 4, pieces = round % 3 == 2 ? 2 : 1;
    fault = {};
    Planting planting(rng, pieces, rows);
    const ExpectedFinding expected = plant(planting, kind, rng, rows, pieces);
    const StepFinding found = examine(planting.step);
    CAPTURE(i);
    CAPTURE(kind);
    CAPTURE(found.report);
    const bool producer = found.op && found.op->op == expected.op && found.op->module == expected.module &&
                          (found.op->way == BadOp::Way::backward) == expected.backward &&
                          found.parameter == expected.parameter;
    CHECK(producer);
    const bool row = expected.every_row
                         ? found.row.bad_rows == found.row.rows && found.row.row == 0
                         : found.row.bad_rows == 1 && found.row.row + found.first_row == expected.row &&
                               (expected.position < 0 || found.row.position == expected.position);
    CHECK(row);
    planting.step.report = found.report;
    save_bad_step(folder / "bad_step.safetensors", planting.step);
    bool again = false;
    CHECK_NOTHROW(again = replay(folder / "bad_step.safetensors") == found.report);
    CHECK(again);
    for (Score* score : {&scores[kind], &all})
      ++score->faults, score->producers += producer, score->rows += row, score->replays += again;
  }
  fault = {};
  if (wanted == nullptr) return;
  fmt::print("{:<16} {:>7} {:>9} {:>5} {:>8}\n", "fault", "planted", "producer", "row", "replay");
  scores["all"] = all;
  for (const std::string& kind : fault_kinds)
    fmt::print("{:<16} {:>7} {:>9} {:>5} {:>8}\n", kind, scores[kind].faults, scores[kind].producers,
               scores[kind].rows, scores[kind].replays);
  fmt::print("{:<16} {:>7} {:>9} {:>5} {:>8}\n", "all", all.faults, all.producers, all.rows, all.replays);
}

TEST_CASE("a healthy step is not blamed on any op") {
  fault = {};
  const Planting planting(Rng(3));
  const StepFinding found = examine(planting.step);
  CHECK_FALSE(found.op.has_value());
  CHECK(found.line.find("run alone the step is finite") == 0);
}

TEST_CASE("a bad_step.safetensors that is damaged, of another format or senseless is refused in a sentence") {
  fault = {};
  const TemporaryFolder folder;
  Planting planting(Rng(4));
  planting.weight("lm_head.weight")[5] = not_a_number;
  planting.step.report = examine(planting.step).report;
  const std::string path = folder / "bad_step.safetensors";
  save_bad_step(path, planting.step);
  CHECK(replay(path) == planting.step.report);
  const std::string whole = file_text(path);

  const auto refusal_of = [&](const std::string& bytes) {
    folder.write("other.safetensors", bytes);
    const std::string message = message_of([&] { replay(folder / "other.safetensors"); });
    CHECK(message.find(folder / "other.safetensors") == 0);
    return message;
  };
  CHECK(holds(refusal_of(whole.substr(0, whole.size() / 2)), "outside of the"));
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  CHECK(holds(refusal_of(flipped), "checksum"));
  Safetensors later;
  CHECK(holds(
      refusal_of(checked_bytes(later, {"bad step", 3, ""})),
      "wanted an isobar bad step of version 2, got version 3; replay it with the isobar that wrote it"));
  CHECK(holds(refusal_of(checked_bytes(later, {"bad step", 2, ""})), "its metadata have no config"));
  // A checkpoint is another kind of file.
  CHECK(holds(refusal_of(checked_bytes(later, {"checkpoint", 3, ""})),
              "is no isobar bad step, but 'checkpoint'"));

  BadStep uneven = planting.step;
  uneven.batch.y = zeros({2, 3}, Dtype::i64);
  save_bad_step(path, uneven);
  CHECK(holds(message_of([&] { replay(path); }), "wanted a batch of integers"));
}

TEST_CASE("a replay that gives something else says both, and what wrote the file") {
  fault = {};
  const TemporaryFolder folder;
  Planting planting(Rng(5));
  planting.weight("lm_head.weight")[5] = infinite;
  planting.step.report = "step 1: another report";
  planting.step.written_by = "isobar 9, OpenBLAS 1 Other";
  save_bad_step(folder / "bad_step.safetensors", planting.step);
  CHECK_THROWS_AS(replay(folder / "bad_step.safetensors"), Diverged);
  const std::string message = message_of([&] { replay(folder / "bad_step.safetensors"); });
  CHECK(holds(message, "run again here (" + this_build() + ") the step gave 'step 1: loss NaN"));
  CHECK(holds(message, "where it was written (isobar 9, OpenBLAS 1 Other) 'step 1: another report'"));
}

TEST_CASE("a full disk leaves no half of a bad_step.safetensors") {
  fault = {};
  const TemporaryFolder folder;
  const Planting planting(Rng(6));
  const FileSizeLimit limit(4096);
  CHECK_THROWS_AS(save_bad_step(folder / "bad_step.safetensors", planting.step), Error);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("train_lm writes the step that was not finite, and --replay runs it alone from any folder") {
  const TemporaryFolder folder;
  const std::string tiny =
      " --corpus " ISOBAR_SOURCE_DIR
      "/README.md --n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 8 --block_size 8 --batch_size 4"
      " --max_iters 6 --warmup_iters 0 --learning_rate 1e30 --eval_iters 1";
  const Outcome run = run_built("train_lm", tiny + " --out " + folder / "run");
  CHECK(run.code == 1);
  INFO(run.err);
  const std::string file = folder / "run/bad_step.safetensors";
  CHECK(holds(run.err, "--replay " + file));
  REQUIRE(std::filesystem::exists(file));
  const BadStep step = load_bad_step(file);
  for (const char* threads : {"1", "3"}) {
    const Outcome again = ran("train_lm", "--replay " + file + " --threads " + threads, "/");
    CHECK(again.out == step.report);
  }
  check_refused("train_lm", "--replay " + file + " --n_layer 3",
                "has the settings of its step; leave --n_layer out");
  CHECK_FALSE(std::filesystem::exists("runs"));

  const Outcome skipping =
      run_built("train_lm", tiny + " --on_nan skip --norm batchnorm --out " + folder / "skip");
  INFO(skipping.err);
  CHECK(load_bad_step(folder / "skip/bad_step.safetensors").before.step == 1);  // the first one
  CHECK(holds(skipping.err, "step 3: the loss or a gradient is not finite; " +
                                folder / "skip/bad_step.safetensors" + " has the first such step; skipped"));
  ran("train_lm", "--replay " + folder / "skip/bad_step.safetensors", "/");
}

TEST_CASE("a step that is skipped leaves nothing for the next one") {
  const TemporaryFolder folder;
  std::string text;
  for (uint64_t i = 0; i < 600; ++i) text.push_back(static_cast<char>('a' + Rng(7).below(20, i)));
  text[300] = 'z';  // in the batch of one step
  folder.write("text.txt", text);
  const std::string tiny =
      " --corpus text.txt --norm none --no-tie_embeddings --n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 8 --block_size 8"
      " --batch_size 2 --warmup_iters 0 --eval_iters 1 --max_iters ";
  ran("train_lm", tiny + "1 --out start", folder.path());
  Checkpoint start = load_checkpoint(folder / "start/checkpoints/step_000001.safetensors");
  for (NamedTensor& named : start.model)
    if (named.name == "embed_tokens.weight") {
      const int64_t row = start.tokenizer->encode("z").front(), width = named.tensor.size(1);
      std::fill_n(raw::write<float>(named.tensor, "the test") + row * width, width, 3e38F);
    }
  save_checkpoint(folder / "start.safetensors", start);
  const Outcome run = run_built(
      "train_lm", tiny + "12 --init_from start.safetensors --on_nan skip --out run --seed 4", folder.path());
  INFO(run.err);
  CHECK(holds(run.err, "warning: step 6: "));
  CHECK(run.err.find("warning: step") == run.err.rfind("warning: step"));
}

}  // namespace isobar::bad_step_test
