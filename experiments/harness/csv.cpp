#include "csv.h"

#include <fmt/ranges.h>

#include "../../core/error.h"

namespace isobar {

Csv::Csv(std::string name, const std::vector<std::string>& columns, std::shared_ptr<SpoolFile> spool)
    : name_(std::move(name)),
      columns_(columns.size()),
      heading_(fmt::format("{}\n", fmt::join(columns, ","))),
      rows_(std::move(spool)) {}

void Csv::row(const std::vector<Cell>& cells) {
  check(cells.size() == columns_, "{}: wanted {} cells, got {}", name_, columns_, cells.size());
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    const auto* text = std::get_if<std::string>(&cells[i]);
    if (text == nullptr) {
      line += std::visit([](const auto& value) { return fmt::format("{}", value); }, cells[i]);
    } else if (text->find_first_of(",\"\n\r") == std::string::npos) {
      line += *text;
    } else {  // quoted, with inner quotes doubled (RFC 4180)
      line += '"';
      for (const char c : *text) line += c == '"' ? std::string("\"\"") : std::string(1, c);
      line += '"';
    }
  }
  rows_.append(line + "\n");
}

}  // namespace isobar
