// train_lm killed, interrupted and resumed, as its users meet it.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../../data/checked_file.h"
#include "../../experiments/lm/checkpoints/checkpoint.h"
#include "../message_of.h"
#include "../replay.h"
#include "../run.h"
#include "../same_tensors.h"
#include "../scoped_variable.h"
#include "../skip.h"

namespace isobar::resume_test {

constexpr int64_t steps = 40;

// A text of 20,000 letters, and a model that learns from it in half a second and saves after every step.
std::vector<std::string> training(const TemporaryFolder& folder) {
  std::string text;
  for (uint64_t i = 0; i < 20'000; ++i) text.push_back(static_cast<char>('a' + Rng(7).below(20, i)));
  return words_in("train_lm --corpus " + folder.write("text.txt", text).string() +
                  " --n_layer 2 --n_head 2 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 1"
                  " --gradient_accumulation_steps 5 --max_iters 40 --warmup_iters 2 --eval_interval 8"
                  " --eval_iters 2 --log_interval 5 --dropout 0.1 --checkpoint_interval 1");
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Outcome finished(const std::vector<std::string>& words) {
  const TemporaryFolder streams;
  StartedProgram program(words, streams);
  const int code = program.wait();
  return {code, program.out(), program.err()};
}

int64_t newest_step(const std::string& run) {
  const std::vector<std::string> files = checkpoint_files(run);
  if (files.empty()) return 0;
  const std::string name = std::filesystem::path(files.front()).stem();
  return name == "best" ? 0 : std::stoll(name.substr(5));
}

std::string step_path(const std::string& run, int64_t step) {
  return fmt::format("{}/checkpoints/step_{:06}.safetensors", run, step);
}

// Weights, moments, series and summary are equal, byte for byte but for timing and environment.
void check_equal(const std::string& a, const std::string& b) {
  for (const char* name : {"loss.csv", "layers.csv", "metrics.jsonl", "modules.jsonl"}) {
    CAPTURE(name);
    CHECK(file_text(a + "/" + name) == file_text(b + "/" + name));
  }
  CHECK(results_in(a) == results_in(b));
  const Hdf5File one = Hdf5File::open(a + "/run.h5"), two = Hdf5File::open(b + "/run.h5");
  REQUIRE(one.names("/series") == two.names("/series"));
  for (const std::string& name : one.names("/series")) {
    CAPTURE(name);
    CHECK(same_bits(one.read("/series/" + name), two.read("/series/" + name)));
  }
  for (const char* list : {"/modules", "/module_types", "/weights", "/metrics"})
    CHECK(one.read_strings(list) == two.read_strings(list));
  // The last checkpoint has all weights, moments and counts.
  CHECK((file_text(step_path(a, steps)) == file_text(step_path(b, steps))));
  CHECK((file_text(a + "/checkpoints/best.safetensors") == file_text(b + "/checkpoints/best.safetensors")));
}

bool has_temporaries(const std::string& run) {
  const std::filesystem::recursive_directory_iterator all(run);
  return std::any_of(begin(all), end(all),
                     [](const auto& entry) { return entry.path().extension() == ".tmp"; });
}

struct Kills {
  int all = 0, inside_a_save = 0;
};

// The run of `words` into `run`, killed at `kills` pseudo-random instants and gone on with, on 1 or 2
// threads.
Kills train_with_kills(const std::vector<std::string>& words, const std::string& run, int kills,
                       uint64_t seed) {
  const Rng rng(seed);
  const auto more = [&] {
    return newest_step(run) > 0 ? std::vector<std::string>{"train_lm", "--resume", run} : words;
  };
  Kills killed;
  for (int i = 0; i < kills; ++i) {
    const TemporaryFolder streams;
    const std::string threads = std::to_string(1 + rng.below(2, 3 * i));
    const int64_t target = 1 + (i * steps + static_cast<int64_t>(rng.below(steps, 3 * i + 1))) / (2 * kills);
    StartedProgram program(with(more(), {"--out", run, "--threads", threads}), streams);
    wait_until(program, [&] { return newest_step(run) >= target; });
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(20000, 3 * i + 2)));
    program.send(SIGKILL);
    const int code = program.wait();
    INFO(program.err());
    if (code == 0) break;  // it was through before the signal came: on a busy machine that can be
    REQUIRE(code == -SIGKILL);
    ++killed.all;
    killed.inside_a_save += has_temporaries(run);
    for (const std::string& path : checkpoint_files(run))
      CHECK(message_of([&] { load_checkpoint(path); }) == "");
  }
  REQUIRE(killed.all > 0);
  if (!std::filesystem::exists(run + "/summary.json")) {
    const Outcome last = finished(with(more(), {"--out", run}));
    INFO(last.err);
    REQUIRE(last.code == 0);
  }
  CHECK_FALSE(has_temporaries(run));
  return killed;
}

// The run that nobody stops, in `folder`/whole.
void train_whole(const std::vector<std::string>& words, const TemporaryFolder& folder) {
  const Outcome whole = finished(with(words, {"--out", folder / "whole", "--threads", "2"}));
  INFO(whole.err);
  REQUIRE(whole.code == 0);
}

// ISOBAR_KILLS=500 kills so many times and prints how many kills struck inside a save.
TEST_CASE("train_lm killed at random instants ends as if it had never stopped, with running statistics too") {
  const char* const wanted = std::getenv("ISOBAR_KILLS");
  const int least = wanted != nullptr ? std::stoi(wanted) : 5;
  const TemporaryFolder plain, statistics;
  const std::vector<std::string> words[] = {training(plain),
                                            with(training(statistics), {"--norm", "batchnorm"})};
  train_whole(words[0], plain);
  train_whole(words[1], statistics);
  Kills kills;
  const std::optional<uint64_t> only = replayed_seed();
  for (uint64_t seed = only.value_or(0); kills.all < least; ++seed) {
    INFO("REPLAY=", seed);
    const TemporaryFolder& folder = seed % 2 == 0 ? plain : statistics;
    const Kills more =
        train_with_kills(words[seed % 2], folder / "killed", std::min(5, least - kills.all), seed);
    check_equal(folder / "whole", folder / "killed");
    std::filesystem::remove_all(folder / "killed");
    kills.all += more.all, kills.inside_a_save += more.inside_a_save;
    if (only) break;
  }
  if (wanted != nullptr) fmt::print("{} kills, {} of them inside a save\n", kills.all, kills.inside_a_save);
}

TEST_CASE("Ctrl-C finishes the step, saves it and prints the command that goes on") {
  const TemporaryFolder folder, streams;
  const std::vector<std::string> words = training(folder);
  const std::string whole = folder / "whole", run = folder / "it's here";
  train_whole(words, folder);
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto more = newest_step(run) > 0 ? std::vector<std::string>{"train_lm", "--resume", run} : words;
    StartedProgram program(with(more, {"--out", run}), streams);
    const int64_t before = newest_step(run);
    REQUIRE(wait_until(program, [&] { return newest_step(run) > before; }));
    program.send(signal);
    CHECK(program.wait() == 130);
    INFO(program.err());
    const std::string command = fmt::format("'{}/it'\\''s here'", folder.path().string());
    CHECK(program.err().ends_with(
        fmt::format("train_lm: stopped after step {} of 40; to go on: {}/bin/train_lm --resume {}\n",
                    newest_step(run), ISOBAR_BINARY_DIR, command)));
    CHECK_FALSE(std::filesystem::exists(run + "/summary.json"));
  }

  // While the run is unfinished: what --resume refuses, and what it takes.
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const Outcome outcome = finished(arguments);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(holds(outcome.err, part));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  };
  refused(
      {"train_lm", "--resume", run, "--n_layer", "3", "--seed", "5", "--keep", "4"},
      "another configuration: seed is 0 there, 5 here, n_layer is 2 there, 3 here; leave these flags out, or "
      "begin a new run with its weights: --init_from '");
  refused({"train_lm", "--resume", run, "--preset", "nanogpt_cpu"},
          "preset is \"default\" there, \"nanogpt_cpu\" here");
  refused({"train_lm", "--resume", run, "--corpus", folder.write("other.txt", std::string(20'000, 'a'))},
          "this is not the text that the run in");
  refused({"train_lm", "--resume", folder / "none"}, "found none");
  refused(with(words, {"--out", run}), "go on with --resume");
  refused({"train_lm", "--resume", whole}, "holds a finished run: nothing is left to do");

  // Lines that are not there, or not those of the steps, and nothing is changed.
  for (const std::string name : {"metrics.jsonl", "modules.jsonl"}) {
    const std::string path = run + "/" + name, lines = file_text(path);
    const std::string other = "{\"step\":7000,\"loss\":1}\n" + lines;
    std::filesystem::remove(path);
    refused({"train_lm", "--resume", run}, path + ": wanted at least ");
    std::ofstream(path) << lines.substr(0, lines.find('\n'));
    refused({"train_lm", "--resume", run}, " whole lines, got 0");
    std::ofstream(path) << other;
    refused({"train_lm", "--resume", run}, path + ": line 1: wanted ");
    CHECK(file_text(path) == other);
    std::ofstream(path) << lines;
  }

  // A damaged checkpoint is named and the one before it taken, here into another folder. Lines of later steps,
  // and what a kill or a power failure left of them, are cut.
  std::ofstream(run + "/metrics.jsonl", std::ios::app) << std::string(100, '\0') << "\n{\"step\":40,\"lo";
  std::ofstream(run + "/modules.jsonl", std::ios::app) << "{\"step\":40,\"ste";
  const std::string newest = step_path(run, newest_step(run));
  std::string bytes = file_text(newest);
  bytes[bytes.size() / 2] ^= 4;
  std::ofstream(newest, std::ios::binary) << bytes;
  const Outcome moved = finished({"train_lm", "--resume", run, "--out", folder / "moved", "--threads", "1"});
  INFO(moved.err);
  CHECK(moved.code == 0);
  CHECK(holds(moved.err, newest + ": is damaged: its checksum is not that of its content; going back"));
  check_equal(whole, folder / "moved");

  // From there on every op may be watched, which changes no bit.
  const Outcome again = finished({"train_lm", "--resume", run, "--out", folder / "again", "--anomaly"});
  INFO(again.err);
  REQUIRE(again.code == 0);
  for (const char* name : {"/loss.csv", "/layers.csv"})
    CHECK(file_text(whole + name) == file_text(folder / ("again" + std::string(name))));
  const Checkpoint end = load_checkpoint(step_path(whole, steps));
  const Checkpoint same = load_checkpoint(step_path(folder / "again", steps));
  for (size_t i = 0; i < end.model.size(); ++i) CHECK(same_bits(end.model[i].tensor, same.model[i].tensor));
}

TEST_CASE("a training whose checkpoints have its series, as an older isobar wrote them, is not resumed") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  REQUIRE(finished(with(training(folder), {"--out", run})).code == 0);
  std::filesystem::remove(run + "/summary.json");
  for (const std::string& path : checkpoint_files(run)) {
    Safetensors file = read_checked(path, {"checkpoint", 4, ""});
    file.metadata.erase("module_lines");
    std::ofstream(path, std::ios::binary) << checked_bytes(file, {"checkpoint", 3, ""});
  }
  const Outcome refused = finished({"train_lm", "--resume", run});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "are of an older isobar"));
  CHECK(holds(refused.err, "--init_from " + run));
  CHECK(finished({"isobar", "sample", run, "--max_new_tokens", "2"}).code == 0);
}

// The files of a folder and of those in it.
std::map<std::string, std::string> all_in(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    all[entry.path()] = entry.is_regular_file() ? file_text(entry.path()) : "";
  return all;
}

// A training of four of six steps in `folder`/t, as a kill leaves it.
void train_a_part(const TemporaryFolder& folder) {
  ran("train_lm", "--tiny --corpus synthetic --log_interval 1 --out t", folder.path());
  std::filesystem::rename(folder / "t/summary.json", folder / "t/summary.partial.json");
  std::filesystem::rename(folder / "t/run.log", folder / "t/run.partial.log");
  for (const char* name : {"run.h5", "loss.csv", "layers.csv", "checkpoints/step_000006.safetensors",
                           "checkpoints/best.safetensors"})
    std::filesystem::remove(folder / "t/" + name);
}

TEST_CASE("a run that a full disk refuses to go on with is as it was, and goes on when there is space") {
  const TemporaryFolder folder;
  train_a_part(folder);
  const auto before = all_in(folder / "t");
  REQUIRE(before.contains(folder / "t/run.partial.log"));
  // No file may grow beyond so many blocks; a process inherits it.
  int refused = 0;
  for (const int blocks : {2, 3, 4, 6, 8, 12, 16}) {
    CAPTURE(blocks);
    const Outcome outcome =
        run_command(fmt::format("ulimit -f {}; exec \"$BIN\"/train_lm --resume t", blocks), folder.path());
    CAPTURE(outcome.err);
    if (all_in(folder / "t") != before && outcome.out.find("going on") != std::string::npos)
      break;  // it began
    ++refused;
    CHECK(outcome.code == 2);
    CHECK(outcome.err.starts_with("train_lm: file: cannot write 't/"));
    CHECK((all_in(folder / "t") == before));
  }
  CHECK(refused >= 2);
  CHECK(holds(ran("train_lm", "--resume t", folder.path()).out, "of 6"));
}

TEST_CASE("lines of modules and steps that are not those of the run are refused before it goes on") {
  const TemporaryFolder folder;
  train_a_part(folder);
  const auto before = all_in(folder / "t");
  const auto refused = [&](const std::string& file, const std::string& sentence, auto change) {
    const std::string path = folder / "t/" + file;
    std::istringstream lines(before.at(path));
    std::string line, text;
    while (std::getline(lines, line)) {
      nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
      change(json);
      text += json.dump() + "\n";
    }
    folder.write("t/" + file, text);
    const auto changed = all_in(folder / "t");
    const Outcome outcome = run_built("train_lm", "--resume t", folder.path());
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(holds(outcome.err, sentence));
    CHECK(holds(outcome.err, "; --init_from t begins anew with the weights"));
    CHECK((all_in(folder / "t") == changed));
    folder.write("t/" + file, before.at(path));
  };
  const std::string modules = "modules.jsonl";
  for (const char* name :
       {"module_std", "module_mean", "module_rms", "module_grad_norm", "module_zeros", "module_saturated",
        "weight_grad_norm", "weight_update_ratio", "activation_histogram", "gradient_histogram"}) {
    CAPTURE(name);
    refused(modules, fmt::format(" numbers as '{}', got ", name),
            [&](auto& line) { line[name].push_back(1.5); });
    refused(modules, fmt::format("wanted a value '{}'", name), [&](auto& line) { line.erase(name); });
  }
  for (const char* name : {"steps", "tokens_per_step"})
    refused(modules, fmt::format("wanted a count as '{}', got -1", name),
            [&](auto& line) { line[name] = -1; });
  refused(modules, "wanted modules and as many module_types",
          [](auto& line) { line["module_types"].push_back("Linear"); });
  for (const char* name : {"modules", "module_types", "weights"}) {
    CAPTURE(name);
    refused(modules, fmt::format("wanted the {} of the lines before, got others", name),
            [&, n = 0](auto& line) mutable {
              if (n++ > 0) line[name][0] = "mine";
            });
  }
  refused("metrics.jsonl", "wanted a value 'loss'", [](auto& line) {
    line["mine"] = line["loss"];
    line.erase("loss");
  });
  refused("metrics.jsonl", "wanted 4 numbers, got 5", [](auto& line) { line["mine"] = 1; });
  // And what only a checksum sees.
  refused("metrics.jsonl", "lines as the run wrote them", [](auto& line) { line["loss"] = 1.5; });
  refused(modules, "lines as the run wrote them", [](auto& line) { line["module_std"][0] = 1.5; });
  for (const char* name : {"modules", "weights"})
    refused(modules, "lines as the run wrote them", [&](auto& line) { line[name][0] = "mine"; });
}

TEST_CASE("a training that replaces another one is not resumed from that one's checkpoints") {
  const TemporaryFolder folder, streams;
  const std::string run = folder / "run";
  const std::vector<std::string> words = with(training(folder), {"--out", run});
  REQUIRE(finished(words).code == 0);
  {
    StartedProgram replacing(with(words, {"--force", "--seed", "5", "--max_iters", "100000",
                                          "--checkpoint_interval", "0", "--eval_interval", "100000"}),
                             streams);
    wait_until(replacing, [&] { return !std::filesystem::exists(run + "/summary.json"); });
    wait_until(replacing, [&] { return file_text(run + "/metrics.jsonl").find("\n") != std::string::npos; });
    replacing.send(SIGKILL);
    replacing.wait();
  }
  CHECK(checkpoint_files(run).empty());
  const Outcome refused = finished({"train_lm", "--resume", run});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "wanted a run's folder with checkpoints"));
}

TEST_CASE("a checkpoint of another run than the lines beside it is not resumed") {
  const TemporaryFolder folder;
  train_a_part(folder);
  const std::string path = folder / "t/summary.partial.json";
  Json heading = Json::parse(file_text(path));
  heading["config"]["seed"] = 5;
  folder.write("t/summary.partial.json", heading.dump());
  const auto before = all_in(folder / "t");
  const Outcome refused = run_built("train_lm", "--resume t", folder.path());
  CHECK(refused.code == 2);
  CHECK(holds(refused.err,
              "the checkpoints in 't' are of another run than its metrics.jsonl: seed is 0 there, 5 here"));
  CHECK(all_in(folder / "t") == before);
  heading["config"]["seed"] = 0;
  heading["config"]["keep"] = 7;  // which may change when a run goes on
  folder.write("t/summary.partial.json", heading.dump());
  ran("train_lm", "--resume t", folder.path());
}

TEST_CASE("a run that goes on replaces no result that no run made, and says so before it begins") {
  const TemporaryFolder folder;
  train_a_part(folder);
  // As a killed run leaves its heading.
  Json heading = Json::parse(file_text(folder / "t/summary.partial.json"));
  heading["files"] = {"metrics.jsonl", "modules.jsonl"};
  folder.write("t/summary.partial.json", heading.dump());
  for (const char* name : {"loss.csv", "layers.csv", "run.h5", "profile.csv"}) {
    folder.write(std::string("t/") + name, "mine\n");
    const auto before = all_in(folder / "t");
    const Outcome refused = run_built("train_lm", "--resume t", folder.path());
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(holds(refused.err, fmt::format("'t/{}' is there, and no run made it", name)));
    CHECK(all_in(folder / "t") == before);
    std::filesystem::remove(folder / (std::string("t/") + name));
  }
  ran("train_lm", "--resume t", folder.path());
}

TEST_CASE("one training and several seeds do not take each other's folder") {
  const TemporaryFolder folder;
  train_a_part(folder);
  const auto before = all_in(folder / "t");
  const Outcome seeds = run_built("train_lm", "--tiny --corpus synthetic --seeds 2 --out t", folder.path());
  CHECK(seeds.code == 2);
  CHECK(holds(seeds.err, "--out: 't' holds checkpoints of one training; go on with --resume t"));
  CHECK(all_in(folder / "t") == before);
  std::filesystem::create_directories(folder / "s/seed_0/checkpoints");
  std::filesystem::copy(folder / "t/checkpoints", folder / "s/seed_0/checkpoints");
  const Outcome one = run_built("train_lm", "--tiny --corpus synthetic --out s", folder.path());
  CHECK(one.code == 2);
  CHECK(holds(one.err, "--out: 's' holds the trainings of several seeds"));
}

TEST_CASE("of what a checkpoint names as its text, a run that goes on opens a regular file alone") {
  const TemporaryFolder folder;
  train_a_part(folder);
  CHECK(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const Outcome refused = run_built("train_lm", "--resume t --corpus pipe", folder.path());
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "--corpus: 'pipe', which the checkpoint names, is no regular file here"));
}

TEST_CASE("a file with the name of a checkpoint that no run made is refused, and stays") {
  const TemporaryFolder folder;
  for (const char* name : {"best.safetensors", "step_7.safetensors"}) {
    const std::string path = folder.write(std::string("t/checkpoints/") + name, "notes\n");
    for (const char* force : {"", " --force"}) {
      const Outcome refused =
          run_built("train_lm", std::string("--tiny --corpus synthetic --out t") + force, folder.path());
      CHECK(refused.code == 2);
      CHECK(holds(refused.err, "has the name of a checkpoint, and no run made it"));
    }
    CHECK(file_text(path) == "notes\n");
    std::filesystem::remove(path);
  }
  CHECK(names_in(folder / "t") == std::vector<std::string>{"checkpoints"});
}

TEST_CASE("a run that two kinds of OpenBLAS kernels multiplied says so") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const std::vector<std::string> words =
      with(training(folder), {"--products", "openblas", "--keep", "100", "--out", run});
  {
    const ScopedVariable kernels("OPENBLAS_CORETYPE", "Haswell");
    const Outcome first = finished(words);
    if (holds(first.err, "libisobar_openblas.so")) return skip("built with ISOBAR_OPENBLAS=OFF");
    REQUIRE_MESSAGE(first.code == 0, first.err);
  }
  if (!holds(nlohmann::json::parse(file_text(run + "/summary.json"))["environment"]["blas_core"]
                 .get<std::string>(),
             "Haswell"))
    return skip("OpenBLAS has no kernels of Haswell here");
  for (int64_t step = 21; step <= steps; ++step) std::filesystem::remove(step_path(run, step));
  std::filesystem::remove(run + "/checkpoints/best.safetensors");
  for (const char* const kernels : {"Haswell", "Nehalem"}) {
    CAPTURE(kernels);
    const ScopedVariable other("OPENBLAS_CORETYPE", kernels);
    const std::string out = folder / kernels;
    const Outcome resumed = finished({"train_lm", "--resume", run, "--out", out});
    REQUIRE_MESSAGE(resumed.code == 0, resumed.err);
    const bool mixed = std::string(kernels) != "Haswell";
    CHECK(holds(resumed.err, "no run of one machine has these bits") == mixed);
    CHECK(nlohmann::json::parse(file_text(out + "/summary.json"))["environment"].contains("blas_before") ==
          mixed);
    CHECK(holds(load_checkpoint(step_path(out, steps)).origin, "Haswell, then") == mixed);
  }
}

TEST_CASE("a second Ctrl-C stops at once") {
  const TemporaryFolder folder, streams;
  // The first step ends with an evaluation that nobody waits for.
  const std::vector<std::string> words =
      with(training(folder), {"--eval_interval", "1", "--eval_iters", "100000000", "--out", folder / "run"});
  StartedProgram program(words, streams);
  REQUIRE(wait_until(program, [&] { return program.catches(SIGINT); }));
  program.send(SIGINT);
  REQUIRE(wait_until(program, [&] { return holds(program.err(), "once more to stop at once"); }));
  program.send(SIGINT);
  CHECK(program.wait() == -SIGINT);
}

TEST_CASE("numbers that are not finite end the run or are skipped and counted") {
  const TemporaryFolder folder;
  const std::vector<std::string> exploding =
      with(training(folder),
           {"--warmup_iters", "0", "--learning_rate", "1e30", "--dropout", "0", "--max_iters", "6"});
  for (const char* anomaly : {"--no-anomaly", "--anomaly"}) {
    const std::string run = folder / anomaly;
    const Outcome stopped = finished(with(exploding, {anomaly, "--out", run}));
    INFO(stopped.err);
    CHECK(stopped.code == 1);
    CHECK(holds(stopped.err,
                "step 2: the loss or a gradient is not finite; piece 1 of 5: forward of linear in "
                "blocks.0.self_attn.q_proj made "));
    CHECK(holds(stopped.err, "the last checkpoint is " + step_path(run, 1)));
    CHECK(checkpoint_files(run) == std::vector<std::string>{step_path(run, 1)});
    CHECK_FALSE(std::filesystem::exists(run + "/summary.json"));
  }
  // The stopped run may go on with another --on_nan.
  const std::string run = folder / "--anomaly";
  const Outcome skipping = finished({"train_lm", "--resume", run, "--on_nan", "skip"});
  INFO(skipping.err);
  CHECK(skipping.code == 0);
  CHECK(holds(skipping.err, "bad_step.safetensors (a new file: the one of an earlier run is gone); skipped"));
  CHECK(holds(skipping.err, "bad_step.safetensors has the first such step; skipped"));
  CHECK(results_in(run)["skipped_steps"] == 5);
  const Checkpoint last = load_checkpoint(step_path(run, 6)), first = load_checkpoint(step_path(run, 5));
  CHECK(last.skipped_steps == 5);
  for (size_t i = 0; i < last.model.size(); ++i)
    CHECK(same_bits(last.model[i].tensor, first.model[i].tensor));
}

}  // namespace isobar::resume_test
