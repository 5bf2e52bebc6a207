// Content: what the report's page shows, collected from the summaries of finished runs.
#pragma once

#include <map>
#include <string>

#include "../harness/json.h"

namespace isobar::report {

class Content {
 public:
  // A folder with a summary.json; of a run of isobar verify, the runs in its folder too. Throws Error where there
  // is none, naming the repair.
  void add(const std::string& folder);

  size_t claim_count() const { return claims_.size(); }
  size_t run_count() const { return runs_.size(); }
  // {"name": …, "program": …, "plots": […], …} each.
  const Json& runs() const { return runs_; }

  // The whole page, as one HTML file. `lang` is "en" or "zh"; the reader can switch.
  std::string page(const std::string& lang) const;

 private:
  std::string add_run(const std::string& folder, const std::string& name, const Json& summary);
  void add_claim(Json claim, const std::map<std::string, std::string>& names);

  Json claims_ = Json::array(), sources_ = Json::object(), runs_ = Json::array(), missing_ = Json::array();
};

}  // namespace isobar::report
