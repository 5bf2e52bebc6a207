// Csv: comma-separated values, kept until the run is complete; without a spool's file, in memory.
#pragma once

#include <cstdint>
#include <variant>

#include "result_folder.h"

namespace isobar {

class Csv {
 public:
  using Cell = std::variant<int64_t, double, std::string>;

  Csv(std::string name, const std::vector<std::string>& columns,
      std::shared_ptr<SpoolFile> spool = std::make_shared<SpoolFile>(""));
  // Numbers are written so that they read back exactly. Throws Error unless there is one cell per column.
  void row(const std::vector<Cell>& cells);

  const std::string& name() const { return name_; }
  std::string text() const { return heading_ + rows_.bytes(); }

 private:
  std::string name_;
  size_t columns_;
  std::string heading_;
  Spool rows_;
};

}  // namespace isobar
