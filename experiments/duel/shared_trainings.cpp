#include "shared_trainings.h"

#include <unistd.h>

#include <filesystem>

#include "../../data/file.h"
#include "../../data/json_text.h"

namespace isobar::duel {
namespace {

std::string settings_key(const Training& training) { return training.settings().dump(); }

// The object's text, and its checksum as its last member.
std::string shared_line(Json object) {
  object.erase("xxh3");
  object = with_named_infinities(object);
  object["xxh3"] = checksum(object.dump());
  return object.dump() + "\n";
}

RowValues values_in(const Json& row) {
  RowValues values;
  for (const auto& [name, value] : row.at("numbers").items()) values.numbers[name] = number_from(value);
  for (const auto& [name, all] : row.at("series").items())
    for (std::vector<double>& series = values.series[name]; const Json& value : all)
      series.push_back(number_from(value));
  return values;
}

}  // namespace

SharedTrainings::SharedTrainings(std::string path, const Json& of)
    : path_(std::move(path)), of_(checksum(with_named_infinities(of).dump())) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  const std::string file = read_file(path_, size_t{1} << 30);
  for (size_t begin = 0, end; (end = file.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = file.substr(begin, end + 1 - begin);
    const Json row = parse_json<Json>(line);
    if (!row.is_object() || shared_line(row) != line || row.value("of", "") != of_) continue;
    rows_.emplace(row.at("settings").dump(), values_in(row));
  }
}

std::optional<Trained> SharedTrainings::find(const Training& training) const {
  const std::scoped_lock lock(mutex_);
  const auto found = rows_.find(settings_key(training));
  if (found == rows_.end()) return std::nullopt;
  return result_of<Trained>(found->second);
}

void SharedTrainings::add(const Training& training, const Trained& trained) {
  if (path_.empty()) return;
  const std::scoped_lock lock(mutex_);
  const RowValues values = row_values(trained);
  // It begins with a newline: what a kill left before it stays a line of its own.
  const std::string line = "\n" + shared_line({{"of", of_},
                                               {"settings", training.settings()},
                                               {"numbers", values.numbers},
                                               {"series", values.series}});
  if (const int made = create_file(path_); made >= 0) ::close(made);
  const int file = open_to_append(path_);
  try {
    append_to(file, line, path_);
  } catch (const Error&) {
    ::close(file);
    throw;
  }
  ::close(file);
}

}  // namespace isobar::duel
