#include "plugin.h"

#include <dlfcn.h>

#include <filesystem>

#include "error.h"

namespace isobar {

void* open_plugin(const PluginFunction& wanted) {
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
  void* plugin = nullptr;
  for (const std::string& folder :
       {(program.parent_path() / "../lib/isobar").string(), std::string(ISOBAR_PLUGINS)})
    if (plugin == nullptr)
      plugin = ::dlopen((folder + "/" + wanted.file).c_str(),
                        RTLD_NOW | (wanted.global ? RTLD_GLOBAL : RTLD_LOCAL));
  const char* const why = plugin == nullptr ? ::dlerror() : nullptr;
  check(plugin != nullptr, "{}, but this isobar has no {}: install {}, configure and build again, or {} ({})",
        wanted.asked, wanted.file, wanted.package, wanted.instead, why == nullptr ? "no reason given" : why);
  void* const function = ::dlsym(plugin, wanted.function);
  check(function != nullptr, "{} is of another isobar; build it again", wanted.file);
  return function;
}

}  // namespace isobar
