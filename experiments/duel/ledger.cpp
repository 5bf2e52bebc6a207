#include "ledger.h"

#include <fmt/format.h>

#include <filesystem>
#include <numbers>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../run/json.h"

namespace isobar::duel {
namespace {

constexpr const char* heading =
    "# The duels of a search, written by `isobar duel --ledger`. Each row has the hash of the row before: do not edit it.\n";

// `name = "value"`, a line each. The escapes of JSON's texts are TOML's.
std::string text_of(const LedgerRow& row) {
  std::string text = "\n[[row]]\n";
  for (const auto& [name, value] : row)
    text += fmt::format("{} = {}\n", name, Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
  return text;
}

// Of all fields but the hash itself; "before" is one of them.
std::string hash_of(LedgerRow row) {
  std::erase_if(row, [](const auto& field) { return field.first == "hash"; });
  return checksum(text_of(row));
}

// A row's fields from its lines. Whether they are written as here, the caller compares.
LedgerRow row_from(const std::string& lines) {
  LedgerRow row;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    if (const size_t equals = line.find(" = "); equals != std::string::npos) {
      const Json value = Json::parse(line.substr(equals + 3), nullptr, false);
      if (value.is_string()) row.emplace_back(line.substr(0, equals), value.get<std::string>());
    }
    begin = end + 1;
  }
  return row;
}

}  // namespace

double share_of_duel(int64_t k) {
  const auto number = static_cast<double>(k);
  return 6 / (std::numbers::pi * std::numbers::pi * number * number);
}

std::string LedgerRow::operator[](const std::string& name) const {
  for (const auto& [field, value] : *this)
    if (field == name) return value;
  return "";
}

Ledger::Ledger(std::string path) : path_(std::move(path)) {
  if (!std::filesystem::exists(path_)) return;
  const std::string file = read_file(path_, size_t{1} << 26);
  check(file.starts_with(heading), "'{}' is no ledger of isobar duel: its first line is another one", path_);
  const std::string begins = "\n[[row]]\n";
  size_t at = std::string(heading).size();
  while (at < file.size()) {
    const size_t next = std::min(file.find(begins, at + 1), file.size());
    rows_.push_back(row_from(file.substr(at, next - at)));
    const LedgerRow& row = rows_.back();
    const std::string before = rows_.size() == 1 ? "" : rows_[rows_.size() - 2]["hash"];
    check(
        text_of(row) == file.substr(at, next - at) && row["hash"] == hash_of(row) && row["before"] == before,
        "{}: row {} is not as isobar wrote it after the row before: it or that one was edited, moved or damaged; "
        "restore the file from a copy, or begin another search",
        path_, rows_.size());
    at = next;
  }
  check_order();
}

void Ledger::check_order() const {
  int64_t k = 0;
  bool open = false;
  for (const LedgerRow& row : rows_) {
    const bool begins = row["event"] == "begun";
    k += begins;
    check((begins || row["event"] == "ended") && begins != open && row["duel"] == std::to_string(k),
          "{}: wanted the rows of duels 1, 2, …, each begun and then ended, got row '{}' of duel '{}'", path_,
          row["event"], row["duel"]);
    open = begins;
  }
}

std::string Ledger::text() const {
  std::string text = heading;
  for (const LedgerRow& row : rows_) text += text_of(row);
  return text;
}

void Ledger::add(LedgerRow row) {
  row.emplace_back("before", last_hash());
  row.emplace_back("hash", hash_of(row));
  rows_.push_back(std::move(row));
  write_file_atomically(path_, text());
}

int64_t Ledger::duels() const {
  int64_t count = 0;
  for (const LedgerRow& row : rows_) count += row["event"] == "begun";
  return count;
}

LedgerRow Ledger::row_of(int64_t k, const std::string& event) const {
  for (const LedgerRow& row : rows_)
    if (row["event"] == event && row["duel"] == std::to_string(k)) return row;
  return {};
}

std::string Ledger::champion() const {
  if (rows_.empty()) return "";
  std::string champion = rows_.front()["champion"];
  for (const LedgerRow& row : rows_)
    if (row["event"] == "ended" && row["outcome"] == "better")
      champion = begun(std::stoll(row["duel"]))["candidate"];
  return champion;
}

}  // namespace isobar::duel
