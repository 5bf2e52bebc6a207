// The benchmark program, as far as it can be right or wrong: its speed is no test.
#include <doctest/doctest.h>

#include <sstream>

#include "../run.h"
#include "../sanitizers.h"

namespace isobar::bench_test {

TEST_CASE("every kind of training has its step") {
  CHECK(std::ranges::count(ran("bench", "--filter 'd8_b32|nanogpt_cpu' --steps 1 --min-time 0.01 --json").out,
                           '\n') == 4);
}

TEST_CASE("bench prints the environment and then a case a line") {
  const Outcome run = ran(
      "bench", "--filter 'chain_add|^rmsnorm_fwdbwd_32x512$' --threads 2 --steps 2 --min-time 0.01 --json");
  std::istringstream lines(run.out);
  std::map<std::string, nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    rows[row["bench"]] = row;
  }
  CHECK(rows.size() == 3);
  CHECK(rows.at("environment").contains("blas_core"));
  const auto &adds = rows.at("chain_add_10000_16x16_fwdbwd"), &norm = rows.at("rmsnorm_fwdbwd_32x512");
  CHECK(adds["threads"] == 2);
  CHECK(adds["steps"] == 2);
  CHECK(adds["peak_rss_mib"].get<double>() > 1);
  // 10000 ops in a step: microseconds per op are milliseconds per step, divided by ten.
  CHECK(adds["derived"].get<double>() == doctest::Approx(adds["median_ms"].get<double>() / 10));
  CHECK(norm["share"].get<double>() ==
        doctest::Approx(norm["derived"].get<double>() / norm["limit"].get<double>()));
  CHECK(run.err.empty());
}

TEST_CASE("isobar bench has the limits and six steps, with a share where the machine was idle") {
  const auto found = nlohmann::json::parse(ran("isobar", "bench --seconds 0.1 --threads 2 --json").out);
  CHECK(found["features"].get<std::string>().find("f32 in a register") != std::string::npos);
  CHECK(found["cores"].get<int>() >= 1);
  CHECK(found["limits"].size() == 4);
  for (const auto& limit : found["limits"]) {
    CAPTURE(limit);
    CHECK(limit["runs"].size() == 2);
    for (const auto& run : limit["runs"]) CHECK(run["rate"].get<double>() > 1e8);
  }
  const std::vector<std::string> cases = {"rmsnorm_fwdbwd_8192x768",    "layernorm_fwdbwd_8192x768",
                                          "dyt_fwdbwd_8192x768",        "softmax_fwdbwd_4096x1024",
                                          "gelu_tanh_fwdbwd_4096x1024", "lm_nanogpt_cpu"};
  REQUIRE(found["rows"].size() == cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& row = found["rows"][i];
    CAPTURE(row);
    CHECK(row["case"] == cases[i]);
    CHECK(row["runs"][0]["threads"] == 1);
    CHECK(row["runs"][1]["threads"] == 2);
    const double least = row[row.contains("flops") ? "flops" : "bytes"];
    for (const auto& run : row["runs"]) {
      const double rate = run["rate"], limit = run["limit"], lost = run["lost_share"];
      CHECK(rate * run["seconds"].get<double>() == doctest::Approx(least));
      CHECK(run["share"].is_null() == run["busy"]);
      if (lost > 0.1) CHECK(run["busy"] == true);
      if (run["busy"]) continue;
      CHECK(run["share"].get<double>() == doctest::Approx(rate / limit));
      CHECK(run["share"].get<double>() > 0);
      CHECK(run["share"].get<double>() <= 1.2);
    }
  }
  // x is read and y written, dy and x are read and dx written: five arrays of 8192 × 768 numbers of 4 bytes.
  CHECK(found["rows"][0]["bytes"] == 5.0 * 8192 * 768 * 4);
}

TEST_CASE("isobar bench prints each row at once, and says that the machine was busy") {
  const std::string text = ran("isobar", "bench --seconds 0.1 --threads 1").out;
  CHECK(text.starts_with("isobar bench: takes about 0.1 s"));
  for (const char* row : {"kernels: ", "products of 512 × 512", "read a ", "copy a = b ",
                          "triad a = b + s · c ", "RMSNorm, 8192 × 768 ", "LayerNorm, ", "DyT, ",
                          "softmax, 4096 × 1024 ", "GELU (tanh), ", "step of a nanoGPT, 4 × 128 "})
    CHECK_MESSAGE(holds(text, std::string("\n") + row), row);
  CHECK_FALSE(holds(text, "2 threads"));
  CHECK(holds(text, "  busy\n") == holds(text, "\nThe machine was busy, so "));
  check_refused("isobar bench", "--seconds 61", "--seconds: wanted a number from 0.01 to 60, got '61'\n");
  check_refused("isobar bench", "--seconds soon", "--seconds: wanted a number");
  CHECK(run_built("isobar bench", "--second").code == 2);
  CHECK(run_built("isobar bench", "--case dyt").code == 2);
}

// AddressSanitizer takes the small objects' lists away, so that steps hold and ask for more.
#ifndef WITH_ASAN
TEST_CASE("small steps ask for no more memory than was kept of them") {
  // Steps of every kind of limit; their counts are quick.
  const Outcome run = run_built("bench", "--counts --check " ISOBAR_SOURCE_DIR
                                         "/tests/bench/kept.jsonl "
                                         "--filter '32x512|opt_adamw_128|chain_add|^study8' --threads 1");
  CHECK_MESSAGE(run.code == 0, run.out, run.err);
}
#endif

TEST_CASE("bench --check finds what bench --keep wrote, and names each row that fell below it") {
  const TemporaryFolder folder;
  const std::string file = folder / "kept.jsonl",
                    only = " --filter '^study8_fwdbwd$' --threads 1 --min-time 0.01";
  ran("bench", "--keep " + file + only);
  const Outcome same = ran("bench", "--counts --check " + file + only);
  CHECK(same.out == "1 rows compared with " + file + ", 0 fell\n");

  std::istringstream lines(file_text(file));
  std::string machine, row;
  REQUIRE(std::getline(lines, machine));
  REQUIRE(std::getline(lines, row));
  auto better = nlohmann::ordered_json::parse(row);
  better["step_bytes"] = 7;
  better["share"] = 1000;
  folder.write("kept.jsonl", machine + "\n" + better.dump() + "\n");
  const Outcome fell = run_built("bench", "--check " + file + only);
  CHECK(fell.code == 1);
  CHECK(holds(fell.out, "study8_fwdbwd, 1 thread: step_bytes "));
  CHECK(holds(fell.out, ", kept 7\n"));
  CHECK(holds(fell.out, " % of its limit, kept 100000.0 %\n"));
  CHECK(holds(fell.out, "1 rows compared with " + file + ", 2 fell\n"));
}

TEST_CASE("bench refuses words that it does not know, and a file that bench --keep did not write") {
  const TemporaryFolder folder;
  const std::string machine = "{\"bench\":\"environment\",\"cpu\":\"any\"}\n";
  const std::pair<std::string, std::string> files[] = {
      {"", "wanted lines that bench --keep wrote, got none"},
      {"{}\n", "line 1 is not one that bench --keep wrote: "},
      {machine + "{\"bench\":\"study8_fwdbwd\",\"threads\":1}\n", "line 2 is not one"},
      {machine, "no row is of a case that --filter and --threads choose"}};
  for (const auto& [text, complaint] : files)
    check_refused("bench",
                  "--counts --filter '^study8_fwdbwd$' --check " + folder.write("kept.jsonl", text).string(),
                  "kept.jsonl: " + complaint);
  check_refused(
      "bench", "--filter '^rmsnorm_fwdbwd_4096x51$'",
      "--filter: no case matches '^rmsnorm_fwdbwd_4096x51$'; did you mean rmsnorm_fwdbwd_4096x512?; --list prints all\n");
  for (const char* words : {"--counts --check nowhere.jsonl", "--check a --keep b", "--counts",
                            "--filter '['", "--steps -1", "--thread 1"})
    CHECK_MESSAGE(run_built("bench", words).code == 2, words);
  CHECK(holds(ran("bench", "--list").out, "limit_sgemm_512\n"));
}

}  // namespace isobar::bench_test
