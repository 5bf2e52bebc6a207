// Run: what a study's body is given. It holds the folder of results, which appear as a whole or not at all.
//
//   [&](Run& run) {
//     Progress progress = run.progress(config.seeds, "seeds");
//     for (…) { run.record("loss", loss); progress.advance(); }
//     run.csv("loss.csv", {"step", "loss"}).row({step, loss});
//     run.summary()["layers"] = layers;
//     run.expect("loss falls", last < first, fmt::format("{} → {}", first, last));
//   }
//
// While the body runs, only partial files are written. When it returns, run.h5, run.log, the CSV files and
// summary.json appear; when it throws, nothing does. record_step() lets others follow the run. What a run
// records is on the disk from then on: neither memory nor checkpoints grow with the steps.
#pragma once

#include <deque>
#include <map>

#include "../../data/hdf5_file.h"
#include "../../data/metrics_file.h"
#include "plot.h"
#include "process.h"
#include "progress.h"
#include "provenance.h"
#include "result_folder.h"
#include "run_log.h"
#include "spool.h"
#include "stats.h"
#include "trained_on.h"

namespace isobar {

// How a run was started; made by run_program.
struct RunOptions {
  std::string program, preset;
  std::string folder;
  std::string resume;                       // folder of the run to go on with, or ""
  std::string command;                      // the program, as the user called it
  std::vector<std::string> arguments = {};  // that the user gave it
  std::vector<std::string> remarks = {};    // on the settings; the run begins with them
  int64_t seed = 0;
  bool preset_unchanged = true;
  bool json = false, force = false;
  bool accept_old = false;  // results that are there count, whatever sources and data they are of
  // Why a finished run of this configuration may not be replaced without `force`; null: it never may.
  std::function<std::string(const Json& config)> obstacle = {};
  Json config;  // seed, preset and all settings
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  LogLevel log_level = LogLevel::info;  // of what the console shows
  bool bars = true;                     // progress is shown
  Ranks* ranks = &Ranks::alone();       // of several the first alone writes and talks
  std::vector<TrainedOn> trained = {};  // summary.json says it
  bool shares = false;  // its trainings are a grid's: where another process has the folder, this one helps
};

// What a study wants of a line of metrics.jsonl and of one of modules.jsonl: throws Error where that is not so.
struct LineChecks {
  std::function<void(const StepLine&)> step = {}, module = {};
};

class Run {
 public:
  static constexpr double no_theory = std::numeric_limits<double>::quiet_NaN();

  // Takes the folder. Throws Error when it cannot (see ResultFolder). Writes a first run.partial.h5, unless a run that
  // did not finish left its own: then nothing in the folder changes until this run has something to keep or shows its
  // progress, so that a run that is refused before loses nothing of the other's.
  explicit Run(RunOptions options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  int64_t seed() const { return options_.seed; }
  const std::string& preset() const { return options_.preset; }
  // True when neither a config file nor a flag moved a setting away from the preset's value (`--seeds` and
  // `--seed` aside): only then do the preset's expectations hold.
  bool preset_unchanged() const { return options_.preset_unchanged; }
  const std::string& folder() const { return options_.folder; }
  Ranks& ranks() const { return *options_.ranks; }
  // Whether the results will be this process's. Ranks but the first only help to train, and so does a process that
  // shares the folder of another one (grid.h).
  bool writes() const { return folder_ != nullptr; }
  bool helps_another() const { return folder_ == nullptr && ranks().first(); }
  bool force() const { return options_.force; }
  bool accept_old() const { return options_.accept_old; }
  // Whether an earlier run of this program is or was in the folder: what it made there may be replaced.
  bool goes_on() const { return folder_ != nullptr && folder_->goes_on(); }
  // As --print-config prints it.
  const Json& config() const { return options_.config; }
  // For a run of one seed that is a part of this one, in the folder `name` of this one's: the same settings
  // with "seeds" 1. The console shows its progress and warnings alone.
  RunOptions part(const std::string& name, int64_t seed) const;

  // --- results
  // Appends to the series "/series/<name>" of run.h5: one value, or a row of always the same length. Series
  // and tables take no memory that grows with the run: all but their ends are in a temporary file.
  void record(const std::string& name, double value);
  void record(const std::string& name, std::span<const double> row);
  // A step is done: all metrics make a line of metrics.jsonl. In the end they are series of run.h5, and
  // /metrics lists them. With the first step metrics.jsonl and modules.jsonl appear, which stay if the run
  // ends early, and an earlier run's files and run.partial.h5 go. Steps count from 0, or from those restored. Throws Error unless
  // the names are always the same.
  void record_step(const std::vector<Metric>& metrics);
  // A line of modules.jsonl, before the step's record_step(). In the end each list of numbers is a row of the
  // series of its name in run.h5, a list of texts, the same in all lines, the texts of its name, and the step
  // a row of /series/module_step; single numbers are in modules.jsonl alone.
  void record_modules(const std::vector<StepValue>& values);
  // How many steps are done.
  int64_t steps() const { return lines_.steps; }
  // The lines so far; none on ranks but the first.
  void read_steps(const std::function<void(const StepLine&)>& take) const;
  void read_modules(const std::function<void(const StepLine&)>& take) const;
  // Writes all series and the study's own datasets to run.partial.h5, so that what was recorded so far
  // survives a kill, in some ten milliseconds: call it now and then. A run that takes steps needs no such file.
  void flush();
  // run.h5, for datasets and attributes of the study's own; it has no series until the end.
  Hdf5File& file() { return file_; }
  // A new DIR/<name>; the reference stays valid. Tables of steps are written from the lines, once all steps are
  // done: these are restored where a run goes on, tables are not.
  Csv& csv(const std::string& name, const std::vector<std::string>& columns);
  // A new DIR/<name> of this text.
  void text_file(const std::string& name, std::string text) { texts_.emplace_back(name, std::move(text)); }
  // The path of a file in the folder that is not of one run alone and stays, as a journal.
  std::string staying_file(const std::string& name);
  // That file goes once the results are there: until then it is what a killed run goes on from.
  void remove_when_finished(const std::string& name);
  // Calls this once, before this run's lines take the place of an earlier run's.
  void before_lines(std::function<void()> what) { before_lines_ = std::move(what); }
  // The study's own part of summary.json. The harness adds the rest. Everything here must be equal from run
  // to run; what is not goes to timing() or environment().
  Json& summary() { return summary_; }
  Json& timing() { return timing_; }
  Json& environment() { return environment_; }
  const Json& environment() const { return environment_; }

  // The run reads this data: "data" of its environment has the checksum, by the name. A file without a checksum is made
  // by the program, such as the synthetic text.
  void reads(const DataFile& file);

  // A value that decides claims, over the seeds or single: it is under "measured" of summary.json,
  // with the closed form beside it where there is one. Throws Error when the key was there already.
  void measured(const std::string& key, const Spread& spread, double theory = no_theory);
  void measured(const std::string& key, double value, double theory = no_theory);

  // Curves for the report (report.cpp); they stand under "plots" of summary.json.
  void plot(const Plot& plot) { summary_["plots"].push_back(to_json(plot)); }
  void plot(const Heatmap& heatmap) { summary_["heatmaps"].push_back(to_json(heatmap)); }
  void plot(const Ridges& ridges) { summary_["ridges"].push_back(to_json(ridges)); }

  // Our measurement against a closed form or reference; a failed one makes the program exit with 1.
  void expect(const std::string& name, bool ok, const std::string& detail);

  // The run that this one goes on with, or "", and how a user goes on with this one.
  const std::string& resume_folder() const { return options_.resume; }
  std::string resume_command() const { return command("--resume", options_.folder); }
  // The program as it was called, with this option.
  std::string command(const std::string& flag, const std::string& value) const;
  // What a checkpoint says of the lines: how many steps are done, how many lines modules.jsonl has, and a checksum of
  // the lines of each file, "" where there are none or an older isobar kept none.
  struct Lines {
    static constexpr int64_t unknown = -1;
    int64_t steps = 0, modules = 0;
    std::string steps_sum = {}, modules_sum = {};
  };
  // Brings all lines to the disk, so that a checkpoint never stands for lines that a power failure takes.
  Lines sync_lines();
  // Reads so many lines of metrics.jsonl and modules.jsonl in `folder`, which may be this run's, and changes nothing.
  // Throws Error where they are not there, or not what a run writes.
  void read_earlier(const std::string& folder, const Lines& lines, const LineChecks& checks = {});
  // Begins this run's files with those lines, once they are read. Where it throws, its folder is as it was.
  void restore(const std::string& folder);

  // --- talking: on stdout, or on stderr under --json
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    say_text(fmt::format(format, std::forward<Args>(args)...));
  }
  // The text as it is: end it with a newline. run.log has it too, each line with its time.
  void say_text(const std::string& text);
  // One line on stderr, "warning: …".
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    log_.warn(fmt::format(format, std::forward<Args>(args)...));
  }
  // Lines for run.log, and for the console with --log_level debug.
  void note(const std::string& text) { log_.note(text); }
  // The reason for which the body ended, for run.log alone: the user reads it elsewhere.
  void keep_reason(const std::string& text) { log_.keep(text, LogLevel::error); }
  // A progress bar on stderr, where `done` of them are done.
  Progress progress(int64_t total, const std::string& unit, int64_t done = 0);
  // Where say() writes.
  std::FILE* stream() const { return options_.json ? options_.err : options_.out; }

  // Makes the results appear, prints expectations and the folder (or the summary, under --json),
  // and returns the exit code: 0, or 1 when an expectation failed. Called by run_program after the body.
  int finish();

 private:
  // From here on the folder is changed. `growing` as ResultFolder::begin() takes them.
  void begin(const std::vector<std::string>& growing = {});
  void begin_growing();
  void take_place_of_lines();
  std::unique_ptr<ResultFolder> take_folder();
  bool resumes_in_place() const;
  void begin_lines();
  void take_names(const std::vector<Metric>& metrics);
  void take_texts(const std::vector<StepValue>& values);
  void save_h5();
  void log_start();
  Json whole_summary() const;
  void report(const Json& summary);

  struct Series {
    size_t length;  // of a row
    Spool rows;
  };

  RunOptions options_;
  std::chrono::steady_clock::time_point start_;
  std::unique_ptr<ResultFolder> folder_;  // null unless this process writes
  std::string partial_h5_, partial_log_;  // paths
  bool begun_ = false;
  RunLog log_;
  Hdf5File file_;
  std::shared_ptr<SpoolFile> spool_;
  std::map<std::string, Series> recorded_;
  std::optional<MetricsFile> metrics_, modules_;  // of a run that takes steps, on the first rank
  std::vector<std::string> metric_names_;
  std::map<std::string, std::vector<std::string>> module_texts_;
  Lines lines_;
  std::function<void()> before_lines_;
  std::deque<Csv> csvs_;
  std::vector<std::pair<std::string, std::string>> texts_;  // other files
  Json environment_, summary_ = Json::object(), timing_ = Json::object();
  Json expectations_ = Json::array();
  bool failed_ = false;
};

}  // namespace isobar
