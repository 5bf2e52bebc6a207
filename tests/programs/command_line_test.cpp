#include "../../data/utf8_stream.h"
#include "../../experiments/run/environment.h"
#include "../../experiments/run/lists.h"
#include "../../experiments/run/settings.h"
#include "../message_of.h"
#include "../studies/study.h"

namespace isobar::command_line_test {

TEST_CASE("later words win: defaults, preset, config file, flags") {
  const TemporaryFolder folder;
  folder.write("c.json", R"({"depth": 7, "rate": 1, "seed": 3})");
  CHECK(printed_config({}).dump() ==
        R"({"preset":"plain","seed":0,"depth":8,"seeds":1,"rate":0.5,"bias":true,"norm":"none"})");
  CHECK(printed_config({"--preset", "deep"})["depth"] == 100);
  Json config = printed_config({"--preset=deep", "--config", folder / "c.json"});
  CHECK(config["depth"] == 7);
  CHECK(config["norm"] == "rmsnorm");
  CHECK(config["rate"] == 1.0);
  CHECK(config["seed"] == 3);
  config = printed_config({"--depth", "5", "--config", folder / "c.json", "--seed", "4", "--rate=-2.5e-3"});
  CHECK(config["depth"] == 5);
  CHECK(config["seed"] == 4);
  CHECK(config["rate"] == -2.5e-3);
}

TEST_CASE("what --print-config prints is a config file that gives the same") {
  const TemporaryFolder folder;
  const Json first = printed_config({"--preset", "deep", "--rate", "0.1", "--no-bias", "--seed", "9"});
  folder.write("c.json", first.dump());
  CHECK(printed_config({"--config", folder / "c.json"}) == first);
}

TEST_CASE("a bool is --flag, --no-flag or --flag=false, and the last of several words wins") {
  CHECK(printed_config({"--bias"})["bias"] == true);
  CHECK(printed_config({"--no-bias"})["bias"] == false);
  CHECK(printed_config({"--bias=false"})["bias"] == false);
  CHECK(printed_config({"--no-bias", "--bias"})["bias"] == true);
  CHECK(printed_config({"--depth", "1", "--depth", "2"})["depth"] == 2);
  check_usage({"--bias", "false"}, "unexpected word 'false'; options begin with -- (see --help)");
}

TEST_CASE("a preset's flags are those of a command line") {
  CHECK(flags_in("--depth 8 --bias=false").at(1) == std::pair<std::string, std::string>("bias", "false"));
  CHECK(message_of([] { flags_in("--depth 8 --bias false"); }) == "--bias false: wanted --bias=false");
}

// What no field may be, of any program: bounds_test.cpp.
TEST_CASE("bad usage gives one line with the repair and exit code 2") {
  const TemporaryFolder folder;
  check_usage({"--dept", "3"}, "unknown option --dept; did you mean --depth?");
  check_usage({"--dept=3"}, "unknown option --dept; did you mean --depth?");
  check_usage({"--no-bais"}, "did you mean --no-bias?");
  check_usage({"extra"}, "unexpected word 'extra'");
  check_usage({"--depth"}, "--depth");
  check_usage({"--depth", "99999999999999999999"},
              "wanted a whole number of at most 9223372036854775807 in size, got '99999999999999999999'");
  check_usage({"--seed", "99999999999999999999"},
              "wanted a whole number >= 0 of at most 9223372036854775807 in size");
  check_usage({"--norm", "rmsnrom"},
              "--norm: wanted one of none, layernorm, rmsnorm, got 'rmsnrom'; a norm of "
              "your own: link this study's target, or isobar::tool, with the file that registers it "
              "(nn/layers.md); did you mean rmsnorm?");
  check_usage({"--preset", "dep"}, "--preset: wanted one of plain, deep, got 'dep'; did you mean deep?");
  check_usage({"--plain", "--deep"}, "--plain and --deep exclude each other: give one");
  check_usage({"--preset", "plain", "--deep"}, "--preset and --deep exclude each other: give one");
  check_usage({"--seed", "-1"}, "--seed: wanted a whole number >= 0, got '-1'");
  check_usage({"--threads", "0"}, "--threads: wanted a whole number from 1 to 1024, got '0'");
  check_usage({"--config", folder / "none.json"}, "No such file");
  folder.write("file", "");
  check_usage({"--out", folder / "file/run"}, "cannot make the folder");
  check_usage({"--out", folder / "file"}, "cannot");
}

TEST_CASE("a bad config file is refused by name and place") {
  const TemporaryFolder folder;
  const auto check_file = [&](const std::string& text, const std::string& part) {
    folder.write("c.json", text);
    CAPTURE(text);
    check_usage({"--config", folder / "c.json"}, part);
  };
  check_file(R"({"dpeth": 3})", "c.json: dpeth: no such setting; did you mean depth?");
  check_file(R"({"depth": 3, "depth": 4})", "'depth' occurs twice");
  check_file(R"({"depth": "3"})", "depth: wanted a whole number, got \"3\"");
  check_file(R"({"depth": 3.5})", "depth: wanted a whole number, got 3.5");
  check_file(R"({"depth": 1e300})", "depth: wanted a whole number, got 1e+300");
  check_file(R"({"depth": true})", "depth: wanted a whole number, got true");
  check_file(R"({"depth": 18446744073709551615})", "beyond 64 bits");
  check_file(R"({"norm": "rms"})", "c.json: norm: wanted one of");
  check_file(R"({"preset": "rms"})", "c.json: preset: wanted one of");
  check_file(R"({"seed": -3})", "c.json: seed: wanted");
  check_file(R"({"depth": null})", "null");
  check_file(R"({"depth": [8]})", "array");
  check_file(R"({"depth": {"a": 8}})", "'depth' is an object");
  check_file(R"(8)", "wanted an object");
  check_file(R"({"depth": 8)", "not valid JSON");
  check_file(R"({"rate": 1e999})", "not valid JSON");
  check_file("", "not valid JSON");
  check_file(std::string(2 << 20, ' '), "at most");
}

TEST_CASE("a whole number in a config file may be written 3.0") {
  const TemporaryFolder folder;
  folder.write("c.json", R"({"depth": 3.0, "seed": 4e0})");
  const Json config = printed_config({"--config", folder / "c.json"});
  CHECK(config["depth"].dump() == "3");
  CHECK(config["seed"].dump() == "4");
}

TEST_CASE("an empty value is --name= or an empty word, and takes no other word") {
  const Json shown = Json::parse(ran("lm_norms", "--deep_nets= --print-config").out);
  CHECK(shown["deep_nets"] == "");
  CHECK(shown == Json::parse(ran("lm_norms", "--deep_nets '' --print-config").out));
  CHECK(Json::parse(ran("lm_norms", "--deep-nets= --seeds 3 --print-config").out)["seeds"] == 3);
  check_usage({"--norm=", "--depth", "3"}, "--norm: wanted one of none, layernorm, rmsnorm, got ''");
  check_usage({"--out=", "--depth", "3"}, "--out: wanted a name, got an empty word");
}

TEST_CASE("a line is split into words as a shell does, and words make a line again") {
  using Words = std::vector<std::string>;
  const std::pair<const char*, Words> lines[] = {
      {"", {}},
      {" a\t b\n", {"a", "b"}},
      {"--x ''  \"\"", {"--x", "", ""}},
      {"'a b'c\"d 'e\"", {"a bcd 'e"}},
      {R"(a\ b '\' "\"")", {"a b", "\\", "\""}},
      {R"(a$'\x1b[31m\n\t\\\'\xc2\x9b' b)", {"a\x1b[31m\n\t\\'\xc2\x9b", "b"}},
      {R"("$'a'" $a '$'b)", {"$'a'", "$a", "$b"}}};
  for (const auto& [line, words] : lines) {
    CHECK(shell_words(line) == words);
    CHECK(shell_words(shell_line(words)) == words);
  }
  for (const char* open : {"--x 'a", "$'a", "$'a\\'", "$'\\x4"}) CHECK_FALSE(shell_words(open));
  CHECK(shell_line(Words{"a,b@1e-3", "it's", ""}) == "a,b@1e-3 'it'\\''s' ''");
}

TEST_CASE("the folders in the commands that programs print are quoted for a shell") {
  const TemporaryFolder folder;
  const std::string name = "a$(touch pwned);c 'd'", quoted = shell_word(name);
  // The shell takes it for one word, and runs nothing.
  CHECK(run_command("printf %s " + quoted, folder.path()).out == name);
  const Outcome trained = ran("train_lm", "--tiny --corpus synthetic --out " + quoted, folder.path());
  CHECK(holds(trained.out, "next: isobar sample " + quoted + ", or isobar report " + quoted + "\n"));
  const std::filesystem::path run = folder.path() / name;
  std::filesystem::rename(run / "summary.json", run / "summary.partial.json");
  for (const auto& [command, advice] :
       {std::pair<std::string, std::string>{"isobar watch", "train_lm --resume " + quoted + " goes on"},
        {"train_lm --tiny --corpus synthetic --out", "go on with --resume " + quoted + ","}}) {
    const Outcome refused = run_command("\"$BIN\"/" + command + " " + quoted, folder.path());
    INFO(refused.err);
    CHECK(refused.code != 0);
    CHECK(holds(refused.err, advice));
  }
  CHECK(folder.names() == std::vector<std::string>{name});
}

TEST_CASE("no name in a printed command can make a terminal do something, and bash reads it back") {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string mark = "a\xe2\x80\xae", hidden = "a\xe2\x80\x8b";  // of direction; of no width
  for (const std::string& name :
       {bytes, std::string("\x1b]0;title\x07\x1b[31m"), std::string("a\nb"), mark, hidden}) {
    const std::string quoted = shell_word(name);
    CHECK((printable(quoted) == quoted));
    CHECK(std::ranges::all_of(quoted, [](unsigned char c) { return c >= 0x20 && c < 0x7f; }));
    CHECK((shell_words(quoted) == std::vector<std::string>{name}));
    folder.write("command", "printf %s " + quoted);
    CHECK((run_command("export BIN; bash command", folder.path()).out == name));
  }
  CHECK(shell_word("straße") == "'straße'");  // as before

  // As programs print it: in a command, in a sentence, and for a file that was written.
  const std::string name = "a\x1b[31m;b\x9b", quoted = shell_word(name);
  folder.write("command", "cd '" + folder.path().string() +
                              "'; \"$BIN\"/train_lm --tiny --corpus synthetic --out " + quoted +
                              "; \"$BIN\"/isobar report " + quoted + " -o " + quoted +
                              ".html; \"$BIN\"/train_lm --tiny --corpus synthetic --out " + quoted + "; mv " +
                              quoted + "/summary.json " + quoted +
                              "/summary.partial.json; \"$BIN\"/isobar "
                              "watch --once " +
                              quoted + "; \"$BIN\"/isobar watch " + quoted +
                              "; \"$BIN\"/train_lm --tiny --corpus synthetic --out " + quoted);
  const Outcome all = run_command("export BIN; bash command", folder.path());
  INFO(all.out, all.err);
  CHECK(holds(all.out, "next: isobar sample " + quoted));
  CHECK(holds(all.err, "--resume " + quoted));
  for (const std::string& text : {all.out, all.err}) {
    CHECK((printable(text) == text));
    CHECK_FALSE(holds(text, "\x1b"));
  }
}

TEST_CASE("the nearest name is found by edit distance, and a far one is not offered") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(did_you_mean("widht", std::vector<std::string>{"depth", "width"}) == "; did you mean width?");
  CHECK(did_you_mean("zzzzz", std::vector<std::string>{"depth", "width"}) == "");
}

TEST_CASE("--help lists settings, presets and exit codes, --version the version") {
  const Outcome help = Study().run({"--help"});
  CHECK(help.code == 0);
  for (const char* part : {"--depth", "layers [8]", "{none, layernorm, rmsnorm}", "--[no-]bias ", "--preset",
                           "many layers", "--print-config", "Exit codes"})
    CHECK(holds(help.out, part));
  CHECK(Study().run({"--version"}).out == "study " + isobar_version() + "\n");
}

}  // namespace isobar::command_line_test
