// The documents of the repository, for tests that read them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace isobar {

// All .md files, in the order of their paths; builds and results are none of the repository's own.
inline std::vector<std::filesystem::path> documents() {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  for (auto it = fs::recursive_directory_iterator(ISOBAR_SOURCE_DIR);
       it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename();
    if (it->is_directory() && (name.starts_with(".") || name.starts_with("build") || name == "runs"))
      it.disable_recursion_pending();
    else if (it->path().extension() == ".md")
      found.push_back(it->path());
  }
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return a.string() < b.string(); });
  return found;
}

}  // namespace isobar
