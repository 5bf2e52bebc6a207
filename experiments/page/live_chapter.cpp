#include "live_chapter.h"

#include "../claims/results.h"
#include "../studies/what_trains/map.h"
#include "../studies/what_trains/page_training.h"
#include "page.h"

namespace isobar::fixtures {
extern const char live_chapter[], live_map[], live_style[], live_words[], live_module[];
}  // namespace isobar::fixtures

namespace isobar::report {
namespace {

// What claims::Claim is to live/module.cpp.
Json claim_json(const claims::Claim& claim) {
  Json json = {{"id", claim.id},
               {"source", claim.source},
               {"claim", claim.says.en},
               {"claim_zh", claim.says.zh},
               {"note", claim.note.en},
               {"all", claim.one_statement},
               {"run", claim.parts[0].run},
               {"parts", Json::array()}};
  for (const claims::Part& part : claim.parts)
    json["parts"].push_back({{"says", part.says.en},
                             {"says_zh", part.says.zh},
                             {"key", part.key},
                             {"rule", claims::rule_words[static_cast<size_t>(part.predicate.rule)]},
                             {"low", part.predicate.low},
                             {"high", part.predicate.high},
                             {"log", part.predicate.log}});
  return json;
}

// The claims of texts that one of these runs of the study is enough to judge.
Json claims_of_runs(const std::vector<std::string>& runs) {
  Json all = Json::array();
  for (const claims::Claim* claim : claims::builtin_table()) {
    const auto same = [&](const claims::Part& part) { return part.run == claim->parts[0].run; };
    if (claim->kind == claims::Kind::measured && !claim->parts.empty() &&
        std::ranges::count(runs, claim->parts[0].run) > 0 && std::ranges::all_of(claim->parts, same))
      all.push_back(claim_json(*claim));
  }
  return all;
}

// Nets that the page offers, in the order of its buttons.
struct Offered {
  const char *name, *norm;
  int64_t depth;
  double scale, rate;
};
constexpr Offered offered[] = {
    {"plain", "none", 8, 1, 0x1p-7},
    {"large", "none", 8, 2, 0x1p-7},
    {"normed", "pre.rmsnorm", 8, 2, 0x1p-7},
    {"deep", "none", 32, 1, 0x1p-8},
    {"deep_normed", "pre.rmsnorm", 32, 1, 0x1p-8},
    {"fast", "pre.rmsnorm", 8, 1, 0x1p-3},
};

// What live_map.js reads: the kept map's residual MLPs with AdamW, what "learns" is on the page's digits, and the nets with
// the bits of their native trainings; without bits where the digits are not there.
Json map_json() {
  trains::Map map = trains::kept_map();
  std::erase_if(map.nets, [](const trains::MeasuredNet& one) {
    return one.net.task != "residual" || one.net.optimizer != "adamw";
  });
  std::optional<trains::PageDigits> digits;
  try {
    digits = trains::read_page_digits();
  } catch (const Error&) {
    // A page has none of them then, and its reader the command.
  }
  Json nets = Json::array();
  for (const Offered& one : offered) {
    const trains::Net net{.norm = one.norm, .depth = one.depth, .scale = one.scale};
    const std::string bits = digits ? trains::train_on_page(*digits, net, one.rate).bits : "";
    nets.push_back(
        {{"name", one.name},
         {"bits", bits},
         {"net", {{"norm", one.norm}, {"depth", one.depth}, {"scale", one.scale}, {"rate", one.rate}}}});
  }
  return {{"map", to_json(map)},
          {"enough", trains::page_share * trains::page_best},
          {"best", trains::page_best},
          {"nets", nets}};
}

}  // namespace

const char live_policy[] = " 'wasm-unsafe-eval'; worker-src blob:";

Json stored_run(const Json& summary) {
  if (summary.value("program", "") != "decay_study" || !summary.contains("bits")) return {};
  Json run = {{"config", summary.at("config")}, {"bits", summary["bits"]}};
  for (const Json& layer : summary.at("layers")) {
    run["std"].push_back(layer.at("std").at("output").at("median"));
    run["gradient"].push_back(layer.at("grad_norm").at("weight").at("median"));
  }
  return run;
}

std::string live_chapter(const Json& stored_runs) {
  constexpr size_t layers = 8;
  Json data = {{"claims", claims_of_runs({"blog8", "blog8_rmsnorm"})}, {"stored", stored_runs}};
  for (const char* run : {"blog8", "blog8_rmsnorm"})
    data["printed"][run] = {{"std", claims::printed_values(run, "layer{}.std", layers)},
                            {"gradient", claims::printed_values(run, "layer{}.weight_grad_norm", layers)}};
  std::string text = "\n<style>";
  text += fixtures::live_style;
  text += "</style>\n<script type=\"application/json\" id=\"live-data\">" + embedded(data);
  text += "</script>\n<script type=\"application/json\" id=\"live-map-data\">" + embedded(map_json());
  text += "</script>\n<script type=\"text/plain\" id=\"live-module\">";
  text += fixtures::live_module;
  text += "</script>\n<script>";
  text += fixtures::live_words;
  text += "</script>\n<script>";
  text += fixtures::live_chapter;
  text += "</script>\n<script>";
  return text + fixtures::live_map + "</script>";
}

}  // namespace isobar::report
