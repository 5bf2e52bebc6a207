#include "result_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

// "run.partial.h5" for "run.h5".
std::string partial_name(const std::string& name) {
  const fs::path path(name);
  return path.stem().string() + ".partial" + path.extension().string();
}

// A name in the folder itself, and no way out of it.
bool plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
}

constexpr const char *summary_name = "summary.json", *heading_name = "summary.partial.json";

// Whether anything has this name, a symbolic link to nothing included.
bool is_there(const std::string& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() != fs::file_type::not_found;
}

// Throws Error where a file could not be given this name in the end.
void check_replaceable(const std::string& path) {
  std::error_code none;
  const fs::file_type type = fs::symlink_status(path, none).type();
  check(type == fs::file_type::not_found || type == fs::file_type::regular || type == fs::file_type::symlink,
        "--out: wanted a regular file to replace, but '{}' is not one; remove it, or choose another folder",
        path);
}

// Removes a file or a symbolic link, and nothing else that may have the name.
void remove_file(const std::string& path) {
  std::error_code none;
  const fs::file_type type = fs::symlink_status(path, none).type();
  if (type == fs::file_type::regular || type == fs::file_type::symlink) ::unlink(path.c_str());
}

// What a run says of itself in this file; null where it is no run's.
Json read_heading(const std::string& path) {
  if (!is_there(path)) return {};
  Json heading = parse_json<Json>(read_regular_file(path, size_t{1} << 28));
  const bool ours = heading.is_object() && heading.value("program", Json()).is_string() &&
                    heading.value("files", Json()).is_array();
  return ours ? heading : Json();
}

constexpr const char* trainer = "train_lm";

// What a program of Isobar writes beside what every run does; null for one of the user's own.
const std::vector<std::string>* own_files(const std::string& program) {
  static const std::map<std::string, std::vector<std::string>> all = {
      {"centering", {}},
      {"conv_norms", {}},
      {"decay_study", {"layers.csv"}},
      {"depth_trainability", {"depth.csv"}},
      {"digit_settings", {"pairs.csv", "rates.csv"}},
      {"duel", {"pairs.csv", "rates.csv"}},
      {"fine_tuning", {}},
      {"isobar verify", {"claims.csv", "report.html"}},
      {"ladder", {"foretold.csv", "pairs.csv", "rates.csv"}},
      {"lm_norms", {"blocks.csv", "runs.csv"}},
      {"logit_growth", {"logits.csv", "softcap.csv"}},
      {"majority", {}},
      {"norm_jacobian", {}},
      {"norm_motives", {}},
      {"norm_properties", {}},
      {"norm_speed", {"speed.csv"}},
      {"rank_collapse", {}},
      {"recurrent_norms", {}},
      {"settings", {"pairs.csv", "rates.csv"}},
      {trainer, {"layers.csv", "loss.csv", "metrics.jsonl", "modules.jsonl", "seeds.csv"}},
      {"transformer_stack", {}},
      {"warmup", {}},
      {"what_trains",
       {"borders.csv", "map.json", "plain_adamw.svg", "plain_muon.svg", "plain_sgd.svg", "residual_adamw.svg",
        "residual_muon.svg", "residual_sgd.svg", "transformer_adamw_e1.svg", "transformer_adamw_e0.02.svg",
        "transformer_muon_e1.svg"}}};
  const auto found = all.find(program);
  return found == all.end() ? nullptr : &found->second;
}

// Whether a run of a program may remove a file of this name that a run of `maker` lists. The tables and lines of a
// program that is not Isobar's are known to that program alone.
bool may_remove(const std::string& program, const std::string& maker, const std::string& name) {
  return std::ranges::count(known_files(maker), name) > 0 ||
         (own_files(maker) == nullptr && maker == program &&
          (name.ends_with(".csv") || name.ends_with(".jsonl")));
}

// The files that a run lists.
std::vector<std::string> listed_files(const Json& heading) {
  std::vector<std::string> names;
  if (heading.is_null()) return names;
  for (const Json& name : heading["files"])
    if (name.is_string() && plain_name(name.get<std::string>())) names.push_back(name.get<std::string>());
  return names;
}

// Whether a run of a program writes a file of this name by way of a temporary file.
bool writes(const std::string& program, const std::string& name) {
  const auto is_name = [&](const std::string& known) { return name == known || name == partial_name(known); };
  static const std::vector<std::string> beside_results = {"spool", journal_name, "bad_step.safetensors"};
  return std::ranges::any_of(known_files(program), is_name) || std::ranges::count(beside_results, name) > 0 ||
         may_remove(program, program, name);
}

// The files in a folder that a run could mean to replace: not folders, hidden files and what killed writers left.
std::vector<std::string> visible_files(const std::string& folder, const std::string& program) {
  std::vector<std::string> files;
  for (const std::string& name : names_in(folder)) {
    std::error_code none;
    const std::optional<std::string> final_name = final_name_of(name);
    if (name[0] != '.' && !(final_name && writes(program, *final_name)) &&
        fs::symlink_status(folder + "/" + name, none).type() != fs::file_type::directory)
      files.push_back(name);
  }
  return files;
}

// The folder and its parents that do not exist yet, innermost first.
std::vector<std::string> missing_folders(const std::string& folder) {
  std::vector<std::string> missing;
  std::error_code ignored;  // what cannot be looked at cannot be made either, and then says why
  for (fs::path path = fs::absolute(folder).lexically_normal();
       !fs::exists(path, ignored) && path.has_relative_path(); path = path.parent_path())
    if (path.has_filename()) missing.push_back(path.string());
  return missing;
}

std::string in_use(const std::string& path) {
  return fmt::format("--out: another run is writing into '{}'; choose another folder", path);
}

// Locks an open folder, or leaves why not in errno. `isobar watch` holds the lock for an instant.
bool lock_alone(int folder) {
  for (int left = 20; ::flock(folder, LOCK_EX | LOCK_NB) != 0; --left) {
    if (errno != EWOULDBLOCK || left == 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace

std::vector<std::string> known_files(const std::string& program) {
  std::vector<std::string> names = {"run.h5",       "run.log",       "measurements.csv", "profile.csv",
                                    "profile.json", "trainings.csv", summary_name};
  if (const std::vector<std::string>* own = own_files(program))
    names.insert(names.end(), own->begin(), own->end());
  return names;
}

bool is_file_of_run(const std::string& path, const std::string& folder, const std::string& program) {
  std::error_code error;
  const fs::path file = fs::weakly_canonical(fs::absolute(path, error), error),
                 own = fs::weakly_canonical(fs::absolute(folder, error), error);
  return !error && file.parent_path() == own &&
         (writes(program, file.filename()) || file.filename() == heading_name);
}

std::string program_of_unfinished(const std::string& folder) {
  const Json heading = read_heading(folder + "/" + heading_name);
  return heading.is_null() ? "" : heading["program"].get<std::string>();
}

ResultFolder::ResultFolder(const std::string& path, FolderRights rights)
    : path_(path), rights_(std::move(rights)), made_(missing_folders(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    remove_empty_folders();
    throw_error(
        fmt::format("--out: cannot make the folder '{}': {}; choose another", path_, error.message()));
  }
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(lock_ >= 0, "--out: cannot open the folder '{}': {}", path_, std::strerror(errno));
  try {
    lock();
    look();
  } catch (const Error&) {
    remove_lock();
    ::close(lock_);
    throw;
  }
}

void ResultFolder::lock() {
  const bool writable = ::access(path_.c_str(), W_OK) == 0;
  if (!writable || !lock_alone(lock_)) {
    if (writable && errno == EWOULDBLOCK) throw FolderInUse(in_use(path_));
    throw_error(
        fmt::format("--out: cannot write into '{}': {}; choose another", path_, std::strerror(errno)));
  }
  if (rights_.shares) lock_for_all();
}

// The lock of a folder holds on this machine alone where the file system is another one's.
void ResultFolder::lock_for_all() {
  do {  // until it is one that nobody has removed since it was opened
    shared_lock_ = std::make_unique<LockFile>(path_ + "/" + lock_name);
    if (shared_lock_->try_lock(0)) continue;
    shared_lock_ = nullptr;
    throw FolderInUse(in_use(path_));
  } while (!shared_lock_->is_there());
}

// Not while rows may be other processes': these are in a journal, which stays.
void ResultFolder::remove_lock() {
  std::error_code none;
  if (shared_lock_ != nullptr && shared_lock_->is_there() && !fs::exists(path_ + "/" + journal_name, none))
    remove_file(shared_lock_->path());
  shared_lock_ = nullptr;
}

// Throws Error unless this run may write here.
void ResultFolder::look() {
  const Json finished = read_heading(path_ + "/" + summary_name),
             begun = read_heading(path_ + "/" + heading_name);
  for (const Json* heading : {&finished, &begun})
    for (const std::string& name : listed_files(*heading)) {
      made_by_runs_.push_back(name);
      if (may_remove(rights_.program, (*heading)["program"], name)) removable_.push_back(name);
    }
  headed_ = !begun.is_null();
  const auto check_known = [&] {  // a page says itself who made it
    for (const std::string& name : known_files(rights_.program))
      if (name != summary_name && !name.ends_with(".html")) check_made_by_runs(name);
  };
  const auto is_own = [&](const Json& heading) {
    return !heading.is_null() && heading["program"] == rights_.program;
  };
  goes_on_ = is_own(finished) || is_own(begun);
  for (const char* name : {"run.h5", "run.log", summary_name})
    unfinished_ |= is_there(path_ + "/" + partial_name(name));
  for (const std::string& name : known_files(rights_.program))
    for (const std::string& path : {name, partial_name(name)}) check_replaceable(path_ + "/" + path);
  // What a run left that did not finish belongs to it as long as its heading is there.
  if (!begun.is_null())
    others_stay_ = std::ranges::any_of(visible_files(path_, rights_.program), [](const std::string& name) {
      return name.find(".partial.") == std::string::npos;
    });
  for (const Json* heading : {&finished, &begun})
    check(
        heading->is_null() || (*heading)["program"] != trainer || is_own(*heading),
        "--out: '{}' holds a training of {}, which no other program replaces, nor with --force; choose another "
        "folder, or remove it",
        path_, trainer);
  if (rights_.force) return;
  check(!finished.is_null() || !is_there(path_ + "/" + summary_name),
        "--out: '{}' holds a {} that no run made; choose another folder, or add --force to replace it", path_,
        summary_name);
  if (!finished.is_null()) {
    const std::string why = rights_.obstacle && is_own(finished)
                                ? rights_.obstacle(finished.value("config", Json()))
                                : "holds a finished run";
    check(why.empty(), "--out: '{}' {}; add --force to replace it, or choose another folder", path_, why);
    return check_known();
  }
  if (rights_.resumes || is_own(begun)) return check_known();
  check(
      begun.is_null(),
      "--out: '{}' holds a run of {} that did not finish; add --force to replace it, or choose another folder",
      path_, begun.is_null() ? "" : one_line(begun["program"].get<std::string>()));
  const std::vector<std::string> others = visible_files(path_, rights_.program);
  check(
      others.empty(),
      "--out: '{}' holds files that no run made, such as '{}'; choose another folder, or add --force to replace "
      "those of the names that the run writes",
      path_, others.empty() ? "" : one_line(others.front()));
}

void ResultFolder::remove_leftovers() {
  if (std::exchange(clean_, true)) return;
  // Whether other machines write here, the lock of those that share a folder says, and no other.
  remove_temporaries(
      path_, [&](const std::string& name) { return writes(rights_.program, name); },
      shared_lock_ != nullptr ? Machines::all : Machines::this_one);
}

void ResultFolder::begin(const Json& heading, const std::vector<std::string>& growing) {
  check_replaceable(path_ + "/" + summary_name);
  remove_leftovers();
  for (const std::string& name : growing) announce(name);
  write_heading(heading);
  heading_ = heading;
  if (!growing.empty()) let_grow(growing);
}

void ResultFolder::write_heading(Json heading) const {
  heading["files"] = names_;
  write_file_atomically(path_ + "/" + heading_name, json_text(heading));
}

ResultFolder::~ResultFolder() {
  if (!published_ && !heading_.is_null()) {
    if (staying_ == 0 && !others_stay_) remove_file(path_ + "/" + heading_name);
    for (size_t i = staying_; i < names_.size(); ++i)
      if (names_[i] != summary_name) remove_file(path_ + "/" + partial_name(names_[i]));
  }
  remove_lock();
  if (!published_) remove_empty_folders();
  ::close(lock_);
}

void ResultFolder::remove_empty_folders() {
  for (const std::string& folder : made_)
    if (::rmdir(folder.c_str()) != 0) break;
}

// A run that goes on has the lines of its first part. Where no heading says what that made, all may be its own.
void ResultFolder::check_made_by_runs(const std::string& name) const {
  check(rights_.force || (rights_.resumes && (!headed_ || name.ends_with(".jsonl"))) ||
            std::ranges::count(made_by_runs_, name) > 0 || !is_there(path_ + "/" + name),
        "--out: '{}/{}' is there, and no run made it; choose another folder, or add --force to replace it",
        path_, name);
}

void ResultFolder::announce(const std::string& name) {
  check(plain_name(name), "result folder: wanted a plain file name, got '{}'", name);
  check(std::ranges::count(names_, name) == 0, "result folder: '{}' is written twice", name);
  if (name != summary_name) check_made_by_runs(name);
  check_replaceable(path_ + "/" + name);
  names_.push_back(name);
}

std::string ResultFolder::partial(const std::string& name) {
  announce(name);
  return path_ + "/" + partial_name(name);
}

void ResultFolder::growing(const std::vector<std::string>& names) {
  for (const std::string& name : names) announce(name);
  write_heading(heading_);
  let_grow(names);
}

// Once all that may fail is done: a run that goes on loses nothing of what is there.
void ResultFolder::let_grow(const std::vector<std::string>& names) {
  growing_.insert(growing_.end(), names.begin(), names.end());
  staying_ = names_.size();
  remove_earlier_run();
}

std::string ResultFolder::staying(const std::string& name) {
  others_stay_ = true;
  return path_ + "/" + name;
}

// From here on the folder holds no finished run, until a new summary is there.
void ResultFolder::remove_earlier_run() {
  remove_file(path_ + "/" + summary_name);
  for (const std::string& name : removable_)
    if (std::ranges::count(growing_, name) == 0) remove_file(path_ + "/" + name);
}

void ResultFolder::publish() {
  remove_earlier_run();
  std::stable_partition(names_.begin(), names_.end(), [](auto& name) { return name != summary_name; });
  for (const std::string& name : names_)
    if (std::ranges::count(growing_, name) == 0)
      rename_file(path_ + "/" + partial_name(name), path_ + "/" + name);
  published_ = true;
  for (const std::string& name : spent_) remove_file(path_ + "/" + name);
}

}  // namespace isobar
