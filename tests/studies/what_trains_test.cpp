// what_trains: the formulas against nets that are made here, the search for borders on curves whose borders are known, and
// what the built program answers.
#include <cmath>
#include <filesystem>

#include "../../experiments/studies/what_trains/answer.h"
#include "../../experiments/studies/what_trains/page_training.h"
#include "../../experiments/studies/what_trains/scores.h"
#include "../../experiments/studies/what_trains/training.h"
#include "study_run.h"

namespace isobar::what_trains_test {

using namespace isobar::trains;

Net net_of(const std::string& task, const std::string& norm, double scale,
           const std::string& optimizer = "adamw") {
  Net net{.task = task, .norm = norm, .optimizer = optimizer};
  net.scale = scale;
  return net;
}

// 64 rows that share a direction, with a mean square of 1 and a mean cosine of 0.3, as digits have.
Tensor rows(const Rng& rng) {
  return rng.split("own").normal({64, 784}) * std::sqrt(0.7) +
         rng.split("shared").normal({1, 784}) * std::sqrt(0.3);
}

double logits_of(const Net& net, uint64_t seed) {
  const auto model = classifier_of(net, Rng(seed).split("model"));
  return moments_of((*model)(rows(Rng(seed)))).rms;
}

TEST_CASE("the first logits have the size that the formula gives") {
  struct Row {
    Net net;
    double
        within;  // a factor: √q is log-normal, of variance 5L/4n = 0.16 in plain chains of 8 layers 64 wide
  };
  const Row table[] = {
      {net_of("plain", "none", 2), 2.5},           {net_of("plain", "none", 0.5), 2.5},
      {net_of("plain", "pre.rmsnorm", 4), 1.5},    {net_of("plain", "pre.dyt_sqrtd", 8), 1.5},
      {net_of("residual", "none", 0.25), 1.5},     {net_of("residual", "none", 1.5), 2.5},
      {net_of("residual", "pre.rmsnorm", 4), 1.5}, {net_of("residual", "post.layernorm", 4), 1.5},
      {net_of("residual", "fixup", 4), 1.5},       {net_of("residual", "skipinit", 2), 2.5},
  };
  for (const Row& row : table) {
    CAPTURE(row.net.key());
    CAPTURE(row.net.scale);
    std::vector<double> logs;
    for (uint64_t seed = 0; seed < 5; ++seed) logs.push_back(std::log(logits_of(row.net, seed)));
    CHECK(std::abs(spread_of(logs).median - std::log(start_of(row.net).logits)) < std::log(row.within));
  }
}

TEST_CASE("the first step's change of the logits follows the formula over norms, scales and depths") {
  // Of two nets: what all nets have in common, the coherence of the batch above all, cancels. A factor of 2 remains.
  const auto change = [](const Net& net) {
    const Rng rng(3);
    const auto model = classifier_of(net, rng.split("model"));
    const Tensor x = rows(rng), y = rng.split("labels").integers({64}, 10);
    const Tensor before = (*model)(x).detach();
    Adam optimizer(parameters(*model), {.lr = 1e-6});
    Tape tape;
    tape.backward(cross_entropy((*model)(x), y));
    optimizer.step();
    // The input's step counts 64/784 in the study: its share here is as if it counted whole.
    return moments_of((*model)(x).detach() - before).rms / moments_of(before).rms / 1e-6;
  };
  Net deep = net_of("residual", "none", 1);
  deep.depth = 32;
  const Net like = net_of("residual", "pre.rmsnorm", 1);
  for (const Net& net : {net_of("residual", "none", 1), deep, net_of("residual", "pre.rmsnorm", 2)}) {
    CAPTURE(net.scale);
    CAPTURE(net.depth);
    // 784/64 of the input's share.
    const double input = 0.5 * 64 * (784.0 / 64 - 1);
    const double predicted = (start_of(net).change + input) / (start_of(like).change + input);
    CHECK(std::abs(std::log(change(net) / change(like) / predicted)) < std::log(2));
  }
}

TEST_CASE("the search finds the borders of a window to an octave, wherever it is") {
  struct Row {
    double low, high;
  };
  for (const Row& row : {Row{-9.3, -4.6}, Row{-16.5, -12.2}, Row{-6.9, -6.1}, Row{-3.5, 1.4}}) {
    CAPTURE(row.low);
    Point point(net_of("residual", "none", 1));
    const auto gain = [&](const Cell& cell) {  // 2 in the middle, 1 at the borders
      const auto at = static_cast<double>(cell.octave);
      return 2 - std::abs(at - (row.low + row.high) / 2) * 2 / (row.high - row.low);
    };
    int trainings = 0;
    for (std::vector<Cell> cells; !(cells = point.wanted(1, 3)).empty();)
      for (const Cell& cell : cells) {
        point.add(cell, gain(cell));
        ++trainings;
      }
    const std::optional<Window> window = point.window(1);
    // A window of less than an octave holds one rate or none.
    REQUIRE((window || row.high - row.low < 1));
    if (!window) continue;
    CHECK(std::abs(std::log2(window->lowest_rate()) - row.low) <= 0.5);
    CHECK(std::abs(std::log2(window->highest_rate()) - row.high) <= 0.5);
    for (const int64_t octave : {window->low, *window->below, window->high, *window->above})
      CHECK(point.gains().at(octave).size() == 3);
    CHECK(trainings < 24);
  }
  Point never(net_of("residual", "none", 8));
  for (std::vector<Cell> cells; !(cells = never.wanted(1, 3)).empty();)
    for (const Cell& cell : cells) never.add(cell, -infinity);
  CHECK_FALSE(never.window(1).has_value());
}

TEST_CASE("between a scale that trains and one that does not, scales follow until they are √2 apart") {
  std::map<double, bool> trains = {{0.125, true}, {0.5, true}, {2, true}, {8, false}};
  for (std::vector<double> more; !(more = between_neighbours(trains, false)).empty();)
    for (const double scale : more) trains[scale] = scale < 3.3;
  CHECK(border_above(trains)->trains == doctest::Approx(2.8284).epsilon(1e-3));
  CHECK(border_above(trains)->fails == doctest::Approx(4).epsilon(1e-3));
  CHECK_FALSE(border_below(trains).has_value());
  CHECK(between_neighbours({{2, true}, {3, false}}, true).empty());
}

TEST_CASE("what the formulas say of scale and depth") {
  // (1 + g⁴/2)⁴ = 13 without a norm.
  const double border = std::pow(2 * (std::pow(13, 0.25) - 1), 0.25);
  CHECK(predicted_greatest_scale(net_of("residual", "none", 1), 100, 0.125, 8) ==
        doctest::Approx(border).epsilon(0.03));
  for (const char* norm : {"pre.rmsnorm", "post.layernorm", "fixup"})
    CHECK(std::isinf(predicted_greatest_scale(net_of("residual", norm, 1), 100, 0.125, 4)));
  // The rate of a chain with norms goes with the scale, once its hidden matrices count most.
  const Borders at_32 = predicted_borders(net_of("plain", "pre.rmsnorm", 1.0 / 32), 100),
                at_16 = predicted_borders(net_of("plain", "pre.rmsnorm", 1.0 / 16), 100);
  CHECK(at_16.highest_rate / at_32.highest_rate == doctest::Approx(2).epsilon(0.03));
  CHECK(at_16.lowest_rate == doctest::Approx(at_32.lowest_rate).epsilon(1e-6));
  // More steps need lower rates, and allow no higher ones.
  const Net net = net_of("residual", "none", 0.5);
  CHECK(predicted_borders(net, 100).lowest_rate / predicted_borders(net, 200).lowest_rate ==
        doctest::Approx(2));
  CHECK(predicted_borders(net, 100).highest_rate == predicted_borders(net, 200).highest_rate);
}

Map small_map() {
  Map map{.steps = 100, .enough = {{"residual", 1.8}}, .best = {{"residual", 2.0}}};
  for (const double scale : {0.5, 2.0}) {
    MeasuredNet one{.net = net_of("residual", "none", scale), .best_gain = 2, .best_rate = 0.01};
    if (scale < 1) one.window = Window{.low = -9, .high = -5, .below = -10, .above = -4};
    one.cells = {{-11, -infinity}, {-7, 1.9}};
    map.nets.push_back(one);
  }
  return map;
}

TEST_CASE("a map comes back from its text, with its borders") {
  const Map map = map_from(json_text(to_json(small_map())));
  REQUIRE(map.nets.size() == 2);
  CHECK(map.nets[0].net == small_map().nets[0].net);
  CHECK(map.nets[0].window->above == -4);
  CHECK_FALSE(map.nets[1].window.has_value());
  CHECK(std::isinf(map.nets[1].cells[0].second));
  const std::vector<Border> borders = borders_of(map);
  REQUIRE(borders.size() == 2);  // the residual net's greatest scale is the trial's
  CHECK(borders[0].measured == doctest::Approx(std::exp2(-9.5)));
  CHECK_FALSE(borders[0].null.has_value());  // no other net has such a border
  CHECK(borders[0].within(borders[0].measured * 1.99));
  CHECK_FALSE(borders[0].within(borders[0].measured * 2.01));
  CHECK_THROWS_AS(map_from("[]"), Error);
}

// Nets of scale 0.5 without a norm and with Fixup, whose borders are a pair, one of Fixup at another scale, one of the
// trials, and two that train at no rate, the first of them as predicted.
Map map_of_pairs() {
  Map map{.steps = 100, .enough = {{"residual", 1.8}}, .best = {{"residual", 2.0}}};
  const auto add = [&](const char* norm, double scale, std::optional<Window> window) {
    map.nets.push_back({.net = net_of("residual", norm, scale), .window = window});
  };
  add("none", 0.5, Window{.low = -9, .high = -5, .below = -10, .above = -4});
  add("fixup", 0.5, Window{.low = -8, .high = -5, .below = -9, .above = -4});
  add("fixup", 2, Window{.low = -10, .high = -5, .below = -11, .above = -4});
  add("pre.rmsnorm", 1, Window{.low = -9, .high = -5, .below = -10, .above = -4});
  add("none", 4, {});
  add("post.layernorm", 4, {});
  return map;
}

TEST_CASE("a null prediction is the median of other borders, and one without others is not counted") {
  const std::vector<Border> borders = borders_of(map_of_pairs());
  REQUIRE(borders.size() == 6);
  CHECK(borders[0].null.value() == doctest::Approx((std::exp2(-8.5) + std::exp2(-10.5)) / 2));
  CHECK(borders[0].null_here.value() == doctest::Approx(std::exp2(-8.5)));
  CHECK_FALSE(borders[2].null_here.has_value());
  CHECK_FALSE(borders[2].within(borders[2].null_here));
  const auto scores = scores_by(borders, [](const Border&) { return std::string("all"); });
  REQUIRE(scores.size() == 1);
  CHECK(scores[0].second.borders == 6);
  CHECK(scores[0].second.paired == 4);
  CHECK(scores[0].second.null_here == 4);  // the lowest rates are an octave apart

  Score score;
  score.add({.kind = Kind::lowest_rate, .net = {}, .measured = 1, .predicted = 2, .null = 4});
  score.add({.kind = Kind::lowest_rate, .net = {}, .measured = 1, .predicted = 0.25, .null = 1});
  CHECK(score.error() == doctest::Approx(std::sqrt((1 + 4) / 2.0)));
  CHECK(score.null_error() == doctest::Approx(std::sqrt((4 + 0) / 2.0)));
}

TEST_CASE("the scores count the nets that train as predicted and those that do not, without the trials") {
  const auto nets = nets_predicted_to_train(map_of_pairs());
  CHECK(nets[1][1] == 3);
  CHECK(nets[1][0] == 1);
  CHECK(nets[0][1] == 0);
  CHECK(nets[0][0] == 1);
  Map map = map_of_pairs();
  CHECK(scores_text(map).find("\nadamw ") == std::string::npos);
  map.nets.push_back(map.nets[0]);
  map.nets.back().net.optimizer = "muon";
  CHECK(scores_text(map).find("\nadamw ") != std::string::npos);
}

TEST_CASE("an answer is the measured window, moved by the formulas, and says that a norm is needed") {
  const Map map = small_map();
  const Borders same = expected_borders(map, net_of("residual", "none", 0.5));
  CHECK(same.lowest_rate == doctest::Approx(std::exp2(-9.5)));
  CHECK(same.highest_rate == doctest::Approx(std::exp2(-4.5)));
  CHECK(expected_to_train(map, net_of("residual", "none", 0.5), 0.01));
  CHECK_FALSE(expected_to_train(map, net_of("residual", "none", 0.5), 0.1));
  CHECK_FALSE(expected_to_train(map, net_of("residual", "none", 2), 0));
  CHECK(answer(map, net_of("residual", "none", 2), 0)
            .find(": a norm is needed, or weights of a std of about ") != std::string::npos);
}

TEST_CASE("the program answers without training or leaving a folder") {
  const TemporaryFolder folder;
  const auto said =
      ran("what_trains", "--depth 12 --init_std 0.02 --norm none --optimizer adamw", folder.path());
  CHECK(said.out.starts_with("transformer of 12 blocks, width 32, no norm, AdamW; weights of std 0.02"));
  CHECK(said.out.find("\nso, if 90 % of the best gain of its task in 100 steps is asked: ") !=
        std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(ran("isobar", "what_trains --norm none --depth 12 --init_std 0.02", folder.path()).out == said.out);
}

// The numbers were computed by the definition (tests/spec/spec.h), in the module of page/live.
TEST_CASE("a training on the page's digits has the bits of the definition") {
  const PageDigits digits = read_page_digits();
  struct Row {
    const char* norm;
    double rate;
    const char* bits;
  };
  for (const Row& row :
       {Row{"none", 0x1p-7, "78f91cc3065ed97a"}, Row{"pre.rmsnorm", 0x1p-7, "6642c00c3f7a83d2"},
        Row{"post.layernorm", 0x1p-7, "670b287a033c748a"}, Row{"pre.dyt_sqrtd", 0x1p-7, "b6bf83d32cd04ffe"},
        Row{"fixup", 0x1p-7, "56b9e2aa0efe3e41"}}) {
    CAPTURE(row.norm);
    CHECK(train_on_page(digits, net_of("residual", row.norm, 1), row.rate).bits == row.bits);
  }
}

TEST_CASE("the best gain on the page's digits is that of two blocks without a norm") {
  Net net = net_of("residual", "none", 1);
  net.depth = 2;
  CHECK(train_on_page(read_page_digits(), net, 0x1p-5).outcome.gain ==
        doctest::Approx(page_best).epsilon(1e-4));
}

TEST_CASE("the program trains on the page's digits, residual nets alone") {
  const TemporaryFolder folder;
  const auto said =
      ran("what_trains", "--on_page --task residual --norm fixup --depth 8 --init_std 0.125 --rate 0.0078125",
          folder.path());
  CHECK(said.out.find("bits: 56b9e2aa0efe3e41\n") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));
  check_refused("what_trains", "--on_page --norm fixup --rate 0.01", "--on_page: wanted --task residual");
  check_refused("what_trains", "--on_page --task residual --norm none", "a --rate above 0");
}

}  // namespace isobar::what_trains_test
