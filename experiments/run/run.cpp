#include "run.h"

#include <fmt/ranges.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "../../core/phase.h"
#include "../../data/file.h"
#include "../../data/utf8_stream.h"
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

constexpr const char *steps_name = "metrics.jsonl", *modules_name = "modules.jsonl";

// Ranks but the first talk to nobody, and have no folder.
RunOptions of_rank(RunOptions options) {
  if (!options.ranks->first()) {
    options.bars = options.json = false;
    options.log_level = LogLevel::off;
  }
  return options;
}

// A checksum of a file's lines as it grows: that of the one before and the line.
void add_to(std::string& sum, std::string_view line) { sum = checksum(sum.append(line)); }

// Of today: "2026-11-28". (fmt 10's chrono.h does not compile with clang 22.)
std::string utc_date() {
  const std::chrono::year_month_day today{
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(today.year()),
                     static_cast<unsigned>(today.month()), static_cast<unsigned>(today.day()));
}

}  // namespace

Run::Run(RunOptions options)
    : options_(of_rank(std::move(options))),
      start_(std::chrono::steady_clock::now()),
      folder_(take_folder()),
      partial_h5_(folder_ ? folder_->partial("run.h5") : ""),
      partial_log_(folder_ ? folder_->partial("run.log") : ""),
      log_({stream(), options_.err, options_.log_level}),
      file_(Hdf5File::create("run.h5")),
      spool_(std::make_shared<SpoolFile>(folder_ ? folder_->path() : "")),
      environment_(current_environment()) {
  environment_["out"] = options_.folder;
  if (options_.ranks->size() > 1) environment_["ranks"] = options_.ranks->size();
  log_start();
  file_.set_attribute("/", "program", options_.program);
  write_attributes(file_, "/config", options_.config);
  write_attributes(file_, "/environment", environment_);
  if (!folder_) log_.close();
  if (folder_ && !folder_->holds_unfinished()) begin();
}

// Null on ranks but the first, and where another process has the folder, which this one may help.
std::unique_ptr<ResultFolder> Run::take_folder() {
  if (!options_.ranks->first()) return nullptr;
  const FolderRights rights{.program = options_.program,
                            .force = options_.force,
                            .resumes = resumes_in_place(),
                            .shares = options_.shares,
                            .obstacle = options_.obstacle};
  for (int left = 100;; --left) {
    try {
      return std::make_unique<ResultFolder>(options_.folder, rights);
    } catch (const FolderInUse&) {
      const std::string program = program_of_unfinished(options_.folder);
      const bool may_help = options_.shares && options_.ranks->size() == 1;
      if (may_help && program == options_.program) break;
      if (!may_help || !program.empty() || left == 0) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it has not begun
  }
  options_.json = false;
  options_.log_level = std::max(options_.log_level, LogLevel::warn);
  return nullptr;
}

bool Run::resumes_in_place() const {
  std::error_code none;  // a folder that is not there is another one
  return !options_.resume.empty() && std::filesystem::equivalent(options_.resume, options_.folder, none);
}

void Run::begin(const std::vector<std::string>& growing) {
  if (!folder_ || std::exchange(begun_, true)) return;
  folder_->begin(with_named_infinities({{"program", options_.program}, {"config", options_.config}}),
                 growing);
  log_.open(partial_log_, resumes_in_place() ? RunLog::Begin::after_what_is_there : RunLog::Begin::anew);
  if (growing.empty()) flush();  // else the lines say more
}

void Run::begin_growing() {
  if (begun_)
    folder_->growing({steps_name, modules_name});
  else
    begin({steps_name, modules_name});
}

void Run::take_place_of_lines() {
  if (before_lines_) {
    begin();
    before_lines_();
  }
  begin_growing();
}

std::string Run::staying_file(const std::string& name) {
  begin();
  return folder_ ? folder_->staying(name) : options_.folder + "/" + name;
}

void Run::remove_when_finished(const std::string& name) {
  if (folder_) folder_->goes_when_published(name);
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
  check(std::ranges::count(metric_names_, name) == 0, "series '{}': has that metric's values already", name);
  begin();
  Series& series = recorded_.try_emplace(name, Series{row.size(), Spool(spool_)}).first->second;
  check(row.size() == series.length, "series '{}': wanted a row of {} values, got {}", name, series.length,
        row.size());
  if (folder_) series.rows.append({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
}

void Run::record_step(const std::vector<Metric>& metrics) {
  const Phase phase("records");
  take_names(metrics);
  const std::string line = metrics_line(lines_.steps++, metrics);
  if (folder_) {
    begin_lines();
    metrics_->append(line);
    add_to(lines_.steps_sum, line);
  }
  log_.note(std::string_view(line).substr(0, line.size() - 1), LogLevel::trace);
}

void Run::take_names(const std::vector<Metric>& metrics) {
  if (metric_names_.empty()) {
    for (const Metric& metric : metrics) {
      check(!recorded_.contains(metric.name), "record_step: '{}' is the name of a series", metric.name);
      metric_names_.push_back(metric.name);
    }
    file_.write("/metrics", metric_names_);
  }
  check(std::ranges::equal(metrics, metric_names_, {}, &Metric::name),
        "record_step: wanted the metrics of the first step in its order, {}", fmt::join(metric_names_, ", "));
}

void Run::record_modules(const std::vector<StepValue>& values) {
  if (!folder_) return;
  const Phase phase("records");
  begin_lines();
  take_texts(values);
  const std::string line = step_line(lines_.steps, values);
  modules_->append(line);
  add_to(lines_.modules_sum, line);
  ++lines_.modules;
}

void Run::take_texts(const std::vector<StepValue>& values) {
  for (const auto& [name, value] : values) {
    const auto* texts = std::get_if<std::vector<std::string>>(&value);
    if (texts == nullptr) continue;
    const auto [known, is_new] = module_texts_.try_emplace(name, *texts);
    if (is_new) file_.write("/" + name, *texts);
    check(known->second == *texts, "record_modules: wanted the {} of the lines before, got others",
          one_line(name));
  }
}

void Run::begin_lines() {
  if (metrics_) return;
  take_place_of_lines();
  metrics_.emplace(folder_->path() + "/" + steps_name);
  modules_.emplace(folder_->path() + "/" + modules_name);
  std::filesystem::remove(partial_h5_);
}

void Run::read_steps(const std::function<void(const StepLine&)>& take) const {
  if (metrics_) StepLines(metrics_->path()).read(take);
}

void Run::read_modules(const std::function<void(const StepLine&)>& take) const {
  if (modules_) StepLines(modules_->path()).read(take);
}

Run::Lines Run::sync_lines() {
  for (std::optional<MetricsFile>* file : {&metrics_, &modules_})
    if (*file) (*file)->sync();
  return lines_;
}

void Run::read_earlier(const std::string& folder, const Lines& lines, const LineChecks& checks) {
  lines_ = {lines.steps, lines.modules};
  if (!folder_) return;
  const auto take_step = [&, step = int64_t{0}](const StepLine& line) mutable {
    add_to(lines_.steps_sum, step_line(line.step, line.values));
    check(line.step == step, "wanted step {}, got {}", step, line.step);
    ++step;
    if (checks.step) checks.step(line);
    std::vector<Metric> metrics;
    for (const StepValue& value : line.values) metrics.push_back({value.name, line.number(value.name)});
    take_names(metrics);
  };
  const auto take_modules = [&, last = int64_t{-1}](const StepLine& line) mutable {
    add_to(lines_.modules_sum, step_line(line.step, line.values));
    check(line.step > last && line.step < lines.steps, "wanted a step after {} and before {}, got {}", last,
          lines.steps, line.step);
    last = line.step;
    if (checks.module) checks.module(line);
    take_texts(line.values);
  };
  const auto read = [&](const std::string& path, int64_t count, const auto& take, const std::string& wanted,
                        const std::string& got) {
    const int64_t there = StepLines(path).read(take, {}, count);
    check(there == count, "{}: wanted at least {} whole lines, got {}", path, count, there);
    check(wanted.empty() || got == wanted,
          "{}: wanted the first {} lines as the run wrote them (checksum {}), got others ({})", path, count,
          wanted, got);
  };
  read(folder + "/" + steps_name, lines.steps, take_step, lines.steps_sum, lines_.steps_sum);
  read(folder + "/" + modules_name, lines.modules, take_modules, lines.modules_sum, lines_.modules_sum);
}

void Run::restore(const std::string& folder) {
  if (!folder_) return;
  const std::string steps_path = folder_->path() + "/" + steps_name,
                    modules_path = folder_->path() + "/" + modules_name;
  folder_->remove_leftovers();
  OutputFile metrics(steps_path), modules(modules_path);
  copy_lines(folder + "/" + steps_name, lines_.steps, metrics);
  copy_lines(folder + "/" + modules_name, lines_.modules, modules);
  for (OutputFile* file : {&metrics, &modules}) file->finish();
  take_place_of_lines();  // not before: a run that is refused, by a full disk too, changes nothing
  metrics_.emplace(steps_path, std::move(metrics));
  modules_.emplace(modules_path, std::move(modules));
  std::filesystem::remove(partial_h5_);
}

void Run::flush() {
  if (!folder_) return;
  begin();
  if (!metrics_) save_h5();
}

// Reads each file once, and holds no more of it than some rows.
void Run::save_h5() {
  constexpr size_t block = 8192;
  Hdf5Output output(partial_h5_, file_);
  for (const auto& [name, series] : recorded_) {
    const size_t row = series.length * sizeof(double), step = std::max<size_t>(block / row, 1) * row;
    for (size_t done = 0; done < series.rows.size(); done += step) {
      const std::string bytes = series.rows.bytes(done, step);
      std::vector<double> rows(bytes.size() / sizeof(double));
      std::memcpy(rows.data(), bytes.data(), bytes.size());
      output.append("/series/" + name, rows, series.length);
    }
  }
  std::exception_ptr failure;  // of writing: it names what is written, and not the line that was read
  const auto written = [&](const auto& write) {
    return [&failure, write](const StepLine& line) {
      try {
        if (failure == nullptr) write(line);
      } catch (const Error&) {
        failure = std::current_exception();
      }
    };
  };
  read_steps(written([&](const StepLine& line) {
    for (const std::string& name : metric_names_)
      output.append("/series/" + name, std::array{line.number(name)}, 1);
  }));
  read_modules(written([&](const StepLine& line) {
    output.append("/series/module_step", std::array{static_cast<double>(line.step)}, 1);
    for (const auto& [name, value] : line.values)
      if (const auto* row = std::get_if<std::vector<double>>(&value); row && !row->empty())
        output.append("/series/" + name, *row, row->size());
  }));
  if (failure != nullptr) std::rethrow_exception(failure);
  output.save();
}

Csv& Run::csv(const std::string& name, const std::vector<std::string>& columns) {
  begin();
  return csvs_.emplace_back(name, columns, spool_);
}

RunOptions Run::part(const std::string& name, int64_t seed) const {
  RunOptions part = options_;
  part.folder += "/" + name;
  refuse_link(part.folder);
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
  begin();
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
  if (!options_.trained.empty()) summary["trained"] = trained_json(options_.trained, summary);
  summary["expectations"] = expectations_;
  summary["files"] = folder_->names();
  return with_named_infinities(summary);
}

int Run::finish() {
  if (!folder_) return failed_ ? 1 : 0;
  if (!environment_.contains("data")) environment_["data"] = Json::object();
  begin();
  write_attributes(file_, "/environment", environment_);  // those that the study added
  sync_lines();
  save_h5();
  for (const Csv& csv : csvs_) csv.save(folder_->partial(csv.name()));
  for (const auto& [name, text] : texts_) write_file_atomically(folder_->partial(name), text);
  const std::string summary_path = folder_->partial("summary.json");

  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  timing_["date"] = utc_date();
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
