// duel: what it decides, which reasons it gives, and that a killed one goes on to the same bytes. What it refuses:
// programs/bounds_test.cpp.
#include <doctest/doctest.h>

#include <thread>

#include "../../experiments/duel/answer.h"
#include "../../experiments/duel/likeness.h"
#include "../../experiments/duel/trainings.h"
#include "../../experiments/duel/why.h"
#include "study.h"
#include "study_run.h"

namespace isobar::duel::test {

const std::string small =
    " --tiny --corpus " ISOBAR_SOURCE_DIR "/README.md --learning_rate 3e-3 --max_pairs 9 --steps 6";

// Two nets whose losses over the steps are these, at these rates.
Side side_of(const char* norm, double rate, double val_loss, std::vector<double> losses) {
  Side side{.contestant = {.words = norm, .label = norm, .norm = norm}, .rate = rate, .gain = 1};
  side.sweep.losses = {{1e-3, val_loss + 0.2}, {3e-3, val_loss + 0.3}, {1e-2, val_loss + 0.3}};
  side.sweep.losses[rate] = val_loss;
  for (int64_t pair = 0; pair < first_look(); ++pair)
    side.trained.push_back({.val_loss = val_loss + 1e-3 * static_cast<double>(pair % 3),
                            .start = {{1}, {1}, {1}},
                            .losses = losses});
  return side;
}

Findings worse(Side a, Side b) {
  return {
      .a = std::move(a), .b = std::move(b), .decision = {duel::Outcome::worse, {0.1, 0.3}}, .blind_loss = 4};
}

// Which of them explain it, of an experiment in which the worse side ends with this loss.
std::vector<std::string> explaining(const Findings& found, double with_equal_gain = 9) {
  std::vector<std::string> names;
  const auto train = [&](double, double) { return std::vector<Trained>(4, {.val_loss = with_equal_gain}); };
  for (const Reason& reason : reasons_of(found, train))
    if (reason.explains) names.push_back(reason.name);
  return names;
}

using Names = std::vector<std::string>;
const std::vector<double> steady(100, 3.0), high(100, 3.2);

TEST_CASE("a reason explains where it takes half of the difference away") {
  const Side best = side_of("rmsnorm", 3e-3, 2, steady);
  CHECK(explaining(worse(side_of("dyt", 3e-3, 2.2, high), best)) == Names());
  SUBCASE("the learning rate: at the loser's the winner is hardly better") {
    CHECK(explaining(worse(side_of("dyt", 1e-3, 2.2, high), best)) ==
          Names{"learning_rate"});  // 2.2 beside 2.2
    Side far = best;
    far.sweep.losses[1e-3] = 2.05;
    CHECK(explaining(worse(side_of("dyt", 1e-3, 2.2, high), far)) == Names());
  }
  SUBCASE("the best rate is the ladder's last") {
    Side edge = side_of("dyt", 3e-3, 2.2, high);
    edge.sweep.losses[1] = 2.1;
    CHECK(explaining(worse(edge, best)) == Names{"edge"});
  }
  SUBCASE("the gain before training") {
    Side quiet = side_of("dyt", 3e-3, 2.2, high);
    quiet.gain = 0.4;
    CHECK(explaining(worse(quiet, best), 2.05) == Names{"gain"});
    CHECK(explaining(worse(quiet, best), 2.15) == Names());
    quiet.gain = 0.95;  // no experiment
    CHECK(explaining(worse(quiet, best), 2.05) == Names());
  }
  SUBCASE("the gradient at the first block") {
    Side fading = side_of("none", 3e-3, 2.2, high);
    for (Trained& trained : fading.trained) trained.start.gradient_norm = {1, 20};
    CHECK(explaining(worse(fading, best)) == Names{"gradient"});
  }
  SUBCASE("trainings that broke off") {
    Side broken = side_of("none", 3e-3, 2.2, high);
    broken.trained[3].diverged = true;
    CHECK(explaining(worse(broken, best)) == Names{"broken"});
  }
  SUBCASE("a later start") {
    std::vector<double> late = steady;
    std::fill(late.begin(), late.begin() + 70, 3.2);
    CHECK(explaining(worse(side_of("dyt", 3e-3, 2.2, late), best)) == Names{"late"});
  }
  SUBCASE("nothing is asked of equals") {
    Findings equal = worse(side_of("dyt", 1e-3, 2.2, high), best);
    equal.decision.outcome = duel::Outcome::equal;
    CHECK(explaining(equal) == Names());
  }
}

TEST_CASE("one function written twice is told, to the bit or up to rounding, and another eps is not one") {
  Config config;
  config.corpus = ISOBAR_SOURCE_DIR "/README.md";
  config.steps = config.n_layer = config.eval_iters = 1;
  config.width = config.block_size = config.batch_size = 8;
  const std::unique_ptr<Task> task = make_task(config);
  const auto likeness = [&](const char* words) {
    const Contestant a = parse_contestant("rmsnorm"), b = parse_contestant(words);
    const Training training{.side = 0, .rate = 3e-3, .seed = 1};
    return likeness_of(distance_of_nets(*task, a, b), task->train(a, training), task->train(b, training));
  };
  CHECK(likeness("rmsnorm") == Likeness::to_the_bit);
  CHECK(likeness("x / sqrt(mean(x^2) + 1e-5) * w") == Likeness::up_to_rounding);
  CHECK(likeness("x / sqrt(mean(x^2) + 1e-6) * w") == Likeness::different);
  CHECK(likeness("--norm rmsnorm --qk_norm") == Likeness::different);
}

TEST_CASE("duel has three tasks, a text of one's own, and two optimizers") {
  for (const char* more : {"--task synthetic --optimizer muon", "--task digits"}) {
    CAPTURE(more);
    const StudyRun run("duel", std::string("rmsnorm post.rmsnorm --tiny --learning_rate 1e-3 ") + more);
    CHECK(run.summary["outcome"] == "undecided");  // of two pairs
    CHECK(run("a.val_loss") != run("b.val_loss"));
  }
}

// Neither may depend on which threads trained, nor on how often the run was killed.
TEST_CASE("a duel that is killed at five instants continues to the same bytes") {
  const std::string words =
      "duel dyt dyt_sqrtd --tiny --corpus " ISOBAR_SOURCE_DIR "/README.md --steps 20 --max_pairs 6";
  const TemporaryFolder folder;
  const std::string whole = folder / "whole", killed = folder / "killed",
                    journal = killed + "/trainings.jsonl";
  const auto started = [&](const std::string& out, uint64_t threads) {
    return StartedProgram(words_in(fmt::format("{} --out {} --threads {}", words, out, threads)), folder);
  };
  CHECK(started(whole, 2).wait() == 0);
  const Rng rng(9);
  const auto size_of = [&] {
    return std::filesystem::exists(journal) ? std::filesystem::file_size(journal) : 0;
  };
  for (int64_t kill = 0; kill < 5; ++kill) {
    StartedProgram program = started(killed, 1 + rng.below(2, 2 * kill));
    const auto before = size_of();
    wait_until(program, [&] { return size_of() > before; });
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(20'000, 2 * kill + 1)));
    program.send(SIGKILL);
    program.wait();
  }
  const std::string bytes = file_text(journal);
  REQUIRE(bytes.size() > 500);  // it was not through
  // Damaged in the heading, and in the middle: nothing of it is dropped.
  for (const size_t at : {size_t{0}, size_t{3}, size_t{40}, bytes.size() / 2}) {
    CAPTURE(at);
    std::string damaged = bytes;
    damaged[at] ^= 1;
    folder.write("killed/trainings.jsonl", damaged);
    StartedProgram refused = started(killed, 1);
    CHECK(refused.wait() == 2);
    CHECK(holds(refused.err(), at <= 40 ? "trainings.jsonl: its line 1 is damaged"
                                        : "is damaged, and whole lines follow; restore the file"));
    CHECK((file_text(journal) == damaged));
  }
  // The last one half written: it is trained again.
  folder.write("killed/trainings.jsonl", bytes.substr(0, bytes.size() - 5));
  StartedProgram last = started(killed, 1);
  REQUIRE(last.wait() == 0);
  CHECK(holds(last.out(), "trainings that an earlier run left in"));
  for (const char* name : {"pairs.csv", "rates.csv"})
    CHECK(file_text(whole + "/" + name) == file_text(killed + "/" + name));
  CHECK(results_in(whole) == results_in(killed));
}

TEST_CASE("what is no journal of this duel is not believed") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    Trainings trainings(run, {.of = {{"a", "of this duel"}}},
                        [](const Training& one) { return Trained{.val_loss = one.rate}; });
    CHECK(trainings.found() == 0);
    trainings.of({{.side = 0, .rate = 1.5, .seed = 0}},
                 [](size_t, const Trained& one) { CHECK(one.val_loss == 1.5); });
    trainings.end();
  };
  for (const char* text : {"", "nonsense", "\x10"}) {
    folder.write("run/trainings.jsonl", text);
    CHECK(study.run({"--force", "--out", folder / "run"}).code == 0);
  }
  // Lists in each other deeper than a stack.
  const std::string body = R"("of":{"config":{"a":)" + std::string(200'000, '[') + std::string(200'000, ']') +
                           "}}}",
                    deep = R"({"xxh3":")" + checksum(body) + "\"," + body + "\n";
  folder.write("run/trainings.jsonl", deep + deep);
  CHECK(study.run({"--out", folder / "run"}).code == 2);
  CHECK(file_text(folder / "run/trainings.jsonl") == deep + deep);
}

TEST_CASE("the trainings of a duel go when its results are there, and not before") {
  const TemporaryFolder folder;
  const std::string journal = folder / "run/trainings.jsonl";
  bool ends_well = false;
  Study study;
  study.body = [&](Run& run) {
    Trainings trainings(run, {.of = {{"a", "of this duel"}}},
                        [](const Training& one) { return Trained{.val_loss = one.rate}; });
    CHECK(trainings.found() == (ends_well ? 1 : 0));
    trainings.of({{.side = 0, .rate = 1.5, .seed = 0}}, [](size_t, const Trained&) {});
    trainings.end();
    if (!ends_well) throw_error("the disk is full");
  };
  CHECK(study.run({"--out", folder / "run"}).code != 0);
  CHECK(std::filesystem::exists(journal));
  ends_well = true;
  CHECK(study.run({"--out", folder / "run"}).code == 0);
  CHECK(std::filesystem::exists(folder / "run/summary.json"));
  CHECK_FALSE(std::filesystem::exists(journal));
}

TEST_CASE("trainings on other data, or of other sources, count with --accept-old alone") {
  const TemporaryFolder folder;
  int64_t trained = 0;  // how many trainings were made
  Study study;
  study.goes_on = MayDiffer{};
  std::string xxh3 = "1";
  study.body = [&](Run& run) {
    run.reads({"letters.txt", xxh3});
    Trainings trainings(run, {.of = {{"a", "of this duel"}}},
                        [&](const Training& one) { return ++trained, Trained{.val_loss = one.rate}; });
    trainings.of({{.side = 0, .rate = 1.5, .seed = 0}}, [](size_t, const Trained&) {});
  };
  const auto run = [&](const std::string& flag) {
    const isobar::Outcome outcome = study.run({"--force", "--out", folder / "run", flag});
    CHECK(outcome.code == 0);
    const Json summary = Json::parse(file_text(folder / "run/summary.json"));
    return outcome.out + summary.value("accepted_old", "");
  };
  const std::string change = "its data have changed since: letters.txt is another file";
  run("--json");
  CHECK(trained == 1);
  run("--json");
  CHECK(trained == 1);  // the journal has it
  xxh3 = "2";
  CHECK(holds(run("--accept-old"),
              "1 trainings of an earlier run are taken by --accept-old, though " + change));
  CHECK(trained == 1);
  CHECK(Json::parse(file_text(folder / "run/summary.json"))["accepted_old"] == change);
  CHECK(holds(run("--threads=1"),
              "1 trainings of an earlier run do not count: " + change + "; measured anew\n"));
  CHECK(trained == 2);
  CHECK_FALSE(holds(run("--accept-old"), "taken by --accept-old"));
  CHECK(trained == 2);
}

TEST_CASE("a duel replaces neither the results of another one nor its trainings without --force") {
  const TemporaryFolder folder;
  const std::string first = "rmsnorm dyt" + small + " --max_pairs 2 --out run",
                    other = "rmsnorm none" + small + " --max_pairs 2 --out run";
  ran("duel", first, folder.path());  // undecided: its journal stays
  const auto before = results_in(folder / "run");
  const std::string journal = file_text(folder / "run/trainings.jsonl");
  check_refused("duel", other,
                "'run' holds a finished run of other settings: b is \"dyt\" there, \"none\" here",
                folder.path());
  CHECK(results_in(folder / "run") == before);
  CHECK(file_text(folder / "run/trainings.jsonl") == journal);
  // Killed before its end.
  std::filesystem::rename(folder / "run/summary.json", folder / "run/summary.partial.json");
  const isobar::Outcome refused = run_built("duel", other, folder.path());
  CHECK(refused.code == 2);
  CHECK(holds(refused.err,
              "holds 4 trainings that do not count here: they are of other settings: b is \"dyt\" t"));
  CHECK(file_text(folder / "run/trainings.jsonl") == journal);
  CHECK(std::filesystem::exists(folder / "run/run.h5"));
  ran("duel", other + " --force", folder.path());
  CHECK(results_in(folder / "run")["config"]["b"] == "none");
}

TEST_CASE("an undecided duel continues with more pairs") {
  const TemporaryFolder folder;
  const std::string words = "rmsnorm dyt" + small;
  ran("duel", words + " --max_pairs 2 --out run", folder.path());
  CHECK(results_in(folder / "run")["likeness"] == "different");
  const isobar::Outcome more = ran("duel", words + " --max_pairs 3 --out run", folder.path());
  CHECK(holds(more.out, "\n4 trainings that an earlier run left in run are taken\n"));
  const auto three = results_in(folder / "run");
  check_refused("duel", words + " --max_pairs 2 --out run",
                "'run' holds a finished run with --max_pairs 3, and this one has 2", folder.path());
  CHECK(results_in(folder / "run") == three);
}

TEST_CASE("in other settings the pairs are those of the study settings, to the bit") {
  const std::string sizes = " --width 8 --n_layer 1 --steps 2 --block_size 8 --batch_size 2 --eval_iters 1";
  const StudyRun duel("duel", "none rmsnorm --max_pairs 1" + sizes);
  const StudyRun study("settings", "--nets rmsnorm,none --long_steps 6 --seeds 5" + sizes);
  for (int i = 1; i <= 16; ++i) {
    const std::string at = ".setting" + std::to_string(i);
    CAPTURE(at);
    CHECK(duel.measured["a_minus_b" + at]["values"] == study.measured["none_minus_rmsnorm" + at]["values"]);
    CHECK(duel("a.learning_rate" + at) == study("none.learning_rate" + at));
    CHECK(duel("b.learning_rate" + at) == study("rmsnorm.learning_rate" + at));
  }
  CHECK(duel.summary["settings"] == study.summary["settings"]);
  CHECK(duel.summary["over_settings"]["marks"].get<std::string>().size() == 16);
  CHECK(duel.outcome.out.find(" 4 weights 0.02, embedding 1, Muon, the synthetic language, 2 steps: ") !=
        std::string::npos);
  check_refused("duel", "none rmsnorm --task digits --settings all",
                "the settings are those of language models");
  check_refused("duel", "none rmsnorm --settings all --corpus mine.txt",
                "the settings have texts of their own");
  check_refused("duel", "'--norm none --optimizer muon' rmsnorm --settings all --tiny",
                "has an optimizer of its own");
  const auto settings_of = [](const std::string& words) {
    return Json::parse(ran("duel", words + " --print-config").out).at("settings").get<std::string>();
  };
  for (const char* words :
       {"none rmsnorm --task digits", "none rmsnorm --corpus mine.txt", "none rmsnorm --share 0.5",
        "'--norm none --optimizer muon' rmsnorm", "none rmsnorm --shared others.jsonl"})
    CHECK(settings_of(words) == "one");
  CHECK(settings_of("none rmsnorm --task synthetic") == "all");
}

}  // namespace isobar::duel::test
