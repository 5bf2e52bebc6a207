#include "control_groups.h"

#include <fmt/core.h>

#include <fstream>

namespace isobar {
namespace {

constexpr const char* mounted = "/sys/fs/cgroup";

// root/a/b, root/a and root for the path /a/b.
void add_with_parents(const std::string& root, std::string path, std::vector<std::string>& folders) {
  for (; path.size() > 1; path.resize(path.rfind('/'))) folders.push_back(root + path);
  folders.push_back(root);
}

}  // namespace

// A line is "number:controllers:path"; version 2 has the number 0 and no controllers. In a container the
// paths may be those outside of it: then only the root is there.
std::vector<std::string> control_groups(std::string_view controller) {
  const std::string listed = fmt::format(",{},", controller);
  std::string second = "/", first = "/";
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (two == std::string::npos || line[two + 1] != '/') continue;
    const std::string controllers = fmt::format(",{},", line.substr(one + 1, two - one - 1));
    if (controllers == ",,") second = line.substr(two + 1);
    if (controllers.find(listed) != std::string::npos) first = line.substr(two + 1);
  }
  std::vector<std::string> folders;
  add_with_parents(mounted, second, folders);
  add_with_parents(fmt::format("{}/{}", mounted, controller), first, folders);
  return folders;
}

}  // namespace isobar
