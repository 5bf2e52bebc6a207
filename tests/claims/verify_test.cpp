// isobar verify as its users meet it: one claim alone, what is still to come, and how long it takes.
#include <doctest/doctest.h>

#include <optional>
#include <regex>

#include "../../experiments/claims/verify.h"
#include "../../experiments/run/program.h"
#include "../run.h"
#include "../scoped_variable.h"
#include "../skip.h"

namespace isobar::verify_test {

// A file with these runs and a claim of these parts: the std of layer 1, by the run of that name.
std::string file_of(const std::string& runs, const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string text = "[source]\n";
  for (const char* field : {"id", "title", "author", "date", "address"})
    text += fmt::format("{} = \"x\"\n", field);
  text += runs + "[[claim]]\nid = \"X1\"\nquote = \"x\"\nsays = \"x\"\n";
  text += "rule = \"every_seed\"\nwhy = \"x\"\n";
  for (const auto& [run, more] : parts)
    text += fmt::format(
        "[[claim.part]]\nsays = \"{0}\"\nrun = \"{0}\"\nkey = \"layer1.std\"\nat_least = 0.001\n{1}", run,
        more);
  return text;
}

// A run of decay_study, and more of its fields.
std::string run_of(const std::string& name, int depth, const std::string& more = "") {
  return fmt::format("[run.{}]\nstudy = \"decay_study\"\nflags = \"--depth {} --width 8 --seeds 2\"\n{}",
                     name, depth, more);
}

std::vector<std::string> runs_in(const std::string& out) {
  std::vector<std::string> names;
  const Json written = Json::parse(file_text(out + "/summary.json"));
  for (const Json& run : written["runs"]) names.push_back(run["name"]);
  return names;
}

// isobar verify in this process. The exit code.
int verify_here(const std::string& out, const std::function<void(Run&)>& body) {
  struct : HasFields {
    void fields(Fields&) override {}
  } none;
  std::FILE* const said = std::tmpfile();
  const int code = run_program({.name = "verify", .about = "", .trained = trains_no_nets}, none,
                               {"--out", out}, body, {.out = said, .err = said});
  std::fclose(said);
  return code;
}

TEST_CASE("isobar verify --claim makes the runs of one claim, shows each part and writes the page") {
  const TemporaryFolder folder;
  const std::string out = folder / "out", page = folder / "d01.html";
  const Outcome made = run_built("isobar verify", "--claim D01 --out " + out + " --page " + page);
  const std::string& text = made.out;
  CAPTURE(text);
  CAPTURE(made.err);
  CHECK(made.code == 0);
  CHECK(std::regex_search(
      text, std::regex("\nstudy 1 of 1, (a few seconds|about .*) to go  blog8: decay_study\n")));
  CHECK(holds(text, "\nseeds 0 … 19; more: decay_study --seeds 200\n"));
  CHECK(holds(text, "The page, renewed as each study ends: " + page));
  const Json written = Json::parse(file_text(out + "/summary.json"));
  CHECK(written["runs"].size() == 1);
  REQUIRE(written["claims"].size() == 1);
  CHECK(written["claims"][0]["id"] == "D01");
  CHECK(written["counts"] == Json{{"false", 1}});
  CHECK_FALSE(written.contains("progress"));
  for (const Json& part : written["claims"][0]["parts"]) {
    CHECK(holds(text, part["says"].get<std::string>()));
    CHECK(holds(text, part["measured"].get<std::string>()));
  }
  CHECK(holds(file_text(page), "\"D01\""));

  // As the README writes it, in small letters, and all of a text.
  for (const char* words : {"'003 D01'", "d01", "' D01'"})
    ran("isobar verify", fmt::format("--claim {} --out {}", words, out));
  check_refused(
      "isobar verify", "D01 --out " + out,
      "wanted a file of claims, got 'D01', which is a claim: write --claim D01, and several with commas "
      "between\n");
  check_refused("isobar verify", "--claim D01 --out " + out + "/blog8",
                "blog8' holds a finished run; add --force to replace it");  // a study's, not its own
  check_refused("isobar", "verify --claim D01 --seeds 50 --out " + out,
                "decay_study --seeds 50; --seed 50 takes other seeds\n");
  check_refused("isobar verify", "--claim D01,D6 --out " + out,
                fmt::format("--claim: wanted one of the {} claims A01 to {}, got 'D6'; did you mean D06?\n",
                            claims::builtin_table().size(), claims::builtin_table().back()->id));
}

TEST_CASE("isobar verify --programs runs the user's own build of a study, and again when that is newer") {
  const TemporaryFolder folder;
  const std::string own = folder / "own", out = folder / "out";
  std::filesystem::create_directory(own);
  folder.write("mine.toml", file_of(run_of("small", 2), {{"small", ""}}));
  const std::string words = (folder / "mine.toml") + " --out " + out + " --programs " + own;
  const auto verify = [&] { return run_built("isobar verify", words); };
  check_refused("isobar verify", words, "--programs: " + own + " has no program decay_study");
  check_refused("isobar verify", words, "target_link_libraries(decay_study PRIVATE isobar::decay_study)");
  std::filesystem::copy_file(ISOBAR_BINARY_DIR "/bin/decay_study", own + "/decay_study");
  const Outcome made = verify();
  CAPTURE(made.err);
  CHECK(made.code == 0);
  CHECK(holds(made.out, "small: " + own + "/decay_study --depth 2 "));
  CHECK(Json::parse(file_text(out + "/summary.json"))["runs"][0]["program"] == own + "/decay_study");
  CHECK(holds(verify().out, "small: there already"));
  // A run of another version is made again, too: it may measure other values.
  Json older = Json::parse(file_text(out + "/small/summary.json"));
  older["environment"]["version"] = "0.1.0";
  folder.write("out/small/summary.json", older.dump());
  CHECK_FALSE(holds(verify().out, "small: there already"));
  std::filesystem::last_write_time(own + "/decay_study", std::filesystem::file_time_type::clock::now());
  CHECK_FALSE(holds(verify().out, "small: there already"));
}

TEST_CASE("a finished run of other sources is measured anew and says why, unless --accept-old takes it") {
  const TemporaryFolder folder;
  folder.write("mine.toml", file_of(run_of("small", 2), {{"small", ""}}));
  const std::string summary_path = folder / "out/small/summary.json";
  const auto verify = [&](const std::string& flags) {
    return ran("isobar verify", (folder / "mine.toml") + " --out " + (folder / "out") + flags).out;
  };
  const auto row = [&] { return Json::parse(file_text(folder / "out/summary.json"))["runs"][0]; };
  const auto change = [&](const std::function<void(Json & environment)>& how) {
    Json summary = Json::parse(file_text(summary_path));
    how(summary["environment"]);
    folder.write("out/small/summary.json", summary.dump());
  };
  verify("");
  CHECK(holds(verify(""), "small: there already\n"));
  // By another compiler, of a commit that changed documents alone.
  change(
      [](Json& environment) { environment["commit"] = "2ca2793a1b2c", environment["compiler"] = "c++ 1"; });
  CHECK(holds(verify(""), "small: there already\n"));

  const std::string why = "the sources of its program have changed since commit 2ca2793a1b2c";
  change([](Json& environment) { environment["sources"] = "0123456789abcdef"; });
  CHECK(holds(verify(" --accept-old"),
              "small: there already, and taken by --accept-old, though " + why + "\n"));
  CHECK(row()["accepted_old"] == why);
  CHECK(Json::parse(file_text(summary_path))["environment"]["sources"] == "0123456789abcdef");
  CHECK(holds(verify(""), "small: measured anew, for " + why + "\n"));
  CHECK_FALSE(row().contains("accepted_old"));
  CHECK(holds(verify(" --accept-old"), "small: there already\n"));
  CHECK_FALSE(row().contains("accepted_old"));

  for (const char* field : {"sources", "data"}) {
    change([&](Json& environment) { environment.erase(field); });
    CHECK(holds(verify(""),
                "small: measured anew, for its summary does not say of which sources and data it is\n"));
  }
  for (const char* damaged : {"3", R"({"data":3})", R"([1])"}) {
    change([&](Json& environment) { environment = Json::parse(damaged); });
    CHECK(holds(verify(""),
                "small: measured anew, for its summary does not say of which sources and data it is\n"));
  }
  const std::string looked = file_text(folder / "out/summary.json");
  for (const char* damaged :
       {R"("claims":[3])", R"("claims":[{"parts":[{"looks":"x"}]}])", R"("claims":3)"}) {
    folder.write("out/summary.json", fmt::format("{{{}}}", damaged));
    CHECK(holds(run_built("isobar verify", (folder / "mine.toml") + " --force --out " + (folder / "out")).err,
                "out/summary.json' is not as verify writes it: "));
  }
  folder.write("out/summary.json", looked);
  // Other settings than any that verify made are a run of the user's, which is neither taken nor replaced.
  Json summary = Json::parse(file_text(summary_path));
  summary["config"]["width"] = 9;
  folder.write("out/small/summary.json", summary.dump());
  const Outcome refused =
      run_built("isobar verify", (folder / "mine.toml") + " --accept-old --out " + (folder / "out"));
  CHECK(refused.code != 0);
  CHECK_FALSE(holds(refused.out, "there already"));
  CHECK(holds(refused.out + refused.err, "holds a finished run"));
  CHECK(file_text(summary_path) == summary.dump());
  CHECK(holds(verify(" --force"), "small: decay_study"));
  // Those that verify made are replaced when the file of claims asks for others.
  folder.write("mine.toml", file_of(run_of("small", 3), {{"small", ""}}));
  CHECK(holds(verify(""), "small: decay_study"));
  CHECK(Json::parse(file_text(summary_path))["config"]["depth"] == 3);
  check_refused("isobar verify", "--keep --accept-old --out " + (folder / "kept"),
                "--keep: keeps what these sources and data measure; drop --accept-old");
}

TEST_CASE("a verdict is of the text that is there now, and names Tiny Shakespeare where it is that") {
  const TemporaryFolder folder;
  std::string text = file_of("[run.small]\nstudy = \"lm_norms\"\nflags = \"--tiny\"\n", {{"small", ""}});
  text = std::regex_replace(text, std::regex("layer1.std"), "unigram_loss");
  text = std::regex_replace(text, std::regex("0.001"), "2");  // nats; two letters have ln 2
  folder.write("mine.toml",
               std::regex_replace(text, std::regex("\\[source\\]\n"), "[source]\npaper_size = \"x\"\n"));
  std::string letters;
  for (size_t i = 0; i < 20'000; ++i) letters += "ab"[i * i / 7 % 2];
  folder.write("data/tinyshakespeare.txt", letters);
  const auto verify = [&](const std::optional<std::string>& data, const std::string& flags) {
    const ScopedVariable variable("ISOBAR_DATA", data);
    return ran("isobar verify", (folder / "mine.toml") + " --out " + (folder / "out") + flags).out;
  };
  std::string out = verify(std::nullopt, "");
  CHECK(holds(out, "\nX1  true, at "));
  CHECK(holds(out, "2 steps on Tiny Shakespeare, "));
  const std::string why = "its data have changed since: tinyshakespeare.txt is another file\n";
  out = verify(folder / "data", "");
  CHECK(holds(out, "small: measured anew, for " + why));
  CHECK(holds(out, "\nX1  false, at "));
  CHECK(holds(out, "2 steps on a text named tinyshakespeare.txt, "));
  CHECK(holds(verify(folder / "data", ""), "small: there already\n"));
  out = verify(std::nullopt, " --accept-old");
  CHECK(holds(out, "small: there already, and taken by --accept-old, though " + why));
  CHECK(holds(out, "2 steps on a text named tinyshakespeare.txt, "));
}

TEST_CASE("while studies are still to come, the summary has every claim and how far it is") {
  const TemporaryFolder folder;
  std::vector<Json> seen;
  const int code = verify_here(folder / "out", [&](Run& run) {
    claims::VerifyOptions options{
        .scale = "quick", .claims = {"D01", "D12", "D40"}, .only = "", .detail = false};
    options.renewed = [&](const Json& summary) { seen.push_back(summary); };
    CHECK(claims::verify(run, claims::builtin_claims(), options).all_here);
  });
  CHECK(code == 0);
  REQUIRE(seen.size() == 2);  // blog8 and blog8_rmsnorm
  const auto verdicts = [](const Json& summary) {
    std::vector<std::string> all;
    for (const Json& claim : summary["claims"]) all.push_back(claim["verdict"]);
    return all;
  };
  CHECK(verdicts(seen[0]) == std::vector<std::string>{"false", "still to come", "true"});
  CHECK(seen[0]["progress"]["done"] == 1);
  CHECK(seen[0]["progress"]["of"] == 2);
  CHECK(seen[0]["progress"]["seconds_left"].get<double>() > 0);
  CHECK(seen[0]["counts"] == Json{{"true", 1}, {"false", 1}});
  CHECK(verdicts(seen[1]) == std::vector<std::string>{"false", "false", "true"});
  CHECK_FALSE(seen[1].contains("progress"));
}

TEST_CASE("a run that only parts of the full scale need is not made without --full") {
  const TemporaryFolder folder;
  folder.write("mine.toml", file_of(run_of("small", 2, "quick = \"--seeds 2\"\n") +
                                        run_of("large", 3, "full = \"--seeds 3\"\n"),
                                    {{"small", ""}, {"large", "full_only = true\n"}}));
  const auto verify = [&](const std::string& scale) {
    const std::string out = folder / ("out" + scale);
    ran("isobar verify", (folder / "mine.toml") + " " + scale + " --out " + out);
    return Json::parse(file_text(out + "/summary.json"));
  };
  const Json quick = verify("--quick"), full = verify("--full");
  CHECK(quick["runs"].size() == 1);
  CHECK(quick["claims"][0]["verdict"] == "open");
  CHECK(holds(quick["claims"][0]["reason"].get<std::string>(), "; large needs --full"));
  CHECK(full["runs"].size() == 2);
  CHECK(full["claims"][0]["verdict"] == "true");
}

TEST_CASE("who verifies one claim keeps what the folder has of the others") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const auto verify = [&](const char* claim) {
    ran("isobar verify", std::string("--quick --force --claim ") + claim + " --out " + out);
    std::vector<std::string> ids;
    const Json written = Json::parse(file_text(out + "/summary.json"));
    for (const Json& one : written["claims"]) ids.push_back(one["id"]);
    CHECK(written["counts"] == Json{{"true", ids.size()}});
    return ids;
  };
  CHECK(verify("C01") == std::vector<std::string>{"C01"});
  CHECK(verify("A07") == std::vector<std::string>{"A07", "C01"});
  CHECK(verify("C01") == std::vector<std::string>{"A07", "C01"});
  const std::string table = file_text(out + "/claims.csv");
  CHECK(table.starts_with("id,source,claim,verdict,"));
  CHECK(holds(table, "\nA07,000,"));
  CHECK(holds(table, "\nC01,002,"));
}

TEST_CASE("a ladder's run is made with --full --ladder, and its keys are checked") {
  const TemporaryFolder folder;
  const std::string path = folder / "mine.toml", to = path + " --out " + (folder / "out "),
                    reach = "reach = [\"adamw.std\"]\nreach_run = \"steps\"\n";
  folder.write("mine.toml", file_of(run_of("small", 2) + run_of("steps", 3), {{"small", reach}}));
  for (const char* scale : {"--quick", "--full"}) {
    const Outcome made = ran("isobar verify", to + scale);
    CHECK(holds(made.out, "Reach: small: AdamW: no reach: steps needs --full --ladder\n"));
    CHECK(runs_in(folder / "out") == std::vector<std::string>{"small"});
  }
  const auto misses_its_key = [&](const std::string& words) {
    const Outcome made = run_built("isobar verify", to + words);
    CHECK(made.code == 2);
    return holds(made.err, ": claim X1: the run steps measured no 'adamw.std.rung1'");
  };
  CHECK(misses_its_key("--full --ladder"));
  CHECK(misses_its_key("--full --only steps"));
  check_refused("isobar verify", to + "--ladder", "give it with --full or --keep");
  // A part that reads the ladder itself: of a file of one's own it is made with --full.
  folder.write("mine.toml", file_of(run_of("steps", 3), {{"steps", reach}}));
  CHECK(holds(ran("isobar verify", to + "--quick").out, "X1  open: isobar verify --full: "));
  CHECK(runs_in(folder / "out").empty());
  CHECK(misses_its_key("--full"));
  // Of the texts that come along it is made on demand.
  std::vector<claims::ClaimFile> files{claims::read_claims(path)};
  files[0].shipped = true;
  verify_here(folder / "shipped", [&](Run& run) {
    claims::verify(run, files, {.scale = "full", .claims = {}, .only = "", .detail = false});
    CHECK(run.summary()["runs"].empty());
    CHECK(run.summary()["claims"][0]["verdict"] == "open");
  });
}

TEST_CASE("a study that ends well without results has failed") {
  const TemporaryFolder folder;
  const std::string own = folder / "decay_study";
  folder.write("decay_study", "#!/bin/sh\ncase \"$*\" in *--print-config) exec " ISOBAR_BINARY_DIR
                              "/bin/decay_study \"$@\";; esac\n");
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  const Outcome made = run_built(
      "isobar verify", "--claim D01 --out " + (folder / "out") + " --programs " + folder.path().string());
  CAPTURE(made.out);
  CHECK(made.code == 1);
  CHECK(std::regex_search(made.out, std::regex("line [0-9]+: no results of these settings are there")));
}

TEST_CASE("a program has the address space and processor time of its bound, and ends with one line") {
  const claims::Limit most{.bytes = 1 << 29, .seconds = 60};
  const std::string shell = "/bin/sh";
  const Finished told = run_child(shell, claims::limited(shell, {"-c", "ulimit -v; ulimit -t"}, most, 2));
  if (told.out.starts_with("unlimited")) return;  // under a sanitizer, which takes terabytes
  CHECK(told.out == "524288\n120\n");
  const TemporaryFolder folder;
  const Finished ended = run_child(shell,
                                   claims::limited(ISOBAR_BINARY_DIR "/bin/decay_study",
                                                   {"--width", "16384", "--seeds", "1", "--threads", "1",
                                                    "--log_level", "error", "--out", folder / "run"},
                                                   most, 2),
                                   Complaints::kept);
  CHECK(ended.code == 2);
  CHECK(holds(ended.err, "memory"));
  CHECK(ended.err.find('\n') == ended.err.size() - 1);
}

TEST_CASE("a run of a user's file ends at its limits, and says how to go beyond them") {
  const TemporaryFolder folder;
  claims::PlannedRun planned{.name = "r",
                             .folder = "r",
                             .program = "decay_study",
                             .arguments = {"--seeds", "1000", "--width", "1024", "--batch", "512"},
                             .where = "mine.toml, line 8"};
  const auto complaint_of = [&](const claims::Limit& most) {
    std::string complaint;
    verify_here(folder / std::to_string(most.seconds), [&](Run& run) {
      complaint = claims::make_run(run, planned, claims::config_of(planned, 0, ""), most).complaint;
    });
    return complaint;
  };
  CHECK(
      complaint_of({.bytes = 2.0 * (1 << 30), .seconds = 1}) ==
      "mine.toml, line 8: decay_study took more than the 1 s that are left of the hour that a file of your own may "
      "take; choose smaller sizes, or --allow_large");
  const std::string shell = "/bin/sh";
  const claims::Limit small{.bytes = 1 << 29, .seconds = 60};
  if (run_child(shell, claims::limited(shell, {"-c", "ulimit -v"}, small, 2)).out.starts_with("unlimited"))
    return skip("no limit of memory holds under a sanitizer, which takes terabytes");
  planned.arguments = {"--seeds", "1", "--width", "16384"};
  const std::string complaint = complaint_of(small);
  CAPTURE(complaint);
  CHECK(complaint.starts_with("mine.toml, line 8: decay_study: "));
  CHECK(holds(complaint, "memory"));
  CHECK(holds(complaint, "; choose smaller sizes, or --allow_large: a file of your own may take 0.5 GiB"));
}

TEST_CASE("the time to go follows from the kept times and from how fast this machine is") {
  claims::Pace pace({{"short", 2}, {"long", 100}});
  CHECK(pace.seconds({"short", "long"}) == doctest::Approx(102));
  CHECK(std::isnan(pace.seconds({"another"})));
  pace.made("short", 14);  // (14 + 10) / (2 + 10): twice as slow
  CHECK(pace.seconds({"long"}) == doctest::Approx(200));
  CHECK(pace.seconds({"another"}) == doctest::Approx(14));  // the mean of those made
  CHECK(pace.seconds({}) == 0);
  CHECK(claims::rough_time(4) == "a few seconds");
  CHECK(claims::rough_time(44) == "about 40 s");
  CHECK(claims::rough_time(290) == "about 5 min");
  // The kept times are those of the last full run.
  for (const char* scale : {"quick", "full"})
    CHECK(std::isfinite(claims::Pace::of_texts(scale).seconds({"blog8", "depth_table"})));
}

}  // namespace isobar::verify_test
