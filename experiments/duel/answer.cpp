#include "answer.h"

#include <fmt/ranges.h>

#include "../lm/watching/losses.h"
#include "../run/table.h"
#include "why.h"

namespace isobar::duel {
namespace {

using claims::filled;

// ", [-0.010, +0.020]", and nothing before the first look.
std::string with_comma(const Range& interval) {
  return std::isfinite(interval.low) && std::isfinite(interval.high) ? ", " + nats(interval) : "";
}

Phrase undecided(const Findings& found) {
  const Decision& d = found.decision;
  Phrase text =
      filled({"not decided in {} pairs: {} minus {} is {} nats{}", "{} 对未能决出：{} 减 {} 为 {} 纳特{}"},
             fmt::format("{}", std::ssize(found.differences())), found.a.label(), found.b.label(),
             signed_nats(found.mean_difference()), with_comma(d.interval));
  if (d.needed > 0)
    return text + filled({"; about {0} pairs may decide it: --max_pairs {0}",
                          "；约 {0} 对或可决出：--max_pairs {0}"},
                         fmt::format("{}", d.needed));
  if (d.doubt != claims::Doubt::none)
    return text + Phrase{"; the differences are not such as the rule is made for: look at pairs.csv",
                         "；这些差值不满足规则的前提：见 pairs.csv"};
  return text + filled({"; the rule looks from pair {} on", "；规则从第 {} 对起判断"},
                       fmt::format("{}", first_look(found.share)));
}

Phrase same_function(const Findings& found) {
  const Phrase both = filled({"{} and {} are the same function, ", "{} 与 {} 是同一函数，"}, found.a.label(),
                             found.b.label());
  if (found.likeness == Likeness::to_the_bit)
    return both + Phrase{"to the bit: a pair of trainings has equal losses and gradients",
                         "逐位相同：一对训练的损失与梯度都相等"};
  return both +
         filled(
             {"up to rounding: untrained, their losses and gradients in f64 differ by {} of the largest; a "
              "pair of trainings ends {} nats apart",
              "仅舍入不同：训练前，f64 损失与梯度的差不超过最大值的 {}；一对训练结束时相差 {} 纳特"},
             number_text(found.distance), number_text(std::abs(found.mean_difference())));
}

// A curve of each side.
void plot_both(Run& run, const Findings& found, Plot plot,
               const std::function<void(PlotCurve& curve, const Side& side)>& draw) {
  for (const Side* side : {&found.a, &found.b})
    draw(plot.curves.emplace_back(PlotCurve{side->label()}), *side);
  run.plot(plot);
}

void plot(Run& run, const Findings& found, double margin) {
  plot_both(run, found,
            {.title = {"training loss, mean of ten steps", "训练损失（十步平均）"},
             .x = {"step", "步"},
             .y = {"nats", "纳特"},
             .key = "loss",
             .figures = {"steps", "start_loss"}},
            [](PlotCurve& curve, const Side& side) {
              std::vector<std::vector<double>> losses;
              for (const Trained& trained : side.trained) losses.push_back(trained.losses);
              add_training(curve, losses);
            });
  if (found.a.sweep.losses.size() > 1) {
    Plot rates{.title = {"loss by learning rate", "各学习率的损失"},
               .x = {"learning rate", "学习率"},
               .y = {"nats", "纳特"},
               .key = "rates",
               .figures = {"learning_rate", "stable_rate"}};
    for (const double rate : swept_rates) rates.ticks.push_back(fmt::format("{}", rate));
    plot_both(run, found, rates, [&](PlotCurve& curve, const Side& side) {
      for (const auto& [rate, loss] : side.sweep.losses) {
        curve.x.push_back(static_cast<double>(std::ranges::find(swept_rates, rate) - swept_rates));
        curve.y.push_back(std::min(loss, found.blind_loss));
      }
    });
  }
  const std::vector<double> differences = found.differences();
  PlotCurve pairs{{"a pair", "一对"}}, mean{{"mean and its interval", "均值及其区间"}};
  for (size_t n = 1; n <= differences.size(); ++n) {
    pairs.x.push_back(static_cast<double>(n));
    pairs.y.push_back(differences[n - 1]);
    const Range interval = decide(std::span(differences).first(n), margin, found.share).interval;
    if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) continue;
    mean.x.push_back(static_cast<double>(n));
    mean.y.push_back(spread_of(std::span(differences).first(n)).linear.mean);
    mean.low.push_back(interval.low);
    mean.high.push_back(interval.high);
  }
  Plot plot{.title = filled({"loss of {} minus that of {}, pair by pair", "{} 减 {} 的损失，逐对"},
                            found.a.label(), found.b.label()),
            .x = {"pair", "对"},
            .y = {"nats", "纳特"},
            .curves = {pairs},
            .key = "difference",
            .figures = {"difference"}};
  if (!mean.x.empty()) plot.curves.push_back(mean);
  run.plot(plot);
}

// The number of layers after which it is dead; infinite where within 1000 it is not, NaN where there is none at all (0/0).
double death_of(const Deep& deep, int64_t Deep::*layers, double Depth::*value) {
  if (std::isnan(deep.depths.back().*value)) return NAN;
  return deep.*layers == 0 ? claims::infinity : static_cast<double>(deep.*layers);
}

void measure_side(Run& run, const std::string& key, const Side& side, const Spread& steps) {
  const auto measured = [&](const char* name, const auto& value) {
    run.measured(key + name, spread_over(side.trained, value));
  };
  measured(".val_loss", &Trained::val_loss);
  measured(".start_loss", &Trained::start_loss);
  measured(".diverged", [](const Trained& t) { return t.diverged ? 1.0 : 0.0; });
  measured(".start.gradient_first_over_last", [](const Trained& t) { return gradient_ratio(t.start); });
  measured(".end.gradient_first_over_last", [](const Trained& t) { return gradient_ratio(t.end); });
  run.measured(key + ".steps", steps);
  run.measured(key + ".learning_rate", side.rate);
  run.measured(key + ".largest_stable_rate", side.largest_stable_rate);
  run.measured(key + ".gain", side.gain);
  for (const auto& [layers, signal, gradient] : side.deep.depths) {
    run.measured(fmt::format("{}.layers_{}.signal", key, layers), signal);
    run.measured(fmt::format("{}.layers_{}.gradient", key, layers), gradient);
  }
  run.measured(key + ".signal_dies", death_of(side.deep, &Deep::signal_dies, &Depth::signal));
  run.measured(key + ".gradient_dies", death_of(side.deep, &Deep::gradient_dies, &Depth::gradient));
  run.measured(key + ".parameters", static_cast<double>(side.trained.front().parameters));
}

void tables(Run& run, const Findings& found) {
  Csv& pairs = run.csv("pairs.csv", {"seed", "a", "b", "a_minus_b"});
  const std::vector<double> differences = found.differences();
  for (size_t i = 0; i < differences.size(); ++i) {
    const Trained &a = found.a.trained[i], &b = found.b.trained[i];
    pairs.row({run.seed() + static_cast<int64_t>(i), a.val_loss, b.val_loss, differences[i]});
    run.record("difference", differences[i]);
  }
  Csv& rates = run.csv("rates.csv", {"contestant", "learning_rate", "tuning_loss"});
  for (const Side* side : {&found.a, &found.b})
    for (const auto& [rate, loss] : side->sweep.losses) rates.row({side->label(), rate, loss});
}

void set(Json& json, const std::string& name, const Phrase& text) {
  json[name] = text.en;
  if (!text.one()) json[name + "_zh"] = text.zh;
}

Json to_json(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const auto& [name, a, b] : rows) set(json.emplace_back(Json{{"a", a}, {"b", b}}), "name", name);
  return json;
}

constexpr const char* outcome_names[] = {"better", "worse", "equal", "undecided"};
constexpr const char* likeness_names[] = {"different", "up to rounding", "to the bit"};

}  // namespace

Phrase headline_of(const Findings& found, double margin) {
  if (found.likeness != Likeness::different) return same_function(found);
  const Outcome outcome = found.decision.outcome;
  if (outcome == Outcome::undecided) return undecided(found);
  const std::string pairs = fmt::format("{}", std::ssize(found.differences())),
                    interval = nats(found.decision.interval);
  if (outcome == Outcome::equal)
    return filled({"{} and {} are equal within {} nats: {}, {}; decided by {} pairs",
                   "{} 与 {} 在 {} 纳特之内相等：{}，{}；由 {} 对决出"},
                  found.a.label(), found.b.label(), number_text(margin), signed_nats(found.mean_difference()),
                  interval, pairs);
  const Phrase text = outcome == Outcome::better
                          ? Phrase{"{} is better than {} by {} nats, {}; decided by {} pairs",
                                   "{} 优于 {}，好 {} 纳特，{}；由 {} 对决出"}
                          : Phrase{"{} is worse than {} by {} nats, {}; decided by {} pairs",
                                   "{} 劣于 {}，差 {} 纳特，{}；由 {} 对决出"};
  return filled(text, found.a.label(), found.b.label(), nats(std::abs(found.mean_difference())), interval,
                pairs);
}

std::vector<Row> rows_of(const Findings& found) {
  std::vector<Row> rows;
  const auto add = [&](const Phrase& name, const auto& of_side) {
    rows.push_back({name, of_side(found.a), of_side(found.b)});
  };
  add({"loss, mean of the pairs", "损失（各对均值）"},
      [](const Side& side) { return nats(spread_of(side.val_losses()).linear.mean); });
  add({"learning rate", "学习率"}, [](const Side& side) { return fmt::format("{}", side.rate); });
  if (std::isfinite(found.a.largest_stable_rate) || std::isfinite(found.b.largest_stable_rate))
    add({"largest stable rate", "最大稳定学习率"},
        [](const Side& side) { return number_or_dash(side.largest_stable_rate); });
  const auto& [a_steps, b_steps] = steps_to_loss(found);
  rows.push_back({{"steps to the worse loss", "达到较差者损失的步数"},
                  number_or_dash(a_steps.median),
                  number_or_dash(b_steps.median)});
  add({"parameters", "参数个数"},
      [](const Side& side) { return fmt::format("{}", side.trained.front().parameters); });
  add({"loss before training", "训练前损失"},
      [](const Side& side) { return nats(spread_over(side.trained, &Trained::start_loss).median); });
  add({"norm's gain at the start", "训练前归一化层增益"},
      [](const Side& side) { return number_or_dash(side.gain); });
  const auto at_depths = [](double Depth::*value) {
    return [=](const Side& side) {
      std::vector<std::string> texts;
      for (const Depth& depth : side.deep.depths) texts.push_back(number_or_dash(depth.*value));
      return fmt::format("{}", fmt::join(texts, ", "));
    };
  };
  const auto dies = [](int64_t Deep::*layers, double Depth::*value) {
    return [=](const Side& side) {
      const double death = death_of(side.deep, layers, value);
      if (std::isnan(death)) return std::string("no signal");
      return std::isfinite(death) ? fmt::format("{}", death) : std::string("more than 1000");
    };
  };
  add({"signal, 8, 100, 1000 layers", "8、100、1000 层后的信号"}, at_depths(&Depth::signal));
  add({"layers until signal dies", "信号消失的层数"}, dies(&Deep::signal_dies, &Depth::signal));
  add({"gradient, likewise", "同上，梯度"}, at_depths(&Depth::gradient));
  add({"layers until gradient dies", "梯度消失的层数"}, dies(&Deep::gradient_dies, &Depth::gradient));
  add("check_layer", [](const Side& side) { return side.check.line.substr(side.check.line.find(": ") + 2); });
  return rows;
}

std::vector<Row> cost_rows(const Costs& costs) {
  const auto ms = [](double seconds) { return number_text(1e3 * seconds); };
  const auto mib = [](double bytes) { return number_text(bytes / (1 << 20)); };
  std::vector<Row> rows{
      {{"AdamW step, ms", "AdamW 每步毫秒"}, ms(costs.seconds_a), ms(costs.seconds_b)},
      {{"peak memory of a step, MiB", "每步内存峰值 MiB"}, mib(costs.bytes_a), mib(costs.bytes_b)},
      {{"time of the norm, relative", "归一化层单独耗时之比"}, number_text(costs.norm.median), "1"}};
  if (costs.busy) rows[0].name += {", busy machine", "（机器繁忙）"};
  return rows;
}

std::string pair_text(const Findings& found) {
  const std::vector<double> differences = found.differences();
  std::string text = fmt::format("pair {}: {:.3f} and {:.3f}, {:+.3f}; mean {:+.3f}", differences.size(),
                                 found.a.trained.back().val_loss, found.b.trained.back().val_loss,
                                 differences.back(), found.mean_difference());
  return text + with_comma(found.decision.interval);
}

void record(Run& run, const Findings& found, double margin, const std::vector<Row>& rows,
            const std::vector<Row>& costs) {
  Json& summary = run.summary();
  const auto& [a_steps, b_steps] = steps_to_loss(found);
  summary["a"] = found.a.label();
  summary["b"] = found.b.label();
  summary["likeness"] = likeness_names[static_cast<size_t>(found.likeness)];
  summary["outcome"] = found.likeness == Likeness::different
                           ? outcome_names[static_cast<size_t>(found.decision.outcome)]
                           : outcome_names[static_cast<size_t>(Outcome::equal)];
  summary["interval"] = {found.decision.interval.low, found.decision.interval.high};
  Json answer = {{"a", found.a.label()}, {"b", found.b.label()}};
  set(answer, "headline", headline_of(found, margin));
  answer["rows"] = to_json(rows);
  run.timing()["costs"] = to_json(costs);  // differ from run to run
  answer["reasons"] = Json::array();
  for (const auto& [name, explains, text] : found.reasons) {
    Json& reason = answer["reasons"].emplace_back(Json{{"key", name}, {"explains", explains}});
    set(reason, "text", text);
  }
  summary["answer"] = std::move(answer);
  run.measured("a_minus_b", spread_of(found.differences()));
  run.measured("distance", found.distance);
  run.measured("blind_loss", found.blind_loss);
  measure_side(run, "a", found.a, a_steps);
  measure_side(run, "b", found.b, b_steps);
  tables(run, found);
  plot(run, found, margin);
}

void print(Run& run, const Findings& found, double margin, const std::vector<Row>& rows,
           const std::vector<Row>& costs) {
  run.say("\n{}\n\n", headline_of(found, margin).en);
  Table table({"", found.a.label(), found.b.label()}, "lrr");
  for (const std::vector<Row>* part : {&rows, &costs})
    for (const auto& [name, a, b] : *part) table.row({name.en, a, b});
  run.say_text(table.text());
  if (found.reasons.empty()) return;
  const bool explained = std::ranges::count(found.reasons, true, &Reason::explains) > 0;
  run.say("\n{}\n", explained ? "Why:" : "None of these explains it:");
  for (const Reason& reason : found.reasons)
    if (reason.explains || !explained) run.say("- {}\n", reason.text.en);
}

}  // namespace isobar::duel
