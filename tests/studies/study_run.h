// A study that has run to its end, in a folder of its own: what it measured, its summary, files and series.
//
//   const StudyRun run("majority", "--depths 1 --seeds 2");
//   CHECK(run("rmsnorm.L1.accuracy") > 0.85);     // the median of a key, which must be there
//   CHECK(run("rmsnorm.L1.accuracy", "n") == 2);  // another part
//   CHECK(run.series("rmsnorm.L1").shape() == Shape{2, 3});
#pragma once

#include <doctest/doctest.h>

#include "../../data/hdf5_file.h"
#include "../../experiments/run/json.h"
#include "../run.h"

namespace isobar {

struct StudyRun {
  const TemporaryFolder folder;
  const Outcome outcome;
  const Json summary, measured;

  StudyRun(const std::string& study, const std::string& arguments)
      : outcome(ran(study, arguments + " --out " + folder / "run")),
        summary(Json::parse(text("summary.json"))),
        measured(summary.value("measured", Json())) {}

  double operator()(const std::string& key, const char* part = "median") const {
    REQUIRE_MESSAGE(has(key), key);
    const Json& value = measured[key].at(part);
    return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();  // "inf", "nan"
  }
  bool has(const std::string& key) const { return measured.contains(key); }
  // A file of its folder.
  std::string text(const std::string& name) const { return file_text(folder / ("run/" + name)); }
  // Medians beside closed forms and others' literals, to a relative `epsilon`.
  struct Expected {
    const char* key;
    double value, epsilon;
  };
  void check_medians(const std::vector<Expected>& all) const {
    for (const Expected& one : all) {
      CAPTURE(one.key);
      CHECK((*this)(one.key) == doctest::Approx(one.value).epsilon(one.epsilon).scale(0));
    }
  }
  Tensor series(const std::string& name) const {
    return Hdf5File::open(folder / "run/run.h5").read("/series/" + name);
  }
};

}  // namespace isobar
