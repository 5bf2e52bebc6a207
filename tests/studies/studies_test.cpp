// What holds of every study, tried with its preset tiny.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "../../experiments/harness/json.h"
#include "../run.h"
#include "../scoped_variable.h"

namespace isobar::studies_test {

// How many numbers, and the sum of their logarithms with their signs: a small one counts as a large one does,
// and one that is nothing but rounding hardly at all.
struct Sum {
  double count = 0, logs = 0;
  void add(const Json& part) {
    if (part.is_structured())
      for (const Json& inner : part) add(inner);
    if (!part.is_number()) return;
    const double value = part.get<double>();
    ++count;
    logs += std::copysign(std::log1p(1e3 * std::abs(value)), value);
  }
};

// Of a summary: by the first word of their names what is measured, values and theory, and every other part.
void add_sums(const std::string& study, const Json& summary, std::map<std::string, Sum>& sums) {
  for (const auto& [part, content] : summary.items())
    if (part != "config" && part != "measured") sums[study + " " + part].add(content);
  for (const auto& [key, value] : summary.at("measured").items())
    sums[study + " " + key.substr(0, key.find('.'))].add(value);
}

// Runs it on one thread and on two, which must leave the same, and returns the summary.
nlohmann::json same_on_two_threads(const std::string& study, const std::string& words) {
  CAPTURE(study);
  CAPTURE(words);
  const TemporaryFolder one, two;
  ran(study, words + " --out run --threads 1", one.path());
  ran(study, words + " --out run --threads 2", two.path());
  for (const auto& entry : std::filesystem::directory_iterator(one / "run"))
    if (entry.path().extension() == ".csv")
      CHECK(file_text(entry.path()) == file_text(two / ("run/" + entry.path().filename().string())));
  nlohmann::json summary = results_in(one / "run");
  CHECK(summary == results_in(two / "run"));
  CHECK(summary["config"]["preset"] == "tiny");
  return summary;
}

// Our own figures: they notice a change of any study. With ISOBAR_KEEP=1 they are written anew. Kernels of
// products differ between machines.
TEST_CASE("every study measures what it did when this was written, the same on one thread and on two") {
  const ScopedVariable shipped("ISOBAR_DATA", std::nullopt);  // the repository's images and text
  std::map<std::string, Sum> sums;
  for (const Json& study : Json::parse(run_built("isobar", "--about").out))
    if (study["ranks"])  // the others measure times
      add_sums(study["name"], same_on_two_threads(study["name"], "--tiny --seeds 2"), sums);
  const std::string path = ISOBAR_SOURCE_DIR "/tests/fixtures/tiny_studies.txt";
  if (std::getenv("ISOBAR_KEEP") != nullptr) {
    std::ofstream file(path);
    for (const auto& [name, sum] : sums)
      if (sum.count > 0) file << fmt::format("{} {} {:.7g}\n", name, sum.count, sum.logs);
  }
  std::istringstream kept(file_text(path));
  for (std::string line; std::getline(kept, line);) {
    CAPTURE(line);
    const std::vector<std::string> words = words_in(line);
    const Sum now = sums[words[0] + " " + words[1]];
    CHECK(now.count == std::stod(words[2]));
    CHECK(now.logs == doctest::Approx(std::stod(words[3])).epsilon(1e-4));
    sums.erase(words[0] + " " + words[1]);
  }
  for (const auto& [name, sum] : sums) CHECK_MESSAGE(sum.count == 0, name, " is new: ISOBAR_KEEP=1 keeps it");
}

TEST_CASE("products and pointwise loops that are large enough for two threads change no result") {
  same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512");
  same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512 --batch 128 --norm dyt --dtype f64");
}

}  // namespace isobar::studies_test
