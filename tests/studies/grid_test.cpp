// Grid: rows of trainings, their journal, and processes that share it. What a run measures never depends on how often
// it was killed, nor on who trained a row.
#include "../../experiments/run/grid.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <limits>
#include <random>
#include <thread>

#include "../../data/file.h"
#include "../message_of.h"
#include "../thread_counts.h"
#include "study.h"

namespace isobar::grid_test {

using namespace std::chrono_literals;

std::vector<Json> rows_of(int64_t n) {
  std::vector<Json> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back({{"net", "dyt"}, {"rate", 0.1}, {"seed", i}});
  return rows;
}

Outcome outcome_of(const std::string& folder, const std::function<void(Run&)>& body,
                   std::vector<std::string> words) {
  Study study;
  study.body = body;
  words.insert(words.end(), {"--out", folder});
  return study.run(words);
}

// Runs a body of a study, which must end with 0, and returns what it said.
std::string run_body(const std::string& folder, const std::function<void(Run&)>& body,
                     const std::vector<std::string>& words = {}) {
  const Outcome outcome = outcome_of(folder, body, words);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome.out;
}

// The sentence with which it is refused.
std::string refusal(const std::string& folder, const std::function<void(Run&)>& body,
                    const std::vector<std::string>& words = {}) {
  const Outcome outcome = outcome_of(folder, body, words);
  CHECK(outcome.code == 2);
  return outcome.err;
}

struct Result {
  double number = 0;
  int64_t count = 0;
  bool diverged = false;
  std::vector<double> losses;
  void values(RowFields& f) {
    f("number", number), f("count", count), f("diverged", diverged), f("losses", losses);
  }
};

TEST_CASE("a row keeps every bit of its numbers, and results come in the order of the list") {
  const double special[] = {1.0 / 3,
                            -0.0,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::max(),
                            std::nextafter(1.0, 2.0),
                            std::numeric_limits<double>::quiet_NaN()};
  constexpr int64_t n = std::size(special);
  for_thread_counts([&] {
    const TemporaryFolder folder;
    run_body(folder / "run", [&](Run& run) {
      Grid grid(run);
      const auto here = std::this_thread::get_id();
      std::vector<size_t> order;
      std::atomic<int> trained = 0;
      const auto train = [&](size_t i) {
        ++trained;
        if (i == 0) std::this_thread::sleep_for(2ms);
        return Result{special[i], static_cast<int64_t>(i), i % 2 == 1, std::vector<double>(i, special[i])};
      };
      for (int again = 0; again < 2; ++again) {
        order.clear();
        const std::vector<Result> results =
            grid.train<Result>(rows_of(n), train, [&](size_t i, const Result&) {
              CHECK(std::this_thread::get_id() == here);
              order.push_back(i);
            });
        REQUIRE(std::ssize(results) == n);
        for (size_t i = 0; i < results.size(); ++i) {
          CHECK(order[i] == i);
          CHECK(std::bit_cast<uint64_t>(results[i].number) == std::bit_cast<uint64_t>(special[i]));
          CHECK(results[i].count == static_cast<int64_t>(i));
          CHECK(results[i].diverged == (i % 2 == 1));
          REQUIRE(results[i].losses.size() == i);
          for (const double loss : results[i].losses)
            CHECK(std::bit_cast<uint64_t>(loss) == std::bit_cast<uint64_t>(special[i]));
        }
      }
      CHECK(trained == n);  // each once
      grid.finish();
    });
    CHECK_FALSE(std::filesystem::exists(folder / "run/trainings.jsonl"));
    CHECK_FALSE(std::filesystem::exists(folder / "run/.trainings.lock"));
    CHECK(file_text(folder / "run/trainings.csv")
              .starts_with("net,rate,seed,count,diverged,number\ndyt,0.1,0,0,0,"));
  });
}

TEST_CASE("two equal rows are one training") {
  const TemporaryFolder folder;
  run_body(folder / "run", [](Run& run) {
    Grid grid(run);
    std::atomic<int> trained = 0;
    // Wherever the equal ones stand.
    const Json a = rows_of(3)[0], b = rows_of(3)[1], c = rows_of(3)[2];
    const std::vector<Json> rows = {a, a, b, a, c, c};
    const auto results =
        grid.train<double>(rows, [&](size_t i) { return ++trained, rows[i]["seed"].get<double>(); });
    CHECK(results == std::vector<double>{0, 0, 1, 0, 2, 2});
    CHECK(trained == 3);
  });
}

TEST_CASE("the failure of the first row of the list that threw reaches the caller, and what was done stays") {
  const TemporaryFolder folder;
  const auto train_until = [](size_t failing) {
    return [failing](Run& run) {
      Grid grid(run);
      std::vector<size_t> seen;
      const auto train = [&](size_t i) {
        check(i != failing, "training {} failed", i);
        return static_cast<double>(i);
      };
      const auto done = [&](size_t i, double) { seen.push_back(i); };
      if (failing < 9) {
        const std::string said = message_of([&] { grid.train<double>(rows_of(9), train, done); });
        CHECK(said == "training 4 failed");
        CHECK(seen == std::vector<size_t>{0, 1, 2, 3});
        throw_error(said);
      }
      CHECK(grid.found() >= 4);
      CHECK(grid.train<double>(rows_of(9), train, done).size() == 9);
      grid.finish();
    };
  };
  CHECK(holds(refusal(folder / "run", train_until(4)), "training 4 failed"));
  CHECK(holds(run_body(folder / "run", train_until(9)), "trainings that an earlier run left in"));
}

// A run that leaves a journal of three rows behind.
void leave_rows(const std::string& folder, const std::vector<std::string>& words = {}) {
  refusal(
      folder,
      [](Run& run) {
        run.reads({"text.txt", "0123456789abcdef"});
        Grid grid(run);
        grid.train<double>(rows_of(3), [](size_t i) { return 1.0 + static_cast<double>(i); });
        throw_error("ended early");
      },
      words);
}

// Counts the rows that a run finds, and trains the others.
std::function<void(Run&)> going_on(int64_t wanted, const std::string& data = "0123456789abcdef") {
  return [=](Run& run) {
    run.reads({"text.txt", data});
    Grid grid(run);
    CHECK(grid.found() == wanted);
    CHECK(grid.train<double>(rows_of(3), [](size_t i) { return 1.0 + static_cast<double>(i); }) ==
          std::vector<double>{1, 2, 3});
    grid.finish();
  };
}

TEST_CASE("a line that a kill cut off is dropped, wherever it was cut") {
  const TemporaryFolder folder;
  leave_rows(folder / "run");
  const std::string whole = file_text(folder / "run/trainings.jsonl");
  std::vector<size_t> ends;
  for (size_t at = 0; (at = whole.find('\n', at)) != std::string::npos;) ends.push_back(++at);
  REQUIRE(ends.size() == 4);  // the heading and three rows
  for (size_t length = 0; length <= whole.size(); length += length < 30 ? 1 : 37) {
    CAPTURE(length);
    folder.write("run/trainings.jsonl", whole.substr(0, length));
    const auto lines = std::ranges::count_if(ends, [&](size_t end) { return end <= length; });
    run_body(folder / "run", going_on(std::max<int64_t>(0, lines - 1)));
    std::filesystem::remove_all(folder / "run");
    std::filesystem::create_directory(folder / "run");
    leave_rows(folder / "run");
  }
}

TEST_CASE("a damaged line that others follow is refused, and --force trains anew from there on") {
  const TemporaryFolder folder;
  leave_rows(folder / "run");
  std::string text = file_text(folder / "run/trainings.jsonl");
  const size_t second =
      text.find('\n', text.find('\n') + 1);  // the line of the second row, whichever finished first
  text[text.find("\"value\":", second) + 8] = '7';
  folder.write("run/trainings.jsonl", text);
  CHECK(holds(refusal(folder / "run", going_on(0)), "trainings.jsonl: its line 3 is damaged"));
  CHECK(file_text(folder / "run/trainings.jsonl") == text);
  run_body(folder / "run", going_on(1), {"--force"});
}

TEST_CASE("the journal of another run is refused with what to do, and is not changed") {
  const TemporaryFolder folder;
  const std::string journal = folder / "run/trainings.jsonl";
  leave_rows(folder / "run");
  const std::string text = file_text(journal);
  const std::string settings = refusal(folder / "run", going_on(0), {"--depth", "9"});
  CHECK(holds(
      settings,
      "holds 3 trainings that do not count here: they are of other settings: depth is 8 there, 9 here"));
  CHECK(holds(settings, "choose another folder, or add --force to begin anew without them"));
  const std::string data = refusal(folder / "run", going_on(0, "fedcba9876543210"));
  CHECK(holds(data, "its data have changed since"));
  CHECK(holds(data, "add --force to measure anew, or choose another folder"));
  CHECK(file_text(journal) == text);
  folder.write("run/trainings.jsonl", "my own notes\n");
  CHECK(holds(refusal(folder / "run", going_on(0)), "it is not a journal of trainings"));
  CHECK(file_text(journal) == "my own notes\n");
  run_body(folder / "run", going_on(0), {"--force"});
}

TEST_CASE("with --force a journal of the same settings, sources and data counts as without") {
  const TemporaryFolder folder;
  leave_rows(folder / "run");
  run_body(folder / "run", going_on(3), {"--force"});
}

// --- processes

const char* const study = "norm_motives";
std::string words_for(const std::string& folder) {
  return std::string(study) + " --tiny --width 64 --seeds 8 --steps 12 --threads 1 --out " + folder;
}

void check_same(const std::string& one, const std::string& other) {
  CHECK(results_in(one) == results_in(other));
  for (const char* name : {"measurements.csv", "trainings.csv"})
    CHECK(file_text(one + "/" + name) == file_text(other + "/" + name));
}

// Waits for so long, or until the program has ended.
void wait_at_most(StartedProgram& program, std::chrono::microseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time;
       program.running() && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(200us);
}

TEST_CASE("a run that is killed at ten random instants ends with the bytes of one go") {
  const TemporaryFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  ran(study, words_for(folder / "whole").substr(std::string(study).size() + 1));
  const auto whole = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(7);
  int killed = 0;
  for (int i = 0; i < 10; ++i) {
    StartedProgram program(words_in(words_for(folder / "killed")), folder);
    wait_at_most(program,
                 std::chrono::duration_cast<std::chrono::microseconds>(whole) * (random() % 1000) / 2000);
    if (!program.running()) break;
    program.send(SIGKILL);
    killed += program.wait() == -SIGKILL;
  }
  CHECK(killed > 0);
  if (!std::filesystem::exists(folder / "killed/summary.json"))
    ran(study, words_for(folder / "killed").substr(std::string(study).size() + 1));
  check_same(folder / "whole", folder / "killed");
}

TEST_CASE("two processes share a folder, whoever of them is killed, and leave the bytes of one") {
  const TemporaryFolder folder, first_output, second_output;
  ran(study, words_for(folder / "whole").substr(std::string(study).size() + 1));
  std::mt19937 random(11);
  const std::vector<std::string> words = words_in(words_for(folder / "shared"));
  std::optional<StartedProgram> first, second;
  first.emplace(words, first_output);
  wait_until(*first, [&] { return std::filesystem::exists(folder / "shared/trainings.jsonl"); });
  second.emplace(words, second_output);
  for (int i = 0; i < 10 && first->running() && second->running(); ++i) {
    auto& victim = i % 3 == 2 ? second : first;  // the first one writes, until it is killed
    wait_at_most(*victim, std::chrono::microseconds(random() % 60'000));
    if (!victim->running()) break;
    victim->send(SIGKILL);
    victim->wait();
    victim.emplace(words, &victim == &first ? first_output : second_output);
  }
  for (auto* program : {&first, &second}) {
    const int code = (*program)->wait();
    INFO((*program)->err());
    // A process that is started when the results are there refuses to replace them.
    CHECK((code == 0 || holds((*program)->err(), "holds a finished run")));
  }
  check_same(folder / "whole", folder / "shared");
}

TEST_CASE("a process that comes to help once the results are there leaves no journal beside them") {
  const TemporaryFolder folder;
  const std::string words = words_for(folder / "run").substr(std::string(study).size() + 1);
  ran(study, words);
  // As the process that wrote them leaves the folder for an instant: it still has the lock, and the journal is gone.
  folder.write("run/summary.partial.json", R"({"program": "norm_motives", "files": []})");
  const int first = ::open((folder / "run").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(first, LOCK_EX | LOCK_NB) == 0);
  const Outcome late = run_built(study, words);
  ::close(first);
  CHECK(late.code == 0);
  CHECK(holds(late.err, "the process that this one helped writes the results"));
  for (const char* name : {"trainings.jsonl", ".trainings.lock"})
    CHECK_FALSE(std::filesystem::exists(folder / ("run/" + std::string(name))));
}

TEST_CASE("a process that comes to a folder of other settings is refused") {
  const TemporaryFolder folder;
  StartedProgram first(words_in(words_for(folder / "run") + " --seeds 500"), folder);
  REQUIRE(wait_until(first, [&] { return std::filesystem::exists(folder / "run/trainings.jsonl"); }));
  const Outcome other = run_built(study, "--tiny --out " + folder / "run");
  CHECK(other.code == 2);
  CHECK(holds(other.err, "they are of other settings"));
  first.send(SIGKILL);
  first.wait();
}

}  // namespace isobar::grid_test
