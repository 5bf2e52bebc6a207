#include "grid.h"

#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "../../autograd/profile.h"
#include "../../core/parallel.h"
#include "../../core/serial_loops.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "lock_file.h"
#include "program.h"

namespace isobar {
namespace {

using namespace std::chrono_literals;

constexpr const char* table_name = "trainings.csv";
constexpr uint64_t journal_byte = 0;  // of the journal: whoever reads or writes it
constexpr size_t most_bytes = size_t{1} << 30;

// A line of the journal: the object, and as its first member the checksum of what follows.
constexpr std::string_view sum_begin = "{\"xxh3\":\"", sum_end = "\",";
constexpr size_t sum_length = 16, body_begin = sum_begin.size() + sum_length + sum_end.size();

std::string journal_line(const Json& object) {
  const std::string body =
      with_named_infinities(object).dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
  return fmt::format("{}{}{}{}\n", sum_begin, checksum(body), sum_end, body);
}

// Whether the line, without its newline, is as it was written.
bool is_whole(std::string_view line) {
  return line.size() > body_begin && line.starts_with(sum_begin) &&
         checksum(line.substr(body_begin)) == line.substr(sum_begin.size(), sum_length);
}

struct Lines {
  std::vector<std::string_view> whole;
  size_t end = 0;        // of the last of them
  bool damaged = false;  // a line behind the end is not whole, and one behind that is
};
Lines lines_in(std::string_view text) {
  Lines lines;
  bool good = true;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1) {
    const std::string_view line = text.substr(at, end - at);
    const bool whole = is_whole(line);
    lines.damaged |= whole && !good;
    good &= whole;
    if (!good) continue;
    lines.whole.push_back(line);
    lines.end = end + 1;
  }
  return lines;
}

Json object_in(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found != json.end() && found->is_object() ? *found : Json::object();
}

std::string key_of(const Json& settings) { return with_named_infinities(settings).dump(); }

uint64_t byte_of(const std::string& key) { return 1 + (std::stoull(checksum(key), nullptr, 16) >> 3); }

Csv::Cell cell_of(const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_boolean()) return static_cast<int64_t>(value.get<bool>());
  if (value.is_number_float()) return value.get<double>();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// What decides the bits of all rows.
Json heading_of(const Run& run, const GridOptions& options) {
  Json config = run.config();
  for (const std::string& name : options.free) config.erase(name);
  Json heading = {{"config", config}};
  heading.update(options.of);
  return with_named_infinities(heading);
}

}  // namespace

double RowFields::number(const std::string& name) const {
  const auto found = from_->numbers.find(name);
  check(found != from_->numbers.end(),
        "grid: a row of the journal has no number '{}'; add --force to begin anew", one_line(name));
  return found->second;
}

const std::vector<double>& RowFields::series(const std::string& name) const {
  const auto found = from_->series.find(name);
  check(found != from_->series.end(),
        "grid: a row of the journal has no series '{}'; add --force to begin anew", one_line(name));
  return found->second;
}

size_t RowFields::size_of(const std::string& name) const {
  const auto first = from_->series.lower_bound(name + ".");
  return first != from_->series.end() && first->first.starts_with(name + ".") ? first->second.size() : 0;
}

RowValues RowFields::part(const std::string& name, size_t number) const {
  RowValues part;
  if (from_ == nullptr) return part;
  for (const auto& [inner, values] : from_->series)
    if (inner.starts_with(name + ".") && number < values.size())
      part.numbers[inner.substr(name.size() + 1)] = values[number];
  return part;
}

std::string text_of(const RowValues& values) {
  return with_named_infinities({{"numbers", values.numbers}, {"series", values.series}}).dump();
}

// --- the journal: for one thread at a time

class Grid::Journal {
 public:
  Journal(Run& run, const GridOptions& options)
      : path_(run.staying_file(journal_name)),
        helps_(!run.writes()),
        locks_(open(run.folder() + "/" + lock_name)) {
    const Json heading = heading_of(run, options),
               now = provenance(isobar_sources(), run.environment().value("data", Json::object()));
    if (helps_)
      wait_for_heading();
    else
      file_ = std::make_unique<LockFile>(path_);
    if (takes(run, heading, now)) return;
    // A new file: another process that has the old one open sees that it was replaced.
    std::filesystem::remove(path_);
    file_ = std::make_unique<LockFile>(path_);
    const Held held(*file_);
    append_to(file_->descriptor(), journal_line({{"of", heading}, {"provenance", now}}), path_);
    read_ = text_from(0).size();
  }

  const RowValues* find(const std::string& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : &found->second;
  }
  int64_t size() const { return std::ssize(rows_); }

  // Reads what this process and others have written. What has no newline was left by a process that was killed.
  void refresh() {
    const Held held(*file_);
    read_on();
  }
  void append(const Json& settings, const RowValues& values) {
    const Held held(*file_);
    read_on();
    append_to(file_->descriptor(),
              journal_line({{"settings", settings}, {"numbers", values.numbers}, {"series", values.series}}),
              path_);
    read_on();
  }

  // Takes the row if nobody has; a row that is complete is nobody's any more.
  bool take(const std::string& key) {
    if (!locks_->try_lock(byte_of(key))) return false;
    refresh();  // whoever had it may have finished
    if (find(key) != nullptr) locks_->unlock(byte_of(key));
    return find(key) == nullptr;
  }
  void give_back(const std::string& key) { locks_->unlock(byte_of(key)); }

 private:
  struct Held {
    LockFile& file;
    explicit Held(LockFile& of) : file(of) { file.lock(journal_byte); }
    Held(const Held&) = delete;
    ~Held() { file.unlock(journal_byte); }
  };

  // The process that writes the results removes both files with them: one that helps makes neither, or it would leave
  // them there for ever.
  std::unique_ptr<LockFile> open(const std::string& path) const {
    auto file = std::make_unique<LockFile>(path, helps_ ? IfMissing::leave : IfMissing::make);
    if (helps_ && !file->is_there()) throw EndedElsewhere();
    return file;
  }

  std::string text_from(size_t begin) const {
    struct stat status {};
    const bool known = ::fstat(file_->descriptor(), &status) == 0;
    if (!known || !file_->is_there() || static_cast<size_t>(status.st_size) < begin) {
      if (helps_) throw EndedElsewhere();
      throw_error(
          fmt::format("{}: it was removed or replaced while this run went on; start the run again", path_));
    }
    check(static_cast<size_t>(status.st_size) <= most_bytes,
          "{}: it is longer than 1 GiB; add --force to begin anew", path_);
    std::string text(static_cast<size_t>(status.st_size) - begin, '\0');
    for (size_t done = 0; done < text.size();) {
      const ssize_t got =
          ::pread(file_->descriptor(), &text[done], text.size() - done, static_cast<off_t>(begin + done));
      if (got < 0 && errno == EINTR) continue;
      check(got > 0, "{}: cannot read it", path_);
      done += static_cast<size_t>(got);
    }
    return text;
  }
  void cut(size_t size) {
    check(::ftruncate(file_->descriptor(), static_cast<off_t>(size)) == 0, "{}: cannot shorten it", path_);
    read_ = size;
  }

  // The first of these lines has this number.
  void refuse_damage(const Lines& lines, bool force, int64_t first) const {
    check(
        !lines.damaged || force,
        "{}: its line {} is damaged, and whole lines follow; restore the file, or add --force to train anew what it "
        "holds from there on",
        path_, first + std::ssize(lines.whole));
  }

  void read_on(bool force = false) {
    const std::string text = text_from(read_);
    if (text.empty()) return;
    const Lines lines = lines_in(text);
    refuse_damage(lines, force, size() + 2);
    for (const std::string_view line : lines.whole) take_line(line);
    read_ += lines.end;
    if (lines.end < text.size()) cut(read_);
  }

  void take_line(std::string_view line) {
    const Json row = parse_json<Json>(line);
    const auto number = [&](const Json& json) {
      check(json.is_number() || json.is_string(),
            "{}: its line {} is none of a training; add --force to begin anew", path_, size() + 2);
      return number_from(json);
    };
    RowValues values;
    const Json numbers = object_in(row, "numbers"), series = object_in(row, "series");
    for (const auto& [name, value] : numbers.items()) values.numbers[name] = number(value);
    for (const auto& [name, all] : series.items())
      for (std::vector<double>& of_name = values.series[name]; const Json& value : all)
        of_name.push_back(number(value));
    rows_.emplace(object_in(row, "settings").dump(), std::move(values));
  }

  // The process that writes the results makes the journal. Where it was killed before, another one writes them.
  void wait_for_heading() {
    for (;; std::this_thread::sleep_for(50ms)) {
      file_ = std::make_unique<LockFile>(path_, IfMissing::leave);
      if (file_->is_there()) {
        const Held held(*file_);
        if (!lines_in(text_from(0)).whole.empty()) return;
      }
      if (!locks_->try_lock(0)) continue;
      locks_->unlock(0);
      throw EndedElsewhere();
    }
  }

  // Takes the rows that are there. Returns false where none are, or none count and may go.
  bool takes(Run& run, const Json& heading, const Json& now) {
    const Held held(*file_);
    const bool may_begin = run.force() && !helps_;
    const std::string text = text_from(0);
    const Lines lines = lines_in(text);
    refuse_damage(lines, may_begin, 1);
    // A kill may have left a part of the heading.
    const bool is_part = text.starts_with(sum_begin) || sum_begin.starts_with(text);
    if (lines.whole.empty() && (may_begin || is_part)) return false;
    const int64_t trainings = std::max<int64_t>(0, std::ssize(lines.whole) - 1);
    const Json old = lines.whole.empty() ? Json() : parse_json<Json>(lines.whole.front());
    const Json there = object_in(old, "of");
    // Returns that they do not count and may go, or throws.
    const auto refuse = [&](const std::string& why, const char* repair) {
      const bool free = may_begin || (trainings == 0 && !there.empty() && !helps_);
      check(free, "--out: '{}' holds {} trainings that do not count here: {}; {}", path_, trainings,
            one_line(why), repair);
      if (trainings > 0)
        run.say("{} trainings of an earlier run do not count: {}; measured anew\n", trainings, why);
      return false;
    };
    if (there.empty())
      return refuse("it is not a journal of trainings",
                    "choose another folder, or add --force to begin anew without them");
    if (there != heading) {
      std::string why = differences_between(object_in(there, "config"), heading["config"], {});
      const std::string others = differences_between(there, heading, {"config"});
      why += (why.empty() || others.empty() ? "" : ", ") + others;
      return refuse("they are of other settings: " + (why.empty() ? "unknown" : why),
                    "choose another folder, or add --force to begin anew without them");
    }
    if (const std::string change = change_since(object_in(old, "provenance"), now); !change.empty()) {
      if (!run.accept_old()) return refuse(change, "add --force to measure anew, or choose another folder");
      run.say("{} trainings of an earlier run are taken by --accept-old, though {}\n", trainings, change);
      run.summary()["accepted_old"] = change;
    }
    read_ = lines.whole.front().size() + 1;
    read_on(may_begin);
    return true;
  }

  const std::string path_;
  const bool helps_;  // another process, which writes the results
  std::unique_ptr<LockFile> file_;
  const std::unique_ptr<LockFile> locks_;
  size_t read_ = 0;  // bytes
  std::map<std::string, RowValues> rows_;
};

// --- the threads of one call

struct Grid::Taking {
  Journal& journal;
  const std::vector<Json>& rows;
  std::vector<std::string> keys = {};
  std::vector<bool> taken = {};  // by a thread of this process
  std::mutex mutex = {};         // of all that follows, and of the journal
  std::condition_variable changed = {};
  std::map<size_t, std::exception_ptr> failures = {};
  bool stops = false;

  Taking(Journal& of, const std::vector<Json>& all) : journal(of), rows(all), taken(all.size()) {
    std::set<std::string> seen;
    for (size_t i = 0; i < rows.size(); ++i) {
      keys.push_back(key_of(rows[i]));
      taken[i] = !seen.insert(keys[i]).second;  // the first of two equal rows is trained, for both
    }
  }

  int64_t missing() const {
    int64_t count = 0;
    for (size_t i = 0; i < keys.size(); ++i) count += journal.find(keys[i]) == nullptr;
    return count;
  }

  // The next row of a thread, which waits while others may still give a row back.
  std::optional<size_t> next() {
    std::unique_lock lock(mutex);
    for (;; changed.wait_for(lock, 50ms)) {
      if (stops) return std::nullopt;
      journal.refresh();
      changed.notify_all();
      bool others = false;
      for (size_t i = 0; i < keys.size(); ++i) {
        if (taken[i] || journal.find(keys[i]) != nullptr) continue;
        if (journal.take(keys[i])) {
          taken[i] = true;
          return i;
        }
        others |= journal.find(keys[i]) == nullptr;
      }
      if (!others) return std::nullopt;
    }
  }

  // A thread's work.
  void work(const Train& train) {
    for (;;) {
      std::optional<size_t> row;
      try {
        row = next();
        if (!row) return;
        const RowValues values = train(*row);
        const std::lock_guard lock(mutex);
        journal.append(rows[*row], values);
        journal.give_back(keys[*row]);
        changed.notify_all();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (row) journal.give_back(keys[*row]);
        failures.emplace(row.value_or(keys.size()), std::current_exception());
        stops = true;
        changed.notify_all();
        return;
      }
    }
  }
};

Grid::Grid(Run& run, GridOptions options) : run_(run) {
  if (std::filesystem::exists(run.folder() + "/trainings.journal"))
    run.warn("'{}/trainings.journal' is a journal of version 0.3, which is not read; remove it",
             run.folder());
  // The first rank makes the journal, or refuses what is there, before others open it.
  by_first(run.ranks(), [&] {
    journal_ = std::make_unique<Journal>(run, options);
    return "";
  });
  if (!run.ranks().first()) journal_ = std::make_unique<Journal>(run, options);
  found_ = journal_->size();
  if (found_ > 0) run.say("{} trainings that an earlier run left in {} are taken\n", found_, run.folder());
}

Grid::~Grid() = default;

int64_t Grid::at_a_time() const { return int64_t{threads()} * run_.ranks().size(); }

void Grid::take(const std::vector<Json>& rows, const Train& train, const Done& done) {
  Taking taking(*journal_, rows);
  std::set<std::string> known;
  for (const Json& row : asked_) known.insert(key_of(row));
  for (size_t i = 0; i < rows.size(); ++i)
    if (known.insert(taking.keys[i]).second) asked_.push_back(rows[i]);

  int64_t missing = taking.missing();
  Progress progress = run_.progress(missing, "trainings");
  // A single training may use all threads, unless it belongs to another one's thread: then threads() is 1.
  const bool serial = missing > 1 || threads() == 1;
  std::vector<std::jthread> workers;  // joined before `taking` ends
  for (int64_t t = std::min<int64_t>(missing, threads()); t > 0; --t)
    workers.emplace_back([&, caller = Timeline::here()] {
      std::optional<SerialLoops> loops;
      if (serial) loops.emplace();
      std::optional<Timeline> timeline;  // in the caller's profile, if there is one
      if (caller != nullptr) timeline.emplace(caller->profile());
      taking.work(train);
    });

  size_t head = 0;
  // Hands on the results that are there. Returns whether all are.
  const auto hand_on = [&](std::unique_lock<std::mutex>& lock) {
    if (const int64_t left = taking.missing(); left < missing) {
      progress.advance(missing - left);
      missing = left;
    }
    for (; head < rows.size(); ++head) {
      const RowValues* const values = journal_->find(taking.keys[head]);
      if (values == nullptr) break;
      lock.unlock();  // a row in the map stays where it is
      progress.clear();
      done(head, *values);
      lock.lock();
    }
    return head == rows.size();
  };
  std::unique_lock lock(taking.mutex);
  try {
    while (!hand_on(lock) && taking.failures.empty()) {
      const Phase waiting(nullptr);
      taking.changed.wait_for(lock, 100ms);
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    taking.stops = true;
    taking.changed.notify_all();
    lock.unlock();
    workers.clear();
    throw;
  }
  lock.unlock();
  workers.clear();
  lock.lock();
  if (!hand_on(lock)) std::rethrow_exception(taking.failures.begin()->second);
}

void Grid::finish() {
  run_.remove_when_finished(journal_name);
  run_.remove_when_finished(lock_name);
  if (asked_.empty()) return;
  std::vector<std::string> settings, numbers;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  };
  for (const Json& row : asked_) {
    for (const auto& [name, value] : row.items()) add(settings, name);
    for (const auto& [name, value] : journal_->find(key_of(row))->numbers) add(numbers, name);
  }
  std::vector<std::string> columns = settings;
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  Csv& csv = run_.csv(table_name, columns);
  for (const Json& row : asked_) {
    const NamedValues& of_row = journal_->find(key_of(row))->numbers;
    std::vector<Csv::Cell> cells;
    for (const std::string& name : settings) cells.push_back(row.contains(name) ? cell_of(row[name]) : "");
    for (const std::string& name : numbers)
      cells.push_back(of_row.contains(name) ? Csv::Cell(of_row.at(name)) : Csv::Cell(""));
    csv.row(cells);
  }
}

}  // namespace isobar
