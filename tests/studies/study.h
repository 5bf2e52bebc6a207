// A study that tests run within themselves: its exit code and what it printed.
#pragma once

#include <doctest/doctest.h>

#include "../../experiments/run/program.h"
#include "../run.h"

namespace isobar {

struct StudyConfig : HasFields {
  int64_t depth = 8, seeds = 1;
  double rate = 0.5;
  bool bias = true;
  std::string norm = "none";
  void fields(Fields& f) override {
    f("depth", depth, "layers");
    f("seeds", seeds, "seeds to run");
    f("rate", rate, "learning rate");
    f("bias", bias, "with bias");
    f("norm", norm, "normalization", {"none", "layernorm", "rmsnorm"});
  }
};

inline std::string all_of(std::FILE* stream) {
  std::string text(static_cast<size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  CHECK(std::fread(text.data(), 1, text.size(), stream) == text.size());
  std::fclose(stream);
  return text;
}

struct Study {
  StudyConfig config = {};
  std::function<void(Run&)> body = [](Run&) {};
  std::optional<MayDiffer> goes_on = std::nullopt;
  std::vector<TrainedOn> trained = trains_no_nets;
  bool shares = false;

  Outcome run(const std::vector<std::string>& arguments) {
    Program program{.name = "study", .about = "A study for tests."};
    program.presets = {{"plain", "as it is"}, {"deep", "many layers", "--depth 100 --norm rmsnorm"}};
    program.goes_on = goes_on;
    program.trained = trained;
    program.shares = shares;
    const Streams streams{std::tmpfile(), std::tmpfile()};
    const int code = run_program(program, config, arguments, body, streams);
    return {code, all_of(streams.out), all_of(streams.err)};
  }
};

inline Json printed_config(std::vector<std::string> arguments) {
  arguments.push_back("--print-config");
  const Outcome outcome = Study().run(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return Json::parse(outcome.out);
}

// Exit code 2, and one line that holds `part`.
inline void check_usage(const std::vector<std::string>& arguments, const std::string& part) {
  const Outcome outcome = Study().run(arguments);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("study: "));
  CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
  CHECK(holds(outcome.err, part));
}

}  // namespace isobar
