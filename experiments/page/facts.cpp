#include "facts.h"

#include "../claims/results.h"
#include "../nets/decay/reference.h"
#include "../run/environment.h"
#include "../run/lists.h"
#include "../run/program.h"
#include "closed_forms.h"
#include "drawings.h"

namespace isobar::facts {
namespace {

using namespace claims;

bool is_id(const std::string& word) {
  return word.size() == 3 && word[0] >= 'A' && word[0] <= 'Z' &&
         word.find_first_not_of("0123456789", 1) == std::string::npos;
}

// "table 2.1 | D01 D41 `train_lm`": the item, its claims, and what else runs it.
Json item_of(const ClaimFile& file, const std::string& text) {
  const size_t bar = text.find(" | ");
  check(bar != std::string::npos, "{}: wanted \"ITEM | CLAIMS\", got '{}'", file.path, text);
  Json item = {{"item", text.substr(0, bar)}, {"claims", Json::array()}};
  std::string rest = text.substr(bar + 3);
  while (is_id(rest.substr(0, rest.find(' ')))) {
    const std::string id = rest.substr(0, rest.find(' '));
    check(std::ranges::count(file.claims, id, &Claim::id) == 1, "{}: items: there is no claim {}", file.path,
          id);
    item["claims"].push_back(id);
    rest.erase(0, std::min(rest.size(), id.size() + 1));
  }
  item["other"] = rest;
  return item;
}

Json text_of_file(const ClaimFile& file) {
  const Source& source = file.source;
  Json json = {{"id", source.id},
               {"title", source.title},
               {"title_en", source.title_en},
               {"author", source.author},
               {"date", source.date},
               {"address", source.address},
               {"registered", source.registered},
               {"claims", Json::array()},
               {"items", Json::array()}};
  for (const Claim& claim : file.claims) json["claims"].push_back(claim.id);
  for (const std::string& item : source.items) json["items"].push_back(item_of(file, item));
  return json;
}

Json claim_facts(const ClaimFile& file, const Judged& judged) {
  const Claim& claim = *judged.claim;
  Json json = to_json(judged);
  json["kind"] = claim.kind == Kind::measured ? "measured" : kind_words[static_cast<size_t>(claim.kind)];
  json["text_size"] = claim.paper_size.en;
  const Finding* deciding = deciding_part(judged);
  json["all_parts_together"] = judged.claim->one_statement;
  json["deciding_part"] = deciding == nullptr ? Json() : Json(deciding - judged.findings.data());
  for (size_t i = 0; i < claim.parts.size(); ++i) {
    const RunSpec& run = *std::ranges::find(file.runs, claim.parts[i].run, &RunSpec::name);
    const Finding& finding = judged.findings[i];
    json["parts"][i]["command"] = run.study + (run.flags.empty() ? "" : " " + shell_line(run.flags));
    json["parts"][i]["value_text"] = finding.not_run.empty() ? value_text(finding) : "";
  }
  return json;
}

// What is kept of each run: settings, commit, machine, seconds, and its values where its settings are today's.
Json runs_facts(const Kept& kept, const Runs& runs) {
  Json all = Json::object();
  for (const char* scale : {"full", "quick"})
    for (const auto& [name, seconds] : kept.seconds(scale)) {
      if (all.contains(name)) continue;
      Json run = kept.run(name);
      const auto summary = runs.summaries.find(name);
      run["measured"] = summary == runs.summaries.end() ? Json::object() : summary->second["measured"];
      all[name] = std::move(run);
    }
  return all;
}

Json closed_forms() {
  const ClosedForms forms = beside_pytorch();
  return {{"all_nets", decay::depth_reference().size()},
          {"nets", forms.nets},
          {"medians", forms.medians},
          {"within", forms.within},
          {"largest", forms.largest},
          {"lost_to_width", lost_to_width()}};
}

Json studies_facts() {
  Json all = Json::array();
  for (const Json& study : ask_studies())
    all.push_back({{"name", study["name"]}, {"question", study["question"]}, {"page", study["page"]}});
  return all;
}

}  // namespace

Json all(const std::vector<ClaimFile>& files, const Kept& kept) {
  const Runs runs = kept.runs(files);
  std::map<std::string, Json> claims;
  Json json = {{"version", isobar_version()}, {"verdicts", verdict_words}, {"texts", Json::array()}};
  for (const ClaimFile& file : files) {
    json["texts"].push_back(text_of_file(file));
    for (const Claim& claim : file.claims) claims[claim.id] = claim_facts(file, judge_kept(claim, runs));
  }
  json["claims"] = claims;
  json["runs"] = runs_facts(kept, runs);
  json["studies"] = studies_facts();
  json["closed_forms"] = closed_forms();
  for (const std::string& name : drawing_names()) json["charts"][name] = drawing(name, runs, claims);
  return json;
}

}  // namespace isobar::facts
