// digit_settings: its design, and the built program. How the judge reads settings: claims/over_settings_test.cpp.
#include "../../experiments/studies/digit_settings/design.h"

#include <set>
#include <sstream>

#include "../../experiments/claims/over_settings.h"
#include "../message_of.h"
#include "study_run.h"

namespace isobar::digit_settings_test {

using doctest::Approx;
using isobar::claims::SettingsFactor;

TEST_CASE("digits have sixteen settings, each once, and a balanced design") {
  const digit_settings::LevelSizes sizes;
  const std::vector<SettingsFactor> factors = claims::factors_from(digit_settings::design_of(sizes));
  CHECK(message_of([&] { claims::check_balanced(factors, 16); }).empty());
  std::set<std::string> names;
  for (size_t i = 0; i < 16; ++i) names.insert(digit_settings::name_of(sizes, i).en);
  CHECK(names.size() == 16);
  REQUIRE(factors.size() == 4);
  CHECK(factors[0].levels.size() == 3);
  // With one kind of weights, any two of the other three factors have each of their combinations equally often.
  for (size_t weights = 0; weights < 3; ++weights) {
    std::vector<SettingsFactor> others(factors.begin() + 1, factors.end());
    size_t count = 0;
    for (SettingsFactor& factor : others) factor.of_setting.clear();
    for (size_t i = 0; i < 16; ++i) {
      if (factors[0].of_setting[i] != weights) continue;
      ++count;
      for (size_t f = 0; f < 3; ++f) others[f].of_setting.push_back(factors[f + 1].of_setting[i]);
    }
    CAPTURE(weights);
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = 0; b < a; ++b)
        for (size_t i = 0; i < 2; ++i)
          for (size_t j = 0; j < 2; ++j) {
            size_t both = 0;
            for (size_t k = 0; k < count; ++k)
              both += others[a].of_setting[k] == i && others[b].of_setting[k] == j;
            CHECK(both * 4 == count);
          }
  }
}

// The rows of a table, by the names of its columns.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::vector<std::string> words;
    while (std::getline(cells, cell, ',')) words.push_back(cell);
    if (names.empty()) {
      names = words;
      continue;
    }
    rows.emplace_back();
    for (size_t i = 0; i < words.size(); ++i) rows.back()[names[i]] = words[i];
  }
  return rows;
}

const std::string tiny =
    "--nets plain.none,plain.rmsnorm --width 16 --steps 12 --small_batch 8 --large_batch 16 --few_layers 3 "
    "--many_layers 4 --seeds 2";

TEST_CASE("each setting is trained as it says, and differences are those of its pairs") {
  const StudyRun run("digit_settings", tiny);
  CHECK(run.summary["settings"].size() == 16);
  CHECK(run.summary["settings"][1]["name"]["en"] == "weights PyTorch's default, SGD, batch 8, depth 4");
  const auto pairs = rows_of(run.text("pairs.csv"));
  CHECK(pairs.size() == 16 * 3 * 2);
  // Of a setting, a net and a depth: the accuracies of its seeds.
  const auto accuracies = [&](int setting, const std::string& net, const std::string& depth) {
    std::vector<double> of;
    for (const auto& row : pairs)
      if (row.at("setting") == std::to_string(setting) && row.at("net") == net && row.at("depth") == depth)
        of.push_back(std::stod(row.at("accuracy")));
    REQUIRE(of.size() == 2);
    return of;
  };
  for (int i = 1; i <= 16; ++i) {
    const std::string at = ".setting" + std::to_string(i);
    CAPTURE(at);
    const std::string depth = digit_settings::settings[static_cast<size_t>(i) - 1].deep ? "4" : "3";
    const std::vector<double> none = accuracies(i, "plain.none", depth),
                              rms = accuracies(i, "plain.rmsnorm", depth),
                              shallow = accuracies(i, "plain.none", "2");
    for (const size_t seed : {0U, 1U}) {
      const auto value = [&](const std::string& key) {
        return run.measured[key + at]["values"][seed].get<double>();
      };
      CHECK(value("plain.rmsnorm_minus_none.accuracy") == Approx(rms[seed] - none[seed]).epsilon(1e-9));
      CHECK(value("plain.none_minus_depth2.accuracy") == Approx(none[seed] - shallow[seed]).epsilon(1e-9));
    }
  }
  // Each combination of the design was trained, with the levels of its setting.
  std::set<std::string> weights, trained;
  for (const auto& row : rows_of(run.text("trainings.csv"))) {
    weights.insert(row.at("weights"));
    if (row.at("depth") != "2")
      trained.insert(row.at("weights") + row.at("optimizer") + row.at("batch") + row.at("depth"));
  }
  CHECK(trained.size() == 16);
  CHECK(weights == std::set<std::string>{"default", "he_normal", "orthogonal_sqrt2"});
}

// Recounted from the rows: the rate of a net is the one of lowest validation loss in its own sweep, and no seed of the
// sweep is among those that judge.
TEST_CASE("a net's rate is the best of its own sweep, whose seed judges nothing") {
  const StudyRun run("digit_settings", tiny);
  std::map<std::string, std::pair<double, double>> best;  // by setting, net and depth: loss and rate
  for (const auto& row : rows_of(run.text("rates.csv"))) {
    const double loss = row.at("validation_loss") == "inf" ? 1e9 : std::stod(row.at("validation_loss"));
    const std::string key = row.at("setting") + " " + row.at("net") + " " + row.at("depth");
    const auto known = best.find(key);
    const double rate = std::stod(row.at("learning_rate"));
    if (known == best.end() || loss < known->second.first) best[key] = {loss, rate};
  }
  for (const auto& row : rows_of(run.text("pairs.csv")))
    CHECK(std::stod(row.at("learning_rate")) ==
          best.at(row.at("setting") + " " + row.at("net") + " " + row.at("depth")).second);
  for (const auto& row : rows_of(run.text("trainings.csv")))
    CHECK((row.at("judged_by") == "validation") == (std::stod(row.at("seed")) >= 1e6));
}

// A rate of SGD's that moves nothing would leave both layers where they are: then the share is a half. In a single
// hidden layer the first is the last, so the share is a half as well.
TEST_CASE("with one hidden layer the first and the last move equally far") {
  const StudyRun run("digit_settings",
                     "--nets plain.none --width 16 --steps 3 --small_batch 8 --large_batch 16 --few_layers 1 "
                     "--many_layers 2");
  for (size_t i = 0; i < 16; ++i) {
    const double share = run("plain.none.first_share_of_moves.setting" + std::to_string(i + 1));
    if (digit_settings::settings[i].deep)
      CHECK(share != 0.5);
    else
      CHECK(share == 0.5);
  }
  CHECK_FALSE(run.has("plain.none_minus_depth2.accuracy.setting1"));  // it would be compared with itself
}

TEST_CASE("settings of digits that do not go together are refused") {
  check_refused("digit_settings", "--nets plain.rmsnorm", "plain.none is the other side of comparisons");
  check_refused("digit_settings", "--few_layers 8 --many_layers 8",
                "wanted more than --few_layers (8), got 8");
  check_refused("digit_settings", "--small_batch 64", "wanted more than --small_batch (64), got 64");
}

}  // namespace isobar::digit_settings_test
