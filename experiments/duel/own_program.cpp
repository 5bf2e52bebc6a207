#include "own_program.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../harness/lists.h"
#include "../harness/process.h"

namespace isobar::fixtures {
extern const char own_norms_build[];
}

namespace isobar::duel {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr const char* own_heading = "# Written by isobar duel.";  // of own_norms_build

// What no copy of a folder has: its file system, its number there and when it was made. "" unless it is a folder of
// this user that nobody else may write to.
std::string identity_of(const std::string& path) {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &status) != 0)
    return "";
  if (!S_ISDIR(status.stx_mode) || status.stx_uid != ::geteuid() || (status.stx_mode & 022) != 0) return "";
  return fmt::format("{}\n{}:{} {} {}.{}\n", path, status.stx_dev_major, status.stx_dev_minor, status.stx_ino,
                     status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
}

// The file in the user's own cache that says which folder at this path she made; "" where there is no cache. A
// folder that came from someone else has none: his files cannot be there.
std::string note_of(const std::string& path) {
  const auto folder_in = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? std::string(value) : "";
  };
  const std::string home = folder_in("HOME"), given = folder_in("XDG_CACHE_HOME");
  if (home.empty() && given.empty()) return "";
  return (given.empty() ? home + "/.cache" : given) + "/isobar/programs/" + checksum(path);
}

// A file that is as it was is not written: what is made of it stays.
void write_anew(const std::string& path, const std::string& text) {
  if (!fs::exists(path) || read_file(path, size_t{1} << 24) != text) write_file_atomically(path, text);
}

// The lines from the first one that has one of these words on, `most` at most, and none of make.
std::string lines_from(const std::string& text, const Lines& words, size_t most) {
  std::string found;
  size_t begin = 0;
  for (size_t end = text.find('\n'); begin < text.size() && most > 0; end = text.find('\n', begin)) {
    const std::string line = text.substr(begin, end - begin);
    const bool has =
        std::ranges::any_of(words, [&](auto& word) { return line.find(word) != std::string::npos; });
    if (!found.empty() && (line.find("*** [") != std::string::npos || line.starts_with("ninja: "))) break;
    if (has || !found.empty()) found += line + "\n", --most;
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return found;
}

Finished cmake(const Lines& words) {
  try {
    return run_child("cmake", words, Complaints::kept);
  } catch (const Error& error) {
    throw_error(fmt::format("a header wants CMake 3.25 and a C++20 compiler, as Debian's cmake and g++: {}",
                            error.what()));
  }
}

void configure(const std::string& folder, const std::string& prefix) {
  const std::string build = folder + "/build";
  const Lines words = {
      "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_PREFIX_PATH=" + prefix};
  Finished finished = cmake(words);
  if (finished.code != 0 && fs::exists(build + "/CMakeCache.txt")) {  // of another place, compiler or library
    fs::remove_all(build);
    finished = cmake(words);
  }
  if (finished.code == 0) return;
  fs::remove_all(build);  // what it found so far would stay, with another compiler too
  const auto says = [&](const char* text) { return finished.err.find(text) != std::string::npos; };
  check(
      !says("CMAKE_CXX_COMPILER"),
      "a header wants a C++20 compiler, and CMake finds none: install Debian's g++, or name one with CXX=…");
  check(!says("CMAKE_MAKE_PROGRAM") && !says("build program"),
        "a header wants ninja or make, and CMake finds none: install Debian's ninja-build or make");
  check(
      !says("isobar"),
      "a header wants the installed library with its programs, and CMake does not find it: {}; INSTALL.md says "
      "how to install it, CMAKE_PREFIX_PATH where it is",
      lines_from(finished.err, {"CMake Error", "isobar"}, 4));
  throw_error(fmt::format("cmake: {}", lines_from(finished.err, {"CMake Error"}, 6)));
}

// The compiler's lines with the headers as the user named them.
std::string in_users_words(std::string text, const std::vector<OwnNorm>& norms) {
  for (const OwnNorm& norm : norms) text = replaced(std::move(text), norm.path, norm.header);
  return text;
}

void compile(const std::vector<OwnNorm>& norms, const std::string& folder) {
  const Finished finished = cmake({"--build", folder + "/build", "--parallel", std::to_string(threads())});
  if (finished.code == 0) return;
  const std::string all = in_users_words(finished.out + finished.err, norms), log = folder + "/build.log";
  write_file_atomically(log, all);
  const std::string names = names_of(norms), constructor = lines_from(all, {"wanted a norm with"}, 1);
  check(constructor.empty(), "{}: {}", names,
        constructor.substr(std::min(constructor.size(), constructor.find("wanted a norm with"))));
  const std::string errors = lines_from(
      all, {"error: ", "undefined reference", "multiple definition", "internal compiler error"}, 12);
  fmt::print(stderr, "{}", errors.empty() ? lines_from(all, {""}, 12) : errors);
  throw_error(fmt::format("{} does not compile; all that the compiler says is in {}", names, log));
}

}  // namespace

void take_program_folder(const std::string& path) {
  std::error_code error;
  const std::string note = note_of(path), ours = identity_of(path);
  const bool known =
      !ours.empty() && !note.empty() && fs::exists(note, error) && read_regular_file(note, 1 << 10) == ours;
  if (known) return;
  if (fs::symlink_status(path, error).type() != fs::file_type::not_found) {
    const std::string list = path + "/CMakeLists.txt";
    const bool built_here =
        !ours.empty() &&
        (fs::is_empty(path, error) || (fs::is_regular_file(fs::symlink_status(list, error)) &&
                                       read_regular_file(list, size_t{1} << 24).starts_with(own_heading)));
    check(
        built_here,
        "'{}' is there, and isobar did not make it for you: what it holds would be run; remove it, or choose "
        "another folder with --out",
        path);
    fs::remove_all(path);  // a copy, or somebody else's: its files say what CMake runs
  }
  fs::create_directories(fs::path(path).parent_path());
  check(::mkdir(path.c_str(), 0700) == 0, "cannot make the folder '{}': {}", path, std::strerror(errno));
  if (note.empty()) return;
  try {
    fs::create_directories(fs::path(note).parent_path(), error);
    write_file_atomically(note, identity_of(path));
  } catch (const Error&) {  // then it is built anew the next time
  }
}

std::string names_of(const std::vector<OwnNorm>& norms) {
  Lines headers;
  for (const OwnNorm& norm : norms) headers.push_back(norm.header);
  return fmt::format("{}", fmt::join(headers, " and "));
}

std::string package_prefix() {
  const fs::path prefix = fs::path(own_path()).parent_path().parent_path();
  if (!fs::exists(prefix / "CMakeCache.txt") || !fs::exists(prefix / "isobar-config.cmake"))
    return fs::exists(prefix / "share/isobar") ? prefix.string() : "";
  const std::string package = (prefix / "package").string();
  const Finished finished = cmake({"--install", prefix.string(), "--prefix", package});
  check(finished.code == 0,
        "a header wants the library installed, and not all of {} is built: cmake --build {} ({})",
        prefix.string(), shell_word(prefix.string()),
        lines_from(finished.err, {"CMake Error", "cannot find"}, 3));
  return package;
}

OwnProgram build_with(const std::vector<OwnNorm>& norms, const std::string& study,
                      const std::string& folder) {
  const auto start = std::chrono::steady_clock::now();
  const std::string root = fs::absolute(folder).lexically_normal().string();
  OwnProgram made{root + "/build/" + study, root + "/build/checker", false, 0};
  const auto built_at = [&] {
    std::error_code missing;
    return fs::last_write_time(made.study, missing);
  };
  const auto before = built_at();
  take_program_folder(root);
  write_anew(root + "/CMakeLists.txt", replaced(fixtures::own_norms_build, "$STUDY", study));
  write_anew(root + "/norms.cpp", registration_of(norms));
  write_anew(root + "/checker.cpp", checking_of(norms));
  configure(root, package_prefix());
  compile(norms, folder);
  made.anew = built_at() != before;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

}  // namespace isobar::duel
