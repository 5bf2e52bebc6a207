// TomlTable: one table of a TOML file, read field by field. Every message begins with file and line.
#pragma once

#include "../page/charts/plot.h"

namespace toml {
inline namespace v3 {
class node;
class table;
}  // namespace v3
}  // namespace toml

namespace isobar::claims {

class TomlTable {
 public:
  // `what` names the table in messages: "claim D01". Both outlive it.
  TomlTable(const toml::table& table, const std::string& path, std::string what);

  // Throws Error for a field that is not among these, with the nearest of them. To be called first.
  void allow(const std::vector<std::string>& fields) const;

  // Texts are of 1 to 4000 bytes. All their characters can be seen: no control, direction mark or filler.
  std::string text(const char* field);
  std::string text_or(const char* field, const std::string& otherwise);
  // `field` and its Chinese, `field_zh`, which may be absent; phrase_or_none: both may be.
  Phrase phrase(const char* field) { return {text(field), phrase_or_none(field).zh}; }
  Phrase phrase_or_none(const std::string& field) {
    return {text_or(field.c_str(), ""), text_or((field + "_zh").c_str(), "")};
  }
  bool flag(const char* field);  // false where it is absent
  bool has(const char* field) const;
  // From now on a field of these that this table lacks is that of `outer`, which outlives it.
  void inherit(const TomlTable& outer, const std::vector<std::string>& fields);
  double number(const char* field);  // finite
  // A list of so many finite numbers, or of any number of texts.
  std::vector<double> numbers(const char* field, size_t count);
  std::vector<std::string> texts(const char* field);
  // The table `[field]`, which must be there.
  TomlTable table(const char* field);
  // The tables of `[[header]]`, none where the field is absent; those of `[field.name]` by name.
  std::vector<TomlTable> tables(const char* field, const std::string& header, const std::string& what);
  std::vector<std::pair<std::string, TomlTable>> named_tables(const char* field);

  int line() const;
  int line_of(const char* field) const;
  void rename(std::string what) { what_ = std::move(what); }
  [[noreturn]] void refuse(int line, const std::string& complaint) const;

 private:
  const toml::node* find(const char* field) const;
  const toml::node& need(const char* field) const;
  std::string text_of(const toml::node& node, const char* field) const;
  double number_of(const toml::node& node, const char* field) const;

  const toml::table& table_;
  const toml::table* outer_ = nullptr;
  std::vector<std::string> inherited_;
  const std::string& path_;
  std::string what_;
};

}  // namespace isobar::claims
