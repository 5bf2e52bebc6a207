#include "output_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../../data/utf8_stream.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

// By a line in the head of each page, or the class of each chart.
bool is_page(const std::string& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return false;
  const InputFile file(path);
  std::string head(std::min<uint64_t>(file.size(), 4096), '\0');
  file.read(0, head.data(), head.size());
  return head.find("<meta name=\"generator\" content=\"isobar\">") != std::string::npos ||
         head.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart alone\"");
}

bool is_within(const fs::path& path, const fs::path& folder) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) return false;
  const fs::path whole = fs::weakly_canonical(path, none), outer = fs::canonical(folder, none);
  return std::mismatch(outer.begin(), outer.end(), whole.begin(), whole.end()).first == outer.end();
}

}  // namespace

void check_output(const std::string& path, const OutputRules& rules) {
  check(!path.empty(), "--output: wanted the name of the file to write");
  std::error_code none;
  for (const std::string& input : rules.inputs)
    check(!fs::equivalent(path, input, none),
          "--output: {} is one of the {} that are read; choose another {}", path, rules.inputs_are,
          rules.choose);
  const bool there = fs::symlink_status(path, none).type() != fs::file_type::not_found;
  if (!there || is_written_in_place(path) || (rules.page && is_page(path))) return;
  for (const std::string& folder : rules.folders)
    check(!is_within(path, folder), "--output: '{}' is in the folder '{}', which is read; choose another {}",
          path, folder, rules.choose);
  if (rules.force) return;
  // A link to nothing is a name that the user made for a new file.
  check(!fs::exists(path, none), "{}: is there already; choose another {}, or --force to replace it", path,
        rules.choose);
}

void say_written(const std::string& path, std::string_view text) {
  std::FILE* const stream = is_written_in_place(path) ? stderr : stdout;
  fmt::print(stream, "{}", printable(text));  // it has the file's name, which may be anything
  check(std::fflush(stream) == 0, "stdout: cannot write; is the disk full?");
}

}  // namespace isobar
