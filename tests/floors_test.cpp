// The floors of the house: who may include whom. Every source file is read and every #include in it checked,
// so that a wrong one is a red test and not a remark in a review.
#include <doctest/doctest.h>

#include "holds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace isobar::floors_test {

namespace fs = std::filesystem;

// Texts of source files by path from the root: "core/tensor.h".
using Tree = std::map<std::string, std::string>;

struct Room {
  std::set<std::string> below;         // rooms whose files it may include, itself among them
  std::vector<std::string> libraries;  // beginnings of third-party headers that its .cpp files may include
};

const std::map<std::string, Room>& rooms() {
  static const std::map<std::string, Room> all = {
      {"core", {{"core"}, {"tbb/", "dlfcn.h", "sanitizer/", "valgrind/"}}},
      {"autograd", {{"autograd", "core"}, {}}},
      {"optim", {{"optim", "core"}, {}}},
      {"data", {{"data", "core"}, {"dlfcn.h", "hdf5.h", "zlib.h", "nlohmann/", "utf8proc.h", "xxhash.h"}}},
      {"nn", {{"nn", "autograd", "core"}, {}}},
      {"experiments",
       {{"experiments", "nn", "autograd", "optim", "data", "core"},
        {"CLI/", "nlohmann/", "spdlog/", "toml++/"}}}};
  return all;
}

struct Include {
  int line;
  bool own;  // in quotes
  std::string name;
};

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> found;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    if (std::smatch match; std::regex_match(line, match, directive))
      found.push_back({number, match[1] == "\"", match[2]});
  return found;
}

std::string room_of(const std::string& path) { return path.substr(0, path.find('/')); }
bool is_header(const std::string& path) { return path.ends_with(".h"); }
bool is_kernel(const std::string& path) { return path.starts_with("core/kernels/"); }
// The folders of a room that are doors of their own.
bool is_door(const std::string& path) {
  for (const char* folder : {"core/ranks/", "autograd/check/", "nn/check/", "nn/lm/"})
    if (path.starts_with(folder) && path.find('/', std::string(folder).size()) == std::string::npos)
      return true;
  return false;
}
// What is in a library room's other folders (kernels/, ops/) is not for users, with one exception: what
// autograd/pointwise.h includes, for programs that link isobar::pointwise. It is in no other header.
bool is_inner(const std::string& path) { return path.find('/') != path.rfind('/') && !is_door(path); }
// The library that a file of a room is in: "check", "lm", or "" for isobar::isobar and isobar::data.
std::string door_of(const std::string& path) {
  if (path.starts_with("autograd/check/") || path.starts_with("nn/check/")) return "check";
  return path.starts_with("nn/lm/") ? "lm" : "";
}
bool is_public(const std::string& path) {
  return is_header(path) && !is_inner(path) && room_of(path) != "experiments";
}

// The path that an include in quotes means, from the root.
std::string target_of(const std::string& path, const std::string& name) {
  return (fs::path(path).parent_path() / name).lexically_normal().generic_string();
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& beginnings) {
  for (const std::string& beginning : beginnings)
    if (name.starts_with(beginning)) return true;
  return false;
}

// What is wrong with `#include <name>` in the file, or nothing.
std::string judge_library(const std::string& path, const std::string& name) {
  static const std::set<std::string> system = {"dirent.h", "sched.h",  "unistd.h", "fcntl.h", "poll.h",
                                               "spawn.h",  "string.h", "cxxabi.h", "link.h"};
  if (name.find_first_of("./") == std::string::npos || name.starts_with("fmt/")) return "";  // std and fmt
  if (system.contains(name) || name.starts_with("sys/"))
    return is_header(path) ? "a system header belongs in a .cpp file" : "";
  static const std::set<std::string> instructions = {"arm_neon.h", "emmintrin.h", "immintrin.h"};
  if (instructions.contains(name))
    return path == "core/kernels/vec.h" ? "" : "vector instructions are for core/kernels/vec.h alone";
  if (name == "cblas.h")
    return path == "core/openblas_plugin.cpp" ? ""
                                              : "OpenBLAS is for the plugin core/openblas_plugin.cpp alone";
  if (name == "mpi.h")
    return path == "core/ranks/ranks_mpi.cpp" ? "" : "MPI is for the plugin core/ranks/ranks_mpi.cpp alone";
  const bool of_room = starts_with_any(name, rooms().at(room_of(path)).libraries);
  if (!of_room) return "this library is not one of the room " + room_of(path);
  if (!is_header(path)) return "";
  if (room_of(path) == "experiments" && name.starts_with("nlohmann/")) return "";
  return "a third-party header belongs in a .cpp file";
}

// Whether a file's own includes lead to `wanted`, directly or not.
bool leads_to(const Tree& tree, const std::string& from, const std::string& wanted) {
  if (from == wanted) return true;
  const auto file = tree.find(from);
  if (file == tree.end()) return false;
  for (const Include& include : includes_of(file->second))
    if (include.own && leads_to(tree, target_of(from, include.name), wanted)) return true;
  return false;
}

// What is wrong with `#include "name"` in the file, or nothing.
std::string judge_own(const Tree& tree, const std::string& path, const std::string& name) {
  const std::string target = target_of(path, name);
  if (!tree.contains(target)) return "there is no " + target + "; own includes are relative to the file";
  if (!rooms().at(room_of(path)).below.contains(room_of(target)))
    return room_of(path) + " may not include " + room_of(target);
  if (const std::string door = door_of(target);
      !door.empty() && door != door_of(path) && room_of(path) != "experiments")
    return "isobar::" + door + " stands above this library";
  if (is_public(path) && is_inner(target) && path != "autograd/pointwise.h")
    return "a header for users includes an inner one";
  if (is_kernel(path) && leads_to(tree, target, "core/tensor.h"))
    return "kernels know pointers and sizes, and this leads to core/tensor.h";
  return "";
}

// The course's programs are in no room: they are built elsewhere, against the installed package.
bool is_course(const std::string& path) { return path.starts_with("experiments/course/"); }

// The live chapter's module is in no room either: its own script builds it for browsers, of the definition.
bool is_live(const std::string& path) { return path.starts_with("experiments/page/live/"); }

// Headers of norms are written as a user writes one, and `isobar duel` compiles them so.
bool is_user_header(const std::string& path) { return path.starts_with("experiments/duel/norms/"); }

// What is wrong with an include of the course, or nothing. Assignment aN's files stand side by side in a
// student's tree.
std::string judge_course(const Tree& tree, const std::string& path, bool own, const std::string& name) {
  if (path.starts_with("experiments/course/hostile/")) return "";  // behind an assignment's own lines
  if (own) {
    const std::string folder = path.substr(19, path.find('/', 19) - 19);
    return name == "driver.h" || name == "todo.h" || name == "tensors.h" || name == folder + ".h"
               ? ""
               : "no student's tree holds this";
  }
  const bool system = name.starts_with("sys/") || name.find('/') == std::string::npos;  // as unistd.h
  if (!name.starts_with("isobar/")) return system ? "" : "wanted std, POSIX or isobar";
  const std::string target = name.substr(7);
  return tree.contains(target) && is_public(target) ? "" : "the package has no such header";
}

// The words of a list of core/isobar.cmake.
std::set<std::string> words_of(const std::string& list) {
  std::ostringstream text;
  text << std::ifstream(fs::path(ISOBAR_SOURCE_DIR) / "core/isobar.cmake").rdbuf();
  std::smatch match;
  const std::string cmake = text.str();
  std::set<std::string> words;
  if (!std::regex_search(cmake, match, std::regex("set\\(" + list + " ([^)]*)\\)"))) return words;
  std::istringstream names(match[1]);
  for (std::string name; names >> name;) words.insert(name);
  return words;
}

// The part of data/ that isobar::isobar has: "data/loader" and its like.
std::set<std::string> light_data() {
  std::set<std::string> stems;
  for (const std::string& name : words_of("light_data")) stems.insert("data/" + name);
  return stems;
}

// The kernels of core/isobar.cmake's list `pointwise_kernels`, and those that autograd/pointwise.h leads to.
std::set<std::string> listed_kernels() {
  std::set<std::string> paths;
  for (const std::string& stem : words_of("pointwise_kernels")) paths.insert("core/kernels/" + stem + ".h");
  return paths;
}
void add_kernels_of(const Tree& tree, const std::string& path, std::set<std::string>& kernels) {
  for (const Include& include : includes_of(tree.at(path)))
    if (const std::string target = target_of(path, include.name); include.own && is_header(target)) {
      if (is_kernel(target)) kernels.insert(target);
      add_kernels_of(tree, target, kernels);
    }
}

// "file:line: include: what is wrong", one line per wrong include.
std::vector<std::string> wrong_includes(const Tree& tree) {
  std::vector<std::string> wrong;
  for (const auto& [path, text] : tree)
    for (const auto& [line, own, name] : includes_of(text)) {
      const std::string verdict = is_course(path) ? judge_course(tree, path, own, name)
                                  : is_live(path) || is_user_header(path) ? ""
                                  : own                                   ? judge_own(tree, path, name)
                                                                          : judge_library(path, name);
      if (!verdict.empty()) wrong.push_back(path + ":" + std::to_string(line) + ": " + name + ": " + verdict);
    }
  return wrong;
}

std::string without_extension(const std::string& path) { return path.substr(0, path.rfind('.')); }

// Includes of isobar::isobar's part of data/ that lead into isobar::data or to its libraries.
std::vector<std::string> heavy_includes(const Tree& tree) {
  const std::set<std::string> light = light_data();
  std::vector<std::string> wrong;
  for (const auto& [path, text] : tree) {
    if (!light.contains(without_extension(path))) continue;
    for (const auto& [line, own, name] : includes_of(text)) {
      const std::string target = target_of(path, name);
      const bool fine = own ? room_of(target) == "core" || light.contains(without_extension(target))
                            : name.find_first_of("./") == std::string::npos || name.starts_with("fmt/");
      if (!fine) wrong.push_back(path + ": " + name);
    }
  }
  return wrong;
}

// What goes through raw.h has no gradient: layers and studies have no business there, with these exceptions.
const std::set<std::string>& raw_exceptions() {
  static const std::set<std::string> all = {
      "nn/batch_norm.cpp",                         // writes running statistics
      "nn/check/layer_runner.cpp",                 // makes strided inputs
      "nn/init.cpp",                               // says which key drew a weight
      "nn/model.cpp",                              // asks for keys and versions
      "nn/module.cpp",                             // marks what is replaced
      "nn/pieces.cpp",                             // keeps when gradients began
      "experiments/run/machine_limits.cpp",        // times memory
      "experiments/lm/watching/print_model.cpp"};  // tells which storages a model keeps
  return all;
}

// Files that may not name raw:: and do.
std::vector<std::string> raw_users(const Tree& tree) {
  std::vector<std::string> users;
  for (const auto& [path, text] : tree) {
    const bool judged = room_of(path) == "nn" || room_of(path) == "experiments";
    if (!judged || is_course(path) || raw_exceptions().contains(path)) continue;
    static const std::regex raw(R"(\braw::|/raw\.h")");
    if (holds(text, "raw") && std::regex_search(text, raw)) users.push_back(path);
  }
  return users;
}

Tree read_sources() {
  const fs::path root = ISOBAR_SOURCE_DIR;
  Tree tree;
  for (const auto& room : rooms())
    for (const auto& entry : fs::recursive_directory_iterator(root / room.first)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      tree.emplace(entry.path().lexically_relative(root).generic_string(), text.str());
    }
  return tree;
}
const Tree& sources() {
  static const Tree all = read_sources();
  return all;
}

TEST_CASE("every source file includes only what its floor allows") {
  const Tree& tree = sources();
  for (const char* file : {"core/tensor.h", "core/kernels/map.h", "autograd/ops.h", "nn/module.h",
                           "optim/optimizer.h", "data/loader.h"})
    CHECK_MESSAGE(tree.contains(file), file, " was not read");
  for (const std::string& wrong : wrong_includes(tree)) FAIL_CHECK(wrong);
}

TEST_CASE("the kernels that autograd/pointwise.h includes are installed, and no umbrella includes it") {
  const Tree& tree = sources();
  std::set<std::string> kernels;
  add_kernels_of(tree, "autograd/pointwise.h", kernels);
  CHECK(kernels == listed_kernels());
  CHECK_FALSE(leads_to(tree, "autograd/autograd.h", "autograd/pointwise.h"));
  CHECK_FALSE(leads_to(tree, "nn/nn.h", "autograd/pointwise.h"));
}

TEST_CASE("what isobar::isobar has of data/ does without the libraries of isobar::data") {
  const Tree& tree = sources();
  for (const std::string& stem : light_data()) CHECK_MESSAGE(tree.contains(stem + ".h"), stem);
  CHECK(light_data().contains("data/loader"));
  CHECK_FALSE(light_data().contains("data/safetensors"));
  CHECK(heavy_includes(tree).empty());
  CHECK(heavy_includes(
            {{"data/loader.cpp", "#include \"dataset.h\"\n#include \"file.h\"\n#include <zlib.h>\n"}}) ==
        std::vector<std::string>{"data/loader.cpp: file.h", "data/loader.cpp: zlib.h"});
}

TEST_CASE("no layer and no study takes what is not recorded") {
  const Tree& tree = sources();
  for (const std::string& path : raw_users(tree)) FAIL_CHECK(path << ": use contiguous(), clone(), cast()");
  for (const std::string& path : raw_exceptions()) CHECK_MESSAGE(tree.contains(path), path);
  CHECK(raw_users({{"nn/linear.h", "Tensor y = raw::clone(x);"},
                   {"nn/batch_norm.cpp", "raw::write<float>(x)"},
                   {"autograd/ops/pow.cpp", "raw::clone(x)"},
                   {"experiments/x.cpp", "#include \"../core/raw.h\"\n"}}) ==
        std::vector<std::string>{"experiments/x.cpp", "nn/linear.h"});
}

// libstdc++'s iterator ends the process, without a word, where it gets no memory.
TEST_CASE("folders are listed by names_in()") {
  for (const auto& file : sources())
    if (!file.first.starts_with("experiments/course/"))
      CHECK_MESSAGE(!holds(file.second, "directory_iterator("), file.first);
}

// A name in a folder of results may be a link that someone else put there; data/file.cpp knows.
TEST_CASE("files are created, renamed and appended to in data/file.cpp alone") {
  const auto writers = [](const Tree& tree) {
    static const std::regex writes(
        R"(ofstream|fopen\(|freopen\(|O_CREAT|O_WRONLY|O_RDWR|\bmkstemp|::rename\(|copy_file\(|basic_file_sink|resize_file)");
    std::vector<std::string> found;
    for (const auto& [path, text] : tree)
      if (!is_course(path) && path != "data/file.cpp" && std::regex_search(text, writes))
        found.push_back(path);
    return found;
  };
  CHECK(writers(sources()) ==
        std::vector<std::string>{"autograd/check/tape_page.cpp",   // at a path that its caller chose
                                 "experiments/run/lock_file.cpp",  // appends, and follows no link
                                 "experiments/run/process.cpp",    // /dev/null for closed streams
                                 "experiments/tool/duels.cpp"});   // /dev/null for a duel that is run again
  CHECK(writers({{"data/file.cpp", "O_CREAT"},
                 {"data/x.cpp", "std::ofstream(path)"},
                 {"experiments/x.cpp", "std::fopen(path, \"a\")"},
                 {"experiments/y.cpp", "rename_file(from, to); write_file_atomically(path, \"\");"}}) ==
        std::vector<std::string>{"data/x.cpp", "experiments/x.cpp"});
}

TEST_CASE("the checker passes what is allowed") {
  CHECK(wrong_includes(
            {{"core/tensor.h", "#include <vector>\n#include <fmt/format.h>\n"},
             {"core/parallel.h", ""},
             {"core/openblas_plugin.cpp", "#include <cblas.h>\n#include <sched.h>\n#include \"tensor.h\"\n"},
             {"core/ranks/ranks.cpp", "#include <dlfcn.h>\n"},
             {"core/ranks/ranks_mpi.cpp", "#include <mpi.h>\n"},
             {"core/kernels/vec.h", "#include <immintrin.h>\n"},
             {"core/kernels/vmath.h", "#include \"vec.h\"\n#include \"../parallel.h\"\n"},
             {"autograd/ops.h", "#include \"../core/tensor.h\"\n"},
             {"autograd/ops/pow.cpp", "#include \"../../core/kernels/vmath.h\"\n#include \"../ops.h\"\n"},
             {"nn/linear.h", "#include \"../autograd/ops.h\"\n"},
             {"data/idx.cpp", "  #  include <zlib.h>  // inflate\n"},
             {"experiments/run/json.h", "#include <nlohmann/json.hpp>\n"},
             {"experiments/course/a1/driver.cpp", "#include \"driver.h\"\n#include <isobar/core/tensor.h>\n"},
             {"experiments/course/a1/alternatives/x.cpp",
              "#include <sys/mman.h>\n#include <unistd.h>\n#include \"a1.h\"\n"},
             {"experiments/study.cpp", "#include <CLI/CLI.hpp>\n#include \"../nn/linear.h\"\n"}})
            .empty());
}

TEST_CASE("the checker names file and line of what is not allowed") {
  const Tree house = {{"core/tensor.h", ""},
                      {"core/rng.h", "#include \"tensor.h\"\n"},
                      {"core/kernels/map.h", ""},
                      {"autograd/tape.h", ""},
                      {"nn/module.h", ""}};
  const struct {
    std::string path, header, reason;
  } mistakes[] = {
      {"experiments/course/a1/x.cpp", R"(<isobar/core/kernels/map.h>)", "the package has no such header"},
      {"experiments/course/a1/x.cpp", R"("a2.h")", "no student's tree holds this"},
      {"experiments/course/kit/x.h", R"(<zlib/zlib.h>)", "wanted std, POSIX or isobar"},
      {"optim/x.h", R"("../autograd/tape.h")", "optim may not include autograd"},
      {"autograd/x.cpp", R"("../nn/module.h")", "autograd may not include nn"},
      {"nn/x.h", R"("core/tensor.h")", "there is no nn/core/tensor.h; own includes are relative to the file"},
      {"core/x.h", R"(<tbb/parallel_for.h>)", "a third-party header belongs in a .cpp file"},
      {"core/x.h", R"(<unistd.h>)", "a system header belongs in a .cpp file"},
      {"core/ranks/ranks.cpp", R"(<mpi.h>)", "MPI is for the plugin core/ranks/ranks_mpi.cpp alone"},
      {"core/kernels/x.h", R"(<tbb/parallel_for.h>)", "a third-party header belongs in a .cpp file"},
      {"core/kernels/x.h", R"(<immintrin.h>)", "vector instructions are for core/kernels/vec.h alone"},
      {"nn/x.cpp", R"(<zlib.h>)", "this library is not one of the room nn"},
      {"experiments/run/x.h", R"(<CLI/CLI.hpp>)", "a third-party header belongs in a .cpp file"},
      {"core/kernels/x.h", R"("../tensor.h")",
       "kernels know pointers and sizes, and this leads to core/tensor.h"},
      {"core/kernels/x.h", R"("../rng.h")",
       "kernels know pointers and sizes, and this leads to core/tensor.h"},
      {"core/x.h", R"("kernels/map.h")", "a header for users includes an inner one"},
  };
  for (const auto& one : mistakes) {
    Tree tree = house;
    tree[one.path] = "\n\n#include " + one.header + "\n";
    const std::string bare = one.header.substr(1, one.header.size() - 2);
    CHECK(wrong_includes(tree) == std::vector<std::string>{one.path + ":3: " + bare + ": " + one.reason});
  }
}

}  // namespace isobar::floors_test
