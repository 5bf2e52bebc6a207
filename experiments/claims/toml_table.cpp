#include "toml_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "../../core/error.h"
#include "../../data/utf8_stream.h"
#include "../run/lists.h"

namespace isobar::claims {
namespace {

constexpr size_t longest_text = 4000;  // bytes

int line_of_node(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

// A value as TOML, where "3", 3 and 3.0 are three things.
std::string shown(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return one_line(text.str());
}

}  // namespace

TomlTable::TomlTable(const toml::table& table, const std::string& path, std::string what)
    : table_(table), path_(path), what_(std::move(what)) {}

void TomlTable::refuse(int line, const std::string& complaint) const {
  throw_error(fmt::format("{}, line {}: {}: {}", path_, line, one_line(what_), complaint));
}

int TomlTable::line() const { return line_of_node(table_); }

bool TomlTable::has(const char* field) const { return find(field) != nullptr; }

void TomlTable::inherit(const TomlTable& outer, const std::vector<std::string>& fields) {
  outer_ = &outer.table_;
  inherited_ = fields;
}

void TomlTable::allow(const std::vector<std::string>& fields) const {
  for (const auto& [name, node] : table_) {
    const std::string key(name.str());
    if (std::find(fields.begin(), fields.end(), key) != fields.end()) continue;
    const std::string hint = did_you_mean(key, fields);
    refuse(static_cast<int>(name.source().begin.line),
           fmt::format("has no field '{}'{}", one_line(key),
                       hint.empty() ? fmt::format("; it may have {}", fmt::join(fields, ", ")) : hint));
  }
}

const toml::node* TomlTable::find(const char* field) const {
  const toml::node* own = table_.get(field);
  const bool inherits = own == nullptr && std::ranges::count(inherited_, field) > 0;
  return inherits ? outer_->get(field) : own;
}

const toml::node& TomlTable::need(const char* field) const {
  const toml::node* node = find(field);
  if (node == nullptr) refuse(line(), fmt::format("has no {}; add it", field));
  return *node;
}

int TomlTable::line_of(const char* field) const {
  const toml::node* node = find(field);
  return node == nullptr ? line() : line_of_node(*node);
}

std::string TomlTable::text_of(const toml::node& node, const char* field) const {
  const auto* text = node.as_string();
  if (text == nullptr)
    refuse(line_of_node(node), fmt::format("{}: wanted a text in quotes, got {}", field, shown(node)));
  const std::string& value = text->get();
  if (value.empty() || value.size() > longest_text)
    refuse(line_of_node(node),
           fmt::format("{}: wanted a text of 1 to {} bytes, got {}", field, longest_text, value.size()));
  if (const std::string unseen = unseen_character(value); !unseen.empty())
    refuse(line_of_node(node),
           fmt::format("{}: has {}, which nobody sees; write one line of plain text", field, unseen));
  return value;
}

double TomlTable::number_of(const toml::node& node, const char* field) const {
  const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value))
    refuse(line_of_node(node), fmt::format("{}: wanted a finite number, got {}", field, shown(node)));
  return *value;
}

std::string TomlTable::text(const char* field) { return text_of(need(field), field); }

std::string TomlTable::text_or(const char* field, const std::string& otherwise) {
  const toml::node* node = find(field);
  return node == nullptr ? otherwise : text_of(*node, field);
}

bool TomlTable::flag(const char* field) {
  const toml::node* node = find(field);
  if (node == nullptr) return false;
  const auto* value = node->as_boolean();
  if (value == nullptr)
    refuse(line_of_node(*node), fmt::format("{}: wanted true or false, got {}", field, shown(*node)));
  return value->get();
}

double TomlTable::number(const char* field) { return number_of(need(field), field); }

std::vector<double> TomlTable::numbers(const char* field, size_t count) {
  const toml::node& node = need(field);
  const toml::array* list = node.as_array();
  if (list == nullptr || list->size() != count)
    refuse(line_of_node(node),
           fmt::format("{}: wanted a list of {} numbers, such as [0.9, 1.1]", field, count));
  std::vector<double> values;
  for (const toml::node& item : *list) values.push_back(number_of(item, field));
  return values;
}

std::vector<std::string> TomlTable::texts(const char* field) {
  const toml::node* node = find(field);
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list == nullptr) refuse(line_of_node(*node), fmt::format("{}: wanted a list of texts", field));
  std::vector<std::string> values;
  for (const toml::node& item : *list) values.push_back(text_of(item, field));
  return values;
}

TomlTable TomlTable::table(const char* field) {
  const toml::node& node = need(field);
  const toml::table* one = node.as_table();
  if (one == nullptr)
    refuse(line_of_node(node), fmt::format("{0}: wanted a table, begun by a line [{0}]", field));
  return TomlTable(*one, path_, field);
}

std::vector<TomlTable> TomlTable::tables(const char* field, const std::string& header,
                                         const std::string& what) {
  const toml::node* node = find(field);
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables())
    refuse(line_of_node(*node), fmt::format("{}: wanted tables, each begun by a line [[{}]]", field, header));
  std::vector<TomlTable> tables;
  for (const toml::node& item : *list) tables.emplace_back(*item.as_table(), path_, what);
  return tables;
}

std::vector<std::pair<std::string, TomlTable>> TomlTable::named_tables(const char* field) {
  const toml::node* node = find(field);
  if (node == nullptr) return {};
  const toml::table* all = node->as_table();
  if (all == nullptr)
    refuse(line_of_node(*node), fmt::format("{0}: wanted tables, each begun by a line [{0}.NAME]", field));
  std::vector<std::pair<std::string, TomlTable>> tables;
  for (const auto& [name, item] : *all) {
    const toml::table* table = item.as_table();
    const std::string key(name.str());
    if (table == nullptr)
      refuse(line_of_node(item),
             fmt::format("{0}.{1}: wanted a table, begun by a line [{0}.{1}]", field, key));
    tables.emplace_back(key, TomlTable(*table, path_, fmt::format("{} {}", field, key)));
  }
  return tables;
}

}  // namespace isobar::claims
