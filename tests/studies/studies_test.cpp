// What holds of every study, tried with its preset tiny.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "../../experiments/harness/json.h"
#include "../run.h"

namespace isobar::studies_test {

// By study and key: the values and the theory of what it measures; of each other part of a summary how many
// numbers it has, and the sums of those above and below 0.
using Numbers = std::map<std::string, std::vector<double>>;

double number_of(const Json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

void sum_up(const Json& part, std::vector<double>& sums) {
  if (part.is_number()) ++sums[0], sums[part > 0 ? 1 : 2] += part.get<double>();
  if (part.is_structured())
    for (const Json& inner : part) sum_up(inner, sums);
}

void add_numbers(const std::string& study, const Json& summary, Numbers& all) {
  for (const auto& [part, content] : summary.items()) {
    if (part == "config" || part == "measured") continue;
    size_t place = 0;
    for (const Json& inner : content.is_array() ? content : Json::array({content})) {
      std::vector<double> sums(3);
      sum_up(inner, sums);
      if (sums[0] > 0) all[fmt::format("{} {}.{}", study, part, place)] = sums;
      ++place;
    }
  }
  for (const auto& [key, value] : summary.at("measured").items()) {
    std::vector<double>& numbers = all[study + " " + key];
    for (const Json& one : value["values"]) numbers.push_back(number_of(one));
    if (value.contains("theory")) numbers.push_back(number_of(value["theory"]));
  }
}

// Kernels of products differ between machines.
bool is_close(double now, double then) {
  return now == then || (std::isnan(now) && std::isnan(then)) ||
         std::abs(now - then) <= 1e-4 * std::abs(then) + 1e-6;
}

// Runs it on one thread and on two, which must leave the same, and returns the summary.
Json same_on_two_threads(const std::string& study, const std::string& words) {
  CAPTURE(study);
  CAPTURE(words);
  const TemporaryFolder one, two;
  ran(study, words + " --out run --threads 1", one.path());
  ran(study, words + " --out run --threads 2", two.path());
  for (const auto& entry : std::filesystem::directory_iterator(one / "run"))
    if (entry.path().extension() == ".csv")
      CHECK(file_text(entry.path()) == file_text(two / ("run/" + entry.path().filename().string())));
  Json summary = results_in(one / "run");
  CHECK(summary == results_in(two / "run"));
  CHECK(summary["config"]["preset"] == "tiny");
  return summary;
}

// Our own figures: they catch a change of any study. With ISOBAR_KEEP=1 they are written anew.
TEST_CASE("every study measures what it did when this was written, the same on one thread and on two") {
  Numbers all;
  for (const Json& study : Json::parse(run_built("isobar", "--about").out))
    if (study["ranks"])  // the others measure times
      add_numbers(study["name"], same_on_two_threads(study["name"], "--tiny --seeds 2"), all);
  const std::string path = ISOBAR_SOURCE_DIR "/tests/fixtures/tiny_studies.txt";
  if (std::getenv("ISOBAR_KEEP") != nullptr) {
    std::ofstream file(path);
    for (const auto& [key, numbers] : all) file << fmt::format("{} {:.6g}\n", key, fmt::join(numbers, " "));
  }
  std::istringstream kept(file_text(path));
  for (std::string line; std::getline(kept, line);) {
    CAPTURE(line);
    const std::vector<std::string> words = words_in(line);
    const auto now = all.extract(words[0] + " " + words[1]);
    REQUIRE(!now.empty());
    REQUIRE(now.mapped().size() == words.size() - 2);
    for (size_t i = 2; i < words.size(); ++i)
      CHECK_MESSAGE(is_close(now.mapped()[i - 2], std::stod(words[i])), now.mapped()[i - 2]);
  }
  for (const auto& more : all) CHECK_MESSAGE(false, more.first, " is new: ISOBAR_KEEP=1 keeps it");
}

TEST_CASE("products and pointwise loops that are large enough for two threads change no result") {
  same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512");
  same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512 --batch 128 --norm dyt --dtype f64");
}

}  // namespace isobar::studies_test
