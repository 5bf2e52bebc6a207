// A run that takes steps, seen while it grows: metrics.jsonl, modules.jsonl and the program watch.
#include <bit>
#include <regex>

#include "../../experiments/tool/watch/view.h"
#include "../file_size_limit.h"
#include "../message_of.h"
#include "../scoped_variable.h"
#include "../studies/study.h"

namespace isobar::live_test {

// A study of this body run into a folder.
Outcome study(const std::string& folder, const std::function<void(Run&)>& body, bool force = false) {
  Study study;
  study.body = body;
  std::vector<std::string> words = {"--out", folder};
  if (force) words.push_back("--force");
  return study.run(words);
}

void take_steps(Run& run, int from, int to) {
  for (int i = from; i < to; ++i) run.record_step({{"loss", 1.0 / (i + 1)}, {"val_loss", i % 2 ? i : NAN}});
}

const std::string four_lines =
    "{\"step\":0,\"loss\":1,\"val_loss\":null}\n"
    "{\"step\":1,\"loss\":0.5,\"val_loss\":1}\n"
    "{\"step\":2,\"loss\":0.3333333333333333,\"val_loss\":null}\n"
    "{\"step\":3,\"loss\":0.25,\"val_loss\":3}\n";

// A run that trains for minutes, unless it is killed.
std::vector<std::string> endless(const std::string& folder) {
  return words_in("train_lm --tiny --corpus " ISOBAR_SOURCE_DIR
                  "/README.md --max_iters 1000000 --checkpoint_interval 0 --out " +
                  folder);
}

int64_t lines_of(const std::string& path) {
  const std::string text = file_text(path);
  return std::count(text.begin(), text.end(), '\n');
}

// What record_modules() of module_series.h writes, of two modules.
std::vector<StepValue> two_modules(double std) {
  const std::vector<double> values = {std, 0.5};
  std::vector<StepValue> line = {{"steps", 4.0},
                                 {"tokens_per_step", 100.0},
                                 {"modules", std::vector<std::string>{"blocks.0", "norm"}},
                                 {"module_types", std::vector<std::string>{"TransformerBlock", "RMSNorm"}}};
  for (const char* name :
       {"module_std", "module_mean", "module_rms", "module_grad_norm", "module_zeros", "module_saturated"})
    line.push_back({name, values});
  return line;
}

TEST_CASE("a line reads back the very numbers that were written") {
  std::vector<double> numbers = {
      0.0,      -0.0,     0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e15, 1e16, 12345678901234567.0,
      INFINITY, -INFINITY};
  for (uint64_t i = 0; i < 2000; ++i) {
    const double any = std::bit_cast<double>(Rng(5).split(i).key());
    if (!std::isnan(any)) numbers.push_back(any);
  }
  const std::vector<std::string> texts = {"inf", "", "a \"b\"\n", "ß"};
  const std::string written = step_line(
      3,
      {{"one", -0.0}, {"none", NAN}, {"all", numbers}, {"texts", texts}, {"empty", std::vector<double>()}});
  CHECK(written.ends_with("}\n"));
  const StepLine read = parse_step_line(written.substr(0, written.size() - 1));
  CHECK(read.step == 3);
  CHECK(std::signbit(read.number("one")));
  CHECK(std::isnan(read.number("none")));
  CHECK(std::ranges::equal(read.numbers("all"), numbers, {}, std::bit_cast<uint64_t, double>,
                           std::bit_cast<uint64_t, double>));
  CHECK(read.texts("texts") == texts);
  CHECK(read.texts("empty").empty());
  CHECK(step_line(3, read.values) == written);
  CHECK(message_of([&] { read.number("all"); }) == "wanted a number as 'all'");
  CHECK(message_of([&] { read.number("other"); }) == "wanted a value 'other'");
  CHECK(message_of([&] { read.texts("all"); }) == "wanted a list of texts as 'all'");
}

TEST_CASE(
    "a step makes a line of metrics.jsonl at once, a log step one of modules.jsonl, and run.h5 has both") {
  const TemporaryFolder folder;
  CHECK(metrics_line(7, {{"a", INFINITY}, {"b", -INFINITY}, {"c", 1e-9}}) ==
        "{\"step\":7,\"a\":\"inf\",\"b\":\"-inf\",\"c\":1e-09}\n");
  const Outcome outcome = study(folder / "r", [&](Run& run) {
    run.record_modules(two_modules(1));
    take_steps(run, 0, 3);
    run.record_modules(two_modules(NAN));
    CHECK(lines_of(folder / "r/metrics.jsonl") == 3);
    CHECK(lines_of(folder / "r/modules.jsonl") == 2);
    run.record("late", 2.5);
    run.flush();  // the lines are there already
    CHECK_FALSE(std::filesystem::exists(folder / "r/run.partial.h5"));
    take_steps(run, 3, 4);
    CHECK(message_of([&] {
            run.record_step({{"val_loss", 1}, {"loss", 1}});
          }) == "record_step: wanted the metrics of the first step in its order, loss, val_loss");
    CHECK(message_of([&] { run.record("loss", 1); }) == "series 'loss': has that metric's values already");
  });
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(file_text(folder / "r/metrics.jsonl") == four_lines);
  const Hdf5File file = Hdf5File::open(folder / "r/run.h5");
  CHECK(file.read("/series/loss").to_vector<double>() == std::vector<double>{1, 0.5, 1.0 / 3, 0.25});
  CHECK(file.read("/series/late").numel() == 1);
  CHECK(file.read("/series/module_step").to_vector<double>() == std::vector<double>{0, 3});
  CHECK(file.read("/series/module_std").shape() == Shape{2, 2});
  CHECK(file.read("/series/module_std").at({0, 0}) == 1);
  CHECK(std::isnan(file.read("/series/module_std").at({1, 0})));
  CHECK(file.read_strings("/modules") == std::vector<std::string>{"blocks.0", "norm"});
  CHECK(file.read_strings("/metrics") == std::vector<std::string>{"loss", "val_loss"});
  CHECK_FALSE(file.has("/series/steps"));
}

TEST_CASE("a run that stops leaves the steps it took, and one that goes on has their lines") {
  const TemporaryFolder folder;
  Run::Lines lines;
  const auto stopped = [&](Run& run) {
    run.record_modules(two_modules(1));
    take_steps(run, 0, 2);
    lines = run.sync_lines();
    run.record_modules(two_modules(2));
    take_steps(run, 2, 3);
    throw Interrupted("stopped");
  };
  CHECK(study(folder / "r", stopped).code == 130);
  CHECK(lines_of(folder / "r/metrics.jsonl") == 3);
  CHECK(lines_of(folder / "r/modules.jsonl") == 2);

  // kill -9 in the middle of a line
  std::ofstream(folder / "r/metrics.jsonl", std::ios::app) << "{\"step\":3,\"lo";
  std::string modules;
  for (const char* name : {"elsewhere", "r"}) {
    const Outcome more = study(folder / name, [&](Run& run) {
      run.read_earlier(folder / "r", lines);
      run.restore(folder / "r");
      CHECK(lines_of(folder / name + std::string("/metrics.jsonl")) == 2);
      CHECK(lines_of(folder / name + std::string("/modules.jsonl")) == 1);
      take_steps(run, 2, 4);
    });
    INFO(more.err);
    CHECK(more.code == 0);
    CHECK(file_text(folder / name + "/metrics.jsonl") == four_lines);
    const Hdf5File file = Hdf5File::open(folder / name + "/run.h5");
    CHECK(file.read("/series/loss").to_vector<double>() == std::vector<double>{1, 0.5, 1.0 / 3, 0.25});
    CHECK(file.read("/series/module_std").shape() == Shape{1, 2});
  }

  // Another run takes the place of a finished one with its first step, not before.
  CHECK(study(
            folder / "r", [](Run&) { throw_error("no corpus"); }, true)
            .code == 2);
  CHECK(file_text(folder / "r/metrics.jsonl") == four_lines);
  CHECK(study(folder / "r", stopped, true).code == 130);
  CHECK(lines_of(folder / "r/metrics.jsonl") == 3);
  CHECK_FALSE(std::filesystem::exists(folder / "r/summary.json"));
}

TEST_CASE("a link in the place of the lines is replaced, and what it names stays as it is") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "r");
  folder.write("mine", "the user's own");
  for (const char* name : {"r/metrics.jsonl", "r/modules.jsonl"})
    std::filesystem::create_symlink(folder / "mine", folder / name);
  CHECK(study(folder / "r", [](Run& run) { take_steps(run, 0, 4); }).code == 2);  // files that no run made
  CHECK(study(
            folder / "r", [](Run& run) { take_steps(run, 0, 4); }, true)
            .code == 0);
  CHECK(file_text(folder / "mine") == "the user's own");
  CHECK(file_text(folder / "r/metrics.jsonl") == four_lines);
}

TEST_CASE("a disk that has no room for a line ends the run") {
  const TemporaryFolder folder;
  const FileSizeLimit limit(50'000);
  MetricsFile file(folder / "metrics.jsonl");
  const std::string line(10'000, 'x');
  CHECK(message_of([&] {
          for (int i = 0; i < 6; ++i) file.append(line);
        }) == "file: cannot write '" + folder / "metrics.jsonl" + "': File too large");
  const Outcome outcome = study(folder / "r", [](Run& run) { take_steps(run, 0, 5000); });
  CHECK(outcome.code == 2);
  CHECK(holds(outcome.err, "r/metrics.jsonl': File too large"));
  CHECK(file_text(folder / "r/metrics.jsonl").ends_with("}\n"));  // no part of a line
}

TEST_CASE("a log of metrics follows its file: whole lines, a replaced file, no other text") {
  const TemporaryFolder folder;
  MetricsLog log(folder / "metrics.jsonl");
  CHECK_FALSE(log.read());
  folder.write("metrics.jsonl", four_lines + "{\"step\":4,\"loss\":");
  CHECK(log.read());
  CHECK(log.steps() == std::vector<double>{0, 1, 2, 3});
  CHECK_FALSE(log.read());
  std::ofstream(folder / "metrics.jsonl", std::ios::app) << "\"inf\",\"val_loss\":null}\n";
  CHECK(log.read());
  REQUIRE(log.columns().size() == 2);
  CHECK(log.columns()[0].name == "loss");
  CHECK(log.columns()[0].values == std::vector<double>{1, 0.5, 1.0 / 3, 0.25, INFINITY});
  CHECK(std::isnan(log.columns()[1].values[4]));

  write_file_atomically(folder / "metrics.jsonl", "{\"step\":0,\"x\":1}\n");
  CHECK(log.read());
  CHECK(log.steps().size() == 1);
  CHECK(log.columns()[0].name == "x");
  // A file system gives a new file the number of one that is gone.
  for (int i = 0; i < 20; ++i) {
    std::filesystem::remove(folder / "metrics.jsonl");
    folder.write("metrics.jsonl", fmt::format("{{\"step\":0,\"x\":{}}}\n{{\"step\":1,\"x\":{}}}\n", i,
                                              std::string(i + 1, '1')));
    CHECK(log.read());
    CHECK(log.steps().size() == 2);
    CHECK(log.columns()[0].values[0] == i);
  }
  for (const char* bad :
       {"", "[]", "nonsense", "{\"step\":1}", "{\"step\":1,\"y\":1}", "{\"step\":1,\"x\":\"1\"}"}) {
    CAPTURE(bad);
    folder.write("bad.jsonl", std::string("{\"step\":0,\"x\":1}\n") + bad + "\n");
    MetricsLog other(folder / "bad.jsonl");
    CHECK(holds(message_of([&] { other.read(); }), "bad.jsonl: line 2: wanted"));
  }
}

TEST_CASE("a screen of a watched run fits its terminal") {
  const TemporaryFolder folder;
  const auto stops = [](Run& run) {
    take_steps(run, 0, 2);
    throw Interrupted("");
  };
  study(folder / "r", [&](Run& run) {
    std::vector<StepValue> none = two_modules(1);
    for (size_t i = 2; i < none.size(); ++i) none[i].value = std::vector<double>();
    run.record_modules(none);
    stops(run);
  });
  study(folder / "m", [&](Run& run) {
    run.record_modules(two_modules(1));
    take_steps(run, 0, 1);
    run.record_modules(two_modules(2));
    take_steps(run, 1, 2);
    throw Interrupted("");
  });
  RunWatch run(folder / "r");
  CHECK(run.refresh(0));
  CHECK(run.phase() == RunPhase::stopped);
  CHECK(table_row(run, 1) == "        1        0.5          1          –          –\n");
  std::ofstream(folder / "r/metrics.jsonl", std::ios::app)
      << "{\"step\":2,\"loss\":0.25,\"val_loss\":null}\n";
  CHECK(run.refresh(2));
  CHECK_FALSE(run.refresh(3));
  CHECK(run.steps_per_second() == 0.5);
  CHECK(table_heading(run) == "     step       loss   val_loss   tokens/s        ETA\n");
  CHECK(table_row(run, 2) == "        2       0.25          1         50       0:02\n");
  const std::vector<std::string> rows(20, table_row(run, 2));
  RunWatch with_modules(folder / "m");
  CHECK(with_modules.refresh(0));
  for (const size_t height : {5, 12, 24, 60}) {
    const std::string text = screen(with_modules, "title", rows, {height, 80});
    CHECK(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) <= height - 1);
    CHECK((height >= 24) == (holds(text, "\nblocks.0  ")));
    CHECK((height >= 24) == (holds(text, "\nnorm  ")));
    CHECK((height >= 12) == (holds(text, "loss  ○ val_loss\n")));
  }
  for (const size_t height : {5, 24, 60}) {
    const std::string text = screen(run, "title" + std::string(100, '!'), rows, {height, 80});
    CHECK(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) <= height - 1);
    CHECK(holds(text, "75%  3/4 steps  ETA 0:02\n"));
    CHECK((height == 5) == (!holds(text, "loss  ○ val_loss\n")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("others read a run of train_lm while it grows, and what it leaves when it is killed") {
  const TemporaryFolder folder, streams, watch_streams;
  const std::string run = folder / "run", metrics = run + "/metrics.jsonl", modules = run + "/modules.jsonl";
  StartedProgram training(endless(run), streams);
  INFO(training.err());
  REQUIRE(wait_until(training, [&] { return lines_of(metrics) > 10; }));
  ModuleHistories seen;
  StepLines lines(modules);
  REQUIRE(lines.read([&](const StepLine& line) { seen.add(line); }) > 0);
  const size_t before = seen.steps.size();
  REQUIRE(wait_until(training, [&] {
    lines.read([&](const StepLine& line) { seen.add(line); });
    return seen.steps.size() > before;
  }));
  CHECK(seen.size.steps == 1000000);
  CHECK(phase_of(run) == RunPhase::running);

  StartedProgram watch({"isobar", "watch", run, "--interval", "0.1"}, watch_streams);
  REQUIRE(wait_until(watch, [&] { return lines_of(watch_streams / "out") > 8; }));
  watch.send(SIGINT);
  CHECK(watch.wait() == 130);
  CHECK(watch.err().empty());
  CHECK(std::regex_search(watch.out(), std::regex(" tokens/s        ETA\n( +[0-9.e-]+){4}( +–){3}\n")));
  CHECK(std::regex_search(watch.out(), std::regex("\n( +[0-9.e-]+){6} +[0-9:]+\n$")));

  StartedProgram to_the_end({"isobar", "watch", run, "--interval", "0.1"}, watch_streams);
  REQUIRE(wait_until(to_the_end, [&] { return lines_of(watch_streams / "out") > 2; }));
  training.send(SIGKILL);
  training.wait();
  CHECK(to_the_end.wait() == 1);
  CHECK(to_the_end.err().starts_with("isobar watch: " + run + ": stopped before its end, "));
  CHECK(holds(to_the_end.err(), "train_lm --resume " + run));

  // Every line but a last one that was cut off is whole.
  MetricsLog log(metrics);
  CHECK(log.read());
  CHECK(static_cast<int64_t>(log.steps().size()) == lines_of(metrics));
  seen = {};
  CHECK(StepLines(modules).read([&](const StepLine& line) { seen.add(line); }) == lines_of(modules));
  CHECK_FALSE(std::filesystem::exists(run + "/run.partial.h5"));
  ran("isobar watch", run + " --once");
}

TEST_CASE("a finished run, and one that said nothing, can be watched, and no run is one clear error") {
  const TemporaryFolder folder;
  ran("train_lm", "--tiny --corpus " ISOBAR_SOURCE_DIR "/README.md --max_iters 20 --out runs/train_lm",
      folder.path());
  const Outcome to_the_end = ran("isobar watch", "runs/train_lm", folder.path());
  CHECK(to_the_end.err.empty());
  CHECK(holds(to_the_end.out, "runs/train_lm: finished, 20 of 20 steps\n"));
  const Outcome once = run_built("isobar watch", "runs/train_lm --once", folder.path());
  CHECK(holds(once.out, "loss  ○ val_loss"));
  CHECK(std::regex_search(once.out, std::regex("\nblocks\\.0\\.self_attn\\.q_proj +[0-9].*×")));

  // On a narrow terminal all but the last sentence is cut; a table for a file is whole.
  std::istringstream narrow(
      run_command("COLUMNS=20 " ISOBAR_BINARY_DIR "/bin/isobar watch runs/train_lm --once", folder.path())
          .out);
  int64_t lines = 0;
  for (std::string line; std::getline(narrow, line); ++lines)
    CHECK((display_width(line) <= 20 || line == "runs/train_lm: finished, 20 of 20 steps"));
  CHECK(lines > 10);
  CHECK(std::regex_search(once.out, std::regex("step .* ETA\n")));

  // A run that says nothing can be watched all the same, and what watch shows is its result, no log.
  const ScopedVariable silent("ISOBAR_LOG", "off");
  const Outcome quiet =
      ran("train_lm", "--tiny --corpus " ISOBAR_SOURCE_DIR "/README.md --out quiet", folder.path());
  CHECK(quiet.out + quiet.err == "");
  CHECK(holds(run_built("isobar watch", "quiet --once", folder.path()).out, "blocks.0.self_attn.q_proj "));

  const std::string summary = file_text(folder / "quiet/summary.json");
  folder.write("quiet/summary.json", summary.substr(0, summary.size() / 2));
  CHECK(
      holds(run_built("isobar watch", "quiet --once", folder.path()).err, "quiet/summary.json: is no JSON"));

  // On a terminal, which script(1) pretends, it draws over what stands there.
  const Outcome drawn = run_command(
      "script -qec '" ISOBAR_BINARY_DIR "/bin/isobar watch runs/train_lm' /dev/null", folder.path());
  CHECK(drawn.code == 0);
  const std::string& screen = drawn.out;
  CHECK(screen.starts_with("\x1b[2J\x1b[Hruns/train_lm: finished, 20 of 20 steps\x1b[K"));
  CHECK(holds(screen, "100%  20/20 steps"));

  for (const auto& [bad, complaint] :
       {std::pair{"none", "isobar watch: cannot open the folder 'none': No such file or directory\n"},
        {"runs", "'runs' holds no run that takes steps"},
        {".", "'.' holds no run that takes steps"},
        {"", "isobar watch: "}})
    check_refused("isobar watch", bad, complaint, folder.path());
}

}  // namespace isobar::live_test
