// Grid: the trainings of a study. Each is a row: settings, which decide its bits, and what it gave, named numbers and
// series.
//
//   Grid grid(run);
//   std::vector<Json> rows;                                   // {"net": "dyt", "rate": 0.01, "seed": 3}, …
//   const std::vector<Outcome> outcomes =
//       grid.train<Outcome>(rows, [&](size_t i) { return train_net(config, jobs[i]); });
//   grid.finish();                                            // trainings.csv has all rows
//
// A result is a struct that names its members, once for both directions:
//
//   struct Outcome {
//     double accuracy = 0;
//     std::vector<double> losses;
//     void values(RowFields& f) { f("accuracy", accuracy), f("losses", losses); }
//   };
//
// or a number, a vector of them, or NamedValues. Rows are trained side by side, one on each thread, in the order of the
// list: begin with the long ones. A training has serial loops (core/serial_loops.h), so its bits depend neither on the number of threads
// nor on what runs beside it; it must not touch the Run, nor anything that another one changes. It does not see the
// caller's tape. Times that it measures, and statistics of memory, are those of all that run now.
//
// Each row that is done is a line of the journal in the run's folder, DIR/trainings.jsonl, and what a study computes
// with is what was read back from there. A killed run therefore goes on from its rows, to the same bytes. Several
// processes may share the folder, on several machines too: each takes rows that nobody has taken (lock_file.h: a killed
// process gives its row back), and all get all results. README.md of this folder says how to start them.
#pragma once

#include <map>
#include <type_traits>

#include "run.h"

namespace isobar {

using NamedValues = std::map<std::string, double>;

struct RowValues {
  NamedValues numbers = {};
  std::map<std::string, std::vector<double>> series = {};
};

// Writes the members of a result into RowValues, or reads them from there.
class RowFields {
 public:
  explicit RowFields(RowValues& to) : to_(&to) {}
  explicit RowFields(const RowValues& from) : from_(&from) {}

  // A double, a bool, or a whole number below 2⁵³.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const std::string& name, Number& value) {
    if (to_ != nullptr)
      to_->numbers[name] = static_cast<double>(value);
    else
      value = static_cast<Number>(number(name));
  }
  void operator()(const std::string& name, std::vector<double>& values) {
    if (to_ != nullptr)
      to_->series[name] = values;
    else
      values = series(name);
  }
  // Of structs that name their numbers: a series for each of these.
  template <class Part>
  void operator()(const std::string& name, std::vector<Part>& parts) {
    if (from_ != nullptr) parts.resize(size_of(name));
    for (size_t i = 0; i < parts.size(); ++i) {
      RowValues one = part(name, i);
      RowFields fields = to_ != nullptr ? RowFields(one) : RowFields(std::as_const(one));
      parts[i].values(fields);
      if (to_ != nullptr)
        for (const auto& [inner, number] : one.numbers) to_->series[name + "." + inner].push_back(number);
    }
  }

 private:
  double number(const std::string& name) const;
  const std::vector<double>& series(const std::string& name) const;
  // How many parts there are, and one of them; of no numbers where parts are written.
  size_t size_of(const std::string& name) const;
  RowValues part(const std::string& name, size_t number) const;

  RowValues* to_ = nullptr;
  const RowValues* from_ = nullptr;
};

// Both ways, by the type of the result.
template <class Result>
void visit_result(RowFields& fields, Result& result) {
  if constexpr (requires { result.values(fields); })
    result.values(fields);
  else
    fields("value", result);
}
template <class Result>
RowValues row_values(Result result) {
  RowValues values;
  RowFields fields(values);
  visit_result(fields, result);
  return values;
}
template <>
inline RowValues row_values(NamedValues result) {
  return {.numbers = std::move(result)};
}
template <class Result>
Result result_of(const RowValues& values) {
  Result result{};
  RowFields fields(values);
  visit_result(fields, result);
  return result;
}
template <>
inline NamedValues result_of(const RowValues& values) {
  return values.numbers;
}

// Every number of a result, to be compared: {"numbers": {…}, "series": {…}}.
std::string text_of(const RowValues& values);

struct GridOptions {
  std::vector<std::string> free = {};  // settings of the run that decide no training's bits
  Json of = Json::object();  // what decides them besides the run's settings, such as a norm of the user's
};

class Grid {
 public:
  // Opens the journal, and makes one where there is none. Throws Error where it belongs to a run of other settings,
  // sources or data, and where a line is damaged that others follow; with --force it begins anew then. What a kill
  // left half written at its end is dropped. Of the same settings, but other sources or data, it is taken with
  // --accept-old; the summary then says why not without, as "accepted_old". Call run.reads() before.
  explicit Grid(Run& run, GridOptions options = {});
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  // Trains the rows that nobody has trained: f(i) gives what rows[i] does. Returns all results in the order of `rows`.
  // done(i, result) is called on this thread, in that order, as soon as a row and those before it are there. Where f
  // or done throws, no more rows begin, and once those that run are complete the exception of the first row of the
  // list that threw reaches the caller.
  template <class Result, class F, class Done>
  std::vector<Result> train(const std::vector<Json>& rows, const F& f, const Done& done) {
    std::vector<Result> results;
    take(
        rows, [&](size_t i) { return row_values<Result>(f(i)); },
        [&](size_t i, const RowValues& values) {
          results.push_back(result_of<Result>(values));
          done(i, std::as_const(results.back()));
        });
    return results;
  }
  template <class Result, class F>
  std::vector<Result> train(const std::vector<Json>& rows, const F& f) {
    return train<Result>(rows, f, [](size_t, const Result&) {});
  }

  // How many rows an earlier run, or another process, had left in the journal.
  int64_t found() const { return found_; }
  // How many processes × threads train at a time, as far as this one knows.
  int64_t at_a_time() const;

  // All trainings are made: writes trainings.csv, with a line for each row that was asked for. The journal goes once
  // the results are there.
  void finish();

 private:
  class Journal;
  using Train = std::function<RowValues(size_t)>;
  using Done = std::function<void(size_t, const RowValues&)>;
  struct Taking;

  void take(const std::vector<Json>& rows, const Train& train, const Done& done);

  Run& run_;
  std::unique_ptr<Journal> journal_;
  std::vector<Json> asked_;  // every row, once, in the order of the first call
  int64_t found_ = 0;
};

// Another process wrote the results of the run that this one helped with, or began it anew.
struct EndedElsewhere : std::exception {
  const char* what() const noexcept override { return "the run was ended by another process"; }
};

}  // namespace isobar
