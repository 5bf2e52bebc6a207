// Ledger: the duels of a search, a file of rows to which rows are added and in which nothing else changes.
//
//   Ledger ledger("search.toml");                 // none yet: no rows
//   ledger.add({{"duel", "1"}, {"event", "begun"}, …});
//
// Each row has the hash of its text and of the hash before, so that a row that is edited, moved or left out is found. A
// file whose last rows are cut off is a ledger of fewer duels: who must know writes the last hash down elsewhere.
//
// The k-th duel of a search may spend 6/(π² k²) of the error rate, whatever came before. The sum over all k is 1: in one
// of a hundred searches, however long, one duel or more is decided though both sides are equal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace isobar::duel {

// What the k-th duel, from 1, may spend of the error rate.
double share_of_duel(int64_t k);

// Names and values of a row, in the order of the file. All values are texts.
class LedgerRow : public std::vector<std::pair<std::string, std::string>> {
 public:
  using std::vector<std::pair<std::string, std::string>>::vector;
  // Returns the value; "" where the row has none of this name.
  std::string operator[](const std::string& name) const;
};

class Ledger {
 public:
  // Reads the file. Throws Error where it is no ledger, and where a row is not as it was written.
  explicit Ledger(std::string path);

  // Adds the row, with "before" and "hash", and writes the file; it is on the disk then.
  void add(LedgerRow row);

  const std::string& path() const { return path_; }
  const std::vector<LedgerRow>& rows() const { return rows_; }
  std::string last_hash() const { return rows_.empty() ? "" : rows_.back()["hash"]; }

  // How many duels were begun, and whether the last one has no end yet.
  int64_t duels() const;
  bool is_open() const { return !rows_.empty() && rows_.back()["event"] == "begun"; }
  // The rows of duel k; that of its end has no fields where there is none.
  LedgerRow begun(int64_t k) const { return row_of(k, "begun"); }
  LedgerRow ended(int64_t k) const { return row_of(k, "ended"); }
  // The last one that was kept, or the one that the search began with; "" without duels.
  std::string champion() const;

 private:
  LedgerRow row_of(int64_t k, const std::string& event) const;
  std::string text() const;
  void check_order() const;

  std::string path_;
  std::vector<LedgerRow> rows_;
};

}  // namespace isobar::duel
