// The live chapter's module: decay_study, its theory, its charts and the verdicts on the texts that it is
// about, for a browser. live_chapter.js has the other side. map.cpp has what is exported of what_trains.
//
// Texts go in by `input` and come out of `text` and `size`; they are JSON, or SVG of a chart. A worker calls
// begin() and run(); the page calls begin(), and up() and down() with what its workers report, then draw(),
// judge() and bits(). An Error ends the call: `failed`, which the page gives, throws it on in its own language.
#include "../../claims/verdict.h"
#include "../../nets/decay/bits.h"
#include "../../nets/decay/overflow.h"
#include "../../nets/decay/plots.h"
#include "../../run/plot.h"
#include "../charts/charts.h"
#include "exports.h"
#include "net.h"
#include "product.h"

IMPORT(failed) [[noreturn]] void page_failed(const char* text, size_t size);
IMPORT(up) void page_up(int layer, double output_std, double norm_std);
IMPORT(down) void page_down(int layer, double gradient_norm);

namespace isobar::live {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Seed {
  double input_std = nan;
  std::vector<double> output_std, norm_std, gradient;  // by layer; NaN where still to come
  bool done = false;
};

// What this instance is about.
struct State {
  decay::Config config;
  std::vector<decay::LayerTheory> theory;
  std::vector<double> printed_std, printed_gradient, native_std, native_gradient;
  std::vector<Seed> seeds;
} state;

int64_t depth() { return state.config.depth; }

// --- Settings: the fields of Config, each a number or one of its choices.

struct Describing : Fields {
  Json all = Json::object();
  void on_setting(std::string_view name, const SettingPointer& field, std::string_view help,
                  const Limits& limits) override {
    Json& one = all[std::string(name)] = {{"help", help}, {"choices", limits.choices}};
    std::visit(
        [&](auto* value) {
          if constexpr (requires { Json(*value); }) one["value"] = *value;
        },
        field);
  }
};
struct Setting : Fields {
  const Json& wanted;
  explicit Setting(const Json& given) : wanted(given) {}
  void on_setting(std::string_view name, const SettingPointer& field, std::string_view,
                  const Limits& limits) override {
    const auto given = wanted.find(std::string(name));
    if (given == wanted.end()) return;
    const auto number = [&] {
      check(given->is_number() && *given >= limits.least && *given <= limits.most,
            "{}: wanted a number from {} to {}, got {}", name, limits.least, limits.most, given->dump());
    };
    if (auto* const* whole = std::get_if<int64_t*>(&field)) {
      number();
      check(given->is_number_integer(), "{}: wanted a whole number, got {}", name, given->dump());
      **whole = *given;
    } else if (auto* const* real = std::get_if<double*>(&field)) {
      number();
      **real = *given;
    } else if (auto* const* text = std::get_if<std::string*>(&field)) {
      check(given->is_string() && std::ranges::count(limits.choices, given->get<std::string>()) == 1,
            "{}: there is no {}", name, given->dump());
      **text = *given;
    }
  }
};

// What one seed takes: weights, and what a layer keeps of each number that passes it.
double bytes_of(const decay::Config& c) {
  const int64_t weights = (c.is_block() ? 2 : 1) * c.width * c.width, kept = 16 * c.batch * c.width;
  return 4.0 * static_cast<double>(c.depth * (weights + kept));
}
constexpr int64_t most_depth = 1000, most_width = 512, most_batch = 256, most_seeds = 100;
void check_size(const decay::Config& c) {
  check(c.depth <= most_depth && c.width <= most_width && c.batch <= most_batch && c.seeds <= most_seeds,
        "here depth is at most {}, width {}, batch {} and seeds {}; decay_study takes more", most_depth,
        most_width, most_batch, most_seeds);
  check(bytes_of(c) <= 0x1p31, "depth {}, width {} and batch {} take {:.1f} GiB, and a page has 2 for a seed",
        c.depth, c.width, c.batch, bytes_of(c) / 0x1p30);
  check(c.dtype == "f32", "dtype: here it is f32; decay_study has f64");
  check(c.activation == "relu", "activation: here it is relu, got {}; decay_study has the others",
        c.activation);
}

// --- What the page shows.

// A NaN while no seed is there.
std::vector<Spread> over_seeds(std::vector<double> Seed::*values) {
  std::vector<Spread> spreads;
  for (int64_t layer = 0; layer < depth(); ++layer) {
    std::vector<double> some;
    for (const Seed& seed : state.seeds)
      if (const double value = (seed.*values)[layer]; seed.done || !std::isnan(value)) some.push_back(value);
    spreads.push_back(spread_of(some));
  }
  return spreads;
}

// What decay_study publishes (../../studies/decay_study/output.cpp) and the texts make claims of.
Json measured() {
  Json json;
  const auto add = [&](const std::string& name, const auto& value) {
    json[name] = to_json(spread_of(values_of(state.seeds, value)));
  };
  const auto at = [](std::vector<double> Seed::*values, int64_t layer) {
    return [=](const Seed& seed) { return (seed.*values)[layer]; };
  };
  const auto ratio = [](const Seed& seed, int64_t layer) {
    return seed.output_std[layer] / seed.output_std[layer - 1];
  };
  add("input.std", &Seed::input_std);
  for (int64_t layer = 0; layer < depth(); ++layer) {
    const std::string prefix = fmt::format("layer{}.", layer + 1);
    add(prefix + "std", at(&Seed::output_std, layer));
    add(prefix + "weight_grad_norm", at(&Seed::gradient, layer));
    if (state.config.norm != "none") add(prefix + "std_norm", at(&Seed::norm_std, layer));
    if (layer > 0) add(prefix + "ratio", [=](const Seed& seed) { return ratio(seed, layer); });
  }
  add("weight_grad_norm.last_over_first",
      [](const Seed& s) { return s.gradient.back() / s.gradient.front(); });
  add("weight_grad_norm.first_over_last",
      [](const Seed& s) { return 1 / (s.gradient.back() / s.gradient.front()); });
  if (depth() > 2)
    add("ratio.last_over_second", [&](const Seed& s) { return ratio(s, depth() - 1) / ratio(s, 1); });
  return json;
}

double bound(const Json& json, double none) { return json.is_null() ? none : number_from(json); }

claims::Claim claim_of(const Json& json) {
  claims::Claim claim{.id = json["id"], .one_statement = json["all"]};
  claim.note = json["note"].get<std::string>();
  for (const Json& part : json["parts"]) {
    const auto rule = std::ranges::find(claims::rule_words, part["rule"].get<std::string>());
    claim.parts.push_back({.says = {part["says"].get<std::string>(), part["says_zh"].get<std::string>()},
                           .run = "live",
                           .key = part["key"],
                           .predicate = {static_cast<claims::Rule>(rule - claims::rule_words.begin()),
                                         bound(part["low"], -claims::infinity),
                                         bound(part["high"], claims::infinity), part["log"]}});
  }
  return claim;
}

std::vector<double> numbers(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json) values.push_back(bound(value, nan));
  values.resize(values.empty() ? 0 : static_cast<size_t>(depth()), nan);
  return values;
}
void set_beside(const Json& medians) {
  state.native_std = numbers(medians["std"]);
  state.native_gradient = numbers(medians["gradient"]);
}

}  // namespace

std::string words;
void answer(const Json& json) { words = with_named_infinities(json).dump(); }

// Room for `size` bytes of a text that comes in.
EXPORT(input) char* input(size_t size) {
  words.assign(size, ' ');
  return words.data();
}
EXPORT(text) const char* text() { return words.data(); }
EXPORT(size) size_t size() { return words.size(); }

// Products, for browsers without relaxed.cpp.
EXPORT(multiply) void own_multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply(a, b, c, m, k, n);
}

// {"depth": {"help": …, "choices": [], "value": 8}, …}
EXPORT(describe) void describe() {
  decay::Config config;
  Describing visitor;
  config.fields(visitor);
  answer(visitor.all);
}

// In: {"settings": {…}, "formula": "…", "printed": {"std": [], "gradient": []}, "native": the same}.
EXPORT(begin) void begin() {
  const Json given = Json::parse(words);
  state = State();
  Setting visitor(given.at("settings"));
  state.config.fields(visitor);
  state.config.check_together();
  check_size(state.config);
  if (state.config.norm == "formula") set_formula(parse_formula(given.value("formula", "")));
  state.theory = theory_of(state.config);
  state.printed_std = numbers(given["printed"]["std"]);
  state.printed_gradient = numbers(given["printed"]["gradient"]);
  set_beside(given["native"]);
  const std::vector<double> none(depth(), nan);
  state.seeds.assign(state.config.seeds, {nan, none, none, none, false});
}

EXPORT(bytes) double bytes() { return bytes_of(state.config); }

EXPORT(run) double run_seed(double seed) {
  return run(state.config, static_cast<uint64_t>(seed), {.up = page_up, .down = page_down});
}

EXPORT(up) void up(int seed, int layer, double output_std, double norm_std) {
  const bool one_number = state.config.batch * state.config.width == 1;  // has no std
  const auto shown = [&](double std) { return one_number ? std : decay::overflow_as_infinity(std); };
  state.seeds.at(seed).output_std.at(layer) = shown(output_std);
  state.seeds.at(seed).norm_std.at(layer) = state.config.norm == "none" ? norm_std : shown(norm_std);
}
EXPORT(down) void down(int seed, int layer, double gradient) {
  state.seeds.at(seed).gradient.at(layer) = decay::overflow_as_infinity(gradient);
}
EXPORT(done) void done(int seed, double input_std) {
  state.seeds.at(seed).input_std = input_std;
  state.seeds.at(seed).done = true;
}

// In: {"std": [], "gradient": []}, the medians of RMSNorm's run, beside those of a formula.
EXPORT(beside) void beside() { set_beside(Json::parse(words)); }

// Out: the chart of the stds, or of the gradients, as SVG.
EXPORT(draw) void draw(bool gradients, double width) {
  Plot plot =
      gradients
          ? gradient_plot(state.config, over_seeds(&Seed::gradient), state.theory, state.printed_gradient)
          : std_plot(state.config, over_seeds(&Seed::output_std), state.theory, state.printed_std);
  const std::vector<double>& native = gradients ? state.native_gradient : state.native_std;
  if (!native.empty()) {  // below this run's own curve
    plot.curves.front().colour = 0;
    PlotCurve stored{state.config.norm == "formula" ? Phrase("RMSNorm") : Phrase("stored run", "存档的运行")};
    stored.x = plot.curves[1].x, stored.y = native, stored.colour = 2;
    plot.curves.insert(plot.curves.begin(), stored);
  }
  words = charts::svg(charts::line_chart(plot, {.width = width, .height = 300})).text();
}

// Out: for each layer [[median, least, greatest] of the std, its theory, the same of the gradient, its theory].
EXPORT(table) void table() {
  Json rows = Json::array();
  const std::vector<Spread> stds = over_seeds(&Seed::output_std), gradients = over_seeds(&Seed::gradient);
  const auto of = [](const Spread& s) {
    return Json{number_or_null(s.median), number_or_null(s.min), number_or_null(s.max)};
  };
  for (int64_t layer = 0; layer < depth(); ++layer)
    rows.push_back({of(stds[layer]), state.theory[layer].output_std.median, of(gradients[layer]),
                    state.theory[layer].weight_gradient_norm.median});
  answer(rows);
}

// In: claims (claim_json in ../live_chapter.cpp). Out: the same with verdicts, as verdict.h has them.
EXPORT(judge) void judge_claims() {
  const claims::Runs runs{.summaries = {{"live", {{"measured", measured()}}}}, .missing = {}};
  Json judged = Json::array();
  for (const Json& json : Json::parse(words)) {
    const claims::Claim claim = claim_of(json);
    judged.push_back(to_json(claims::judge(claim, runs)));
  }
  answer(judged);
}

// In: the text of a formula. Out: {"error": of its gradient, "header": my_norm.h, "sample": {"x": [], …}}; an
// Error has the place.
EXPORT(formula) void formula() {
  const std::string text = Json::parse(words).get<std::string>();
  const Formula parsed = parse_formula(text);
  const Sample s = sample_of(parsed);
  const Json sample = {{"x", s.x}, {"w", s.w},   {"b", s.b},   {"dy", s.dy},
                       {"y", s.y}, {"dx", s.dx}, {"dw", s.dw}, {"db", s.db}};
  answer({{"error", s.error}, {"header", header_of(parsed, text)}, {"sample", sample}});
}

// Out: the number of what was measured.
EXPORT(bits) void bits() {
  decay::Bits bits;
  for (const Seed& seed : state.seeds)
    for (int64_t layer = 0; layer < depth(); ++layer)
      bits.add(seed.output_std[layer]), bits.add(seed.gradient[layer]);
  words = bits.text();
}

}  // namespace isobar::live

// --- The C++ runtime's door for exceptions, which WebAssembly of this compiler has not: the message goes to
//     the page, and the call ends there. All that is thrown here is a std::exception.
extern "C" {
void* __cxa_allocate_exception(size_t size) { return std::malloc(size); }
void __cxa_free_exception(void* exception) { std::free(exception); }
void __cxa_throw(void* exception, void*, void (*)(void*)) {
  const char* text = static_cast<std::exception*>(exception)->what();
  page_failed(text, std::string_view(text).size());
}
}
