#include "own_program.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/utf8_stream.h"
#include "../run/lists.h"
#include "../run/process.h"

namespace isobar::fixtures {
extern const char own_norms_build[];
}

namespace isobar::duel {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// Makes a folder that only this user may write to, or takes the one that is there: what it holds will be run.
void take_private_folder(const std::string& path) {
  struct stat status {};
  const bool made = ::mkdir(path.c_str(), 0700) == 0;
  check(made || errno == EEXIST, "cannot make the folder '{}': {}; name another place with XDG_CACHE_HOME",
        path, std::strerror(errno));
  check(
      ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
          (status.st_mode & 022) == 0,
      "wanted a folder of yours that nobody else may write to, but '{}' is not one, and what it holds would be "
      "run; remove it, or name another place with XDG_CACHE_HOME",
      path);
}

// One process at a time builds in a folder; the next one waits.
class BuildLock {
 public:
  explicit BuildLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    int result = -1;
    while (descriptor_ >= 0 && (result = ::flock(descriptor_, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (result == 0) return;
    const int reason = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw_error(fmt::format("cannot lock the folder '{}': {}", folder, std::strerror(reason)));
  }
  ~BuildLock() { ::close(descriptor_); }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int descriptor_;
};

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
  fmt::print(stderr, "{}", printable(errors.empty() ? lines_from(all, {""}, 12) : errors));
  throw_error(fmt::format("{} does not compile; all that the compiler says is in {}", names, log));
}

}  // namespace

std::string program_folder(const std::vector<OwnNorm>& norms, const std::string& study) {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? std::string(value) : "";
  };
  const std::string home = absolute("HOME"), cache = absolute("XDG_CACHE_HOME");
  check(
      !home.empty() || !cache.empty(),
      "a header is compiled in your cache, and neither XDG_CACHE_HOME nor HOME names a folder from the root: set "
      "one");
  std::string key = own_path() + '\0' + study;
  for (const OwnNorm& norm : norms) key += '\0' + norm.header + '\0' + norm.path + '\0' + norm.type;
  return (cache.empty() ? home + "/.cache" : cache) + "/isobar/built/" + checksum(key);
}

void take_program_folder(const std::string& path) {
  const fs::path all = fs::path(path).parent_path(), isobar = all.parent_path();
  std::error_code error;  // what cannot be made, the next line names
  fs::create_directories(isobar.parent_path(), error);
  for (const fs::path& folder : {isobar, all, fs::path(path)}) take_private_folder(folder.string());
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

OwnProgram build_with(const std::vector<OwnNorm>& norms, const std::string& study) {
  const auto start = std::chrono::steady_clock::now();
  const std::string root = program_folder(norms, study);
  OwnProgram made{root + "/build/" + study, root + "/build/checker", false, 0};
  const auto built_at = [&] {
    std::error_code missing;
    return fs::last_write_time(made.study, missing);
  };
  take_program_folder(root);
  const BuildLock alone(root);
  const auto before = built_at();
  write_anew(root + "/CMakeLists.txt", replaced(fixtures::own_norms_build, "$STUDY", study));
  write_anew(root + "/norms.cpp", registration_of(norms));
  write_anew(root + "/checker.cpp", checking_of(norms));
  configure(root, package_prefix());
  compile(norms, root);
  made.anew = built_at() != before;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

}  // namespace isobar::duel
