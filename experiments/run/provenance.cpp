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

bool are_texts(const Json& object) {
  return object.is_object() && std::ranges::all_of(object, [](const Json& one) { return one.is_string(); });
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
  const auto text = [&](const char* key) {
    return then.is_object() && then.value(key, Json()).is_string() ? then[key].get<std::string>() : "";
  };
  if (!text("version").empty() && then["version"] != now["version"])
    return fmt::format("it is of version {}", text("version"));
  if (text("version").empty() || !then.value("sources", Json()).is_string() ||
      !are_texts(then.value("data", Json())))
    return "its summary does not say of which sources and data it is";
  if (then["sources"] != now["sources"])
    return fmt::format("the sources of its program have changed since commit {}",
                       text("commit").empty() ? "unknown" : text("commit"));
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
