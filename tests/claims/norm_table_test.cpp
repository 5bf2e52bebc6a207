// The table of norms: that a table with a mistake is refused with its line, that a kill loses nothing, and that a result
// that was edited is found.
#include "../../experiments/duel/norm_table.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "../../data/file.h"
#include "../message_of.h"
#include "../studies/study_run.h"

namespace isobar::norm_table_test {

using duel::NormResults, duel::NormTable, duel::read_norm_table, duel::Round;

const std::string heading =
    "flags = \"--tiny --corpus " ISOBAR_SOURCE_DIR
    "/README.md --learning_rate 3e-3 --steps 6\"\nmax_pairs = 9\ntexts = [\"shakespeare\"]\n";

// Nine lines.
std::string norm(const std::string& name, const std::string& contestant) {
  return "\n[[norm]]\nname = \"" + name + "\"\ntitle = \"T\"\ncontestant = \"" + contestant +
         "\"\nformula = \"f\"\nsource = \"S\"\nabout = \"a\"\n\n";
}

TEST_CASE("a table with a mistake is refused with the line, what was wanted and what it got") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    folder.write("t.toml", text);
    const std::string message = message_of([&] { read_norm_table(folder / "t.toml"); });
    return message.substr(std::min(message.size(), (folder / "t.toml").size()));
  };
  CHECK(refusal(heading + norm("one", "none") + norm("two", "dyt")).empty());
  const std::string two = heading + norm("one", "none");  // its last line is 12
  struct Row {
    std::string text, says;
  };
  for (
      const Row& row : {
          Row{two + norm("two", "dytt"), ", line 17: norm two: contestant 'dytt': wanted a norm (none, "},
          {two + norm("two", "dytt"), "got 'dytt'; did you mean dyt?"},
          {two + norm("two", "x / (1 + y)"),
           ", line 17: norm two: contestant 'x / (1 + y)': at 10: wanted a number"},
          {two + norm("two", "my_norm.h"),
           ", line 17: norm two: there is no file '" + folder / "my_norm.h" + "'"},
          {two + norm("one", "dyt"),
           ", line 15: norm one: name: wanted one that no other norm has, got that of line 5"},
          {two + norm("two", "none"),
           ", line 17: norm two: contestant: wanted one that is not in the table, got that of one, line 5: 'none'"},
          {two + norm("A b", "dyt"),
           ", line 15: norm A b: name: wanted lower-case letters, digits and _, got 'A b'"},
          {two + "\n[[norm]]\nname = \"x\"\n", ", line 14: norm: has no title; add it"},
          {two + "[[norm\n", ", line 13: "},
          {"max_pair = 3\n" + two,
           ", line 1: the table of norms: has no field 'max_pair'; did you mean max_pairs?"},
          {"texts = [\"shakespeare\"]\n" + norm("one", "none"),
           ": the table of norms: has no max_pairs; add it"},
          {"max_pairs = 0.5\ntexts = [\"shakespeare\"]\n" + norm("one", "none"),
           ", line 1: the table of norms: max_pairs: wanted a whole number from 1 to 1000000, got 0.5"},
          {"max_pairs = 9\ntexts = [\"digits\"]\n" + norm("one", "none"),
           ", line 2: the table of norms: texts: wanted shakespeare or synthetic, got 'digits'"},
          {"max_pairs = 9\ntexts = []\n" + norm("one", "none"),
           "texts: wanted a list of one or more texts, each once"},
          {"max_pairs = 9\ntexts = [\"synthetic\"]\nflags = \"--seed 3\"\n" + norm("one", "none"),
           ", line 3: the table of norms: flags: a table has --seed for itself; leave it out"},
          {"second_flags = \"--seed 3\"\n" + two,
           ", line 1: the table of norms: second_flags: a table has --seed for itself; leave it out"},
          {"second_flags = \"--steps=7\"\n" + two,
           ", line 1: the table of norms: second_flags: flags has --steps too; drop one of both"},
          {"second_flags = \"muon\"\n" + two,
           ", line 1: the table of norms: second_flags: wanted flags such as --optimizer muon, got 'muon'"},
          {"second_flags = \"--optimizer muon\"\n" + two + norm("two", "--norm dyt --optimizer=adamw"),
           ", line 18: norm two: contestant '--norm dyt --optimizer=adamw': has --optimizer of its own, and "
           "second_flags has it for both sides; drop one of both"},
          {"against = \"rms\"\nmax_pairs = 9\ntexts = [\"synthetic\"]\n" + norm("one", "none"),
           ", line 1: the table of norms: contestant 'rms': wanted a norm"},
          {heading, ": wanted norms, each begun by a line [[norm]], got none"},
      }) {
    const std::string says = refusal(row.text);
    CAPTURE(says);
    CAPTURE(row.says);
    CHECK(holds(says, row.says));
  }
}

// Results as a duel would give them.
Json result(const NormResults& results, const NormTable& table, size_t norm, const std::string& outcome,
            Round round = Round::first) {
  Json one = results.key_of(table.norms[norm], "shakespeare", round);
  one.update(Json{{"max_pairs", 9}, {"outcome", outcome}, {"low", -0.25}, {"high", INFINITY}});
  return one;
}

TEST_CASE(
    "a result counts for its contestant, header and settings, and an open one for its number of pairs") {
  const TemporaryFolder folder;
  folder.write("my.h", "struct My {};");
  const std::string rows = norm("one", "none") + norm("two", "my.h");
  const auto table_of = [&](const std::string& text) {
    folder.write("t.toml", text);
    return read_norm_table(folder / "t.toml");
  };
  const NormTable table = table_of(heading + rows);
  NormResults results(table);
  results.add(result(results, table, 1, "undecided"));
  results.add(result(results, table, 0, "worse"));
  const auto there = [&](const NormTable& now) {
    const NormResults read(now);
    return std::pair(read.of(now.norms[0], "shakespeare") != nullptr,
                     read.of(now.norms[1], "shakespeare") != nullptr);
  };
  CHECK(there(table) == std::pair(true, true));
  CHECK(file_text(folder / "t.jsonl").starts_with("{\"norm\":\"one\""));  // in the table's order
  CHECK(there(table_of("against = \"dyt\"\n" + heading + rows)) == std::pair(false, false));
  CHECK(there(table_of(heading + norm("one", "pre.none") + norm("two", "my.h"))) == std::pair(false, true));
  std::string more_pairs = heading + rows;
  more_pairs.replace(more_pairs.find("max_pairs = 9"), 13, "max_pairs = 12");
  CHECK(there(table_of(more_pairs)) == std::pair(true, false));  // the one that was decided stays
  const NormTable same = table_of(heading + rows);
  folder.write("my.h", "struct My { int changed; };");
  CHECK(there(same) == std::pair(true, false));
}

TEST_CASE("a second round is of norms that are better or worse, and its results are lines of their own") {
  const TemporaryFolder folder;
  const std::string rows = norm("one", "none") + norm("two", "dyt"),
                    muon = "second_flags = \"--optimizer muon\"\n" + heading;
  const auto table_of = [&](const std::string& text) {
    folder.write("t.toml", text);
    return read_norm_table(folder / "t.toml");
  };
  const NormTable table = table_of(muon + rows);
  CHECK(table.flags_of(Round::second) == table.flags + " --optimizer muon");
  // Of each norm: whether the first result is there, whether a second is wanted, and whether it is there.
  const auto said = [](const NormTable& now) {
    const NormResults read(now);
    std::string text;
    for (const duel::ListedNorm& one : now.norms)
      for (const bool is : {read.of(one, "shakespeare") != nullptr, read.wants_second(one, "shakespeare"),
                            read.of(one, "shakespeare", Round::second) != nullptr})
        text += is ? '1' : '0';
    return text;
  };
  const auto lines = [&] {
    const std::string text = file_text(folder / "t.jsonl");
    return std::ranges::count(text, '\n');
  };
  NormResults results(table);
  results.add(result(results, table, 1, "equal"));
  results.add(result(results, table, 0, "worse"));
  const std::string first = file_text(folder / "t.jsonl");
  CHECK(said(table) == "110100");
  results.add(result(results, table, 0, "equal", Round::second));
  CHECK(said(table) == "111100");
  // Between the others, which stay as they were.
  CHECK(file_text(folder / "t.jsonl").starts_with(first.substr(0, first.find('\n') + 1)));
  CHECK(file_text(folder / "t.jsonl").ends_with(first.substr(first.find('\n'))));
  const Json facts = duel::facts_of(table);
  CHECK(facts["second_flags"] == "--optimizer muon");
  CHECK(facts["norms"][0]["second"]["shakespeare"]["outcome"] == "equal");
  CHECK(facts["norms"][1]["second"]["shakespeare"].is_null());
  // Both are of a table with these flags; a table without them, or with others, reads the first alone.
  CHECK(said(table_of(heading + rows)) == "100100");
  CHECK(said(table_of("second_flags = \"--optimizer muon --margin 0.1\"\n" + heading + rows)) == "110100");
  CHECK(said(table_of("against = \"dyt\"\n" + muon + rows)) == "000000");
  // A second result counts while the first one is decided.
  results.add(result(results, table, 0, "undecided"));
  CHECK(said(table_of(muon + rows)) == "100100");
  CHECK(lines() == 3);
  results.add(result(results, table, 0, "better"));
  CHECK(said(table) == "111100");
  // With another contestant the first result takes the place of both.
  const NormTable other = table_of(muon + norm("one", "pre.none") + norm("two", "dyt"));
  NormResults anew(other);
  anew.add(result(anew, other, 0, "worse"));
  CHECK(said(other) == "110100");
  CHECK(lines() == 2);
}

TEST_CASE("results that were edited, cut or mixed up anywhere are refused") {
  const TemporaryFolder folder;
  folder.write("t.toml", heading + norm("one", "none") + norm("two", "dyt"));
  const NormTable table = read_norm_table(folder / "t.toml");
  {
    NormResults results(table);
    results.add(result(results, table, 0, "worse"));
    results.add(result(results, table, 1, "better"));
  }
  const std::string text = file_text(folder / "t.jsonl"), first = text.substr(0, text.find('\n') + 1);
  const auto refusal = [&](const std::string& damaged) {
    folder.write("t.jsonl", damaged);
    return message_of([&] { const NormResults again(table); });
  };
  const std::string repair =
      "remove the line, and isobar duel --table measures the norm again, or restore the file";
  for (size_t at = 0; at < text.size(); at += 3) {
    std::string damaged = text;
    damaged[at] ^= 1;
    CAPTURE(at);
    CHECK(holds(refusal(damaged), repair));
  }
  CHECK(holds(refusal(text.substr(0, text.size() - 3)), "t.jsonl, line 2: wanted a line as isobar wrote it"));
  CHECK(holds(refusal(text + first),
              "t.jsonl, line 3: wanted one result for each norm, text and flags, got another of one"));
  CHECK(refusal(text).empty());
  folder.write("t.toml", heading + norm("two", "dyt"));
  const NormTable fewer = read_norm_table(folder / "t.toml");
  CHECK(holds(message_of([&] { const NormResults again(fewer); }), "t.jsonl, line 1: wanted a norm of"));
}

TEST_CASE("a table fills, continues where it was killed, and runs again to the bit") {
  const TemporaryFolder folder;
  folder.write("t.toml", heading + norm("none", "none") + norm("dyt", "dyt") +
                             norm("l1", "x / (1 + mean(abs(x))) * w"));
  const auto table = [&](const std::string& more) {
    return run_built("isobar", "duel --table t.toml " + more, folder.path());
  };
  const std::string journal = folder / "runs/t/dyt_shakespeare/run/trainings.jsonl";
  {
    const std::string words =
        "isobar duel --threads 1 --table " + folder / "t.toml" + " --out " + folder / "runs/t";
    StartedProgram program(words_in(words), folder);
    wait_until(program,
               [&] { return std::filesystem::exists(journal) && std::filesystem::file_size(journal) > 600; });
    program.send(SIGKILL);
    program.wait();
  }
  CHECK(table("--text synthetic").code == 2);  // the table has another
  CHECK(holds(table("--only dy").err, "--only: t.toml has no norm 'dy'; did you mean dyt?"));
  CHECK(holds(table("--pairs 3").err,
              "wanted --text, --only, --check, --out or --threads beside it, got '--pairs'"));
  const isobar::Outcome rest = table("");
  INFO(rest.out, rest.err);
  CHECK(rest.code == 0);
  CHECK(holds(rest.out, "3 of 3: "));
  const std::string results = file_text(folder / "t.jsonl");
  CHECK(std::ranges::count(results, '\n') == 3);
  // RMSNorm's trainings are made once for all, and --check makes its own.
  std::multiset<std::string> shared;
  std::istringstream lines(file_text(folder / "runs/t/against_shakespeare.jsonl"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) shared.insert(line);
  CHECK(shared.size() >= 9);
  CHECK(std::set(shared.begin(), shared.end()).size() == shared.size());
  const isobar::Outcome nothing = table("");
  CHECK(nothing.out == "t.toml: 3 of 3 results are there\n");
  const isobar::Outcome again = table("--check 3");
  INFO(again.out, again.err);
  CHECK(again.code == 0);
  for (const char* name : {"none", "dyt", "l1"})
    CHECK(holds(again.out, std::string(name) + " on shakespeare: the same to the bit: "));
  CHECK(file_text(folder / "t.jsonl") == results);
  // A line that is rewritten whole, with its checksum: its duel says otherwise.
  const NormTable read = read_norm_table(folder / "t.toml");
  NormResults forged(read);
  Json edited = *forged.of(read.norms[1], "shakespeare");
  edited["difference"] = -0.5;
  forged.add(edited);
  const isobar::Outcome found = table("--check 1 --only dyt");
  CHECK(found.code == 1);
  CHECK(holds(found.out, "dyt on shakespeare: difference is -0.5 in the results, and "));
}

TEST_CASE(
    "a second round repeats what is better or worse with its own flags, and is checked as the first is") {
  const TemporaryFolder folder;
  folder.write("t.toml", "second_flags = \"--optimizer muon\"\n" + heading + norm("none", "none") +
                             norm("dyt", "dyt") + norm("l1", "x / (1 + mean(abs(x))) * w"));
  const NormTable read = read_norm_table(folder / "t.toml");
  NormResults results(read);
  for (const size_t i : {0, 1, 2}) results.add(result(results, read, i, i == 1 ? "equal" : "worse"));
  const auto table = [&](const std::string& more) {
    return run_built("isobar", "duel --table t.toml " + more, folder.path());
  };
  const isobar::Outcome one = table("--only l1,dyt");
  INFO(one.out, one.err);
  CHECK(one.code == 0);
  CHECK(holds(one.out, "t.toml: 2 of 2 results are there\n"));
  CHECK(holds(one.out, "t.toml, with --optimizer muon: 0 of 1 results are there\n"));
  CHECK(holds(one.out, "1 of 1: l1 on shakespeare with --optimizer muon: "));
  CHECK(
      holds(table("").out, "1 of 2 results are there\n2 of 2: none on shakespeare with --optimizer muon: "));
  CHECK(table("").out ==
        "t.toml: 3 of 3 results are there\nt.toml, with --optimizer muon: 2 of 2 results are there\n");
  const Json summary = Json::parse(file_text(folder / "runs/t/l1_shakespeare_second/run/summary.json"));
  CHECK(summary["config"]["optimizer"] == "muon");
  CHECK(std::filesystem::exists(folder / "runs/t/against_shakespeare_second.jsonl"));
  const isobar::Outcome again = table("--check 2 --only l1");  // the first result here was not measured
  INFO(again.out, again.err);
  CHECK(again.code == 1);
  CHECK(holds(again.out, "l1 on shakespeare with --optimizer muon: the same to the bit: "));
  CHECK(holds(again.out, "l1 on shakespeare: "));
}

}  // namespace isobar::norm_table_test
