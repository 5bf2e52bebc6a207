#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "../core/file.h"
#include "../experiments/harness/chart.h"
#include "../experiments/harness/environment.h"
#include "../experiments/harness/nearest.h"
#include "../experiments/harness/program.h"
#include "../experiments/harness/progress.h"
#include "../experiments/harness/stats.h"
#include "../experiments/harness/table.h"
#include "file_size_limit.h"
#include "temporary_folder.h"

using namespace isobar;

namespace {

struct Config : HasFields {
  int64_t depth = 8, seeds = 1;
  double rate = 0.5;
  bool bias = true;
  std::string norm = "none";
  void fields(Fields& f) override {
    f("depth", depth, "layers");
    f("seeds", seeds, "seeds to run");
    f("rate", rate, "learning rate");
    f("bias", bias, "with bias");
    f("norm", norm, "normalization", {"none", "layernorm", "rmsnorm"});
  }
};

// A program run inside the test: its exit code and what it printed.
struct Outcome {
  int code;
  std::string out, err;
};

std::string all_of(std::FILE* stream) {
  std::string text(static_cast<size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  const size_t got = std::fread(text.data(), 1, text.size(), stream);
  CHECK(got == text.size());
  std::fclose(stream);
  return text;
}

struct Study {
  Config config;
  bool with_presets = true;
  std::function<void(Run&)> body = [](Run&) {};

  Outcome run(const std::vector<std::string>& arguments) {
    Program program{.name = "study", .about = "A study for tests."};
    if (with_presets)
      program.presets = {{"plain", "as it is", [] {}},
                         {"deep", "many layers", [this] { config.depth = 100, config.norm = "rmsnorm"; }}};
    const Streams streams{std::tmpfile(), std::tmpfile()};
    const int code = run_program(program, config, arguments, body, streams);
    return {code, all_of(streams.out), all_of(streams.err)};
  }
};

Outcome run_study(const std::vector<std::string>& arguments) { return Study().run(arguments); }

Json printed_config(std::vector<std::string> arguments) {
  arguments.push_back("--print-config");
  const Outcome outcome = run_study(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return Json::parse(outcome.out);
}

// Exit code 2, and one line that holds `part`.
void check_refused(const std::vector<std::string>& arguments, const std::string& part) {
  const Outcome outcome = run_study(arguments);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("study: "));
  CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
  CHECK(outcome.err.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("later words win: defaults, preset, config file, flags") {
  const TemporaryFolder folder;
  folder.write("c.json", R"({"depth": 7, "rate": 1, "seed": 3})");
  CHECK(printed_config({}).dump() ==
        R"({"preset":"plain","seed":0,"depth":8,"seeds":1,"rate":0.5,"bias":true,"norm":"none"})");
  CHECK(printed_config({"--preset", "deep"})["depth"] == 100);
  Json config = printed_config({"--preset=deep", "--config", folder / "c.json"});
  CHECK(config["depth"] == 7);
  CHECK(config["norm"] == "rmsnorm");
  CHECK(config["rate"] == 1.0);
  CHECK(config["seed"] == 3);
  config = printed_config({"--depth", "5", "--config", folder / "c.json", "--seed", "4", "--rate=-2.5e-3"});
  CHECK(config["depth"] == 5);
  CHECK(config["seed"] == 4);
  CHECK(config["rate"] == -2.5e-3);
}

TEST_CASE("what --print-config prints is a config file that gives the same") {
  const TemporaryFolder folder;
  const Json first = printed_config({"--preset", "deep", "--rate", "0.1", "--no-bias", "--seed", "9"});
  folder.write("c.json", first.dump());
  CHECK(printed_config({"--config", folder / "c.json"}) == first);
}

TEST_CASE("a bool is --flag, --no-flag or --flag=false, and the last of several words wins") {
  CHECK(printed_config({"--bias"})["bias"] == true);
  CHECK(printed_config({"--no-bias"})["bias"] == false);
  CHECK(printed_config({"--bias=false"})["bias"] == false);
  CHECK(printed_config({"--no-bias", "--bias"})["bias"] == true);
  CHECK(printed_config({"--depth", "1", "--depth", "2"})["depth"] == 2);
}

TEST_CASE("bad usage gives one line with the repair and exit code 2") {
  const TemporaryFolder folder;
  check_refused({"--dept", "3"}, "unknown option --dept; did you mean --depth?");
  check_refused({"--dept=3"}, "unknown option --dept; did you mean --depth?");
  check_refused({"--no-bais"}, "did you mean --no-bias?");
  check_refused({"extra"}, "unexpected word 'extra'");
  check_refused({"--depth"}, "--depth");
  check_refused({"--depth", "many"}, "--depth: wanted a whole number, got 'many'");
  check_refused({"--depth", "1.5"}, "--depth: wanted a whole number, got '1.5'");
  check_refused({"--depth", "99999999999999999999"}, "wanted a whole number");
  check_refused({"--rate", "nan"}, "--rate: wanted a finite number, got 'nan'");
  check_refused({"--bias=perhaps"}, "--bias");
  check_refused({"--norm", "rmsnrom"},
                "--norm: wanted one of none, layernorm, rmsnorm, got 'rmsnrom'; did you mean rmsnorm?");
  check_refused({"--preset", "dep"}, "--preset: wanted one of plain, deep, got 'dep'; did you mean deep?");
  check_refused({"--seed", "-1"}, "--seed: wanted a whole number from 0");
  check_refused({"--threads", "0"}, "--threads: wanted a whole number from 1 to 1024, got '0'");
  check_refused({"--config", folder / "none.json"}, "No such file");
  folder.write("file", "");
  check_refused({"--out", folder / "file/run"}, "cannot make the folder");
  check_refused({"--out", folder / "file"}, "cannot");
}

TEST_CASE("a bad config file is refused by name and place") {
  const TemporaryFolder folder;
  const auto check_file = [&](const std::string& text, const std::string& part) {
    folder.write("c.json", text);
    CAPTURE(text);
    check_refused({"--config", folder / "c.json"}, part);
  };
  check_file(R"({"dpeth": 3})", "c.json: dpeth: no such setting; did you mean depth?");
  check_file(R"({"depth": 3, "depth": 4})", "'depth' stands there twice");
  check_file(R"({"depth": "3"})", "depth: wanted a whole number, got '3'");
  check_file(R"({"depth": 3.5})", "depth: wanted a whole number, got '3.5'");
  check_file(R"({"depth": 18446744073709551615})", "beyond 64 bits");
  check_file(R"({"norm": "rms"})", "c.json: norm: wanted one of");
  check_file(R"({"preset": "rms"})", "c.json: preset: wanted one of");
  check_file(R"({"seed": -3})", "c.json: seed: wanted");
  check_file(R"({"depth": null})", "null");
  check_file(R"({"depth": [8]})", "array");
  check_file(R"({"depth": {"a": 8}})", "'depth' is an object");
  check_file(R"(8)", "wanted an object");
  check_file(R"({"depth": 8)", "not valid JSON");
  check_file(R"({"rate": 1e999})", "not valid JSON");
  check_file("", "not valid JSON");
  check_file(std::string(2 << 20, ' '), "at most");
}

TEST_CASE("--help lists settings, presets and exit codes, --version the version") {
  const Outcome help = run_study({"--help"});
  CHECK(help.code == 0);
  for (const char* part : {"--depth", "layers [8]", "{none, layernorm, rmsnorm}", "--bias,--no-bias ",
                           "--preset", "many layers", "--print-config", "Exit codes"})
    CHECK(help.out.find(part) != std::string::npos);
  CHECK(run_study({"--version"}).out == "study " + isobar_version() + "\n");
}

TEST_CASE("a finished run leaves run.h5, its CSV files and summary.json, and nothing partial") {
  const TemporaryFolder folder;
  Study study;
  study.body = [&](Run& run) {
    CHECK(folder.names() == std::vector<std::string>{"r"});
    CHECK(std::filesystem::exists(folder / "r/run.partial.h5"));
    run.record("loss", 2.5);
    run.record("loss", INFINITY);
    run.csv("loss.csv", {"step", "loss", "note"}).row({int64_t{1}, 0.1, "a \"b\", c"});
    run.summary()["figures"] = {1.5, INFINITY, NAN};
  };
  const Outcome outcome = study.run({"--out", folder / "r", "--threads", "2", "--seed", "5"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("results: ") != std::string::npos);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "r"))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"loss.csv", "run.h5", "summary.json"});
  CHECK(read_file(folder / "r/loss.csv", 1000) == "step,loss,note\n1,0.1,\"a \"\"b\"\", c\"\n");
  const Json summary = Json::parse(read_file(folder / "r/summary.json", 10000));
  CHECK(summary["program"] == "study");
  CHECK(summary["config"]["seed"] == 5);
  CHECK(summary["environment"]["threads"] == 2);
  CHECK(summary["environment"]["out"] == folder / "r");
  CHECK(summary["timing"]["wall_s"] > 0);
  CHECK(summary["figures"] == Json{1.5, "inf", "nan"});

  const Hdf5File file = Hdf5File::open(folder / "r/run.h5");
  CHECK(file.read("/series/loss").to_vector<double>() == std::vector<double>{2.5, INFINITY});
  CHECK(file.int_attribute("/config", "depth") == 8);
  CHECK(file.int_attribute("/config", "seed") == 5);
  CHECK(file.text_attribute("/config", "norm") == "none");
  for (const char* name : {"version", "compiler", "cpu", "blas", "blas_core"})
    CHECK_MESSAGE(!file.text_attribute("/environment", name).empty(), name);
  CHECK(file.int_attribute("/environment", "threads") == 2);
}

TEST_CASE("a finished run is not overwritten without --force, and with it only by a complete one") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) { run.csv("first.csv", {"a"}); };
  CHECK(study.run({"--out", folder.path()}).code == 0);
  const std::string before = read_file(folder / "summary.json", 10000);
  check_refused({"--out", folder.path()}, "add --force");

  // One that fails leaves all as it was.
  study.body = [](Run&) { throw_error("corpus: no such file"); };
  CHECK(study.run({"--out", folder.path(), "--force"}).err == "study: corpus: no such file\n");
  CHECK(read_file(folder / "summary.json", 10000) == before);
  CHECK(folder.names() == std::vector<std::string>{"first.csv", "run.h5", "summary.json"});

  // One that succeeds takes the other's files away.
  folder.write("mine.txt", "the user's own");
  study.body = [](Run& run) { run.csv("second.csv", {"a"}); };
  CHECK(study.run({"--out", folder.path(), "--force"}).code == 0);
  CHECK(folder.names() == std::vector<std::string>{"mine.txt", "run.h5", "second.csv", "summary.json"});
}

TEST_CASE("a run that fails leaves neither files nor the folders it made") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.csv("loss.csv", {"a"});
    run.record("loss", 1);
    throw Diverged("loss is nan\nat step 3");
  };
  const Outcome outcome = study.run({"--out", folder / "a/b/c/"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "study: loss is nan at step 3\n");
  CHECK(folder.names().empty());
}

TEST_CASE("a disk that fills up is exit code 2, and the old results stay") {
  const TemporaryFolder folder;
  Study study;
  CHECK(study.run({"--out", folder.path()}).code == 0);
  const std::string before = read_file(folder / "summary.json", 10000);
  for (const bool large_csv : {true, false}) {
    study.body = [&](Run& run) {
      if (large_csv)
        run.csv("big.csv", {"text"}).row({std::string(100000, 'x')});
      else
        run.file().write("/big", zeros({100000}));
    };
    const FileSizeLimit limit(50000);
    const Outcome outcome = study.run({"--out", folder.path(), "--force"});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("File too large") != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"run.h5", "summary.json"});
    CHECK(read_file(folder / "summary.json", 10000) == before);
  }
}

TEST_CASE("two runs cannot write into one folder at once") {
  const TemporaryFolder folder;
  Study study;
  study.body = [&](Run&) { check_refused({"--out", folder.path()}, "another run is writing"); };
  CHECK(study.run({"--out", folder.path()}).code == 0);
}

TEST_CASE("a failed expectation is exit code 1, a verdict never") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.verdict({.id = "D01",
                 .claim = "std of layer 1",
                 .printed = 0.8932,
                 .measured = to_json(Spread{0.3373, 0.3323, 0.3465, 0}),
                 .theory = nullptr,
                 .verdict = Judgement::refuted,
                 .reason = "2.6 times too large"});
    run.expect("std near theory", run.seed() == 0, "0.3373 against 0.3374");
  };
  const Outcome good = study.run({"--out", folder / "0"}),
                bad = study.run({"--out", folder / "1", "--seed", "1"});
  CHECK(good.code == 0);
  CHECK(good.out.find("0.3373 [0.3323, 0.3465]") != std::string::npos);
  CHECK(good.out.find("refuted") != std::string::npos);
  CHECK(good.out.find("1 of 1 expectations met") != std::string::npos);
  CHECK(bad.code == 1);
  CHECK(bad.out.find("EXPECTATION FAILED: std near theory: 0.3373 against 0.3374") != std::string::npos);
  const Json summary = Json::parse(read_file(folder / "1/summary.json", 10000));
  CHECK(summary["verdicts"][0]["verdict"] == "refuted");
  CHECK(summary["expectations"][0]["ok"] == false);
}

TEST_CASE("--json prints the summary alone on stdout, equal from run to run but for timing and environment") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.say("a table\n");
    run.summary()["figure"] = 0.1;
  };
  const Outcome one = study.run({"--json", "--out", folder / "1", "--threads", "1"});
  const Outcome two = study.run({"--json", "--out", folder / "2", "--threads", "2"});
  CHECK(one.out == read_file(folder / "1/summary.json", 10000));
  CHECK(one.err.find("a table") != std::string::npos);
  Json a = Json::parse(one.out), b = Json::parse(two.out);
  for (Json* summary : {&a, &b}) {
    summary->erase("timing");
    summary->erase("environment");
  }
  CHECK(a.dump() == b.dump());
}

TEST_CASE("a preset counts as unchanged whatever the seeds, and as changed by any other setting") {
  const TemporaryFolder folder;
  Study study;
  bool unchanged = false;
  study.body = [&](Run& run) { unchanged = run.preset() == "deep" && run.preset_unchanged(); };
  const std::vector<std::string> base = {"--preset", "deep", "--force", "--out", folder.path()};
  const auto run_with = [&](std::vector<std::string> more) {
    study.config = Config();
    more.insert(more.end(), base.begin(), base.end());
    CHECK(study.run(more).code == 0);
    return unchanged;
  };
  CHECK(run_with({}));
  CHECK(run_with({"--seeds", "3", "--seed", "7", "--depth", "100"}));
  CHECK_FALSE(run_with({"--depth", "99"}));
}

TEST_CASE("a spread is over the finite values and counts the others") {
  const std::vector<double> values = {3, INFINITY, 1, NAN, 2, 10};
  const Spread spread = spread_of(values);
  CHECK(spread.median == 2.5);
  CHECK(spread.min == 1);
  CHECK(spread.max == 10);
  CHECK(spread.nonfinite == 2);
  const Spread none = spread_of(std::vector<double>{INFINITY, NAN});
  CHECK(std::isnan(none.median));
  CHECK(none.nonfinite == 2);
  CHECK(spread_of(std::vector<double>{1e308, 1.5e308}).median == doctest::Approx(1.25e308));
  CHECK(with_named_infinities(to_json(none)).dump() ==
        R"({"median":"nan","min":"nan","max":"nan","nonfinite":2})");
}

TEST_CASE("infinities and NaN are strings at any depth of a summary") {
  const Json json = {{"a", {1.5, NAN, {{"b", -INFINITY}}}}};
  CHECK(with_named_infinities(json).dump() == R"({"a":[1.5,"nan",{"b":"-inf"}]})");
}

TEST_CASE("the nearest name is found by edit distance, and a far one is not offered") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(did_you_mean("widht", std::vector<std::string>{"depth", "width"}) == "; did you mean width?");
  CHECK(did_you_mean("zzzzz", std::vector<std::string>{"depth", "width"}) == "");
}

TEST_CASE("a table aligns numbers right and text left, counting code points") {
  Table table({"läyer", "std"});
  table.row({"ä", "0.5"});
  table.row({"output", "1e-37"});
  CHECK(table.text() ==
        "läyer     std\n"
        "──────  ─────\n"
        "ä         0.5\n"
        "output  1e-37\n");
  CHECK_THROWS_AS(table.row({"one"}), Error);
  CHECK(figure(6.24e-37) == "6.24e-37");
  CHECK(figure(INFINITY) == "inf");
}

TEST_CASE("a chart sets each value at its power of ten, zero left and infinity right") {
  const std::string chart = log_chart("std",
                                      {{"1", 1e-4, NAN},
                                       {"2", 1, 1e-4},
                                       {"3", 0, 1e-2},
                                       {"10", INFINITY, NAN},
                                       {"11", NAN, NAN},
                                       {"12", 1, 1}},
                                      24, 17);
  CHECK(chart ==
        "std  ● measured  ○ theory  ◉ both\n"
        "    1e-4          1e0\n"
        " 1 │●                │ 0.0001\n"
        " 2 │○               ●│ 1\n"
        " 3 │◂       ○        │ 0\n"
        "10 │                ▸│ inf\n"
        "11 │                 │ nan\n"
        "12 │                ◉│ 1\n");
}

TEST_CASE("a chart of a thousand layers shows few, the first and the last among them") {
  std::vector<ChartRow> rows;
  for (int i = 1; i <= 1000; ++i) rows.push_back({std::to_string(i), std::pow(10.0, -i / 5), NAN});
  const std::string chart = log_chart("std", rows);
  CHECK(std::count(chart.begin(), chart.end(), '\n') == 26);
  CHECK(chart.find("   1 │") != std::string::npos);
  CHECK(chart.find("1000 │●") != std::string::npos);
}

TEST_CASE("progress tells share, count and time to go, and a bar fits its terminal") {
  CHECK(progress_bar({10, 20, "seeds", 12, "std 0.5"}, 80) ==
        "[██████████··········]  50%  10/20 seeds  ETA 0:12  std 0.5");
  CHECK(progress_line({1, 4, "seeds", 1200}) == "1/4 seeds (25%), 20:00 passed, 1:00:00 to go");
  CHECK(progress_line({0, 4, "seeds", 1}) == "0/4 seeds (0%), 0:01 passed, ? to go");
  // What an earlier run did took none of this one's time.
  CHECK(progress_line({10, 20, "steps", 2, "", 8}) == "10/20 steps (50%), 0:02 passed, 0:10 to go");

  const ProgressState state{10, 20, "steps", 12, "loss 1.5, |gradient| ½"};
  CHECK(progress_bar(state, 62) == "[████····]  50%  10/20 steps  ETA 0:12  loss 1.5, |gradient| ½");
  CHECK(progress_bar(state, 56) == " 50%  10/20 steps  ETA 0:12  loss 1.5, |gradient| ½");
  CHECK(progress_bar(state, 30) == " 50%  10/20 steps  ETA 0:12  l");
  for (size_t columns = 0; columns < 90; ++columns)
    CHECK(display_width(progress_bar(state, columns)) <= columns);
}
