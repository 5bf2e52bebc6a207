// A run that takes steps, seen while it grows: metrics.jsonl, run.partial.h5 and the program watch.
#include <regex>

#include "../../experiments/watch/view.h"
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

TEST_CASE("a step makes a line of metrics.jsonl at once, and a row of run.partial.h5") {
  const TemporaryFolder folder;
  CHECK(metrics_line(7, {{"a", INFINITY}, {"b", -INFINITY}, {"c", 1e-9}}) ==
        "{\"step\":7,\"a\":\"inf\",\"b\":\"-inf\",\"c\":1e-09}\n");
  const Outcome outcome = study(folder / "r", [&](Run& run) {
    take_steps(run, 0, 3);
    CHECK(lines_of(folder / "r/metrics.jsonl") == 3);
    CHECK(std::filesystem::exists(folder / "r/run.partial.h5"));
    run.record("late", 2.5);  // a series that the growing file has not
    run.flush();
    take_steps(run, 3, 4);
    CHECK(message_of([&] {
            run.record_step({{"val_loss", 1}, {"loss", 1}});
          }) == "record_step: wanted the metrics of the first step in its order, loss, val_loss");
  });
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(file_text(folder / "r/metrics.jsonl") == four_lines);
  const Hdf5File file = Hdf5File::open(folder / "r/run.h5");
  CHECK(file.read("/series/loss").numel() == 4);
  CHECK(file.read("/series/late").numel() == 1);
  CHECK(file.read_strings("/metrics") == std::vector<std::string>{"loss", "val_loss"});
  CHECK_FALSE(std::filesystem::exists(folder / "r/run.partial.h5"));
}

TEST_CASE("a run that stops leaves the steps it took, and one that goes on has their lines") {
  const TemporaryFolder folder;
  RunState state;
  const auto stopped = [&](Run& run) {
    take_steps(run, 0, 2);
    state = run.state();
    take_steps(run, 2, 3);
    throw Interrupted("stopped");
  };
  CHECK(study(folder / "r", stopped).code == 130);
  CHECK(lines_of(folder / "r/metrics.jsonl") == 3);
  CHECK(Hdf5File::open(folder / "r/run.partial.h5").read("/series/loss").numel() == 3);

  // kill -9 in the middle of a line
  std::ofstream(folder / "r/metrics.jsonl", std::ios::app) << "{\"step\":3,\"lo";
  for (const char* name : {"r", "elsewhere"}) {
    const Outcome more = study(folder / name, [&](Run& run) {
      run.restore(state);
      CHECK(lines_of(folder / name + std::string("/metrics.jsonl")) == 2);
      take_steps(run, 2, 4);
    });
    INFO(more.err);
    CHECK(more.code == 0);
    CHECK(file_text(folder / name + "/metrics.jsonl") == four_lines);
  }
  CHECK(Hdf5File::open(folder / "r/run.h5").read("/series/loss").to_vector<double>() ==
        std::vector<double>{1, 0.5, 1.0 / 3, 0.25});

  // Another run takes the place of a finished one with its first step, not before.
  CHECK(study(
            folder / "r", [](Run&) { throw_error("no corpus"); }, true)
            .code == 2);
  CHECK(file_text(folder / "r/metrics.jsonl") == four_lines);
  CHECK(study(folder / "r", stopped, true).code == 130);
  CHECK(lines_of(folder / "r/metrics.jsonl") == 3);
  CHECK_FALSE(std::filesystem::exists(folder / "r/summary.json"));
}

TEST_CASE("a disk that has no room for a growing run.partial.h5 costs one warning, for the metrics the run") {
  const TemporaryFolder folder;
  const FileSizeLimit limit(50'000);  // enough for the first run.partial.h5, not for one that grows
  const Outcome outcome = study(folder / "r", [](Run& run) {
    for (int i = 0; i < 3; ++i) {
      run.record_step({{"loss", 1}});
      run.flush();
    }
  });
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(holds(outcome.err, "warning: file: cannot write"));
  CHECK(holds(outcome.err, "File too large; the run goes on"));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(Hdf5File::open(folder / "r/run.h5").read("/series/loss").numel() == 3);
  MetricsFile file(folder / "metrics.jsonl", "");
  const std::string line(10'000, 'x');
  CHECK(message_of([&] {
          for (int i = 0; i < 6; ++i) file.append(line);
        }) == "file: cannot write '" + folder / "metrics.jsonl" + "': File too large");
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
  const auto with_sizes = [](Run& run) {
    run.file().set_attribute("/", "steps", int64_t{4});
    run.file().set_attribute("/", "tokens_per_step", int64_t{100});
    take_steps(run, 0, 2);
    throw Interrupted("");
  };
  study(folder / "r", with_sizes);
  study(folder / "m", [&](Run& run) {
    run.file().write("/modules", std::vector<std::string>{"blocks.0", "norm"});
    run.file().write("/module_types", std::vector<std::string>{"TransformerBlock", "RMSNorm"});
    for (const char* name : {"module_std", "module_mean", "module_grad_norm"})
      for (int step = 1; step < 3; ++step) run.record(name, std::vector<double>{1.0 * step, 0.5});
    with_sizes(run);
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
  const std::string run = folder / "run", metrics = run + "/metrics.jsonl", h5 = run + "/run.partial.h5";
  StartedProgram training(endless(run), streams);
  INFO(training.err());
  const auto rows = [&] {
    const Hdf5File file = Hdf5File::open_live(h5);
    return file.has("/series/loss") ? file.read("/series/loss").numel() : 0;
  };
  REQUIRE(wait_until(training, [&] { return lines_of(metrics) > 10; }));
  REQUIRE(wait_until(training, [&] { return rows() > 10; }));
  const int64_t before = rows();
  REQUIRE(wait_until(training, [&] { return rows() > before; }));  // it is the writer's file that grows
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

  // All series that were there from the first step, as the lines have them.
  const Hdf5File left = Hdf5File::open_live(h5);
  MetricsLog log(metrics);
  CHECK(log.read());
  for (const MetricsLog::Column& column : log.columns()) {
    const std::vector<double> series = left.read("/series/" + column.name).to_vector<double>();
    REQUIRE(series.size() > 10);
    REQUIRE(series.size() <= column.values.size());
    for (size_t i = 0; i < series.size(); ++i)
      CHECK((series[i] == column.values[i] || (std::isnan(series[i]) && std::isnan(column.values[i]))));
  }
  CHECK(left.read("/series/module_std").size(1) ==
        static_cast<int64_t>(left.read_strings("/modules").size()));
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

  // A run that says nothing can be watched all the same, and what watch shows is its result, no log.
  const ScopedVariable silent("ISOBAR_LOG", "off");
  const Outcome quiet =
      ran("train_lm", "--tiny --corpus " ISOBAR_SOURCE_DIR "/README.md --out quiet", folder.path());
  CHECK(quiet.out + quiet.err == "");
  CHECK(holds(run_built("isobar watch", "quiet --once", folder.path()).out, "blocks.0.self_attn.q_proj "));

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
