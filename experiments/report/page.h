// Content: what the report's page shows, collected from the summaries of finished runs.
#pragma once

#include <string>

#include "../harness/json.h"

namespace isobar::report {

class Content {
 public:
  // A folder with a summary.json; of a run of reproduce, the runs in its folder too. Throws Error where there
  // is none, naming the repair.
  void add(const std::string& folder);

  size_t claim_count() const { return claims_.size(); }
  size_t run_count() const { return runs_.size(); }

  // The whole page, as one HTML file. `lang` is "en" or "zh"; the reader can switch.
  std::string page(const std::string& lang) const;

 private:
  void add_run(const std::string& name, const Json& summary);

  Json claims_ = Json::array(), runs_ = Json::array();
};

}  // namespace isobar::report
