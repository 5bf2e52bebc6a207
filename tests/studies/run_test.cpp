
#include <sys/stat.h>

#include <regex>

#include "../../experiments/run/environment.h"
#include "../file_size_limit.h"
#include "../sanitizers.h"
#include "study.h"

namespace isobar::run_test {

using Names = std::vector<std::string>;

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
  CHECK(holds(outcome.out, "results: "));
  CHECK(names_in(folder / "r") == std::vector<std::string>{"loss.csv", "run.h5", "run.log", "summary.json"});
  CHECK(read_file(folder / "r/loss.csv", 1000) == "step,loss,note\n1,0.1,\"a \"\"b\"\", c\"\n");
  const Json summary = Json::parse(read_file(folder / "r/summary.json", 10000));
  CHECK(summary["program"] == "study");
  CHECK(summary["config"]["seed"] == 5);
  CHECK(summary["environment"]["threads"] == 2);
  CHECK(std::regex_match(summary["environment"]["commit"].get<std::string>(),
                         std::regex("unknown|[0-9a-f]{12,}\\+?")));
  CHECK(summary["environment"]["out"] == folder / "r");
  CHECK(summary["timing"]["wall_s"] > 0);
  CHECK(summary["figures"] == Json{1.5, "inf", "nan"});

  const Hdf5File file = Hdf5File::open(folder / "r/run.h5");
  CHECK(file.read("/series/loss").to_vector<double>() == std::vector<double>{2.5, INFINITY});
  CHECK(file.int_attribute("/config", "depth") == 8);
  CHECK(file.int_attribute("/config", "seed") == 5);
  CHECK(file.text_attribute("/config", "norm") == "none");
  for (const char* name : {"version", "commit", "sources", "data", "compiler", "cpu", "blas", "blas_core"})
    CHECK_MESSAGE(!file.text_attribute("/environment", name).empty(), name);
  CHECK(file.int_attribute("/environment", "threads") == 2);
}

TEST_CASE("a finished run is not overwritten without --force, and with it only by a complete one") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) { run.csv("first.csv", {"a"}); };
  CHECK(study.run({"--out", folder.path()}).code == 0);
  const std::string before = read_file(folder / "summary.json", 10000);
  check_usage({"--out", folder.path()}, "add --force");

  // One that fails leaves all as it was.
  study.body = [](Run&) { throw_error("corpus: no such file"); };
  CHECK(study.run({"--out", folder.path(), "--force"}).err == "study: corpus: no such file\n");
  CHECK(read_file(folder / "summary.json", 10000) == before);
  CHECK(folder.names() == std::vector<std::string>{"first.csv", "run.h5", "run.log", "summary.json"});

  // One that succeeds takes the other's files away.
  folder.write("mine.txt", "the user's own");
  study.body = [](Run& run) { run.csv("second.csv", {"a"}); };
  CHECK(study.run({"--out", folder.path(), "--force"}).code == 0);
  CHECK(folder.names() ==
        std::vector<std::string>{"mine.txt", "run.h5", "run.log", "second.csv", "summary.json"});
}

TEST_CASE("a study touches no file that no run made, and says so before it begins") {
  const TemporaryFolder folder;
  const Names mine = {"layers.csv", "notes.txt", "run.h5", "run.log"};
  for (const std::string& name : mine) folder.write(name, "mine");
  Study study;
  bool begun = false;
  study.body = [&](Run& run) {
    begun = true;
    run.csv("layers.csv", {"a"});
  };
  const auto unchanged = [&] {
    CHECK(folder.names() == mine);
    for (const std::string& name : mine) CHECK(file_text(folder / name) == "mine");
  };
  const Outcome refused = study.run({"--out", folder.path()});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err,
              "holds files that no run made, such as 'layers.csv'; choose another folder, or add --force"));
  CHECK_FALSE(begun);
  unchanged();
  std::filesystem::remove(folder / "layers.csv");
  folder.write("summary.json", "{\"sum\": 3}");
  CHECK(holds(study.run({"--out", folder.path()}).err, "holds a summary.json that no run made"));
  CHECK(file_text(folder / "summary.json") == "{\"sum\": 3}");
  std::filesystem::remove(folder / "summary.json");
  folder.write("layers.csv", "mine");

  // Folders and hidden files are nobody's results.
  folder.write("place/.git/x", "mine");
  folder.write("place/src/main.cpp", "mine");
  folder.write("place/.hidden", "mine");
  CHECK(study.run({"--out", folder / "place"}).code == 0);
  std::filesystem::remove_all(folder / "place");
  CHECK(begun);

  // Forced, it replaces those that it writes.
  CHECK(study.run({"--out", folder.path(), "--force"}).code == 0);
  CHECK(file_text(folder / "layers.csv") == "a\n");
  CHECK(file_text(folder / "notes.txt") == "mine");
}

TEST_CASE(
    "of the temporary files in its folder, a run removes those of its own names that this machine left") {
  const TemporaryFolder folder;
  const std::string own = std::filesystem::path(temporary_name(folder / "x")).filename(),
                    here = own.substr(1, own.find('-'));  // ".host-"
  const Names of_user = {"notes.draft-2024-11.tmp", "notes" + here + "12-0.tmp"},
              left = {"run.partial.h5" + here + "12-0.tmp", "summary.json" + here + "12-1.tmp",
                      "layers.csv" + here + "12-2.tmp"};
  Study study;
  for (const Names& names : {of_user, left}) {
    for (const std::string& name : names) folder.write("r/" + name, "mine");
    const Outcome outcome = study.run({"--out", folder / "r"});
    CHECK(outcome.code == (names == of_user ? 2 : 0));
    if (names == of_user) CHECK(holds(outcome.err, "holds files that no run made, such as 'notes."));
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK(std::filesystem::exists(folder / ("r/" + name)) == (names == of_user));
      std::filesystem::remove(folder / ("r/" + name));
    }
  }
  // Nor does --force remove what is the user's.
  for (const std::string& name : of_user) folder.write("r/" + name, "mine");
  CHECK(study.run({"--out", folder / "r", "--force"}).code == 0);
  for (const std::string& name : of_user) CHECK(file_text(folder / ("r/" + name)) == "mine");
}

TEST_CASE("where several machines share a folder, a run removes what killed runs of all of them left") {
  const TemporaryFolder folder;
  const std::string left = "run.partial.h5.other_host-1-3.tmp";
  Study study;
  for (const bool shares : {false, true}) {
    CAPTURE(shares);
    study.shares = shares;
    folder.write("r/" + left, "half");
    CHECK(study.run({"--out", folder / "r", "--force"}).code == 0);
    CHECK(std::filesystem::exists(folder / ("r/" + left)) == !shares);
  }
}

// The files of a folder by name.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const std::string& name : names_in(folder)) all[name] = file_text(folder + "/" + name);
  return all;
}

TEST_CASE("of the files that a summary lists, a run removes those alone that its program is known to write") {
  const TemporaryFolder folder;
  // As someone else may have written it.
  const auto plant = [&](const std::string& program, const std::string& name) {
    const Json all = {"thesis.csv", "notes.txt", "layers.csv", "run.log", "seeds.csv"};
    folder.write("r/" + name, Json{{"program", program}, {"config", Json::object()}, {"files", all}}.dump());
    for (const std::string file : all) folder.write("r/" + file, "mine");
  };
  for (const std::string heading : {"summary.json", "summary.partial.json"}) {
    CAPTURE(heading);
    plant("decay_study", heading);
    ran("decay_study", "--tiny --force --out r", folder.path());
    CHECK(names_in(folder / "r") == Names{"layers.csv", "notes.txt", "run.h5", "run.log", "seeds.csv",
                                          "summary.json", "thesis.csv", "trainings.csv"});
    CHECK(file_text(folder / "r/layers.csv") != "mine");
    for (const char* name : {"notes.txt", "seeds.csv", "thesis.csv"})
      CHECK(file_text(folder / "r/" + name) == "mine");
    std::filesystem::remove_all(folder / "r");
  }
  // A program of the user's own knows its tables, and takes those of no other.
  plant("isobar verify", "summary.json");
  Study study;
  CHECK(study.run({"--out", folder / "r", "--force"}).code == 0);
  CHECK(file_text(folder / "r/thesis.csv") == "mine");
  CHECK(file_text(folder / "r/layers.csv") == "mine");
}

TEST_CASE("no other program replaces a training, nor with --force") {
  const TemporaryFolder folder;
  ran("train_lm", "--tiny --corpus synthetic --out t", folder.path());
  for (const bool finished : {true, false}) {
    CAPTURE(finished);
    if (!finished) std::filesystem::rename(folder / "t/summary.json", folder / "t/summary.partial.json");
    const auto before = contents(folder / "t");
    for (const std::string words : {"", " --force"})
      check_refused("decay_study", "--tiny --out t" + words,
                    "--out: 't' holds a training of train_lm, which no other program replaces",
                    folder.path());
    CHECK(contents(folder / "t") == before);
  }
}

TEST_CASE("what is no file at a name that a run writes is refused before the run begins") {
  const TemporaryFolder folder;
  ran("train_lm", "--tiny --corpus synthetic --out t", folder.path());
  std::filesystem::rename(folder / "t/summary.json", folder / "t/summary.partial.json");
  std::filesystem::rename(folder / "t/run.log", folder / "t/run.partial.log");
  for (const char* name : {"run.h5", "loss.csv", "layers.csv"}) std::filesystem::remove(folder / "t/" + name);
  std::vector<std::string> names = {"summary.json"};
  for (const std::string& name : known_files("train_lm")) {
    names.push_back(name);
    const std::filesystem::path path(name);
    names.push_back(path.stem().string() + ".partial" + path.extension().string());
  }
  for (const std::string& name : names)
    for (const bool fifo : {true, false}) {
      CAPTURE(name);
      CAPTURE(fifo);
      const std::string path = folder / "t/" + name;
      const bool there = std::filesystem::exists(path);
      if (there) std::filesystem::rename(path, folder / "away");
      if (fifo)
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
      else
        std::filesystem::create_directory(path);
      const auto before = names_in(folder / "t");
      const Outcome outcome = run_built("train_lm", "--resume t", folder.path());
      CAPTURE(outcome.err);
      CHECK(outcome.code == 2);
      CHECK_FALSE(holds(outcome.out, "going on"));
      CHECK(names_in(folder / "t") == before);
      std::filesystem::remove(path);
      if (there) std::filesystem::rename(folder / "away", path);
    }
  ran("train_lm", "--resume t", folder.path());
}

TEST_CASE("a table of a name that no run made ends the run, and not that file") {
  const TemporaryFolder folder;
  Study study;
  study.body = [&](Run& run) {
    folder.write("r/layers.csv", "mine");  // while it runs
    run.csv("layers.csv", {"a"});
  };
  CHECK(holds(study.run({"--out", folder / "r"}).err, "layers.csv' is there, and no run made it"));
  CHECK(names_in(folder / "r") == Names{"layers.csv"});
  CHECK(file_text(folder / "r/layers.csv") == "mine");
}

TEST_CASE("a run that is refused changes nothing in the folder of one that did not finish") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.record_step({{"loss", 1}});
    throw Diverged("loss is nan");
  };
  CHECK(study.run({"--out", folder / "r"}).code == 1);
  const std::string killed = std::filesystem::path(temporary_name(folder / "r/run.partial.h5")).filename();
  folder.write("r/" + killed, "of a killed writer");
  const auto before = contents(folder / "r");
  CHECK(before.contains("summary.partial.json"));
  CHECK(before.contains("run.partial.log"));
  CHECK(Json::parse(before.at("summary.partial.json"))["program"] == "study");
  study.body = [](Run& run) {
    run.say("looking at the text\n");
    throw_error("corpus: no such file");
  };
  CHECK(study.run({"--out", folder / "r"}).err == "study: corpus: no such file\n");
  CHECK(contents(folder / "r") == before);
  CHECK(study.run({"--out", folder / "r", "--force"}).code == 2);
  CHECK(contents(folder / "r") == before);

  // One that begins takes its place, and one of another program is refused.
  folder.write("r/summary.partial.json",
               std::regex_replace(before.at("summary.partial.json"), std::regex("\"study\""), "\"other\""));
  CHECK(
      holds(study.run({"--out", folder / "r"}).err, "holds a run of other that did not finish; add --force"));
  folder.write("r/summary.partial.json", before.at("summary.partial.json"));
  study.body = [](Run& run) {
    run.say("one\n");
    run.record("loss", 1);
  };
  CHECK(study.run({"--out", folder / "r"}).code == 0);
  CHECK(holds(file_text(folder / "r/run.log"), "info    one\n"));
  CHECK(names_in(folder / "r") == Names{"run.h5", "run.log", "summary.json"});
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
    CHECK(holds(outcome.err, "File too large"));
    CHECK(folder.names() == std::vector<std::string>{"run.h5", "run.log", "summary.json"});
    CHECK(read_file(folder / "summary.json", 10000) == before);
  }
}

#if !defined(WITH_ASAN) && !defined(WITH_TSAN)  // they keep what was freed
TEST_CASE("a run takes no memory that grows with its steps, and its files have every step") {
  const auto own_memory_kib = [] {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (word == "RssAnon:") {
        status >> word;
        return std::stol(word);
      }
    return 0L;
  };
  const TemporaryFolder folder;
  long grown = 0;
  Study study;
  study.body = [&](Run& run) {
    Csv& csv = run.csv("loss.csv", {"step", "loss", "note"});
    const std::string note(60, 'n');
    long before = 0;
    for (int64_t step = 0; step < 20000; ++step) {
      if (step == 2000) before = own_memory_kib();
      if (step % 10 == 0) run.record("histogram", std::vector<double>(650, static_cast<double>(step)));
      run.record_step({{"loss", 0.5 * static_cast<double>(step)}});
      csv.row({step, 0.1, note});
    }
    grown = own_memory_kib() - before;
  };
  CHECK(study.run({"--out", folder.path()}).code == 0);
  CHECK(grown <= 1024);
  const Hdf5File file = Hdf5File::open(folder / "run.h5");
  const std::vector<double> loss = file.read("/series/loss").to_vector<double>(),
                            histogram = file.read("/series/histogram").to_vector<double>();
  REQUIRE(loss.size() == 20000);
  for (size_t i = 0; i < loss.size(); ++i) REQUIRE(loss[i] == 0.5 * static_cast<double>(i));
  REQUIRE(histogram.size() == 2000 * 650);
  for (size_t i = 0; i < histogram.size(); ++i) REQUIRE(histogram[i] == static_cast<double>(i / 650 * 10));
  const std::string csv = read_file(folder / "loss.csv", 1 << 22);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 20001);
  CHECK(csv.ends_with("\n19999,0.1," + std::string(60, 'n') + "\n"));
}
#endif

TEST_CASE("a failed expectation is exit code 1") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) { run.expect("std near theory", false, "0.3373 against 0.3374"); };
  CHECK(study.run({"--out", folder / "1"}).code == 1);
  const Json summary = Json::parse(read_file(folder / "1/summary.json", 10000));
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
  CHECK(holds(one.err, "a table"));
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
    study.config = StudyConfig();
    more.insert(more.end(), base.begin(), base.end());
    CHECK(study.run(more).code == 0);
    return unchanged;
  };
  CHECK(run_with({}));
  CHECK(run_with({"--seeds", "3", "--seed", "7", "--depth", "100"}));
  CHECK_FALSE(run_with({"--depth", "99"}));
}

}  // namespace isobar::run_test
