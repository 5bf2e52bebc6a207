#include "run.h"

#include <fmt/chrono.h>

#include <cstring>

#include "../../autograd/ops.h"
#include "../../core/profile.h"
#include "../../data/file.h"
#include "environment.h"
#include "lists.h"
#include "table.h"

namespace isobar {
namespace {

void write_attributes(Hdf5File& file, const std::string& group, const Json& values) {
  file.make_group(group);
  for (const auto& [name, value] : values.items()) {
    if (file.has_attribute(group, name)) continue;
    if (value.is_number_float())
      file.set_attribute(group, name, value.get<double>());
    else if (value.is_number_integer())
      file.set_attribute(group, name, value.get<int64_t>());
    else if (value.is_boolean())
      file.set_attribute(group, name, int64_t{value.get<bool>()});
    else
      file.set_attribute(group, name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

std::vector<double> numbers_of(const std::string& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// Bytes of series for run.partial.h5 that wait in memory, in a run of fast steps.
constexpr size_t most_waiting = size_t{1} << 18;

// Ranks but the first talk to nobody, and have no folder.
RunOptions of_rank(RunOptions options) {
  if (!options.ranks->first()) {
    options.bars = options.json = false;
    options.log_level = LogLevel::off;
  }
  return options;
}

}  // namespace

Run::Run(RunOptions options)
    : options_(of_rank(std::move(options))),
      start_(std::chrono::steady_clock::now()),
      folder_(options_.ranks->first() ? std::make_unique<ResultFolder>(options_.folder, options_.force)
                                      : nullptr),
      partial_h5_(folder_ ? folder_->partial("run.h5") : ""),
      log_(folder_ ? folder_->partial("run.log") : "/dev/null",
           options_.resume == options_.folder ? RunLog::Begin::after_what_is_there : RunLog::Begin::anew,
           {stream(), options_.err, options_.log_level}),
      file_(Hdf5File::create("run.h5")),
      spool_(std::make_shared<SpoolFile>(folder_ ? folder_->path() : "")),
      environment_(current_environment()) {
  environment_["out"] = options_.folder;
  if (options_.ranks->size() > 1) environment_["ranks"] = options_.ranks->size();
  log_start();
  file_.set_attribute("/", "program", options_.program);
  write_attributes(file_, "/config", options_.config);
  write_attributes(file_, "/environment", environment_);
  flush();
}

// How the run was called and on what, so that run.log alone says how to make it again.
void Run::log_start() {
  note(fmt::format("{} {}, seed {}", options_.program, isobar_version(), options_.seed));
  std::vector<std::string> words = options_.arguments;
  words.insert(words.begin(), options_.command);
  note("command: " + shell_line(words));
  note(fmt::format("config: {}", options_.config.dump()));
  for (const auto& [name, value] : environment_.items())
    note(fmt::format("{}: {}", name, value.is_string() ? value.get<std::string>() : value.dump()));
}

void Run::record(const std::string& name, double value) { record(name, std::span<const double>(&value, 1)); }
void Run::record(const std::string& name, std::span<const double> row) {
  check(!row.empty(), "series '{}': wanted a row of at least one value", name);
  Recorded& series = recorded_.try_emplace(name, Recorded{row.size(), Spool(spool_)}).first->second;
  check(row.size() == series.length, "series '{}': wanted a row of {} values, got {}", name, series.length,
        row.size());
  series.rows.append({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
  if (!live_) return;
  const std::string path = "/series/" + name;
  if (!live_->has_series(path))
    return live_.reset();  // it cannot take a new one: the next flush makes another
  live_->append(path, row);
  waiting_ += row.size_bytes();
}

size_t Run::rows_of(const std::string& series) const {
  const auto found = recorded_.find(series);
  return found == recorded_.end() ? 0 : found->second.rows.size() / (found->second.length * sizeof(double));
}

Hdf5File& Run::whole_file() {
  for (auto& [name, series] : recorded_) {
    const std::vector<double> fresh = numbers_of(series.rows.bytes(series.in_h5));
    if (!fresh.empty()) file_.append<double>("/series/" + name, fresh, series.length);
    series.in_h5 = series.rows.size();
  }
  return file_;
}

void Run::record_step(const std::vector<Metric>& metrics) {
  const Phase phase("records");
  if (metric_names_.empty()) {
    std::vector<std::string> names;
    for (const Metric& metric : metrics) names.push_back(metric.name);
    begin_steps(names);
  }
  check(std::equal(metrics.begin(), metrics.end(), metric_names_.begin(), metric_names_.end(),
                   [](const Metric& metric, const std::string& name) { return metric.name == name; }),
        "record_step: wanted the metrics of the first step in its order, {}", fmt::join(metric_names_, ", "));
  for (const Metric& metric : metrics) record(metric.name, metric.value);
  const std::string line = metrics_line(steps_++, metrics);
  if (metrics_) metrics_->append(line);
  log_.note(std::string_view(line).substr(0, line.size() - 1), LogLevel::trace);
  if (waiting_ > most_waiting || std::chrono::steady_clock::now() - flushed_ >= std::chrono::seconds(1))
    flush();
}

void Run::begin_steps(const std::vector<std::string>& names) {
  metric_names_ = names;
  if (!file_.has("/metrics")) file_.write("/metrics", names);
  std::vector<std::vector<double>> past;  // by metric, by step
  for (const std::string& name : names) {
    const auto series = recorded_.find(name);
    past.push_back(series == recorded_.end() ? std::vector<double>()
                                             : numbers_of(series->second.rows.bytes()));
    check(past.back().size() == past.front().size(),
          "series '{}': wanted a value for each of {} steps, got {}", name, past.front().size(),
          past.back().size());
  }
  std::string lines;
  for (; !past.empty() && steps_ < static_cast<int64_t>(past.front().size()); ++steps_) {
    std::vector<Metric> metrics;
    for (size_t i = 0; i < names.size(); ++i)
      metrics.push_back({names[i], past[i][static_cast<size_t>(steps_)]});
    lines += metrics_line(steps_, metrics);
  }
  if (folder_) metrics_.emplace(folder_->growing("metrics.jsonl"), lines);
  flushed_ = {};  // the next step makes run.partial.h5 one that grows
}

void Run::flush() {
  if (!folder_) return;
  if (!metrics_)
    whole_file().save(partial_h5_);
  else if (readable_)
    show_to_readers();
  waiting_ = 0;
  flushed_ = std::chrono::steady_clock::now();
}

void Run::show_to_readers() {
  try {
    if (!live_) {
      std::vector<LiveHdf5File::Series> all;
      for (const auto& [name, series] : recorded_) all.push_back({"/series/" + name, series.length});
      live_.emplace(partial_h5_, file_, all);
      for (const auto& [name, series] : recorded_)
        live_->append("/series/" + name, numbers_of(series.rows.bytes()));
    }
    live_->flush();
  } catch (const Error& error) {
    readable_ = false;
    live_.reset();
    warn("{}; the run goes on, and its series can be read when it has ended", error.what());
  }
}

Csv& Run::csv(const std::string& name, const std::vector<std::string>& columns) {
  return csvs_.emplace_back(name, columns, spool_);
}

RunState Run::state() const {
  RunState state;
  for (const std::string& name : file_.names("/")) {
    if (name == "config" || name == "environment" || name == "series") continue;
    state.lists.emplace(name, file_.read_strings("/" + name));
  }
  for (const auto& [name, series] : recorded_) {
    const std::vector<double> rows = numbers_of(series.rows.bytes());
    const auto length = static_cast<int64_t>(series.length), n = static_cast<int64_t>(rows.size()) / length;
    state.series.emplace(name, tensor(length == 1 ? Shape{n} : Shape{n, length}, rows));
  }
  return state;
}

void Run::restore(const RunState& state) {
  for (const auto& [name, values] : state.series) {
    const Tensor packed = contiguous(values);
    const std::span<const double> numbers(packed.data<double>(), static_cast<size_t>(packed.numel()));
    const size_t length = values.ndim() == 1 ? 1 : static_cast<size_t>(values.size(1));
    for (size_t i = 0; i < numbers.size(); i += length) record(name, numbers.subspan(i, length));
  }
  for (const auto& [name, texts] : state.lists) file_.write("/" + name, texts);
  if (const auto steps = state.lists.find("metrics"); steps != state.lists.end()) begin_steps(steps->second);
}

RunOptions Run::part(const std::string& name, int64_t seed) const {
  RunOptions part = options_;
  part.folder += "/" + name;
  part.seed = part.config["seed"] = seed;
  if (part.config.contains("seeds")) part.config["seeds"] = 1;
  part.out = stream();
  part.json = false;
  part.log_level = std::max(part.log_level, LogLevel::warn);
  return part;
}

std::string Run::command(const std::string& flag, const std::string& value) const {
  return shell_line(std::vector{options_.command, flag, value});
}

void Run::reads(const DataFile& file) {
  if (file.xxh3.empty()) return;
  note(fmt::format("data: {}, xxh3 {}", file.name, file.xxh3));
  environment_["data"][file.name] = file.xxh3;
}

void Run::measured(const std::string& key, const Spread& spread, double theory) {
  Json& all = summary_["measured"];
  check(!all.contains(key), "measured: '{}' was measured already", key);
  all[key] = to_json(spread);
  if (!std::isnan(theory)) all[key]["theory"] = theory;
}
void Run::measured(const std::string& key, double value, double theory) {
  measured(key, spread_of(std::span<const double>(&value, 1)), theory);
}

void Run::expect(const std::string& name, bool ok, const std::string& detail) {
  expectations_.push_back({{"name", name}, {"ok", ok}, {"detail", detail}});
  failed_ |= !ok;
}

void Run::say_text(const std::string& text) { log_.say(text); }

Progress Run::progress(int64_t total, const std::string& unit, int64_t done) {
  return Progress(total, unit, options_.bars ? options_.err : nullptr, done);
}

Json Run::whole_summary() const {
  Json summary = {{"program", options_.program},
                  {"config", options_.config},
                  {"environment", environment_},
                  {"timing", timing_}};
  for (const auto& [name, value] : summary_.items()) {
    check(!summary.contains(name), "summary: '{}' is the harness's own key", name);
    summary[name] = value;
  }
  summary["expectations"] = expectations_;
  summary["files"] = folder_->names();
  return with_named_infinities(summary);
}

int Run::finish() {
  if (!folder_) return failed_ ? 1 : 0;
  if (!environment_.contains("data")) environment_["data"] = Json::object();
  write_attributes(file_, "/environment", environment_);  // those that the study added
  live_.reset();
  whole_file().save(partial_h5_);
  if (metrics_) metrics_->sync();
  for (const Csv& csv : csvs_) write_file_atomically(folder_->partial(csv.name()), csv.text());
  for (const auto& [name, text] : texts_) write_file_atomically(folder_->partial(name), text);
  const std::string summary_path = folder_->partial("summary.json");

  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  timing_["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));  // UTC
  timing_["wall_s"] = passed.count();
  timing_["peak_rss_mib"] = peak_memory_mib();
  const Json summary = whole_summary();
  write_file_atomically(summary_path, json_text(summary));
  folder_->publish();
  report(summary);
  return failed_ ? 1 : 0;
}

void Run::report(const Json& summary) {
  if (!expectations_.empty()) {
    size_t met = 0;
    say("\n");
    for (const Json& e : expectations_)
      if (e["ok"])
        ++met;
      else
        log_.note(fmt::format("EXPECTATION FAILED: {}: {}", e["name"].get<std::string>(),
                              e["detail"].get<std::string>()),
                  LogLevel::error);
    say("{} of {} expectations met (checks of the program itself, not of a text)\n", met,
        expectations_.size());
  }
  say("results: {}/ ({})\n", folder_->path(), fmt::join(folder_->names(), ", "));
  if (options_.json) fmt::print(options_.out, "{}", json_text(summary));
  check(std::fflush(options_.out) == 0 && std::ferror(options_.out) == 0,
        "stdout: cannot write; is the disk full?");
}

}  // namespace isobar
