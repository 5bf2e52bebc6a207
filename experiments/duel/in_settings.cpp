#include "in_settings.h"

#include "../run/table.h"
#include "../studies/settings/design.h"

namespace isobar::duel {
namespace {

using across::Setting;
using claims::filled;
using claims::PartOutcome;

// A long setting has three times as many steps, as in studies/settings.
constexpr int64_t few_in_long = 3;
across::Steps steps_of(const Config& config) { return {config.steps, few_in_long * config.steps}; }

Config config_in(const Config& config, const Setting& setting, int64_t steps) {
  Config here = config;
  here.task = setting.text;
  if (here.task == "synthetic") here.corpus = "";
  here.optimizer = setting.optimizer;
  here.init_std = across::init_std(setting.weights, config.width);
  here.embedding_std = setting.embedding_std;
  here.steps = steps;
  return here;
}

// "A minus B is below 0", in which better, worse and equal are holds, does not hold and no difference.
claims::Predicate a_is_better(double margin) {
  return {.rule = claims::Rule::mean, .high = claims::just_below(0), .margin = margin};
}

Phrase word_of(PartOutcome outcome) {
  switch (outcome) {
    case PartOutcome::holds:
      return {"better", "较好"};
    case PartOutcome::fails:
      return {"worse", "较差"};
    case PartOutcome::equal:
      return {"equal", "相等"};
    default:
      return {"not decided", "未决出"};
  }
}

struct Here {
  std::array<Sweep, 2> sweeps = {};
  std::array<double, 2> rates = {};
  std::array<std::vector<double>, 2> losses = {};
};

// Both sides of one setting, from the sweep to the pairs.
Here train_in(size_t setting, const Run& run, const Config& config, const TasksInSettings& tasks,
              Trainings& trainings) {
  Here here;
  const double blind_loss = tasks.blind_loss(setting);
  const auto number = static_cast<int64_t>(setting + 1);
  std::array<std::vector<double>, 2> rates = {first_rates(8), first_rates(8)};
  if (config.learning_rate > 0) rates = {}, here.rates = {config.learning_rate, config.learning_rate};
  while (!rates[0].empty() || !rates[1].empty()) {
    std::vector<Training> wanted;
    for (const size_t side : {0, 1})
      for (const double rate : rates[side])
        wanted.push_back({static_cast<int64_t>(side), rate, sweep_seeds, 1, number});
    trainings.of(wanted, [&](size_t i, const Trained& trained) {
      here.sweeps[static_cast<size_t>(wanted[i].side)].losses[wanted[i].rate] =
          trained.diverged ? claims::infinity : trained.tuning_loss;
    });
    for (const size_t side : {0, 1}) rates[side] = here.sweeps[side].next(blind_loss);
  }
  std::vector<Training> wanted;
  for (const size_t side : {0, 1}) {
    if (config.learning_rate == 0) here.rates[side] = here.sweeps[side].best();
    for (int64_t pair = 0; pair < pairs_in_setting; ++pair)
      wanted.push_back({static_cast<int64_t>(side), here.rates[side], run.seed() + pair, 1, number,
                        across::settings[setting].is_long});
  }
  trainings.of(wanted, [&](size_t i, const Trained& trained) {
    here.losses[static_cast<size_t>(wanted[i].side)].push_back(std::min(trained.val_loss, blind_loss));
  });
  return here;
}

}  // namespace

int64_t pairs_in_settings(int64_t rates) {
  int64_t pairs = 0;
  for (const Setting& setting : across::settings)
    pairs += rates + pairs_in_setting * (setting.is_long ? few_in_long : 1);
  return pairs;
}

TasksInSettings::TasksInSettings(const Config& config) {
  if (config.settings != "all") return;
  const across::Steps steps = steps_of(config);
  for (const Setting& setting : across::settings) {
    Both& both = tasks_.emplace_back();
    both.few = make_task(config_in(config, setting, steps.few));
    if (setting.is_long) both.many = make_task(config_in(config, setting, steps.many));
  }
}

Trained TasksInSettings::train(const Contestant& contestant, const Training& training) const {
  const Both& both = tasks_.at(static_cast<size_t>(training.setting - 1));
  return (training.is_long ? both.many : both.few)->train(contestant, training);
}

void compare_in_settings(Run& run, const Config& config, const TasksInSettings& tasks, Trainings& trainings,
                         const Findings& found) {
  const across::Steps steps = steps_of(config);
  const claims::Predicate better = a_is_better(config.margin);
  std::vector<Spread> settings;
  run.say(
      "\nThat is one setting. Sixteen others follow (--settings one leaves them out), five pairs each, {} minus {} in nats:\n",
      found.a.label(), found.b.label());
  for (size_t i = 0; i < across::settings.size(); ++i) {
    const Here here = train_in(i, run, config, tasks, trainings);
    const Spread& spread =
        settings.emplace_back(spread_of(pairwise(here.losses[0], here.losses[1], std::minus())));
    const claims::Reading reading = claims::read(better, spread, 1);
    run.say("{:2} {}: {} {}, {}\n", i + 1, across::name_of(steps, i).en, signed_nats(spread.linear.mean),
            nats(reading.interval), word_of(reading.outcome).en);
    run.measured(fmt::format("a_minus_b.setting{}", i + 1), spread);
    for (const size_t side : {0, 1})
      run.measured(fmt::format("{}.learning_rate.setting{}", side == 0 ? "a" : "b", i + 1), here.rates[side]);
  }
  run.summary().update(across::design_of(steps));
  const std::vector<claims::SettingsFactor> factors = claims::factors_from(run.summary());
  const claims::OverSettings over = claims::read_settings(better, factors, settings);
  const Phrase headline = headline_of(over, factors, found.a.label(), found.b.label(), config.margin);
  run.say("{}\n", headline.en);
  Json& answer = run.summary()["over_settings"];
  answer = {{"headline", headline.en}, {"marks", claims::strip_of(over.marks)}};
  if (!headline.one()) answer["headline_zh"] = headline.zh;
}

Phrase headline_of(const claims::OverSettings& over, const std::vector<claims::SettingsFactor>& factors,
                   const std::string& a, const std::string& b, double margin) {
  const auto counted = [&](PartOutcome outcome) { return std::ranges::count(over.marks, outcome); };
  const Phrase marks = filled({"; better in {}, worse in {}, equal in {} of {} ({})",
                               "；{3} 种中较好 {0}、较差 {1}、相等 {2}（{4}）"},
                              counted(PartOutcome::holds), counted(PartOutcome::fails),
                              counted(PartOutcome::equal), over.marks.size(), claims::strip_of(over.marks));
  const std::string mean = signed_nats(over.mean), interval = nats(over.reading.interval);
  if (over.reading.outcome == PartOutcome::depends) {
    std::vector<Phrase> levels;
    for (const size_t factor : over.depends_on) levels.push_back(claims::text_of(over, factor, factors));
    Phrase on = levels.front();
    for (size_t i = 1; i < levels.size(); ++i) on += Phrase{"; ", "；"} + levels[i];
    return filled({"over all settings it depends: {} is better than {}: {}",
                   "各设置合计：视情况而定：{} 优于 {}：{}"},
                  a, b, on) +
           marks;
  }
  if (over.reading.outcome == PartOutcome::equal)
    return filled({"over all settings {} and {} are equal within {} nats: {}, {}",
                   "各设置合计：{} 与 {} 在 {} 纳特之内相等：{}，{}"},
                  a, b, number_text(margin), mean, interval) +
           marks;
  if (over.open_level) {
    const claims::LevelReading& level = over.levels[*over.open_level];
    return filled({"over all settings {} minus {} is {} nats, {}, not decided so at {} {}",
                   "各设置合计：{} 减 {} 为 {} 纳特，{}，{} {} 时未能如此判定"},
                  a, b, mean, interval, factors[level.factor].name,
                  factors[level.factor].levels[level.level]) +
           marks;
  }
  const bool decided =
      over.reading.outcome == PartOutcome::holds || over.reading.outcome == PartOutcome::fails;
  return filled(decided ? Phrase{"over all settings {} is {} than {}: {} nats, {}",
                                 "各设置合计：{} {}于 {}：{} 纳特，{}"}
                        : Phrase{"over all settings {} is {} beside {}: {} nats, {}",
                                 "各设置合计：{} {}，与 {} 相比：{} 纳特，{}"},
                a, word_of(over.reading.outcome), b, mean, interval) +
         marks;
}

}  // namespace isobar::duel
