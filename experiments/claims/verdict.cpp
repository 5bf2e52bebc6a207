#include "verdict.h"

#include <algorithm>
#include <array>
#include <set>

#include "../page/charts/shapes.h"
#include "../run/table.h"

namespace isobar::claims {
namespace {

// The looks at this value with the present one at so many seeds, which costs nothing where it was taken before.
std::vector<int64_t> looks_at(const Part& part, std::set<int64_t> looks, const Runs& runs) {
  const auto earlier = runs.looks.find({part.run, part.key});
  if (earlier != runs.looks.end()) looks.insert(earlier->second.begin(), earlier->second.end());
  return {looks.begin(), looks.end()};
}

// Whether the value is of a function, or a count of what it does, and not of a net: it holds in any net. What a
// function does to normal numbers is of these numbers, as what it does in an untrained net is of its weights.
bool is_of_functions(const std::string& study, const std::string& key) {
  constexpr std::array of_normal_numbers = {"batch.batchnorm.",
                                            "direction.pairs",
                                            "direction.weighted",
                                            "fit.",
                                            "partial.",
                                            "precision.fp16.scale",
                                            "product.",
                                            "relu.",
                                            "scale.layernorm_over_",
                                            "script.comparison.",
                                            "skew.",
                                            "symmetry."};
  const bool of_functions = study == "norm_properties" || study == "norm_jacobian";
  if (of_functions)
    return std::ranges::none_of(of_normal_numbers, [&](const char* part) { return key.starts_with(part); });
  return key.starts_with("reductions.") || key.starts_with("flops.") || key.starts_with("bytes.");
}

// What the run took: of a kept one its line says it, of one just made its timing.
double seconds_of(const Json& summary) {
  if (summary.contains("timing")) return summary["timing"].value("wall_s", 0.0);
  return summary.value("seconds", 0.0);
}

// The values that a quantity of this name can have, beyond which no interval is shown.
Range possible_values(const std::string& key) {
  const bool difference = key.find("_minus_") != std::string::npos;
  if (key.ends_with("accuracy")) return {difference ? -1.0 : 0.0, 1};
  if (key.ends_with("loss") && !difference) return {0, infinity};
  return {-infinity, infinity};
}

// The part's own values on all rungs, without those of its reach, or in all settings; empty where the run lacks one of
// them.
std::vector<Spread> places_of(const Part& part, const Json& summary, const Json& measured) {
  std::vector<Spread> places;
  for (const std::string& key :
       part.pooled ? Part::on_rungs(part.key, summary.value("rungs", Json::array()).size())
                   : Part::in_settings(part.key, summary.value("settings", Json::array()).size())) {
    if (!measured.contains(key)) return {};
    places.push_back(spread_from(measured[key]));
  }
  return places;
}

bool in_several_places(const Part& part) { return part.pooled || part.settings; }

Finding find(const Part& part, const Runs& runs, int64_t sharing) {
  Finding finding{&part};
  finding.looks = looks_at(part, {}, runs);
  if (const auto mistake = runs.mistakes.find(&part); mistake != runs.mistakes.end()) {
    finding.not_run = mistake->second;
    finding.mistaken = true;
    return finding;
  }
  const auto run = runs.summaries.find(part.run);
  const Json measured = run == runs.summaries.end() ? Json() : run->second.value("measured", Json::object());
  std::vector<Spread> places;
  if (in_several_places(part) && run != runs.summaries.end()) places = places_of(part, run->second, measured);
  const bool there = in_several_places(part) ? !places.empty()
                                             : measured.contains(part.key) &&
                                                   (part.other().empty() || measured.contains(part.other()));
  if (!there) {
    const auto known = runs.missing.find(part.run);
    finding.at_full_scale = (part.full_only || part.of_ladder) && known == runs.missing.end();
    finding.not_run = known != runs.missing.end()
                          ? fmt::format("the run {} could not be made: {}", part.run, known->second)
                      : part.of_ladder ? fmt::format("{} needs --full --ladder", part.says.en)
                      : part.full_only ? fmt::format("{} needs --full", part.says.en)
                                       : fmt::format("the run {} has no value {}", part.run, part.key);
    return finding;
  }
  const bool busy = measured.contains("machine.busy") && number_from(measured["machine.busy"]["median"]) != 0;
  if (in_several_places(part)) {
    std::vector<double> all;
    for (const Spread& place : places) all.insert(all.end(), place.values.begin(), place.values.end());
    finding.seeds = spread_of(all);
    if (part.settings) {
      finding.factors = factors_from(run->second);
      finding.over = read_settings(part.predicate, finding.factors, places);
      finding.seeds.linear.mean = finding.over->mean;
    } else {
      finding.seeds.linear.mean = pooled_mean(places, error_rate / 2).mean;
    }
  } else {
    finding.seeds = spread_from(measured[part.key]);
    if (!part.other().empty()) {
      const std::vector<double> other = spread_from(measured[part.other()]).values;
      finding.seeds = spread_of(pairwise(finding.seeds.values, other, [&](double x, double y) {
        return !part.minus.empty() ? x - y : !part.plus.empty() ? x + y : x / y;
      }));
    }
    if (part.other().empty()) finding.theory = number_from(measured[part.key].value("theory", Json()));
  }
  finding.corpus = run->second.value("corpus", "");
  finding.study = run->second.value("program", "");
  finding.seconds = seconds_of(run->second);
  finding.trained = trained_on(run->second, part.key);
  finding.looks = looks_at(part, {std::ssize(finding.seeds.values)}, runs);
  const int64_t look = std::ssize(finding.looks);
  finding.reading = finding.over  ? finding.over->reading
                    : part.pooled ? read_rungs(part.predicate, places)
                                  : read(part.predicate, finding.seeds, sharing, look, busy);
  if (part.predicate.rule != Rule::every_seed) {
    const Range possible = part.other().empty() ? possible_values(part.key) : Range{-infinity, infinity};
    Range& interval = finding.reading.interval;
    interval = {std::max(interval.low, possible.low), std::min(interval.high, possible.high)};
  }
  if (finding.reading.outcome == PartOutcome::fails)
    finding.warning = far_miss(part.predicate, finding.seeds);
  if (finding.reading.outcome == PartOutcome::too_few_seeds && !in_several_places(part))
    finding.needed = seeds_needed(part.predicate, finding.seeds, sharing, look);
  return finding;
}

// A printed table is one measurement, whose values share the error rate; any other value has it alone.
int64_t sharing(const Claim& claim, const Part& part) {
  if (part.predicate.rule != Rule::one_more_seed) return 1;
  return std::ranges::count_if(claim.parts, [&](const Part& other) {
    return other.predicate.rule == Rule::one_more_seed && other.run == part.run;
  });
}

// Does this control speak of this part? Of the whole run, if it names no experiment.
bool bears_on(const Part& control, const Part& part) {
  return control.run == part.run && (control.experiment.empty() || control.experiment == part.experiment);
}

// An experiment whose control fails cannot tell: no other part of it counts.
void drop_invalid_experiments(std::vector<Finding>& findings) {
  using enum PartOutcome;
  const auto invalid = [&](const Part& part) {
    return std::ranges::any_of(findings, [&](const Finding& f) {
      const PartOutcome outcome = f.reading.outcome;
      return f.part->control && f.not_run.empty() && bears_on(*f.part, part) &&
             (outcome == fails || outcome == equal || outcome == depends);
    });
  };
  for (Finding& f : findings) f.counts = f.part->control || !invalid(*f.part);
}

// The seeds do not decide it: whether its experiment can tell is not known.
bool is_open_control(const Finding& f) {
  using enum PartOutcome;
  const PartOutcome outcome = f.reading.outcome;
  return f.part->control && f.counts && f.not_run.empty() && outcome != holds && outcome != fails &&
         outcome != equal && outcome != depends;
}

// Of an experiment of its own, an open control leaves its parts open, and no others.
void wait_for_controls(std::vector<Finding>& findings) {
  for (const Finding& control : findings)
    if (is_open_control(control) && !control.part->experiment.empty())
      for (Finding& f : findings) f.waits |= !f.part->control && bears_on(*control.part, *f.part);
}

// What all settings together do not decide, or were not asked for, takes nothing from what one setting decides.
void drop_undecided_settings(std::vector<Finding>& findings) {
  using enum PartOutcome;
  if (std::ranges::none_of(
          findings, [](const Finding& f) { return f.counts && !f.part->settings && !f.part->control; }))
    return;
  const auto undecided = [](const Finding& f) {
    const PartOutcome outcome = f.reading.outcome;
    return f.part->settings && !f.mistaken &&
           (!f.not_run.empty() ||
            (outcome != holds && outcome != fails && outcome != equal && outcome != depends));
  };
  std::set<std::string> cannot_tell;
  for (const Finding& f : findings)
    if (f.part->control && undecided(f)) cannot_tell.insert(f.part->run);
  for (Finding& f : findings)
    if (undecided(f) || (f.part->settings && cannot_tell.contains(f.part->run)))
      f.counts = false, f.set_aside = true;
}

std::vector<ReachFinding> reaches_of(const Part& part, const Runs& runs) {
  std::vector<ReachFinding> reaches;
  const auto made = runs.summaries.find(part.reach_run), kept = runs.kept.find(part.reach_run);
  const auto missing = runs.missing.find(part.reach_run);
  for (const std::string& key : part.reach) {
    ReachFinding& reach = reaches.emplace_back(ReachFinding{key, optimizer_of(key)});
    if (made != runs.summaries.end())
      read_reach(reach, part, made->second);
    else if (missing != runs.missing.end())
      reach.none = filled({"the run {} could not be made: {}", "运行 {} 未能进行：{}"}, part.reach_run,
                          missing->second);
    else if (kept == runs.kept.end())
      reach.none = filled({"{} needs --full --ladder", "{} 需要 --full --ladder"}, part.reach_run);
    else
      read_reach(reach, part, kept->second), reach.kept = true;
  }
  return reaches;
}

std::string range_text(const Range& range) {
  return fmt::format("[{}, {}]", exact_number_text(range.low), exact_number_text(range.high));
}

// "0.3373 [0.3323, 0.3465], 20 seeds"
Phrase measured_text(const Finding& f) {
  const size_t seeds = f.seeds.values.size();
  Phrase text = value_text(f);
  if (seeds == 1 && f.part->predicate.rule == Rule::every_seed)
    text += {", one value, no error rate", "，仅一个值，没有误差率"};
  if (f.over)
    text += filled({", {} pairs in {} settings ({} {})", "，{1} 种设置共 {0} 对（{2} {3}）"}, seeds,
                   f.over->marks.size(), strip_of(f.over->marks), count_of(f.over->marks));
  else if (seeds > 1)
    text += filled(f.part->pooled ? Phrase{", {} values over all sizes", "，各规模共 {} 个值"}
                                  : Phrase{", {} seeds", ", {} 个种子"},
                   seeds);
  if (f.part->predicate.rule == Rule::median && seeds > 1) {
    const Range share = share_interval(f.reading.counted, f.seeds.n, error_rate / 4);
    text += filled({", {} of {} as asked (interval of this share: {} to {})",
                    "，{1} 个中有 {0} 个符合要求（该比例的区间：{2} 至 {3}）"},
                   f.reading.counted, f.seeds.n, fmt::format("{:.2f}", share.low),
                   fmt::format("{:.2f}", share.high));
  }
  if (f.looks.size() > 1) text += filled({", look {}", "，第 {} 次查看"}, f.looks.size());
  if (f.seeds.nonfinite > 0) text += filled({", {} not finite", ", {} 个非有限值"}, f.seeds.nonfinite);
  return text;
}

// In the order of PartOutcome.
const Phrase outcomes[] = {{"holds", "成立"},
                           {"does not hold", "不成立"},
                           {"no difference", "无差别"},
                           {"is open: too few seeds", "未定：种子数不足"},
                           {"is open: the machine was busy", "未定：机器繁忙"},
                           {"is open: ", "未定："},
                           {"depends", "视情况而定"}};
// In the order of Doubt: what the seeds show, and what would mend it.
const Phrase doubts[] = {{},
                         {"all seeds have one value", "所有种子取同一个值"},
                         {"a seed is infinite", "有种子的值为无穷"},
                         {"a seed that is not positive has no logarithm", "有种子的值非正，没有对数"}};
const Phrase mends[] = {{},
                        {"the rule every_seed", "规则 every_seed"},
                        {"every_seed, or another statistic", "使用 every_seed，或换一个统计量"},
                        {"log = false, or another statistic", "设 log = false，或换一个统计量"}};

// Of each factor on which it depends: "optimizer: holds at Muon, no difference at AdamW".
Phrase levels_text(const Finding& f) {
  std::vector<Phrase> texts;
  for (const size_t factor : f.over->depends_on) texts.push_back(text_of(*f.over, factor, f.factors));
  return charts::joined(texts, "; ");
}

// "holds, assuming normal values", "is open: the seeds are skewed (…)"
Phrase own_outcome_text(const Finding& f) {
  const auto& [outcome, interval, n, doubt, assumes_normal, counted] = f.reading;
  Phrase text = outcomes[static_cast<size_t>(outcome)];
  if (outcome == PartOutcome::busy) return text;
  if (outcome == PartOutcome::depends) return text + Phrase{" on the ", "，取决于"} + levels_text(f);
  if (f.over && f.over->open_level) {
    const LevelReading& level = f.over->levels[*f.over->open_level];
    return filled({"is open: not decided so at {} {}", "未定：{} {} 时未能如此判定"},
                  f.factors[level.factor].name, f.factors[level.factor].levels[level.level]);
  }
  if (f.part->pooled && outcome == PartOutcome::too_few_seeds)
    return {"is open: the sizes differ too much", "未定：各规模相差过大"};
  if (f.over && outcome == PartOutcome::too_few_seeds)
    return {"is open: too few settings or seeds", "未定：设置或种子太少"};
  if (outcome == PartOutcome::not_normal)
    return text + doubts[static_cast<size_t>(doubt)] +
           filled({" ({})", "（{}）"}, mends[static_cast<size_t>(doubt)]);
  if (!assumes_normal) return text;
  return text + (f.part->predicate.log ? Phrase{", assuming log-normal values", "，假定值服从对数正态分布"}
                                       : Phrase{", assuming normal values", "，假定值服从正态分布"});
}

// The same, and "; not counted: …" where its run is not valid.
Phrase outcome_text(const Finding& f) {
  const Phrase text = own_outcome_text(f);
  if (f.waits) return text + Phrase{"; open, as its control is", "；未定，因其对照未定"};
  if (f.counts) return text;
  if (f.set_aside)
    return text +
           Phrase{"; not counted: the parts in one setting count", "；不计入：计入的是一种设置下的部分"};
  return text +
         Phrase{"; not counted: a control of this run does not hold", "；不计入：该次运行的一个对照不成立"};
}

// Rounded up to two digits: the few seeds that it was computed from tell no more.
int64_t in_two_digits(int64_t seeds) {
  int64_t unit = 1;
  while (seeds > 100 * unit) unit *= 10;
  return (seeds + unit - 1) / unit * unit;
}

// "control: holds", as it is shown.
Phrase shown_says(const Finding& f) {
  return f.part->control ? filled({"control: {}", "对照：{}"}, f.part->says) : f.part->says;
}

// The same with the warning, which a table of the terminal has below it.
Phrase warned_text(const Finding& f) {
  return f.warning.en.empty() ? outcome_text(f) : outcome_text(f) + Phrase{"; ", "；"} + f.warning;
}

Phrase reason_of(const Finding& f) {
  Phrase wanted = text_of(f.part->predicate);
  if (f.needed > 0)
    wanted += filled({", about {} seeds would settle it", "，约需 {} 个种子"}, in_two_digits(f.needed));
  return filled("{}: {}, {} ({} {})", shown_says(f), warned_text(f), measured_text(f),
                Phrase{"wanted", "要求"}, wanted);
}

Phrase reason_of(const Judged& judged) {
  const Claim& claim = *judged.claim;
  std::vector<Phrase> reasons, lacking;
  const bool mistaken = std::ranges::any_of(judged.findings, &Finding::mistaken);
  for (const Finding& f : judged.findings)
    if (mistaken && !f.mistaken)
      continue;
    else if (f.not_run.empty())
      reasons.push_back(reason_of(f));
    else if (f.set_aside)
      continue;
    else if (f.at_full_scale)
      reasons.emplace_back(f.not_run);
    else if (std::ranges::count(lacking, f.not_run, &Phrase::en) == 0)
      lacking.emplace_back(f.not_run);
  if (!lacking.empty()) reasons = lacking;
  for (const Passage& passage : claim.passages) reasons.push_back(passage.reading);
  if (!claim.test.empty())
    reasons.push_back(filled({"checked by the test “{}”", "由测试“{}”检查"}, claim.test));
  if (!claim.note.en.empty())
    reasons.push_back(claim.parts.empty() ? claim.note : Phrase{"left out", "未涉及"} + ": " + claim.note);
  return charts::joined(reasons, "; ");
}

// What would decide the parts that are open: "about 37 seeds, 2 min".
Phrase what_ends(const std::vector<const Finding*>& findings) {
  using enum PartOutcome;
  int64_t seeds = 0;
  std::map<std::string, double> seconds;  // by run: the most that one of its parts needs
  bool more = false, unknown = false, sizes = false, busy_machine = false, fixed = true;
  std::vector<Phrase> needs;
  for (const Finding* finding : findings) {
    const Finding& f = *finding;
    if (!f.not_run.empty()) continue;
    const PartOutcome outcome = f.reading.outcome;
    busy_machine |= outcome == busy;
    if (outcome == not_normal) needs.push_back(mends[static_cast<size_t>(f.reading.doubt)]);
    if (outcome != too_few_seeds) continue;
    if (f.over) {
      needs.push_back({"more settings or seeds", "增加设置或种子"});
      continue;
    }
    if (f.part->pooled) {  // its interval is wide as the sizes differ
      sizes = true;
      continue;
    }
    more = true;
    unknown |= f.needed == 0;
    seeds = std::max(seeds, f.needed);
    fixed &= f.part->of_ladder;
    if (f.seeds.n > 0 && !f.part->of_ladder)  // whose rungs get no new seeds
      seconds[f.part->run] = std::max(
          seconds[f.part->run], f.seconds * static_cast<double>(f.needed) / static_cast<double>(f.seeds.n));
  }
  double all_seconds = 0;
  for (const auto& [run, most] : seconds) all_seconds += most;
  if (more && seeds > 0 && !unknown) {
    needs.push_back(
        filled(fixed ? Phrase{"about {} seeds, which the ladder does not get", "约 {} 个种子（该梯不再增加）"}
                     : Phrase{"about {} seeds", "约 {} 个种子"},
               in_two_digits(seeds)));
    if (all_seconds > 0) needs.push_back(filled({"{} min", "{} 分钟"}, std::ceil(all_seconds / 60)));
  } else if (more) {
    needs.push_back({"more seeds", "增加种子"});
  }
  if (sizes) needs.push_back({"more sizes", "增加规模"});
  if (busy_machine) needs.push_back({"an idle machine", "空闲的机器"});
  return charts::joined(needs, ", ");
}

// The findings that bear on what the text says: no controls, and nothing of a run whose control fails.
std::vector<const Finding*> bearing(const std::vector<Finding>& findings) {
  std::vector<const Finding*> valid;
  for (const Finding& f : findings)
    if (!f.part->control && f.counts) valid.push_back(&f);
  return valid;
}

std::vector<const Finding*> open_controls(const std::vector<Finding>& findings) {
  std::vector<const Finding*> open;
  for (const Finding& f : findings)
    if (is_open_control(f)) open.push_back(&f);
  return open;
}

Phrase on_what(const Claim& claim) {
  if (claim.depends_on.en.empty()) return todays_verdict("partly").detail;
  return filled({"on {}", "取决于{}"}, claim.depends_on);
}

// The factors on which parts depend, each once: "on the optimizer and weights".
Phrase on_factors(const std::vector<const Finding*>& findings) {
  std::vector<Phrase> names;
  for (const Finding* f : findings)
    if (f->reading.outcome == PartOutcome::depends)
      for (const size_t factor : f->over->depends_on)
        if (std::ranges::count(names, f->factors[factor].name) == 0) names.push_back(f->factors[factor].name);
  Phrase all;
  for (size_t i = 0; i < names.size(); ++i)
    all += (i == 0                  ? Phrase()
            : i + 1 == names.size() ? Phrase{" and ", "与"}
                                    : Phrase{", ", "、"}) +
           names[i];
  return filled({"on the {}", "取决于{}"}, all);
}

// "within 0.01" of all margins.
Phrase within_margins(const std::vector<const Finding*>& findings) {
  std::vector<Phrase> margins;
  for (const Finding* f : findings) {
    const Phrase margin = filled({"within {}", "在 {} 之内"}, exact_number_text(f->part->predicate.margin));
    if (f->reading.outcome == PartOutcome::equal && std::ranges::count(margins, margin.en, &Phrase::en) == 0)
      margins.push_back(margin);
  }
  return charts::joined(margins, ", ");
}

Verdict verdict_of_parts(const Claim& claim, const std::vector<Finding>& findings) {
  using enum PartOutcome;
  std::vector<const Finding*> valid = bearing(findings);
  const std::vector<const Finding*> controls = open_controls(findings);
  const bool nothing_left = valid.empty();
  const bool waits = std::erase_if(valid, [](const Finding* f) { return f->waits; }) > 0;
  const auto count = [&](PartOutcome outcome) {
    return std::ranges::count_if(
        valid, [&](const Finding* f) { return f->not_run.empty() && f->reading.outcome == outcome; });
  };
  const auto lacks = [&](bool at_full_scale) {
    return std::ranges::any_of(findings, [&](const Finding& f) {
      return !f.not_run.empty() && !f.set_aside && f.at_full_scale == at_full_scale;
    });
  };
  if (std::ranges::any_of(findings, &Finding::mistaken)) return todays_verdict("cannot be judged");
  const Verdict wrong = todays_verdict(claim.on_gpu ? "not borne out on this CPU"
                                       : claim.may  ? "not borne out on the task tried"
                                                    : "refuted");
  // What is decided whatever the other parts will be.
  const int64_t all = std::ssize(valid);
  const bool as_a_whole = claim.one_statement && count(equal) != all;
  if (claim.one_statement && count(fails) > 0) return wrong;
  if (lacks(false)) return todays_verdict("not run here");
  if (lacks(true)) return todays_verdict("needs the full run");
  if (as_a_whole && count(equal) > 0) return wrong;
  if (std::ranges::any_of(controls, [](const Finding* f) { return f->part->experiment.empty(); }))
    return {"open", what_ends(controls)};
  const bool differ = count(holds) > 0 && count(fails) + count(equal) > 0;
  if (count(depends) > 0 && !(differ && !claim.depends_on.en.empty())) return {"depends", on_factors(valid)};
  if (differ) return {"depends", on_what(claim)};
  if (nothing_left && !findings.empty())
    return {"not tested", {"the control of its experiment does not hold", "其实验的对照不成立"}};
  // What may be so somewhere is so where it was found, whatever it is elsewhere.
  if (claim.may && count(holds) > 0) return {"true"};
  if (waits || count(busy) + count(not_normal) + count(too_few_seeds) > 0) {
    if (waits) std::ranges::copy(controls, std::back_inserter(valid));
    return {"open", what_ends(valid)};
  }
  if (count(holds) == all) return {"true"};
  return count(equal) == all ? Verdict{"no difference", within_margins(valid)} : wrong;
}

Verdict verdict_of_passages(const Claim& claim) {
  const auto holding = std::ranges::count_if(claim.passages, &Passage::holds);
  if (holding == std::ssize(claim.passages)) return {"true"};
  if (holding == 0 || claim.one_statement) return {"false"};
  return {"depends", on_what(claim)};
}

// A count, such as that of parameters, is the same in every run: a proof by counting.
bool is_count(const Part& part) {
  return part.predicate.rule == Rule::every_seed && part.predicate.low == part.predicate.high;
}

std::string how_of(const Claim& claim) {
  if (claim.kind == Kind::cited || claim.kind == Kind::not_run) return "";
  if (claim.kind == Kind::source || !claim.no_source.en.empty()) return "source";
  const bool proof = claim.kind == Kind::definition || std::ranges::all_of(claim.parts, is_count);
  return proof ? "proof" : "measured";
}

// The narrowest of its parts.
std::string where_of(const Claim& claim, const std::vector<Finding>& findings) {
  if (claim.kind == Kind::definition) return where_words[0];
  if (how_of(claim) == "source") return "";
  std::optional<size_t> narrowest;
  for (const Finding& f : findings) {
    if (!f.not_run.empty() || f.set_aside) continue;
    const size_t place = !f.trained.en.empty() && !f.part->settings                   ? 4
                         : f.part->settings                                           ? 3
                         : f.part->predicate.rule == Rule::time                       ? 2
                         : is_count(*f.part) || is_of_functions(f.study, f.part->key) ? 0
                                                                                      : 1;
    narrowest = std::max(narrowest.value_or(0), place);
  }
  return narrowest ? where_words[*narrowest] : "";
}

// The value that stands for the seeds: the mean, of logarithms where the rule takes them, or the median.
double middle_of(const Predicate& predicate, const Spread& seeds) {
  if (predicate.rule == Rule::every_seed || predicate.rule == Rule::median) return seeds.median;
  const bool log = predicate.log && !std::isnan(seeds.logarithm.mean);
  const double mean = seeds.moments(log).mean;
  return log ? std::exp(mean) : mean;
}
double middle_of(const Finding& f) { return middle_of(f.part->predicate, f.seeds); }

void set(Json& json, const std::string& name, const Phrase& phrase) {
  json[name] = phrase.en;
  json[name + "_zh"] = phrase.zh;
}
// The same of one that was computed: in Chinese even where that is the same.
void set_both(Json& json, const std::string& name, const Phrase& phrase) {
  set(json, name, {phrase.en, phrase.in_chinese()});
}

Json to_json(const ReachFinding& f, const Predicate& asked) {
  Json json = {{"key", f.key}, {"kept", f.kept}, {"rungs", Json::array()}};
  set(json, "optimizer", f.optimizer);
  set_both(json, "text", text_of(f));
  set(json, "none", f.none);
  if (!f.none.en.empty()) return json;
  const Reach& reach = f.reach;
  json["word"] = word_of(reach.word);
  json["slope"] = number_or_null(reach.slope);
  json["slope_interval"] = {reach.slope_interval.low, reach.slope_interval.high};
  const std::vector<Phrase> short_names = f.short_names();
  for (size_t i = 0; i < f.rungs.size(); ++i) {
    Json& rung = json["rungs"].emplace_back();
    set(rung, "name", f.rungs[i]);
    set(rung, "short", short_names[i]);
    rung.update({{"log2_compute", f.log2_compute[i]},
                 {"value", number_or_null(middle_of(asked, f.spreads[i]))},
                 {"interval", {reach.rungs[i].interval.low, reach.rungs[i].interval.high}},
                 {"n", f.spreads[i].n},
                 {"outcome", word_of(reach.rungs[i].outcome)}});
  }
  return json;
}

// Of a part over settings its levels and marks; else null.
Json to_json(const std::optional<OverSettings>& over, const std::vector<SettingsFactor>& factors) {
  if (!over) return {};
  Json json = {
      {"strip", strip_of(over->marks)}, {"count", count_of(over->marks).en}, {"levels", Json::array()}};
  for (const LevelReading& level : over->levels)
    json["levels"].push_back({{"factor", factors[level.factor].name.en},
                              {"level", factors[level.factor].levels[level.level].en},
                              {"mean", number_or_null(level.mean)},
                              {"interval", {level.interval.low, level.interval.high}},
                              {"outcome", word_of(level.outcome)},
                              {"pairs", level.pairs}});
  return json;
}

Json to_json(const Finding& f) {
  const Part& part = *f.part;
  const Predicate& asked = part.predicate;
  const bool printed = asked.rule == Rule::one_more_seed, made = f.not_run.empty();
  Json json;
  set(json, "says", shown_says(f));
  json.update({{"run", part.run}, {"key", part.key}, {"corpus", f.corpus}});
  set(json, "trained_on", f.trained);
  json["printed"] = printed ? Json(asked.low) : Json();
  set_both(json, "measured", made ? measured_text(f) : "");
  json.update({{"value", made ? number_or_null(middle_of(f)) : Json()},
               {"interval", made ? Json({f.reading.interval.low, f.reading.interval.high}) : Json()},
               {"n", f.reading.n},
               {"looks", f.looks},
               {"nonfinite", f.seeds.nonfinite},
               {"theory", number_or_null(f.theory)},
               {"rule", rule_words[static_cast<size_t>(asked.rule)]},
               {"log", asked.log},
               {"bounds", {number_or_null(bound_shown(asked.low)), number_or_null(bound_shown(asked.high))}},
               {"full_only", part.full_only},
               {"control", part.control},
               {"pooled", part.pooled},
               {"settings", to_json(f.over, f.factors)},
               {"margin", asked.margin},
               {"of_ladder", part.of_ladder}});
  set_both(json, "wanted", text_of(asked));
  json["word"] = part.word;
  set(json, "why", part.why);
  json["outcome"] = made ? word_of(f.reading.outcome) : "";
  set_both(json, "outcome_text", made ? warned_text(f) : "");
  json.update({{"seeds_needed", f.needed}, {"not_run", f.not_run}, {"reaches", Json::array()}});
  set_both(json, "reach", text_of(f.reaches));
  for (const ReachFinding& reach : f.reaches) json["reaches"].push_back(to_json(reach, part.predicate));
  return json;
}

Json to_json(const Passage& passage) {
  Json json = {{"title", passage.title},  {"address", passage.address},
               {"read", passage.read},    {"quote", passage.quote},
               {"words", passage.words},  {"bearing", bearing_words[static_cast<size_t>(passage.bearing)]},
               {"holds", passage.holds()}};
  set(json, "reading", passage.reading);
  return json;
}

}  // namespace

const char* word_of(PartOutcome outcome) {
  constexpr const char* words[] = {"holds", "does not hold", "no difference", "open",
                                   "open",  "open",          "depends"};
  return words[static_cast<size_t>(outcome)];
}

std::string verdict_text(const Judged& judged) { return text_of(Verdict{judged.verdict, judged.detail}); }

std::string value_text(const Finding& f) {
  std::string text = exact_number_text(middle_of(f));
  if (f.seeds.min < f.seeds.max) text += " " + range_text(f.reading.interval);
  return text;
}

Phrase trained_on(const Json& summary, const std::string& key) {
  if (!summary.contains("trained"))
    return summary.contains("program") ? Phrase("its run does not say on what", "其运行未写明训练设置")
                                       : Phrase();
  for (const Json& entry : summary["trained"])
    if (key.find(entry.at("of").get<std::string>()) != std::string::npos)
      return {entry.at("en"), entry.at("zh")};
  return {};
}

Phrase trained_on(const Judged& judged) {
  Phrase all;
  if (judged.how == "source") return all;
  const auto add = [](std::string& list, const std::string& text, const char* between) {
    if (!text.empty() && list.find(text) == std::string::npos) list += (list.empty() ? "" : between) + text;
  };
  for (const Finding& finding : judged.findings) {
    add(all.en, finding.trained.en, "; ");
    add(all.zh, finding.trained.zh, "；");
  }
  if (const Phrase& size = judged.claim->paper_size; !all.en.empty() && !size.en.empty())
    all += filled({"; the text's size: {}", "；原文规模：{}"}, size);
  return all;
}

Phrase reach_text(const Judged& judged) {
  std::vector<Phrase> texts;
  const bool several =
      std::ranges::count_if(judged.findings, [](const Finding& f) { return !f.reaches.empty(); }) > 1;
  for (const Finding& f : judged.findings)
    if (!f.reaches.empty()) texts.push_back((several ? f.part->says + ": " : Phrase()) + text_of(f.reaches));
  return charts::joined(texts, "; ");
}

std::string parts_table(const Judged& judged) {
  Table table({"part", "measured", "theory", "asked", "outcome"}, "lrrll");
  bool assumes = false;
  for (const Finding& part : judged.findings) {
    const bool made = part.not_run.empty(), few = made && part.reading.assumes_normal;
    assumes |= few;
    table.row({shown_says(part).en, made ? measured_text(part).en : "", number_or_dash(part.theory),
               text_of(part.part->predicate).en,
               few    ? word_of(part.reading.outcome)
               : made ? outcome_text(part).en
                      : part.not_run});
  }
  std::string text = table.text();
  if (assumes)
    text += fmt::format("Fewer than {} seeds: assuming normal values, or with log = true log-normal ones.\n",
                        seeds_for_skewness);
  for (const Finding& part : judged.findings)
    if (!part.warning.en.empty())
      text += fmt::format("Warning: {}: {}\n", part.part->says.en, part.warning.en);
  for (const Finding& part : judged.findings)
    if (!part.reaches.empty())
      text += fmt::format("Reach: {}: {}\n", part.part->says.en, text_of(part.reaches).en);
  return text;
}

Judged judge(const Claim& claim, const Runs& runs) {
  Judged judged{&claim};
  for (const Part& part : claim.parts) {
    judged.findings.push_back(find(part, runs, sharing(claim, part)));
    judged.findings.back().reaches = reaches_of(part, runs);
  }
  drop_invalid_experiments(judged.findings);
  drop_undecided_settings(judged.findings);
  wait_for_controls(judged.findings);
  // Of a result that is another text's nothing is true where that text has no such result, whatever our nets do.
  const Verdict verdict = !claim.no_source.en.empty()
                              ? Verdict{"false", {"its source has no such result", "其出处没有这样的结果"}}
                          : claim.kind == Kind::cited   ? todays_verdict("cited, not checked")
                          : claim.kind == Kind::not_run ? Verdict{"not tested", claim.note}
                          : claim.kind == Kind::source  ? verdict_of_passages(claim)
                                                        : verdict_of_parts(claim, judged.findings);
  judged.verdict = verdict.word;
  judged.detail = verdict.detail;
  judged.how = how_of(claim);
  judged.where = where_of(claim, judged.findings);
  judged.reason = reason_of(judged);
  return judged;
}

Json to_json(const Judged& judged) {
  const Claim& claim = *judged.claim;
  Json json = {
      {"id", claim.id}, {"source", claim.source}, {"quote", claim.quote}, {"quote_en", claim.quote_en}};
  set(json, "claim", claim.says);
  set(json, "implied", claim.implied);
  set(json, "no_source", claim.no_source);
  set(json, "remark", claim.remark);
  json.update(
      {{"test", claim.test}, {"verdict", judged.verdict}, {"how", judged.how}, {"where", judged.where}});
  set_both(json, "detail", judged.detail);
  set_both(json, "reason", judged.reason);
  set(json, "trained_on", trained_on(judged));
  set_both(json, "reach", reach_text(judged));
  set(json, "note", claim.note);
  for (const char* list : {"parts", "passages"}) json[list] = Json::array();
  for (const Finding& finding : judged.findings) json["parts"].push_back(to_json(finding));
  for (const Passage& passage : claim.passages) json["passages"].push_back(to_json(passage));
  return json;
}

}  // namespace isobar::claims
