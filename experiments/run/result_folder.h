// ResultFolder: the place of one run's results, where they appear as a whole or not at all.
//
// Files grow under partial names ("run.partial.h5"). publish() removes an old summary.json and the files it
// lists, then gives the new files their names, summary.json last. Without it the partial files go in the end.
// Where one grows under its own name (metrics.jsonl), an earlier run's files go at once.
//
// A run touches only what a run made: summary.json says so of a finished one, and summary.partial.json, which is
// there from begin() on, of one that goes on or did not finish. They may come from someone else: of the files that they
// list, those alone are removed whose names the program is known to write.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../core/error.h"
#include "json.h"
#include "lock_file.h"

namespace isobar {

// The journal of a grid (grid.h).
inline constexpr const char* journal_name = "trainings.jsonl";
// Beside it: the first byte is the lock of the process that writes the results, the others
// are those of rows.
inline constexpr const char* lock_name = ".trainings.lock";

// Another process is writing into the folder.
struct FolderInUse : Error {
  using Error::Error;
};

// What a run may do with what it finds in its folder.
struct FolderRights {
  std::string program = {};
  bool force = false;    // it may replace anything
  bool resumes = false;  // it goes on with the run that is there
  bool shares = false;   // other processes may help: the folder is locked for all machines that see it
  // Why it may not replace a finished run of this program with this configuration, or "". Null: it may not.
  std::function<std::string(const Json& config)> obstacle = {};
};

// The names of the files that a run of this program may write, as far as they are known here: those of every run, and
// for the programs of Isobar their own.
std::vector<std::string> known_files(const std::string& program);

// Whether a path names a file that a run of this program with its results in `folder` writes there, through links too.
bool is_file_of_run(const std::string& path, const std::string& folder, const std::string& program);

// The program of the run that is going on in a folder, or did not finish there; "" where none is.
std::string program_of_unfinished(const std::string& folder);

class ResultFolder {
 public:
  // Makes the folder and its parents, and locks it against other runs. Throws Error when it cannot be made or
  // written, when another run holds it, where one of the known_files() is there and is no file, and where it holds a
  // training and this is another program. Without `force` it throws, too, where the folder holds what this run may
  // not replace: a finished run, another program's unfinished one, or files that no run made. (What is in its own
  // folders is not looked at.)
  ResultFolder(const std::string& path, FolderRights rights);
  // Unless begun, leaves all as it was. Unless published, removes the partial files, but those announced before one
  // that grows under its own name; summary.partial.json, unless files stay; and the folders made here if they are
  // empty.
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  const std::string& path() const { return path_; }
  // Whether a run that did not finish left partial files: begin() replaces them.
  bool holds_unfinished() const { return unfinished_; }
  // Whether an earlier run of this program is or was here.
  bool goes_on() const { return goes_on_; }
  // Removes temporary files that killed runs of the program left, the first time that it is called: those of this
  // machine, and where other processes may help those of all.
  void remove_leftovers();
  // From here on the folder is changed: writes summary.partial.json with `heading`, which has "program" and "config", and
  // announces files as growing() does. Where it throws, the folder is as it was.
  void begin(const Json& heading, const std::vector<std::string>& growing = {});
  // Announces a file and returns the path under which to write it. `name` is a plain file name.
  std::string partial(const std::string& name);
  // Announces files that have their own names from the start and stay, as do the partial files announced so
  // far. Takes away an old summary.json and the files it lists, but not those of these names.
  void growing(const std::vector<std::string>& names);
  // The path of a file that stays where it is, whether the run is published or not, and that the summary does not list.
  std::string staying(const std::string& name);
  // A staying file that publish() removes in the end: what it holds is in the results.
  void goes_when_published(const std::string& name) { spent_.push_back(name); }
  // Names announced so far.
  const std::vector<std::string>& names() const { return names_; }
  // All announced files are complete on the disk, summary.json among them: makes them appear.
  void publish();

 private:
  void lock();
  void lock_for_all();
  void remove_lock();
  void look();
  void announce(const std::string& name);
  void check_made_by_runs(const std::string& name) const;
  void write_heading(Json heading) const;
  void let_grow(const std::vector<std::string>& names);
  void remove_earlier_run();
  void remove_empty_folders();

  std::string path_;
  FolderRights rights_;
  Json heading_;                           // null until begin()
  std::vector<std::string> made_by_runs_;  // names that an earlier summary lists
  std::vector<std::string> removable_;     // those of them that its program is known to write
  bool unfinished_ = false, goes_on_ = false, others_stay_ = false, headed_ = false, clean_ = false;
  std::vector<std::string> made_;  // folders that were not there, innermost first
  int lock_ = -1;                  // descriptor of the folder
  std::unique_ptr<LockFile> shared_lock_;
  std::vector<std::string> names_, growing_, spent_;
  size_t staying_ = 0;  // how many of the first names stay when the run is not published
  bool published_ = false;
};

}  // namespace isobar
