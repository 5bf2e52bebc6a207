// A folder of results that came from someone else: at each name that a program writes there is a link to a file of the
// user's, a FIFO, a device or a folder. No program writes through a link, waits, or replaces what is no file.
//
// The names are those that the programs made when they were watched (inotify), so a new name is tried too.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "../../experiments/run/program.h"
#include "../run.h"

namespace isobar::planted_files_test {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

// Temporary files and folders have names that nobody knows before.
bool is_temporary(const std::string& name) {
  return name.ends_with(".tmp") || name.find(".rehearsal") != std::string::npos;
}

// The folders below this one, by their paths in it.
Names folders_in(const fs::path& folder) {
  Names found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (const std::string name = entry.path().lexically_relative(folder);
        entry.is_directory() && !is_temporary(name))
      found.insert(name);
  return found;
}

// Sees which names appear in a folder and in the folders below it, however short they are there.
class Watcher {
 public:
  explicit Watcher(const fs::path& folder) : queue_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    Names all = folders_in(folder);
    for (const std::string& name : all) add(folder / name, name + "/");
    add(folder, "");
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() { ::close(queue_); }

  Names seen() {
    Names names;
    alignas(inotify_event) char bytes[1 << 16];
    for (ssize_t got; (got = ::read(queue_, bytes, sizeof bytes)) > 0;)
      for (ssize_t at = 0; at < got;) {
        inotify_event event;
        std::memcpy(&event, bytes + at, sizeof event);
        const std::string name = folders_.at(event.wd) + (bytes + at + sizeof event);
        CHECK((event.mask & IN_Q_OVERFLOW) == 0);
        if (!is_temporary(name)) names.insert(name);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    return names;
  }

 private:
  void add(const fs::path& folder, const std::string& prefix) {
    folders_[inotify_add_watch(queue_, folder.c_str(), IN_CREATE | IN_MOVED_TO)] = prefix;
  }

  int queue_;
  std::map<int, std::string> folders_;
};

struct Command {
  std::string program, arguments;  // which write to the folder "run"
  std::string base = "";           // a folder that "run" is a copy of
};

// A place with the folder "run", for one call of the command, and what is the user's own beside it.
class Place {
 public:
  explicit Place(const Command& command) : command_(command) {
    if (command.base.empty())
      fs::create_directory(run());
    else
      fs::copy(command.base, run(), fs::copy_options::recursive);
    folder_.write("own/file", "mine\n");
    fs::create_directory(folder_ / "own/folder");
    has_device_ = ::mknod((folder_ / "own/null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;
  }

  fs::path run() const { return folder_.path() / "run"; }
  std::string own(const std::string& name) const { return folder_ / ("own/" + name); }

  Outcome call(const std::string& more = "") const {
    return run_command(
        "timeout -s KILL 120 \"$BIN\"/" + command_.program + " " + command_.arguments + more + " </dev/null",
        folder_.path());
  }

  // Puts something of this kind in the place of whatever has the name.
  void plant(const std::string& name, const std::string& kind) const {
    const fs::path path = run() / name;
    fs::remove_all(path);
    fs::create_directories(path.parent_path());
    if (kind == "link to a file") fs::create_symlink(own("file"), path);
    if (kind == "link to nothing") fs::create_symlink(own("new"), path);
    if (kind == "link to a folder") fs::create_directory_symlink(own("folder"), path);
    if (kind == "hard link") fs::create_hard_link(own("file"), path);
    if (kind == "folder") fs::create_directory(path);
    if (kind == "FIFO") CHECK(::mkfifo(path.c_str(), 0600) == 0);
    if (kind == "device") {  // a link where nobody but root may make one
      if (::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) fs::create_symlink(own("file"), path);
    }
  }

  void check_own() const {
    CHECK(file_text(own("file")) == "mine\n");
    CHECK_FALSE(fs::exists(fs::symlink_status(own("new"))));
    CHECK(fs::is_empty(own("folder")));
    if (has_device_) CHECK(fs::is_character_file(own("null")));
    std::vector<std::string> names = folder_.names();
    CHECK(names == std::vector<std::string>{"own", "run"});
  }

 private:
  const Command& command_;
  TemporaryFolder folder_;
  bool has_device_;
};

// All names that the command makes in its folder, and which of them are folders.
struct Made {
  Names files, folders;
};
Made made_by(const Command& command) {
  Made made;
  // A watcher sees what appears in folders that were there when it began: where the command makes some, it is watched
  // once more, with these there.
  const auto watched = [&] {
    const Place place(command);
    for (const std::string& name : made.folders) fs::create_directories(place.run() / name);
    const Names before = folders_in(place.run());
    Watcher watcher(place.run());
    const Outcome outcome = place.call(" --force");
    INFO(command.program, ": ", outcome.err);
    CHECK((outcome.code == 0 || outcome.code == 3));  // 3: its images are not here
    made.folders = folders_in(place.run());
    made.files.clear();
    for (const std::string& name : watcher.seen())
      if (!made.folders.contains(name)) made.files.insert(name);
    return made.folders == before;
  };
  if (!watched()) CHECK(watched());
  return made;
}

void check_ended_well(const Outcome& outcome, bool refused) {
  CAPTURE(outcome.err);
  if (refused) CHECK(outcome.code == 2);
  CHECK((outcome.code >= 0 && outcome.code <= 3));
}

// One run with links at all of these names; where it is refused, which no other name then is, a run for each, but for
// names that `done` has: another program was run with a link at them alone.
void try_links(const Command& command, const Names& names, const std::string& kind, Names* done = nullptr) {
  CAPTURE(kind);
  Outcome outcome;
  {
    const Place place(command);
    for (const std::string& name : names) place.plant(name, kind);
    outcome = place.call(" --force");
    check_ended_well(outcome, false);
    place.check_own();
  }
  if (outcome.code != 2) return;
  for (const std::string& name : names) {
    if (done != nullptr && !done->insert(name).second) continue;
    CAPTURE(name);
    const Place place(command);
    place.plant(name, kind);
    check_ended_well(place.call(" --force"), false);
    place.check_own();
  }
}

void try_one(const Command& command, const std::string& name, const std::string& kind) {
  CAPTURE(name);
  CAPTURE(kind);
  const Place place(command);
  place.plant(name, kind);
  const auto type = fs::symlink_status(place.run() / name).type();
  check_ended_well(place.call(" --force"), type != fs::file_type::symlink);
  CHECK(fs::symlink_status(place.run() / name).type() == type);
  place.check_own();
}

void try_all(const Command& command) {
  CAPTURE(command.program);
  CAPTURE(command.arguments);
  const Made made = made_by(command);
  CHECK(made.files.size() >=
        5);  // run.h5, run.log and summary.json, two of them under partial names at first
  for (const char* kind : {"link to a file", "link to nothing", "link to a folder", "hard link"})
    try_links(command, made.files, kind);
  const std::vector<std::string> others = {"FIFO", "folder", "device"};
  size_t next = 0;
  for (const std::string& name : made.files) try_one(command, name, others[next++ % others.size()]);
  for (const std::string& name : made.folders) {
    CAPTURE(name);
    const Place place(command);
    place.plant(name, "link to a folder");
    check_ended_well(place.call(" --force"), true);
    place.check_own();
  }
  // Without --force, what no run made stays as it is.
  const Place place(command);
  for (const std::string& name : made.files) place.plant(name, "link to a file");
  check_ended_well(place.call(), true);
  for (const std::string& name : made.files) CHECK_MESSAGE(fs::is_symlink(place.run() / name), name);
  place.check_own();
}

TEST_CASE("no study writes through what someone else put at a name of its results") {
  Names done;  // all studies write the files that all runs have by the same functions
  for (const std::string& study : study_names()) {
    CAPTURE(study);
    const Command command{study,
                          study == "train_lm" ? "--tiny --corpus synthetic --out run" : "--tiny --out run"};
    const Made made = made_by(command);
    CHECK(made.files.size() >= 5);
    const std::vector<std::string> known = known_files(study);
    for (const std::string& name : made.files)  // a new one belongs into the list of run/result_folder.cpp
      if (name.find(".partial") == std::string::npos && name.find('/') == std::string::npos)
        CHECK_MESSAGE((std::ranges::count(known, name) > 0 || name == journal_name || name == lock_name),
                      name);
    try_links(command, made.files, "link to a file", &done);
  }
}

TEST_CASE(
    "a link, a FIFO, a device or a folder at any name of a run is replaced or refused, and harms nothing") {
  try_all({"decay_study", "--tiny --profile --out run"});
  try_all({"train_lm", "--tiny --corpus synthetic --seeds 2 --out run"});
  try_all({"duel", "dyt rmsnorm --tiny --corpus synthetic --out run"});
}

TEST_CASE("a training goes on in no folder that leads elsewhere") {
  const TemporaryFolder folder;
  ran("train_lm", "--tiny --corpus synthetic --out run", folder.path());
  for (const char* name : {"run.h5", "layers.csv", "loss.csv"}) fs::remove(folder / "run/" + name);
  fs::rename(folder / "run/summary.json", folder / "run/summary.partial.json");
  fs::rename(folder / "run/run.log", folder / "run/run.partial.log");
  try_all({"train_lm", "--resume run", folder / "run"});
}

TEST_CASE("no program waits for a FIFO in a folder of results that it reads") {
  const TemporaryFolder folder;
  ran("train_lm", "--tiny --corpus synthetic --out run", folder.path());
  ran("isobar export", "run -o run/model.safetensors", folder.path());
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "run"))
    if (entry.is_regular_file()) files.push_back(entry.path());
  REQUIRE(files.size() >= 12);
  for (const fs::path& file : files) {
    CAPTURE(file);
    fs::rename(file, folder / "away");
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    for (const char* words :
         {"isobar report run -o page.html --force", "isobar watch run --once", "isobar sample run",
          "isobar export run -o out/model.safetensors --force",
          "isobar import run/model.safetensors -o back.safetensors --force", "train_lm --resume run",
          "train_lm --tiny --corpus synthetic --init_from run --out tuned --force",
          "isobar verify --quick --claim D06 --out run"}) {
      CAPTURE(words);
      const Outcome outcome =
          run_command("timeout -s KILL 60 \"$BIN\"/" + std::string(words) + " </dev/null", folder.path());
      CAPTURE(outcome.err);
      CHECK((outcome.code >= 0 && outcome.code <= 3));
    }
    fs::remove(file);
    fs::rename(folder / "away", file);
  }
}

TEST_CASE("verify and its studies write through no link either") {
  const Command command{"isobar verify", "--quick --claim D06 --out run"};
  const Made made = made_by(command);
  CHECK(made.files.contains("report.html"));
  CHECK(made.folders.size() >= 1);
  try_links(command, made.files, "link to a file");
  for (const std::string& name : made.folders) {
    const Place place(command);
    place.plant(name, "link to a folder");
    place.call(" --force");
    place.check_own();
  }
}

}  // namespace isobar::planted_files_test
