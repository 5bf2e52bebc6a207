// What the last full runs measured (experiments/claims/full.json): judged by the rules and claims of today,
// written by isobar facts, and renewed by isobar verify --keep.
#include <doctest/doctest.h>

#include <filesystem>
#include <regex>

#include "../../experiments/claims/kept.h"
#include "../../experiments/run/environment.h"
#include "../message_of.h"
#include "../run.h"
#include "../skip.h"

namespace isobar::kept_verdicts_test {

using namespace isobar::claims;
namespace fs = std::filesystem;

const std::string source_dir = ISOBAR_SOURCE_DIR;

const char* const text_of_two_parts = R"(
[source]
id = "900"
title = "A text"
author = "unknown"
date = "unknown"
address = "unknown"
[run.short]
study = "decay_study"
full = "--seeds 4"
[run.other]
study = "decay_study"
[[claim]]
id = "Z01"
quote = "It is 2 and 3."
says = "it is 2, and the other is 3"
[[claim.part]]
says = "it is 2"
run = "short"
key = "a"
rule = "mean"
between = [1.5, 2.5]
why = "a quarter to either side"
[[claim.part]]
says = "the other is 3"
run = "other"
key = "b"
rule = "every_seed"
equals = 3
why = "a count"
)";

const std::vector<ClaimFile>& two_parts() {
  static const std::vector<ClaimFile> files = {parse_claims(text_of_two_parts, "z.toml")};
  return files;
}

PlannedRun planned(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string folder = arguments.empty() ? name : name + ".full";
  return {.name = name, .folder = folder, .program = "decay_study", .arguments = arguments, .where = ""};
}

Json summary_of(const std::string& key, const std::vector<double>& values) {
  Json summary;
  summary["measured"][key] = to_json(spread_of(values));
  summary["measured"]["unread"] = summary["measured"][key];
  summary["config"] = {{"depth", 8}, {"seeds", values.size()}};
  summary["trained"] = {{{"of", ""}, {"en", "a net"}, {"zh", "网络"}}};
  summary["environment"] = {{"commit", "0123456789ab"}, {"cpu", "any"}, {"threads", 2}};
  summary["timing"] = {{"wall_s", 1.26}, {"date", "2026-11-23"}};
  return summary;
}

const char* const nothing = R"({"runs": [], "values": []})";

TEST_CASE("every part of every claim has a kept value, of a run of today's settings and sources") {
  const Kept& kept = Kept::shipped();
  const Runs runs = kept.runs(builtin_claims());
  for (const Claim* claim : builtin_table()) {
    const Judged judged = judge(*claim, runs);
    for (const Part& part : claim->parts) {
      const auto summary = runs.summaries.find(part.run);
      const Json none = {{"measured", Json::object()}, {"rungs", Json::array()}, {"settings", Json::array()}};
      const Json& run = summary == runs.summaries.end() ? none : summary->second;
      const std::vector<std::string> keys =
          part.keys_in(part.run, run[part.settings ? "settings" : "rungs"].size());
      const bool has = !keys.empty() && std::ranges::all_of(keys, [&](const std::string& key) {
        return run["measured"].contains(key);
      });
      CHECK_MESSAGE(has, claim->id, ": isobar verify --keep --claim ", claim->id, " measures ", part.run,
                    ": ", part.key);
      if (!has) continue;
      for (const ReachFinding& reach : judged.findings[&part - claim->parts.data()].reaches)
        CHECK_MESSAGE(reach.none.en.empty(), claim->id, ": isobar verify --keep --only ", part.reach_run,
                      " measures ", reach.key, ": ", reach.none.en);
    }
  }
  for (const PlannedRun& run : plan(builtin_claims(), "full")) {
    std::string words;
    for (const std::string& word : run.arguments) words += word + " ";
    CAPTURE(run.program + " " + words);
    const Json config = Json::parse(ran(run.program, words + "--print-config").out);
    if (!runs.summaries.contains(run.name)) continue;
    INFO("isobar verify --keep --only ", run.name, " measures it anew");
    const Json line = kept.run(run.name);
    CHECK(std::regex_match(line["commit"].get<std::string>(), std::regex("[0-9a-f]{12,}")));
    CHECK(std::regex_match(line["date"].get<std::string>(), std::regex("20\\d\\d-\\d\\d-\\d\\d")));
    CHECK(line["config"] == config);  // a preset may mean something else than it did
  }
}

TEST_CASE(
    "isobar facts judges the claims and kept values of a source tree, and by itself those of its build") {
  const TemporaryFolder folder;
  const auto facts = [&](const std::string& words) {
    return Json::parse(ran("isobar facts", words, folder.path()).out);
  };
  const Json shipped = facts("");
  for (const Claim* claim : builtin_table()) {
    CAPTURE(claim->id);
    const Judged judged = judge_kept(*claim, Kept::shipped().runs(builtin_claims()));
    CHECK(shipped["claims"][claim->id]["verdict"] == judged.verdict);
  }
  Json of_tree = facts("--tree " + source_dir);
  CHECK(of_tree.contains("norms"));  // which a tree alone has
  of_tree.erase("norms");
  CHECK(of_tree == shipped);
  // Of a tree in which one value is another.
  const fs::path claims = fs::path(folder.path()) / "experiments/claims";
  fs::create_directories(claims);
  fs::copy(source_dir + "/experiments/claims/texts", claims / "texts");
  Json full = Json::parse(file_text(source_dir + "/experiments/claims/full.json"));
  for (Json& line : full["values"])
    if (line["run"] == "blog8" && line["key"] == "layer1.weight_grad_norm")
      for (Json& value : line["values"]) value = 2 * value.get<double>();
  folder.write("experiments/claims/full.json", full.dump());
  const Json changed = facts("--tree .");
  const auto d06 = [](const Json& of) { return of["claims"]["D06"]["parts"][0]["value"].get<double>(); };
  CHECK(d06(changed) == doctest::Approx(2 * d06(shipped)));
  check_refused("isobar facts", "--tree /nowhere",
                "--tree: wanted a source tree with experiments/claims/texts");
}

TEST_CASE("claims that are called registered were committed before any run of theirs was kept") {
  if (run_command("git -C '" ISOBAR_SOURCE_DIR "' rev-parse").code != 0) return skip("no history is here");
  std::map<std::string, std::vector<std::string>> registrations;  // commits, and the texts that they had
  for (const ClaimFile& file : builtin_claims())
    if (!file.source.registered.empty()) registrations[file.source.registered].push_back(file.source.id);
  CHECK_FALSE(registrations.empty());
  for (const auto& registration : registrations) {
    const std::string& commit = registration.first;
    const auto at_commit = [&](const std::string& path) {
      const Outcome shown =
          run_command(fmt::format("git -C '{}' show {}:{}", ISOBAR_SOURCE_DIR, commit, path));
      REQUIRE_MESSAGE(shown.code == 0, commit, " has no ", path, ": ", shown.err);
      return shown.out;
    };
    const std::string kept = at_commit("experiments/claims/full.json");
    for (const std::string& text : registration.second) {
      const bool in_texts = run_command(fmt::format("git -C '{}' cat-file -e {}:experiments/claims/texts",
                                                    ISOBAR_SOURCE_DIR, commit))
                                .code == 0;
      const std::string folder =
          in_texts ? "experiments/claims/texts" : "experiments/claims";  // of older commits
      CHECK(holds(at_commit(fmt::format("{}/{}.toml", folder, text)), "[[claim.part]]"));
      for (const ClaimFile& file : builtin_claims())
        for (const Claim& claim : file.claims)
          for (const Part& part : claim.parts)
            if (file.source.id == text && part.run.starts_with("ladder"))
              CHECK_MESSAGE(!holds(kept, part.run), claim.id, " reads ", part.run, ", which was kept at ",
                            commit);
    }
  }
}

TEST_CASE("a kept value is judged as the run's own summary was") {
  Kept kept(nothing);
  kept.take(planned("short", {"--seeds", "4"}), summary_of("a", {1.9876543210987, 2.1, 2.05, 1.95}),
            two_parts(), "full");
  const Claim& claim = two_parts().front().claims.front();
  CHECK(judge_kept(claim, kept.runs(two_parts())).verdict == not_kept);
  kept.take(planned("other", {}), summary_of("b", {3, 3, INFINITY}), two_parts(), "full");

  const Runs again = Kept(kept.text()).runs(two_parts());
  CHECK(again.summaries.at("short")["measured"]["a"]["values"] == Json({1.98765432, 2.1, 2.05, 1.95}));
  CHECK(with_named_infinities(again.summaries.at("other"))["measured"]["b"]["values"] == Json({3, 3, "inf"}));
  CHECK_FALSE(again.summaries.at("short")["measured"].contains("unread"));
  const Judged judged = judge_kept(claim, again);
  CHECK(judged.findings[0].reading.outcome == PartOutcome::holds);
  CHECK(judged.findings[1].reading.outcome == PartOutcome::fails);
  CHECK(judged.verdict == "depends");
  CHECK(kept_at({&claim}, kept, false) == "0123456789ab, 2026-11-23");
  // One line each.
  CHECK(holds(kept.text(), "\n{\"run\":\"other\",\"key\":\"b\",\"looks\":[3],\"values\":[3,3,\"inf\"]}"));
}

TEST_CASE("the rungs of a ladder are kept, and its reach is shown where the part's outcome is") {
  std::string text = text_of_two_parts;
  text.replace(text.find("key = \"a\""), 9, "key = \"a\"\nreach = [\"adamw.a\"]\nreach_run = \"steps\"");
  text.replace(text.find("[run.other]"), 0, "[run.steps]\nstudy = \"decay_study\"\n");
  const std::vector<ClaimFile> files = {parse_claims(text, "z.toml")};
  Kept kept(nothing);
  kept.take(planned("short", {"--seeds", "4"}), summary_of("a", {2, 2.1, 2.05, 1.95}), files, "full");
  Json summary = summary_of("adamw.a.rung1", {2, 2.01, 1.99, 2.005});
  for (const int rung : {1, 2, 3}) {
    summary["rungs"].push_back({{"name", {{"en", fmt::format("{} wide", 16 * rung)}, {"zh", "宽"}}},
                                {"log2_compute", 30.12345678912 + rung},
                                {"parameters", 100}});
    if (rung < 3) summary["measured"][fmt::format("adamw.a.rung{}", rung)] = summary["measured"]["unread"];
  }
  const auto take = [&] { kept.take(planned("steps", {}), summary, files, "full"); };
  take();
  const auto part = [&](const Kept& of) {
    return to_json(judge_kept(files[0].claims.front(), of.runs(files)))["parts"][0];
  };
  CHECK(part(kept)["reach"] ==
        "AdamW: no reach: the run steps measured 'adamw.a' at 2 of 3 sizes; wanted 3 or more");
  summary["measured"]["adamw.a.rung3"] = summary["measured"]["unread"];
  take();
  kept.drop_unread(files);
  CHECK(holds(kept.text(),
              "\"rungs\":[{\"name\":{\"en\":\"16 wide\",\"zh\":\"宽\"},\"log2_compute\":31.1234568},"));
  CHECK(
      holds(kept.text(),
            "\n{\"run\":\"steps\",\"key\":\"adamw.a.rung3\",\"looks\":[4],\"values\":[2,2.01,1.99,2.005]}"));
  const Kept again(kept.text());
  CHECK(again.text() == kept.text());
  CHECK(part(again)["outcome_text"] == "holds, assuming normal values");
  CHECK(part(again)["reach"] == "AdamW: holds at all sizes, 16 wide to 48 wide");
  kept.drop_unread(two_parts());  // which have no reach
  CHECK(kept.run("steps").is_null());
  CHECK_FALSE(holds(kept.text(), "adamw"));
}

TEST_CASE("more seeds of the same settings are a further look, other settings a first one") {
  Kept kept(nothing);
  const auto looks = [&](const std::vector<std::string>& arguments, const std::vector<double>& values) {
    Json summary = summary_of("a", values);
    if (arguments.size() > 2) summary["config"]["depth"] = 5;
    kept.take(planned("short", arguments), summary, two_parts(), "full");
    const Json json = Json::parse(kept.text());
    CHECK(json["values"][0]["values"].size() == values.size());
    return json["values"][0]["looks"];
  };
  CHECK(looks({"--seeds", "2"}, {2, 2.1}) == Json({2}));
  CHECK(looks({"--seeds", "2"}, {2, 2.2}) == Json({2}));
  CHECK(looks({"--seeds", "4"}, {2, 2.1, 2, 1.9}) == Json({2, 4}));
  CHECK(kept.runs(two_parts()).looks.at({"short", "a"}) == std::vector<int64_t>{2, 4});
  CHECK(looks({"--seeds", "2"}, {2, 2.1}) == Json({2, 4}));
  CHECK(looks({"--seeds", "3", "--depth", "5"}, {2, 2.1, 2}) == Json({3}));
  // The file now asks for other settings than those that are kept.
  CHECK(kept.runs(two_parts()).missing.at("short") == "it is kept with other settings");
}

TEST_CASE(
    "what failed, has no commit, other data or no value is not kept, and a quick run keeps its seconds") {
  Kept kept(nothing);
  const PlannedRun run = planned("short", {"--seeds", "4"});
  const auto refusal = [&](const Json& summary) {
    const std::string before = kept.text();
    const std::string message = message_of([&] { kept.take(run, summary, two_parts(), "full"); });
    CHECK(kept.text() == before);
    return message;
  };
  Json summary = summary_of("a", {1, 2});
  summary["expectations"] = {{{"name", "the loss falls"}, {"ok", false}}};
  CHECK(refusal(summary) == "the run short failed its own check 'the loss falls'");
  summary = summary_of("a", {1, 2});
  summary["environment"].erase("commit");
  CHECK(refusal(summary) == "the run short tells no commit and date; make it again with this version");
  summary = summary_of("a", {1, 2});
  summary.erase("trained");
  CHECK(refusal(summary) ==
        "the run short does not say on what it trained nets; make it again with this version");
  summary = summary_of("a", {1, 2});
  summary["environment"]["data"]["tinyshakespeare.txt"] = "6572a3fb9fde75d4";
  CHECK(
      refusal(summary) ==
      "the run short read a tinyshakespeare.txt that does not come with Isobar; run it without ISOBAR_DATA");
  CHECK(refusal(summary_of("c", {1, 2})) == "the run short has no values of a");
  CHECK(refusal(summary_of("a", {})) == "the run short has no values of a");

  kept.take(run, summary_of("a", {1, 2}), two_parts(), "full");
  kept.take(planned("other", {}), summary_of("b", {3}), two_parts(), "full");
  CHECK(kept.run("short")["trained"] == summary_of("a", {1, 2})["trained"]);
  Json unsaid = Json::parse(kept.text());
  unsaid["runs"][1].erase("trained");
  CHECK(message_of([&] { Kept(unsaid.dump()); }) ==
        "full.json: the run short does not say on what it trained nets");
  const Json before = Json::parse(kept.text());
  CHECK(kept.seconds("full").at("short") == 1.3);
  CHECK_FALSE(kept.seconds("quick").contains("short"));
  CHECK(kept.seconds("quick").at("other") == 1.3);  // it has one scale
  kept.take(run, summary_of("a", {7}), two_parts(), "quick");
  const Json after = Json::parse(kept.text());
  CHECK(kept.seconds("quick").at("short") == 1.3);
  CHECK(after["values"] == before["values"]);
  CHECK(after["runs"][0] == before["runs"][0]);  // "other"
  kept.drop_unread({});
  CHECK(Json::parse(kept.text()) == Json::parse(nothing));
}

TEST_CASE("isobar verify --keep renews what it measured, and nothing else") {
  const TemporaryFolder folder;
  const std::string tree = folder / "tree", values = tree + "/experiments/claims/full.json";
  std::filesystem::create_directories(tree + "/experiments/claims");
  const std::string before = file_text(source_dir + "/experiments/claims/full.json");
  folder.write("tree/experiments/claims/full.json", before);
  const std::string place = "--tree " + tree + " --out " + (folder / "out") + " ";
  const Outcome made = ran("isobar verify", place + "--keep --claim D01");
  CHECK(holds(made.out, "blog8: kept, of commit " + isobar_commit()));

  const Json old = Json::parse(before), now = Json::parse(file_text(values));
  const auto others = [](Json json) {
    Json kept = Json::object();
    for (const char* list : {"runs", "values"})
      for (const Json& line : json[list])
        if (line.value("name", line.value("run", "")) != "blog8") kept[list].push_back(line);
    return kept;
  };
  CHECK(others(now) == others(old));
  const Json summary = Json::parse(file_text(folder / "out/blog8/summary.json"));
  const Kept new_values(file_text(values));
  const Json run = new_values.run("blog8");
  for (const char* name : {"commit", "cpu", "threads"}) CHECK(run[name] == summary["environment"][name]);
  CHECK(run["date"] == summary["timing"]["date"]);
  CHECK(holds(made.out, "docs/render renews the documents"));

  const Outcome shown = ran("isobar verify", place + "--kept --claim D01");
  const std::vector<const Claim*> table = builtin_table();
  const Claim* d01 = *std::ranges::find(table, "D01", &Claim::id);
  CHECK(holds(shown.out, "measured at " + kept_at({d01}, Kept::shipped())));
  for (const auto& [words, error] : std::vector<std::pair<std::string, std::string>>{
           {"--keep --kept", "--kept makes no run, --keep keeps what runs measured"},
           {"--kept --renew", "--renew: documents are rendered from the kept values by docs/render"},
           {"--keep --seed 1000", "drop --seed 1000"},
           {"--keep --programs .", "drop --programs"},
           {"--keep " + source_dir + "/experiments/claims/texts/003.toml",
            "of the texts that come along are kept"},
           {"--keep --tree /nowhere", "found none in '/nowhere'; name it with --tree"}}) {
    check_refused("isobar verify", place + words, error);
  }
}

}  // namespace isobar::kept_verdicts_test
