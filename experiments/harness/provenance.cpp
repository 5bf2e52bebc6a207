#include "provenance.h"

#include <set>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../../data/text_input.h"
#include "environment.h"

namespace isobar {
namespace {

// The files that a program would read where a run read `name`.
std::vector<DataFile> files_now(const std::string& name) {
  if (name.starts_with("mnist/")) return digit_files(find_mnist());
  if (name == "tinyshakespeare.txt") return {{name, checksum(read_text(find_tiny_shakespeare()))}};
  if (name == "kjv.txt") return {{name, checksum(read_text(find_king_james()))}};
  return {};
}

}  // namespace

Json provenance(const std::string& sources, const Json& data) {
  return {{"version", isobar_version()}, {"sources", sources}, {"data", data}};
}

Json data_now(const Json& names) {
  Json data = Json::object();
  for (const auto& [name, xxh3] : names.items()) {
    if (data.contains(name)) continue;
    try {
      for (const DataFile& file : files_now(name)) data[file.name] = file.xxh3;
    } catch (const Error&) {
      continue;  // change_since() names it, and the study says why where it is run
    }
  }
  return data;
}

std::string change_since(const Json& then, const Json& now) {
  const std::string version = then.value("version", "");
  if (version != now["version"]) return fmt::format("it is of version {}", version);
  if (!then.contains("sources") || !then.contains("data"))
    return "its summary does not say of which sources and data it is";
  if (then["sources"] != now["sources"])
    return fmt::format("the sources of its program have changed since commit {}",
                       then.value("commit", "unknown"));
  std::set<std::string> names;
  for (const Json& data : {then["data"], now["data"]})
    for (const auto& [name, xxh3] : data.items()) names.insert(name);
  for (const std::string& name : names)
    if (then["data"].value(name, "") != now["data"].value(name, ""))
      return fmt::format("its data have changed since: {} is {}", name,
                         now["data"].contains(name) ? "another file" : "not read now");
  return "";
}

}  // namespace isobar
