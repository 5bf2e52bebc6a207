// ResultFolder: the place of one run's results, where they appear as a whole or not at all.
//
// Files grow under partial names ("run.partial.h5"). publish() first takes away an old summary.json and the
// files it lists, then gives the new files their names, summary.json last: a folder with a summary.json holds
// one whole run. Without publish() the partial files go in the end, and what was there before stays.
// A file may also grow under its own name, for others to follow (metrics.jsonl): then an earlier run's files
// go at once, and what shows how far this one came stays.
#pragma once

#include <string>
#include <vector>

namespace isobar {

class ResultFolder {
 public:
  // Makes the folder and its parents, and locks it against other runs. Throws Error when it cannot be made or
  // written, another run holds it, or it holds a finished run (a summary.json) and `force` is off.
  ResultFolder(const std::string& path, bool force);
  // Unless published: removes the partial files, but those announced before one that grows under its own
  // name, and the folders made here if they are empty.
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  const std::string& path() const { return path_; }
  // Announces a file and returns the path under which to write it. `name` is a plain file name.
  std::string partial(const std::string& name);
  // Announces a file that has its own name from the start and stays, as do the partial files announced so
  // far. Takes away an old summary.json and the files it lists. Returns the path.
  std::string growing(const std::string& name);
  // Names announced so far.
  const std::vector<std::string>& names() const { return names_; }
  // All announced files are complete on the disk, summary.json among them: makes them appear.
  void publish();

 private:
  void announce(const std::string& name);
  void remove_earlier_run();
  void remove_empty_folders();

  std::string path_;
  std::vector<std::string> made_;  // folders that were not there, innermost first
  int lock_ = -1;                  // descriptor of the folder
  std::vector<std::string> names_, growing_;
  size_t staying_ = 0;  // how many of the first names stay when the run is not published
  bool published_ = false;
};

}  // namespace isobar
