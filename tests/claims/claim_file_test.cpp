// Untrusted files of claims: one without a word of C++ is judged, and each mistake is named with
// its line.
#include <doctest/doctest.h>

#include <regex>

#include "../../experiments/claims/file.h"
#include "../message_of.h"
#include "../run.h"
#include "../scoped_variable.h"

namespace isobar::claim_file_test {

using namespace isobar::claims;

// 22 lines; line 12 begins the claim, line 16 its part.
const std::string good = R"([source]
id = "005"
title = "A text"
author = "unknown"
date = "2026"
address = "unknown"

[run.eight]
study = "decay_study"
flags = "--depth 8 --width 16 --seeds 8"

[[claim]]
id = "N01"
quote = "The std halves."
says = "the std halves in each layer"
[[claim.part]]
says = "layer 2"
run = "eight"
key = "layer2.ratio"
rule = "mean"
at_most = 0.9
why = "well below 1"
)";

std::string refusal_of(const std::string& text) {
  return message_of([&] { parse_claims(text, "mine.toml"); });
}

std::string with(const std::string& old, const std::string& changed) {
  std::string text = good;
  const size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), changed);
}

// The good file with a claim about a text in place of its run and claim.
std::string about_a_text(const std::string& last) {
  return good.substr(0, good.find("[run.eight]")) + R"(
[[claim]]
id = "N02"
quote = "They use RMSNorm."
says = "they use RMSNorm"
kind = "source"
[[claim.passage]]
title = "Their paper"
address = "unknown"
read = "2026-01-31"
quote = "We use  RMSNorm, as others do."
reading = "they do"
)" + last +
         "\n";
}

TEST_CASE("words of a quotation are found whatever its blanks and letters") {
  const ClaimFile file = parse_claims(about_a_text("bears_out = \"we use rmsnorm\""), "mine.toml");
  CHECK(file.claims[0].passages[0].holds());
}

TEST_CASE("what parts share may stand in their claim, and a part's own word goes before it") {
  std::string text = with("[[claim.part]]\n",
                          "run = \"eight\"\nrule = \"mean\"\nwhy = \"as before\"\nwhy_zh = \"同前\"\n"
                          "[[claim.part]]\n");
  text += "[[claim.part]]\nsays = \"layer 3\"\nkey = \"layer3.ratio\"\nat_most = 0.8\n";
  const std::vector<Part> parts = parse_claims(text, "mine.toml").claims[0].parts;
  CHECK(parts[0].why.en == "well below 1");
  CHECK(parts[0].why.zh.empty());  // the claim's translates another reason
  CHECK(parts[1].why.en == "as before");
  CHECK(parts[1].why.zh == "同前");
  CHECK(parts[1].run == "eight");
  CHECK(parts[1].predicate.rule == Rule::mean);
  CHECK(refusal_of(with("says = \"the std", "test = \"a test\"\nsays = \"the std"))
            .ends_with("line 12: claim N01: has a test, which is for the kind definition; drop it"));
}

TEST_CASE("each mistake is named with its line, and an unknown name with the nearest known one") {
  const struct {
    std::string text, message;
  } mistakes[] = {
      {with("quote = \"The std halves.\"", "quote = \"The std halves."), "line 14: "},
      {with("author = \"unknown\"\n", ""), "line 1: source: has no author; add it"},
      {with("says = \"layer 2\"", "say = \"layer 2\""),
       "line 17: a part of claim N01: has no field 'say'; did you mean says?"},
      {with("id = \"N01\"", "id = 1"), "line 13: a claim: id: wanted a text in quotes, got 1"},
      {with("study = \"decay_study\"", "study = \"decay_studdy\""), "; did you mean decay_study?"},
      {with("--seeds 8", "--corpus secrets.txt"),
       "line 10: run eight: flags: wanted --corpus synthetic or no --corpus, got 'secrets.txt'"},
      {with("--seeds 8", "--init ../x"),
       "line 10: run eight: flags: '../x' looks like a path; a file of claims names none"},
      {with("--seeds 8", "--norm 'none"), "line 10: run eight: flags: a quote is not closed; close it"},
      {with("run = \"eight\"", "run = \"eigth\""),
       "line 18: a part of claim N01: run: wanted one of the file's runs (eight), got 'eigth'; did you mean eight?"},
      {with("rule = \"mean\"", "rule = \"means\""),
       "line 20: a part of claim N01: rule: wanted one of every_seed, mean, one_more_seed, time, median, got 'means'; did you mean mean?"},
      {with("at_most = 0.9", "between = [0.9, 0.1]"),
       "line 21: a part of claim N01: between: wanted the lower bound first, got [0.9, 0.1]"},
      {with("at_most = 0.9", "at_most = 0.9\nat_least = 0.1"),
       "line 16: a part of claim N01: wanted one of at_most, at_least, between, equals, within, about, better, as_good, got at_most and at_least"},
      {with("at_most = 0.9\n", ""),
       "line 16: a part of claim N01: wanted one of at_most, at_least, between, equals, within, about, better, as_good, got none"},
      {with("rule = \"mean\"", "rule = \"one_more_seed\""),
       "line 16: a part of claim N01: wanted printed, for the rule one_more_seed, got at_most"},
      {with("at_most = 0.9", "about = 0"), "line 21: a part of claim N01: about: 0 has no tenth"},
      {with("at_most = 0.9", "as_good = \"shares\""),
       "line 21: a part of claim N01: as_good: wanted one of \"share\", \"percent\", \"quotient\", got 'shares'; did you mean share?"},
      {with("at_most = 0.9", "better = 1.0"),
       "line 21: a part of claim N01: better: wanted a text in quotes, got 1.0"},
      {with("says = \"the std", "may = true\non_gpu = true\nsays = \"the std"),
       "line 12: claim N01: wanted one of may and on_gpu, got both"},
      {with("at_most = 0.9", "within = -1"),
       "line 21: a part of claim N01: within: wanted a margin above 0, got -1"},
      {with("at_most = 0.9", "at_most = 0.9\nequal_within = 0.1"),
       "line 22: a part of claim N01: equal_within: is the margin of better; write better beside it"},
      {with("at_most = 0.9", "better = \"below 0\"\nequal_within = 0"),
       "line 22: a part of claim N01: equal_within: wanted a margin above 0, got 0"},
      {with("at_most = 0.9", "at_most = 0.9\nexperiment = \"A\""),
       "line 19: claim N01: experiment: 'A' of run eight has no control; give its control the same name"},
      {with("at_most = 0.9", "at_most = 0.9\nexperiment = \"A\"\ncontrol = true"),
       "line 19: claim N01: experiment: 'A' of run eight has a control and no other part; give its parts the same name"},
      {with("rule = \"mean\"", "rule = \"median\"\npooled = true"),
       "line 21: a part of claim N01: pooled: wanted the rule mean without log, got median; take that rule, or drop pooled"},
      {with("rule = \"mean\"", "rule = \"mean\"\nlog = true\npooled = true"),
       "line 22: a part of claim N01: pooled: wanted the rule mean without log, got mean with log; take that rule, or drop pooled"},
      {with("at_most = 0.9", "at_most = 0.9\npooled = true\nminus = \"b\""),
       "line 23: a part of claim N01: minus: is not for a part with pooled; drop one"},
      {with("at_most = 0.9", "at_most = 0.9\nplus = \"b\"\nover = \"c\""),
       "line 23: a part of claim N01: over: wanted one of minus, plus and over, got several"},
      {with("says = \"the std", "depends_on = \"what one may call it\"\nsays = \"the std"),
       "line 15: claim N01: depends_on: wanted at most four words, such as \"the optimizer\", got 5"},
      {with("at_most = 0.9", "at_most = 1.7976931348623157e308"),
       "line 16: a part of claim N01: no value could make this part fail; it tests nothing"},
      {with("at_most = 0.9", "at_most = inf"),
       "line 21: a part of claim N01: at_most: wanted a finite number, got inf"},
      {with("at_most = 0.9", "at_most = 0.9\nlog = 1"),
       "line 22: a part of claim N01: log: wanted true or false, got 1"},
      {with("at_most = 0.9", "log = true\nat_most = -1"),
       "line 21: a part of claim N01: log: wanted a bound above 0, for logarithms"},
      {with("[[claim.part]]", "[[claim]]\nid = \"N01\"\nquote = \"q\"\nsays = \"s\"\n[[claim.part]]"),
       "line 12: claim N01: has no part; add [[claim.part]], or a kind"},
      {good + good.substr(good.find("[[claim]]")), "line 23: claim N01: its id is that of line 12 too"},
      {with("[[claim]]\nid", "[run.unused]\nstudy = \"norm_speed\"\n[[claim]]\nid"),
       "line 12: the file: no part of a claim needs the run unused; drop it"},
      {good.substr(0, good.find("[run.eight]")), "line 1: the file: has no claims; add [[claim]]"},
      {with("The std halves.", "The std \\u001b[31mhalves."),
       "line 14: claim N01: quote: has U+001B, which nobody sees; write one line of plain text"},
      {with("quote = ", "kind = \"cited\"\nquote = "),
       "line 12: claim N01: has no note; say why it is not judged"},
      {with("quote = ", "kind = \"source\"\nquote = "),
       "line 12: claim N01: has parts, which its kind does not take; drop one"},
      {with("[run.eight]", "[[run]]"),
       "line 8: the file: run: wanted tables, each begun by a line [run.NAME]"},
      {with("[[claim.part]]", "[claim.part]"),
       "line 16: claim N01: part: wanted tables, each begun by a line [[claim.part]]"},
      {with("rule = \"mean\"", "rule = \"time\""),
       "line 20: a part of claim N01: rule: time is for the quotients of times of norm_speed; take mean"},
      {with("why = ", "reach = [\"adamw.a\", \"adamw.b.rung2\"]\nwhy = "),
       "line 22: a part of claim N01: reach: wanted the keys of a ladder without their rungs, got 'adamw.b.rung2'; write 'adamw.b'"},
      {with("why = ", "reach = [\"adamw.a\"]\nreach_run = \"eigth\"\nwhy = "),
       "line 23: a part of claim N01: reach_run: wanted one of the file's runs (eight), got 'eigth'; did you mean eight?"},
      {with("why = ", "reach_run = \"eight\"\nwhy = "),
       "line 22: a part of claim N01: reach_run: is the run of a reach, and there is none; add reach"},
      {with("[[claim.part]]", "reach_run = \"eight\"\n[[claim.part]]"),
       "line 16: claim N01: reach_run: is the run of a reach, and there is none; add reach"},
      {about_a_text("bears_out = \"we use RMSNrom\""),
       "bears_out: the quotation does not say 'we use RMSNrom'; copy the words from it"},
      {about_a_text("lacks = \"rmsnorm\""), "lacks: the quotation says 'rmsnorm'; copy the words from it"},
      {about_a_text("bears_out = \"use\"\nlacks = \"x\""),
       "a passage of claim N02: wanted one of bears_out, contradicts and lacks, got two"},
  };
  for (const char* flag :
       {"--out /tmp", "--config=a.json", "--seed 3", "--print_config", "--log-level debug", "-h"}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find_first_of("= "));
    CHECK(holds(refusal_of(with("--seeds 8", flag)),
                "line 10: run eight: flags: " + name + " is not for a file of claims to say; drop it"));
  }
  for (const auto& mistake : mistakes) {
    CAPTURE(mistake.message);
    const std::string message = refusal_of(mistake.text);
    CAPTURE(message);
    CHECK(message.starts_with("mine.toml, line "));
    CHECK(holds(message, mistake.message));
    CHECK_FALSE(holds(message, "\n"));
  }
}

TEST_CASE("a word of tolerance has one bound and one reason in every file") {
  const auto part = [](const std::string& bound) {
    return parse_claims(with("at_most = 0.9\nwhy = \"well below 1\"", bound), "mine.toml").claims[0].parts[0];
  };
  const struct {
    const char* bound;
    double low, high;
    const char *word, *why, *why_zh;
  } words[] = {
      {"about = 2", 1.8, 2.2, "about", "about 2: a tenth to either side", "“约” 2：两侧各十分之一"},
      {"about = -2\nwhy = \"theory\"", -2.2, -1.8, "about", "theory; about -2: a tenth to either side",
       "“约” -2：两侧各十分之一"},
      {"better = \"below 1\"", -infinity, 1, "better",
       "better: beyond 1; a quotient within the margin is none", "“更优”：越过 1；在余量之内则无差别"},
      {"better = \"above 0\"", 0, infinity, "better",
       "better: beyond 0; a difference within the margin is none", "“更优”：越过 0；在余量之内则无差别"},
      {"as_good = \"share\"", -0.01, 0.01, "as_good", "as good: within a hundredth of the whole",
       "“相当”：与全部之比相差不超过百分之一"}};
  for (const auto& wanted : words) {
    CAPTURE(wanted.bound);
    const Part read = part(wanted.bound);
    CHECK((read.predicate.low == wanted.low || read.predicate.low == doctest::Approx(wanted.low)));
    CHECK((read.predicate.high == wanted.high || read.predicate.high == doctest::Approx(wanted.high)));
    CHECK(read.word == wanted.word);
    CHECK(read.why.en == wanted.why);
    CHECK(read.why.zh == wanted.why_zh);
  }
  CHECK(part("at_most = 0.9\nwhy = \"w\"").word.empty());
  // Better is beyond 0 or 1, and neither is: there is no difference.
  const std::vector<double> equal(5, 1.0);
  const Predicate below = part("better = \"below 1\"").predicate,
                  above = part("better = \"above 1\"").predicate;
  for (Predicate predicate : {below, above}) {
    predicate.rule = Rule::every_seed;  // counts; mean reads no equal values
    CHECK(read(predicate, spread_of(equal), 1).outcome == PartOutcome::equal);
  }
  CHECK(text_of(below).en == "mean below 1, margin 0.01");
  CHECK(text_of(above).zh == "均值大于 1，余量 0.01");
}

TEST_CASE("a character that nobody sees is refused wherever a text may have one") {
  for (const char* unseen : {"\\u0085", "\\u009b", "\\u202e", "\\u2066", "\\u200f", "\\u061c", "\\u200b",
                             "\\u2028", "\\ufeff", "\\u00ad", "\\u3164", "\\ufe0f", "\\U000E0041"}) {
    CAPTURE(unseen);
    for (const char* text : {"A text", "The std halves.", "layer 2", "layer2.ratio", "well below 1"})
      CHECK(holds(refusal_of(with(text, std::string(text) + unseen)), ", which nobody sees"));
  }
  CHECK(refusal_of(with("The std halves.", "标准差减半：“½”…")).empty());
}

TEST_CASE("a name of 100,000 parts is refused with its line, wherever it stands") {
  std::string name = "a";
  for (int i = 1; i < 100000; ++i) name += ".a";
  const std::string quoted = "\n[x]\ny = [\"\"\"\n\" \"\"\"\"\", { " + name + " = \"b\" } ]\n";
  for (const auto& [text, line] : {std::pair{"[" + name + "]\n", 1},
                                   {name + " = 1\n", 1},
                                   {"[[claim]]\n" + name + " = 1\n", 2},
                                   {"# '\"\n" + good + "[" + name + "]\n", 24},
                                   {quoted, 4}})
    CHECK(refusal_of(text) ==
          fmt::format("mine.toml, line {}: a name has too many parts; write [claim], [run.NAME] and fields",
                      line));
  // Dots of a text, of a comment and of numbers are none of a name.
  const std::string dots(200, '.');
  CHECK(refusal_of("#" + dots + "\n" + with("The std halves.", "It" + dots + "halves \\\"" + dots)).empty());
  CHECK(refusal_of(with("\"The std halves.\"", "\"\"\"It\\\n" + dots + "\"\"" + dots + "\"\"\"")).empty());
}

TEST_CASE("any cut of a file, and any byte of it changed, is read or refused with a line") {
  for (size_t length = 0; length < good.size(); length += 3) {
    const std::string message = refusal_of(good.substr(0, length));
    CHECK((message.empty() || message.starts_with("mine.toml, line ")));
  }
  for (size_t at = 0; at < good.size(); ++at) {
    std::string text = good;
    text[at] = '"';
    const std::string message = refusal_of(text);
    CHECK((message.empty() || message.starts_with("mine.toml, line ")));
  }
}

TEST_CASE("isobar verify judges a file of one's own, and names flags and keys that a study does not have") {
  const TemporaryFolder folder;
  const std::string path = folder / "mine.toml",
                    arguments = "verify " + path + " --force --out " + (folder / "run");
  folder.write("mine.toml", good);
  const ScopedVariable columns("COLUMNS", "200");  // each claim on one line
  Outcome outcome = run_built("isobar", arguments);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(std::regex_search(outcome.out, std::regex("\nN01  true: the std halves in each layer\n")));
  const Json written = Json::parse(file_text(folder / "run/summary.json"));
  CHECK(written["claims"][0]["parts"][0]["n"] == 8);
  CHECK(written["sources"][0]["title"] == "A text");

  folder.write("mine.toml", good.substr(0, good.find("[run.eight]")) +
                                "[[claim]]\nid = \"N01\"\nquote = \"q\"\nsays = \"s\"\n"
                                "kind = \"definition\"\ntest = \"no such test\"\n");
  check_refused("isobar verify", path + " --force --out " + (folder / "run"),
                "line 8: claim N01: has a test, which only a claim that isobar ships may name");
  const std::string settings = "--depth 8 --width 16 --seeds 8";
  const std::pair<const char*, const char*> refused[] = {
      {"--rank-timeout=9",
       "mine.toml, line 10: run eight: flags: --rank-timeout is not for a file of claims"}};
  for (const auto& [flags, message] : refused) {
    folder.write("mine.toml", with(settings, flags));
    check_refused("isobar verify", path + " --force --out " + (folder / "run"), message);
  }
  for (const char* flags : {"--preset blog8_rmsnorm --seeds 2", "--blog8_rmsnorm --seeds=2 --alpha -0.5"}) {
    folder.write("mine.toml", with(settings, flags));
    outcome = run_built("isobar", arguments);
    CHECK_FALSE(holds(outcome.err, "no setting"));
  }
  CHECK(run_built("isobar", "verfy").err ==
        "isobar: there is no command or study 'verfy'; did you mean verify?\n");
  CHECK(run_built("isobar", "verify --out " + (folder / "none") + " " + (folder / "nowhere.toml")).code == 2);
}

TEST_CASE("a wrong key or flag is found before a run is made, and takes no other claim with it") {
  const TemporaryFolder folder;
  const ScopedVariable columns("COLUMNS", "200");
  const std::string out = folder / "run", path = folder / "mine.toml";
  const struct {
    std::string old, wrong, complaint;
  } mistakes[] = {
      {"layer2.ratio", "layer2.ration",
       "line 19: claim N01: the run eight measured no 'layer2.ration'; did you mean layer2.ratio?"},
      {"--depth 8", "--dept 8", "line 8: decay_study: unknown option --dept; did you mean --depth?"},
      {"--depth 8", "--depth 0",
       "line 8: decay_study: --depth: wanted a whole number from 1 to 100000, got '0'"},
      {"--depth 8", "--complete", "line 8: decay_study: its flags ask for something else than a run"},
      {"layer2.ratio", "layer9.ratio", "line 19: claim N01: the run eight measured no 'layer9.ratio'"}};
  for (const auto& mistake : mistakes) {
    const std::string &wrong = mistake.wrong, &complaint = mistake.complaint;
    CAPTURE(wrong);
    std::string other = good.substr(good.find("[run.eight]"));
    for (const char* name : {"eight", "eight", "N01"}) {
      const size_t at = other.find(name);
      other.replace(at, std::string(name).size(), std::string(name) == "N01" ? "N02" : "other");
    }
    folder.write("mine.toml", with(mistake.old, wrong) + other);
    const Outcome made = run_built("isobar verify", path + " --out " + out);
    CAPTURE(made.out);
    CHECK(made.code == 2);
    CHECK(holds(made.err, "isobar verify: " + path + ", " + complaint));
    CHECK(holds(made.out,
                "\nN01  not tested: the file asks for what there is not: " + path + ", " + complaint));
    CHECK(holds(made.out, "\nN02  true: "));
    const Json written = Json::parse(file_text(out + "/summary.json"));
    CHECK(written["counts"] == Json{{"true", 1}, {"not tested", 1}});
    // The run that the mistake spoils is not made. Of layer9 alone nobody knows before that it is not there.
    CHECK(written["runs"].size() == (wrong == "layer9.ratio" ? 2 : 1));
    CHECK_FALSE(std::filesystem::exists(out + "/.rehearsal"));
    if (wrong != "layer9.ratio") continue;

    // So does what only a run refuses.
    folder.write("decay_study",
                 "#!/bin/sh\ncase \"$*\" in *--print-config|*--about) ;;\n"
                 "*\"--depth 9\"*) echo 'decay_study: too deep' >&2; exit 2;; esac\n"
                 "exec " ISOBAR_BINARY_DIR "/bin/decay_study \"$@\"\n");
    std::filesystem::permissions(folder / "decay_study", std::filesystem::perms::owner_all);
    folder.write("mine.toml", with("--depth 8", "--depth 9") + other);
    const Outcome refused =
        run_built("isobar verify", path + " --out " + out + " --programs " + folder.path().string());
    CAPTURE(refused.out);
    CHECK(refused.code == 2);
    CHECK(holds(refused.out, "\nN01  not tested: the file asks for what there is not: " + path +
                                 ", line 8: decay_study: too deep"));
    CHECK(holds(refused.out, "\nN02  true: "));
  }
}

TEST_CASE("a claim on trained nets says how large those of its text are, or is not judged") {
  const std::string
      nets =
          "[run.eight]\nstudy = \"depth_trainability\"\nflags = \"--nets plain.default.none --depths 2 "
          "--width 8 --steps 2 --learning_rate 0.1\"\nquick = \"--seeds 5\"\n",
      source = good.substr(0, good.find("[run.eight]"));
  std::string claim = good.substr(good.find("[[claim]]"));
  claim.replace(claim.find("\"mean\""), 6, "\"every_seed\"");
  const auto of_key = [&](const char* key) {
    return std::string(claim).replace(claim.find("layer2.ratio"), 12, key);
  };
  const std::string trained = of_key("plain.default.none.depth2.accuracy");
  const ClaimFile file =
      parse_claims(source + "paper_size = \"12 × 768\"\npaper_size_zh = \"宽 768\"\n" + nets + claim +
                       "[[claim]]\nid = \"N02\"\npaper_size = \"7B\"\n" + claim.substr(claim.find("quote")),
                   "mine.toml");
  CHECK(file.claims[0].paper_size.zh == "宽 768");
  CHECK(file.claims[1].paper_size.en == "7B");
  CHECK(file.claims[1].paper_size.zh.empty());

  const TemporaryFolder folder;
  const ScopedVariable columns("COLUMNS", "300");
  const std::string path = folder / "mine.toml", arguments = path + " --out " + (folder / "run"),
                    lacks =
                        path +
                        ", line 12: claim N01: has no paper_size, and its run 'eight' trains nets; add how "
                        "large those of the text are, such as paper_size = \"12 × 768, 300,000 steps\", or "
                        "\"not stated\"; in [source] it is that of all claims";
  folder.write("mine.toml", source + nets + trained);
  Outcome made = run_built("isobar verify", arguments);
  CHECK(made.code == 2);
  CHECK(made.err == "isobar verify: " + lacks + "\n");
  CHECK(holds(made.out, "\nN01  not tested: the file asks for what there is not: " + lacks));
  CHECK_FALSE(std::filesystem::exists(folder / "run/eight"));  // the trial of a few steps has told it

  folder.write("mine.toml", source + "paper_size = \"12 × 768\"\n" + nets + trained);
  made = ran("isobar verify", arguments);
  CHECK(holds(
      made.out,
      "\nN01  true, at width 8, 2 steps of Adam on MNIST digits, rate 0.1; the text's size: 12 × 768: "));
  // The run that is there tells it, too.
  folder.write("mine.toml", source + nets + trained);
  CHECK(run_built("isobar verify", arguments).err == "isobar verify: " + lacks + "\n");
  // A value of such a run that no net is trained for needs no size.
  folder.write("mine.toml", source + nets + of_key("blind.accuracy"));
  CHECK(holds(ran("isobar verify", arguments).out, "\nN01  true: "));

  // As do a duel's values.
  folder.write("mine.toml", source + "[run.eight]\nstudy = \"duel\"\nflags = \"rmsnorm dyt --tiny\"\n" +
                                of_key("a_minus_b"));
  CHECK(holds(run_built("isobar verify", path + " --out " + (folder / "duel")).err,
              "claim N01: has no paper_size, and its run 'eight' trains nets"));
}

TEST_CASE("a run that does not say what it trained is not judged") {
  const TemporaryFolder folder;
  const ScopedVariable columns("COLUMNS", "300");
  // A study of somebody's, whose summary says nothing of it.
  folder.write("decay_study",
               "#!/bin/sh\n" ISOBAR_BINARY_DIR
               "/bin/decay_study \"$@\" || exit\nwhile [ \"$1\" != --out ] && [ $# -gt 0 ]; do shift; "
               "done\n[ $# -eq 0 ] || sed -i 's/\"trained\"/\"tired\"/' \"$2/summary.json\"\n");
  std::filesystem::permissions(folder / "decay_study", std::filesystem::perms::owner_all);
  folder.write("mine.toml", good);
  const std::string path = folder / "mine.toml";
  const Outcome made = run_built(
      "isobar verify", path + " --out " + (folder / "run") + " --programs " + folder.path().string());
  CAPTURE(made.out);
  CHECK(made.code == 2);
  CHECK(made.err ==
        "isobar verify: " + path +
            ", line 12: claim N01: its run 'eight' does not say on what it trained nets; make it anew with "
            "programs of this version\n");
  CHECK(holds(made.out, "\nN01  not tested: "));
}

TEST_CASE("two files may share a run, and may not mean different runs or claims by one name") {
  const TemporaryFolder folder;
  const std::string files = (folder / "a.toml") + " " + (folder / "b.toml"),
                    arguments = "verify " + files + " --out " + (folder / "run");
  folder.write("a.toml", good);
  folder.write("b.toml", good);
  CHECK(holds(run_built("isobar", arguments).err, "b.toml, line 12: claim N01 is in "));
  std::string other = with("N01", "N02");
  folder.write("b.toml", other.replace(other.find("--depth 8"), 9, "--depth 9"));
  const Outcome outcome = run_built("isobar", arguments);
  CHECK(outcome.code == 2);
  CHECK(holds(outcome.err, "b.toml, line 8: run eight is 'decay_study --depth 9"));
  CHECK_FALSE(std::filesystem::exists(folder / "run/summary.json"));
  folder.write("b.toml", with("N01", "N02"));
  ran("isobar", arguments);
  CHECK(run_built("isobar", arguments).code == 0);  // again, into the same folder
}

}  // namespace isobar::claim_file_test
