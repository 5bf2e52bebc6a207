// jury: lets check_layer judge the layers of the jury, and counts how often it is right.
//
//   jury counted --seeds 6           see --help
//
// WRONG: wrong layers that check_layer calls wrong. Of these, the report's cause or first failed check is
// right, half right, or misleads, or the cause is unknown. False: right layers that are called wrong.
#include <map>

#include "../../experiments/harness/tool.h"
#include "examples.h"

namespace isobar {
namespace {

struct Request {
  std::vector<JuryLayer> layers;
  int64_t seeds = 1;
  std::string filter;
  bool lines = false, reports = false, extent_one = false, f32 = false;
};

struct Counts {
  int wrong_layers = 0, wrong = 0, right = 0, half = 0, misleading = 0, unknown = 0;
  int right_layers = 0, false_alarms = 0;

  void add(const Counts& other) {
    for (int Counts::*count :
         {&Counts::wrong_layers, &Counts::wrong, &Counts::right, &Counts::half, &Counts::misleading,
          &Counts::unknown, &Counts::right_layers, &Counts::false_alarms})
      this->*count += other.*count;
  }
};

bool meet(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

// What the first line says: the check that failed, or the cause of a wrong gradient and the check that found
// it.
std::vector<std::string> said_by(const LayerReport& report) {
  if (report.passed()) return {};
  const std::string text = report.text(), line = text.substr(0, text.find('\n')), mark = ": WRONG: ";
  if (const size_t at = line.find(mark); at != std::string::npos)
    return {line.substr(at + mark.size(), line.find(':', at + mark.size()) - at - mark.size())};
  if (line.find("WRONG gradient of " + report.diagnosis.text) == std::string::npos)
    return {"another first line"};
  const auto failed = std::find_if(report.checks.begin(), report.checks.end(), [](const LayerCheck& check) {
    return check.outcome == LayerCheck::failed;
  });
  return {std::string(name_of(report.diagnosis.cause)), failed->name};
}

struct Judged {
  std::string verdict;
  Counts counts;
};

Judged judge(const JuryLayer& layer, const std::vector<std::string>& said) {
  if (layer.right.empty())
    return {said.empty() ? "ok" : "FALSE ALARM", {.right_layers = 1, .false_alarms = !said.empty()}};
  Counts counts{.wrong_layers = 1, .wrong = !said.empty()};
  const auto count = [&](const char* verdict, int Counts::*which) -> Judged {
    counts.*which = 1;
    return {verdict, counts};
  };
  if (said.empty()) return {"MISSED", counts};
  if (meet(layer.right, said)) return count("right", &Counts::right);
  if (meet(layer.half, said)) return count("half", &Counts::half);
  if (meet({"unknown"}, said)) return count("unknown", &Counts::unknown);
  return count("MISLEADING", &Counts::misleading);
}

Counts run(const JuryLayer& layer, const Rng& rng, int64_t seed, const Request& request) {
  std::vector<std::string> said;
  std::string text;
  try {
    const LayerReport report = check_layer(layer.make(rng), layer.x(rng), layer.options);
    said = said_by(report), text = report.text();
  } catch (const std::exception& error) {
    said = {"exception"}, text = fmt::format("check_layer threw: {}", error.what());
  }
  const Judged judged = judge(layer, said);
  if (request.lines || request.reports)
    fmt::print("{:<11} {} / {} ({}): {}\n", judged.verdict, layer.family, layer.name, seed,
               request.reports ? text : text.substr(0, text.find('\n')));
  std::fflush(stdout);
  return judged.counts;
}

void print(const std::string& family, const Counts& n) {
  fmt::print("{:<24} {:>5} {:>5} {:>5} {:>5} {:>10} {:>7} {:>6}   {:>5} {:>5}\n", family, n.wrong_layers,
             n.wrong, n.right, n.half, n.misleading, n.unknown, n.wrong_layers - n.wrong, n.right_layers,
             n.false_alarms);
}

// 0 where every wrong layer is called wrong and every right one right.
int count(const Request& request) {
  std::map<std::string, Counts> families;
  Counts all;
  for (const JuryLayer& layer : request.layers)
    if ((layer.family + " / " + layer.name).find(request.filter) != std::string::npos)
      for (int64_t seed = 1; seed <= request.seeds; ++seed) {
        const Rng rng = Rng(static_cast<uint64_t>(seed)).split(layer.family).split(layer.name);
        const JuryLayer wide = request.extent_one ? with_extent_one(layer, rng) : layer;
        const Counts counts = run(request.f32 ? in_f32(wide) : wide, rng, seed, request);
        families[layer.family].add(counts);
        all.add(counts);
      }
  fmt::print("\n{:<24} {:>5} {:>5} {:>5} {:>5} {:>10} {:>7} {:>6}   {:>5} {:>5}\n", "layers × seeds", "bugs",
             "WRONG", "right", "half", "misleading", "unknown", "missed", "right", "false");
  for (const auto& [family, counts] : families) print(family, counts);
  print("all", all);
  return all.wrong == all.wrong_layers && all.false_alarms == 0 ? 0 : 1;
}

}  // namespace
}  // namespace isobar

int main(int argc, char** argv) {
  using namespace isobar;
  Request request;
  std::vector<std::string> halves = {"tuned"};
  Tool tool("jury", "Lets check_layer judge the layers of the jury, and counts how often it is right.",
            "jury counted --seeds 6\njury --filter norms --lines");
  tool.words("HALF", halves, "tuned, counted [tuned]");
  tool.option("--seeds", request.seeds, "of the layers and their examples: 1 to this", at_least(1));
  tool.option("--filter", request.filter, "layers whose family or name has this text");
  tool.option("--lines", request.lines, "print the first line of each report");
  tool.option("--reports", request.reports, "print each report");
  tool.option("--extent-one", request.extent_one, "on examples (N, 1, …), with reshapes around each layer");
  tool.option("--in-f32", request.f32, "all of each layer computed in f32");
  return tool.run(argc, argv, [&] {
    for (const std::string& half : halves) {
      check(half == "tuned" || half == "counted", "HALF: wanted tuned or counted, got '{}'", half);
      for (JuryLayer& layer : half == "tuned" ? tuned_jury() : counted_jury())
        request.layers.push_back(std::move(layer));
    }
    return count(request);
  });
}
