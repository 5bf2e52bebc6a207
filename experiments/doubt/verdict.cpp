#include "verdict.h"

#include <algorithm>

#include "../run/settings.h"
#include "../run/stats.h"
#include "../run/table.h"
#include "measure.h"

namespace isobar::doubt {
namespace {

// What changes are tried with where no closed form is known.
constexpr int64_t nets_of_change = 4, widest_measured = 1024;
// A change is named where it takes a tenth of the distance, at least; so many of them are judged.
constexpr double nearer = 0.9;
constexpr size_t changes_judged = 3;

std::vector<double> values_of(std::span<const Number> numbers) {
  std::vector<double> values;
  for (const Number& number : numbers) values.push_back(number.value);
  return values;
}

Verdict look(const PrintedTable& table, const std::vector<std::vector<double>>& nets, double rate) {
  const Law law(table.numbers, nets);
  Verdict verdict{.can = true, .nets = law.nets(), .numbers = table.numbers, .judged = {}};
  verdict.judged = law.judge(values_of(table.numbers), rate);
  verdict.can = std::ranges::none_of(verdict.judged, &JudgedNumber::beyond);
  return verdict;
}

}  // namespace

Verdict judge(const PrintedTable& table, int64_t first_seed) {
  const int64_t few = nets_of_first_look(table.numbers.size());
  const int64_t many = std::max(few, nets_of_last_look(table.numbers.size()));
  std::vector<std::vector<double>> nets = measured(table.net, table.numbers, first_seed, few);
  if (Verdict verdict = look(table, nets, first_look); !verdict.can) return verdict;
  std::vector<std::vector<double>> others = measured(table.net, table.numbers, first_seed + few, many - few);
  std::ranges::move(others, std::back_inserter(nets));
  return look(table, nets, last_look);
}

// --- Changes.

namespace {

struct Candidate {
  PrintedTable table;
  std::string flags;
};

// Sets one field, where the net then has a meaning and all numbers of the table.
void try_setting(std::vector<Candidate>& candidates, const PrintedTable& table, const std::string& field,
                 const std::string& value) {
  Candidate candidate{.table = table, .flags = fmt::format("--{} {}", field, value)};
  try {
    set_setting_text(candidate.table.net, field, value, "--" + field);
    candidate.table.finish("");
  } catch (const Error&) {
    return;  // no such net, such as an order without a norm
  }
  candidates.push_back(std::move(candidate));
}

// The same numbers, printed at another place of each layer.
void try_place(std::vector<Candidate>& candidates, const PrintedTable& table, Quantity place,
               const std::string& field) {
  Candidate candidate{.table = table, .flags = fmt::format("--{} in place of --std", field)};
  for (Number& number : candidate.table.numbers)
    if (number.quantity == Quantity::std) number.quantity = place;
  candidates.push_back(std::move(candidate));
}

std::vector<Candidate> candidates_of(const PrintedTable& table) {
  std::vector<Candidate> candidates;
  PrintedTable settings = table;
  const bool gradients = std::ranges::any_of(table.numbers, is_gradient, &Number::quantity);
  for (const Setting& setting : settings_of(settings.net)) {
    const bool tried = setting.name == "init" || setting.name == "norm" || setting.name == "activation" ||
                       setting.name == "order" || (setting.name == "loss" && gradients);
    if (!tried) continue;
    for (const std::string& choice : setting.limits.choices)
      if (choice != isobar::text_of(setting.value)) try_setting(candidates, table, setting.name, choice);
  }
  for (int64_t width = 32; width <= 4096; width *= 2)
    if (width != table.net.width && width <= table.net.width * 8)
      try_setting(candidates, table, "width", std::to_string(width));
  const auto has = [&](Quantity quantity) {
    return std::ranges::find(table.numbers, quantity, &Number::quantity) != table.numbers.end();
  };
  if (has(Quantity::std) && !has(Quantity::linear_std))
    try_place(candidates, table, Quantity::linear_std, "linear_std");
  if (has(Quantity::std) && !has(Quantity::norm_std) && table.net.norm != "none")
    try_place(candidates, table, Quantity::norm_std, "norm_std");
  return candidates;
}

// The factor by which printed numbers are off, typically: of the root mean square of the logarithms' distances.
// NaN where it is not known.
Change distance_of(const PrintedTable& table, int64_t first_seed) {
  Change change;
  std::vector<double> medians = closed_form(table.net, table.numbers);
  change.closed = std::ranges::all_of(medians, [](double median) { return std::isfinite(median); });
  change.factor = std::numeric_limits<double>::quiet_NaN();
  if (!change.closed) {
    if (table.net.width > widest_measured) return change;
    const auto nets = measured(table.net, table.numbers, first_seed, nets_of_change);
    for (size_t i = 0; i < medians.size(); ++i) {
      std::vector<double> column;
      for (const std::vector<double>& net : nets) column.push_back(net[i]);
      medians[i] = spread_of(column).median;
    }
  }
  double squares = 0;
  for (size_t i = 0; i < medians.size(); ++i) {
    const Number& number = table.numbers[i];
    const double off = std::log((number.value + number.unit) / (medians[i] + number.unit));
    squares += off * off;
  }
  change.factor = std::exp(std::sqrt(squares / static_cast<double>(medians.size())));
  return change;
}

}  // namespace

Changes nearest_changes(const PrintedTable& given, int64_t first_seed) {
  PrintedTable table = given;
  std::erase_if(table.numbers, [](const Number& number) { return number.quantity == Quantity::mean; });
  Changes changes;
  if (table.numbers.empty()) return changes;
  changes.own = distance_of(table, first_seed).factor;
  std::vector<std::pair<Change, const Candidate*>> tried;
  const std::vector<Candidate> candidates = candidates_of(table);
  for (const Candidate& candidate : candidates) {
    Change change = distance_of(candidate.table, first_seed);
    change.flags = candidate.flags;
    // A narrower net scatters more: it may be nearer though its medians are not.
    const bool narrower = candidate.table.net.width < table.net.width && change.factor < 1.001 * changes.own;
    if (narrower || std::log(change.factor) <= nearer * std::log(changes.own))
      tried.emplace_back(change, &candidate);
  }
  std::ranges::stable_sort(tried, {}, [&](const auto& one) {
    return std::pair(std::round(1000 * std::log(one.first.factor)), -one.second->table.net.width);
  });
  for (auto& [change, candidate] : tried) {
    if (changes.nearest.size() == changes_judged) break;
    try {
      change.can = judge(candidate->table, first_seed).can;
    } catch (const Error&) {
      continue;  // a net that overflows
    }
    changes.nearest.push_back(change);
  }
  std::ranges::stable_sort(changes.nearest, std::greater(), &Change::can);
  return changes;
}

// --- Words.

namespace {

std::string deviations_text(double t) {
  return std::abs(t) < 10 ? fmt::format("{:.1f}", std::abs(t)) : fmt::format("{:.0f}", std::abs(t));
}

// How large a change of this number would have been noticed, given the others.
std::string noticed_text(const Number& number, const JudgedNumber& judged) {
  const double notice = judged.of(Given::others).notice;
  return number.scale == Scale::value ? number_text(notice) : fmt::format("{:.2g} %", 100 * notice);
}

struct Farthest {
  size_t number = 0;
  Given given = Given::nothing;
  double excess = -1;  // |t| over the critical one
};

// Alone, where one is impossible alone: that is easiest to see.
Farthest farthest_of(const Verdict& verdict) {
  Farthest farthest;
  const auto consider = [&](Given given) {
    for (size_t i = 0; i < verdict.judged.size(); ++i) {
      const Deviation& deviation = verdict.judged[i].of(given);
      const double excess = std::abs(deviation.t) / deviation.critical;
      if (excess > farthest.excess) farthest = {.number = i, .given = given, .excess = excess};
    }
  };
  consider(Given::nothing);
  if (farthest.excess > 1) return farthest;
  consider(Given::earlier);
  consider(Given::others);
  return farthest;
}

std::string subject_of(const Verdict& verdict) {
  return verdict.numbers.size() == 1 ? "This number"
                                     : fmt::format("These {} numbers", verdict.numbers.size());
}

}  // namespace

std::string sentence_of(const Verdict& verdict) {
  const Farthest farthest = farthest_of(verdict);
  const Number& number = verdict.numbers[farthest.number];
  const Deviation& deviation = verdict.judged[farthest.number].of(farthest.given);
  const char* const law = farthest.given == Given::nothing   ? "the law of this code"
                          : farthest.given == Given::earlier ? "what the numbers before it leave for it"
                                                             : "what the other numbers leave for it";
  const std::string where =
      fmt::format("{} is {} where {} is expected, {} standard deviations from {}", number.name(), number.text,
                  number_text(deviation.expected), deviations_text(deviation.t), law);
  return verdict.can ? fmt::format("{} can come from this code. The farthest: {}; it would take {:.1f}.",
                                   subject_of(verdict), where, deviation.critical)
                     : fmt::format("{} cannot come from this code: {}.", subject_of(verdict), where);
}

std::string report_of(const PrintedTable& table, const Verdict& verdict, const Changes* changes) {
  std::string text = sentence_of(verdict) + "\n";
  if (changes != nullptr) {
    if (changes->nearest.empty())
      text += "No single change of initialization, bias, order, norm, activation or width comes nearer.\n";
    for (size_t i = 0; i < changes->nearest.size(); ++i) {
      const Change& change = changes->nearest[i];
      text += fmt::format("{} {}: the numbers {} come from it, off by a factor of {:.4g} and not {:.4g}.\n",
                          i == 0 ? "The nearest single change is" : "Next is", change.flags,
                          change.can ? "can" : "still cannot", change.factor, changes->own);
    }
  }
  text += "\n";
  const std::vector<double> closed = closed_form(table.net, verdict.numbers);
  // Where one number is impossible alone, it says nothing of what the others should be.
  const bool alone = std::ranges::any_of(
      verdict.judged, [](const JudgedNumber& judged) { return judged.of(Given::nothing).beyond(); });
  std::vector<std::string> heading = {"number", "printed", "this code", "closed form", "alone"};
  if (!alone) heading.insert(heading.end(), {"given earlier", "given others"});
  heading.emplace_back("noticed from");
  isobar::Table rows(heading, alone ? "lrrrrr" : "lrrrrrrr");
  for (size_t i = 0; i < verdict.numbers.size(); ++i) {
    const Number& number = verdict.numbers[i];
    const JudgedNumber& judged = verdict.judged[i];
    std::vector<std::string> cells = {number.name(), number.text, number_text(judged.median),
                                      number_or_dash(closed[i])};
    for (const Given given : {Given::nothing, Given::earlier, Given::others}) {
      const Deviation& deviation = judged.of(given);
      if (given == Given::nothing || !alone)
        cells.push_back(fmt::format("{:+.1f}{}", deviation.t, deviation.beyond() ? " *" : "  "));
    }
    cells.push_back(noticed_text(number, judged));
    rows.row(std::move(cells));
  }
  text += rows.text();
  text += fmt::format(
      "\nIn standard deviations from the law of {} nets of this code; *: one true table in a thousand has such a number.\n"
      "Noticed from: a number of a true table that is moved so far contradicts the others.\n",
      verdict.nets);
  return text;
}

}  // namespace isobar::doubt
