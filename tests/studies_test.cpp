// What holds of every study, tried with its preset tiny.
#include <doctest/doctest.h>

#include "../experiments/harness/json.h"
#include "run.h"

namespace isobar::studies_test {

TEST_CASE("every study leaves the same results on one thread and on two, with its preset tiny") {
  for (const Json& study : Json::parse(run_built("isobar", "--about").out)) {
    if (!study["ranks"]) continue;  // it measures times
    const std::string name = study["name"];
    CAPTURE(name);
    const TemporaryFolder one, two;
    for (const auto& [threads, folder] : {std::pair{"1", &one}, {"2", &two}}) {
      const Outcome run =
          ran(name, std::string("--tiny --seeds 2 --out run --threads ") + threads, folder->path());
    }
    for (const auto& entry : std::filesystem::directory_iterator(one / "run"))
      if (entry.path().extension() == ".csv")
        CHECK(file_text(entry.path()) == file_text(two / ("run/" + entry.path().filename().string())));
    Json summary = Json::parse(file_text(one / "run/summary.json")),
         again = Json::parse(file_text(two / "run/summary.json"));
    for (const char* of_this_run : {"timing", "environment"})
      for (Json* all : {&summary, &again}) all->erase(of_this_run);
    CHECK(summary == again);
    CHECK(summary["config"]["preset"] == "tiny");
  }
}

}  // namespace isobar::studies_test
