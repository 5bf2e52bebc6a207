// Content: what the report's page shows, collected from the summaries of runs.
//
//   Content content;
//   content.add("runs/verify");                          // a finished run, with those in its folder
//   content.add(run.summary(), "runs/verify");           // or one under way: its summary in memory
//   write_file_atomically("report.html", content.page("en"));
//
// Of a run under way the page shows every claim: one whose "verdict" is "still to come" as not measured yet.
// Its "runs" names those that are done, which are read from their folders; "progress", if it is there,
// {"done": 4, "of": 12, "seconds_left": 300}, makes a line at the top.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "../run/json.h"

namespace isobar::report {

class Content {
 public:
  // A folder with a summary.json; of isobar verify with the runs in it. Throws Error where there is none.
  void add(const std::string& folder);
  // The same of a summary in memory; `folder` is where its runs are.
  void add(const Json& summary, const std::string& folder);
  // Adds of claims::kept_summary() the claims that are not there yet. `names`: what the kept runs are called on the page.
  void add_kept(const Json& summary, const std::map<std::string, std::string>& names);

  // Replaces the sentences on what was found, [{"en": "… (D23).", "zh": …}]: the page shows those whose claims it has.
  // Throws Error for another JSON.
  void set_found(Json sentences);

  // Adds the table of norms: what duel::facts_of() says; of null there is none.
  void set_norms(Json facts) { norms_ = std::move(facts); }

  // Gives the first screen a link to the article, relative to the page.
  void set_article(std::string address) { article_ = std::move(address); }

  size_t claim_count() const { return claims_.size(); }
  size_t run_count() const { return runs_.size(); }
  // {"name": …, "program": …, "plots": […], …} each.
  const Json& runs() const { return runs_; }

  // The whole page, as one HTML file. `lang` is "en" or "zh"; the reader can switch. `live`: with the chapter
  // that runs a study in the reader's browser (live_chapter.h).
  std::string page(const std::string& lang, bool live = false) const;

 private:
  static Json shipped_found();  // found.json
  std::string add_run(const std::string& folder, const std::string& name, const Json& summary, bool named);
  void add_claim(Json claim, const std::map<std::string, std::string>& names);

  Json claims_ = Json::array(), sources_ = Json::object(), runs_ = Json::array(), missing_ = Json::array();
  Json stored_ = Json::array();  // for the live chapter
  Json environment_ = Json::object(), progress_, found_ = shipped_found(), norms_;
  std::string article_;
};

// The summary.json of a finished run's folder. Throws Error where there is none.
Json summary_in(const std::string& folder);

// JSON as it can stand in a script element of a page.
std::string embedded(const Json& json);

// --- What the page shows of a summary: thinned curves, values in five digits, of a claim what is shown.

// The run's settings, expectations, charts and, where it has them, measured values and sample of text.
Json shown_run(const Json& summary);
Json shown_claim(const Json& claim);

}  // namespace isobar::report
