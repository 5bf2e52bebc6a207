// What programs say of hostile files: one line that a terminal can show, whatever the file holds.
#include <doctest/doctest.h>

#include "../../data/utf8_stream.h"
#include "../run.h"

namespace isobar::messages_test {

const std::string escape = "\x1b]0;title\x07\x1b[31m", long_text(5000, 'x');

// JSON of a long text with control characters.
const std::string text_json = R"("\u001b[31m\u009b\u202e)" + long_text + "\"";
// As deep as ends a program that reads, copies or writes it by recursion.
const std::string deep_json = std::string(1'000'000, '[') + std::string(1'000'000, ']');

void check_message(const std::string& words, const TemporaryFolder& folder, size_t most) {
  INFO(one_line(words));
  const Outcome refused = run_built(words, "", folder.path());
  INFO(one_line(refused.err, 400));
  CHECK(refused.code == 2);
  CHECK_FALSE(refused.err.empty());
  CHECK((refused.err == printable(refused.err)));
  CHECK(refused.err.find('\n') == refused.err.size() - 1);
  CHECK(refused.err.size() < most);
}

std::string safetensors(const std::string& header) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> 8 * i);
  return bytes + header;
}

TEST_CASE("what is wrong with a file is said in one line without control characters, of bounded length") {
  for (const std::string& json : {text_json, deep_json}) {
    const TemporaryFolder folder;
    folder.write("tokenizer.json", R"({"added_tokens": [], "model": {"type": "BPE", "vocab": {)" + json +
                                       R"(: 0}, "merges": []}})");
    folder.write("type.json", R"({"model": {"type": )" + json + "}}");
    folder.write(
        "model.safetensors",
        safetensors(R"({"a": {"dtype": )" + json + R"(, "shape": [1], "data_offsets": [0, 4]}})") + "1234");
    folder.write("key.safetensors", safetensors(R"({"a": {)" + json + ": 1}}"));
    folder.write("char.json", R"({"type": "char", "characters": [)" + json + "]}");
    folder.write("config.json", R"({"model_type": )" + json + "}");
    folder.write("settings.json", R"({"depth": )" + json + "}");
    folder.write("unknown.json", "{" + json + ": 1}");
    folder.write("metrics.jsonl", "{" + json + "}\n");
    folder.write("lines.jsonl", json + "\n");
    folder.write("preset.json", R"({"preset": )" + json + "}");
    folder.write("type_twice.json", "{" + json + ": 1, " + json + ": 2}");
    folder.write("option.json", R"({"added_tokens": [], "pre_tokenizer": {"type": "ByteLevel", )" + json +
                                    R"(: 1}, "model": {"type": "BPE", "vocab": {}, "merges": []}})");
    folder.write("no_json.jsonl", "{" + json + "\n");
    folder.write("mine.toml", "[source]\nid = " + json + "\n");
    folder.write("key.toml", "[source]\n" + json + " = 1\n");
    const std::string source =
        "[source]\nid = \"t\"\ntitle = \"t\"\nauthor = \"t\"\ndate = \"2026-01-31\"\n"
        "address = \"https://example.org\"\n";
    folder.write("run.toml", source + "[run." + json + "]\nstudy = \"decay_study\"\n");
    folder.write("study.toml", source + "[run.a]\nstudy = \"" + std::string(3000, 's') + "\"\n");
    folder.write("text", "abc");
    for (const char* words :
         {"isobar tokenize encode --tokenizer tokenizer.json text",
          "isobar tokenize encode --tokenizer type.json text",
          "isobar tokenize encode --tokenizer char.json text",
          "isobar import model.safetensors -o made.safetensors",
          "isobar import key.safetensors -o made.safetensors --tokenizer byte",
          "decay_study --config settings.json", "decay_study --config unknown.json", "isobar watch .",
          "isobar prepare --field text lines.jsonl -o tokens.safetensors --tokenizer byte",
          "isobar verify mine.toml --out out", "isobar verify key.toml --out out",
          "isobar verify run.toml --out out", "isobar verify study.toml --out out",
          "decay_study --config preset.json", "decay_study --config type_twice.json",
          "isobar import model.safetensors -o made.safetensors --tokenizer option.json",
          "isobar tokenize encode --tokenizer option.json text",
          "isobar prepare --field text no_json.jsonl -o tokens.safetensors --tokenizer byte"})
      check_message(words, folder, 600);
  }
}

TEST_CASE("words of the command line are shown in one line too") {
  const TemporaryFolder folder;
  const std::string word = escape + "a\nb\xff\xfe" + long_text;
  for (const char* words : {"isobar", "isobar sample", "isobar evaluate x --corpus", "decay_study --norm",
                            "decay_study", "decay_study --", "train_lm --resume", "isobar report"})
    check_message(std::string(words) + (std::string_view(words).ends_with("--") ? "'" : " '") + word + "'",
                  folder, 1300);
}

TEST_CASE("an empty word in place of a file or folder is refused") {
  const TemporaryFolder folder;
  for (const std::string words :
       {"decay_study --out ''", "decay_study --config ''", "train_lm --resume ''", "isobar report '' -o x",
        "isobar report . -o ''", "isobar sample ''", "isobar prepare x -o ''", "isobar verify --out ''",
        "isobar export x --output ''"}) {
    CAPTURE(words);
    const Outcome refused = run_built(words, "", folder.path());
    CHECK(refused.code == 2);
    CHECK(holds(refused.err, ": wanted a name, got an empty word; is a variable of the shell not set?\n"));
  }
  CHECK(folder.names().empty());
}

TEST_CASE("of an option that is given twice the later word counts, in tools as in studies") {
  const TemporaryFolder folder;
  folder.write("text", "abc");
  CHECK(run_built("isobar tokenize encode", "--tokenizer nothing.json --tokenizer byte text", folder.path())
            .out == "97 98 99\n");
}

}  // namespace isobar::messages_test
