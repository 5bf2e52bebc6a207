// What holds of every study, tried with its preset tiny.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "../../experiments/run/json.h"
#include "../run.h"
#include "../scoped_variable.h"

namespace isobar::studies_test {

// What a part of a summary holds: a hash of its names (FNV-1a), how many numbers, and the sum of their logarithms
// with their signs, in which a small number counts as a large one does.
struct Content {
  uint32_t names = 2166136261;
  int64_t count = 0;
  double logs = 0;

  void add(const std::string& name, const Json& part) {
    for (const char letter : name) names = (names ^ static_cast<unsigned char>(letter)) * 16777619;
    if (part.is_structured())
      for (const auto& [inner, content] : part.items()) add(inner, content);
    if (!part.is_number()) return;
    const double value = part.get<double>();
    ++count;
    logs += std::copysign(std::log1p(1e3 * std::abs(value)), value);
  }
};

// Of a summary: by the first word of their names what is measured, values and theory, and every other part.
void add_parts(const std::string& study, const Json& summary, std::map<std::string, Content>& parts) {
  for (const auto& [part, content] : summary.items())
    if (part != "config" && part != "measured") parts[study + " " + part].add(part, content);
  for (const auto& [key, value] : summary.at("measured").items())
    parts[study + " " + key.substr(0, key.find('.'))].add(key, value);
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
  for (const nlohmann::json& entry : summary["trained"])
    for (const char* unknown : {"unknown", "named", "does not name", "未知", "名为", "未写明"})
      CHECK_MESSAGE(!holds(entry.dump(), unknown), study, " trained on ", entry.dump());
  return summary;
}

// Our own figures: they notice a change of any study. With ISOBAR_KEEP=1 they are written anew. Products so
// small are our own kernel's, whose bits are the same on every machine.
TEST_CASE("every study measures what it did when this was written, the same on one thread and on two") {
  const ScopedVariable shipped("ISOBAR_DATA", std::nullopt);  // the repository's images and text
  std::map<std::string, Content> parts;
  for (const Json& study : Json::parse(run_built("isobar", "--about").out))
    if (study["ranks"])  // the others measure times
      add_parts(study["name"], same_on_two_threads(study["name"], "--tiny --seeds 2"), parts);
  const std::string path = ISOBAR_SOURCE_DIR "/tests/fixtures/tiny_studies.txt";
  if (std::getenv("ISOBAR_KEEP") != nullptr) {
    std::ofstream file(path);
    for (const auto& [name, part] : parts)
      if (part.count > 0)
        file << fmt::format("{} {:08x} {} {:.12g}\n", name, part.names, part.count, part.logs);
  }
  std::istringstream kept(file_text(path));
  for (std::string line; std::getline(kept, line);) {
    CAPTURE(line);
    const std::vector<std::string> words = words_in(line);
    const Content now = parts[words[0] + " " + words[1]];
    CHECK(now.names == std::stoul(words[2], nullptr, 16));
    CHECK(now.count == std::stoll(words[3]));
    CHECK(now.logs == doctest::Approx(std::stod(words[4])).epsilon(1e-9));
    parts.erase(words[0] + " " + words[1]);
  }
  for (const auto& part : parts)
    CHECK_MESSAGE(part.second.count == 0, part.first, " is new: ISOBAR_KEEP=1 keeps it");
}

TEST_CASE("products and pointwise loops that are large enough for two threads change no result") {
  same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512");
  same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512 --batch 128 --norm dyt --dtype f64");
}

}  // namespace isobar::studies_test
