// What numbers come from besides their settings: the hash of a program's sources, by run/sources.cmake on a tree of
// its own, the data that it read, and what is said where one of them is another now.
#include <doctest/doctest.h>

#include <regex>

#include "../../data/file.h"
#include "../../experiments/lm/training/corpus.h"
#include "../../experiments/run/provenance.h"
#include "../scoped_variable.h"
#include "study_run.h"

namespace isobar::provenance_test {

// A source tree with two studies, and the hash of each.
struct Tree {
  const TemporaryFolder& folder;
  const std::string name;

  void write(const std::string& path, const std::string& text) const {
    folder.write(name + "/" + path, text);
  }
  std::map<std::string, std::string> hashes() const {
    const std::string out = folder / (name + " hashes");
    const Outcome made = run_command(fmt::format("cmake -D 'SOURCE={}' -D 'OUTPUT={}' -P " ISOBAR_SOURCE_DIR
                                                 "/experiments/run/sources.cmake",
                                                 folder / name, out));
    REQUIRE_MESSAGE(made.code == 0, made.err);
    std::map<std::string, std::string> hashes;
    for (const std::string study : {"one", "two"}) {
      const std::string text = file_text(out + "/" + study + ".cpp");
      std::smatch hash;
      REQUIRE(std::regex_search(text, hash, std::regex("return \"([0-9a-f]{16})\"")));
      hashes[study] = hash[1];
    }
    return hashes;
  }
};

Tree tree_in(const TemporaryFolder& folder, const std::string& name) {
  Tree tree{folder, name};
  tree.write("core/tensor.cpp", "// 1\n");
  tree.write("data/mnist/reader.h", "// 1\n");
  tree.write("experiments/run/run.h", "#pragma once\n#include \"json.h\"\n");
  tree.write("experiments/run/run.cpp", "#include \"run.h\"\n");
  tree.write("experiments/run/json.h", "#include <vector>\n");
  tree.write("experiments/run/plot.cpp", "#include \"json.h\"\n");
  tree.write("experiments/studies/one/one.cpp", "#include \"../../run/run.h\"\n#include \"part.h\"\n");
  tree.write("experiments/studies/one/part.h", "// of part.cpp and more.cpp\n");
  tree.write("experiments/studies/one/part.cpp",
             "#include \"part.h\"\nextern const char norms[], other[];\n");
  tree.write("experiments/studies/one/more.cpp", "#include \"part.h\"\n");
  tree.write("experiments/studies/two/two.cpp", "#include \"../../run/run.h\"\n");
  tree.write("experiments/fixtures/norms.json", "[]\n");
  return tree;
}

TEST_CASE("the hash of a program's sources is that of the files that it is made of, and of no others") {
  const TemporaryFolder folder;
  const Tree tree = tree_in(folder, "tree"), other = tree_in(folder, "another (a+b) tree");
  const auto before = tree.hashes();
  CHECK(before.at("one") != before.at("two"));
  CHECK(other.hashes() == before);
  struct Change {
    const char* path;
    bool one, two;  // whose hash is another
  };
  for (const Change& change : {Change{"core/tensor.cpp", true, true},
                               {"data/mnist/reader.h", true, true},
                               {"experiments/run/json.h", true, true},
                               {"experiments/run/run.cpp", true, true},
                               {"experiments/studies/one/one.cpp", true, false},
                               {"experiments/studies/one/part.h", true, false},
                               {"experiments/studies/one/part.cpp", true, false},
                               {"experiments/studies/one/more.cpp", true, false},
                               {"experiments/fixtures/norms.json", true, false},
                               {"experiments/studies/two/two.cpp", false, true},
                               {"experiments/README.md", false, false},
                               {"experiments/claims/texts/001.toml", false, false},
                               {"tests/core/tensor_test.cpp", false, false},
                               {"CMakeLists.txt", false, false},
                               {"experiments/fixtures/unread.json", false, false},
                               {"experiments/studies/three/three.cpp", false, false}}) {
    const auto [path, one, two] = change;
    INFO(change.path);
    const std::string whole = folder / (std::string("tree/") + path);
    const bool there = std::filesystem::exists(whole);
    const std::string text = there ? file_text(whole) : "";
    tree.write(path, text + "// 2\n");
    const auto after = tree.hashes();
    CHECK((after.at("one") != before.at("one")) == one);
    CHECK((after.at("two") != before.at("two")) == two);
    if (there)
      tree.write(path, text);
    else
      std::filesystem::remove(whole);
  }
  // What did not change is not compiled again.
  const auto written = [&] { return std::filesystem::last_write_time(folder / "tree hashes/one.cpp"); };
  tree.hashes();
  const auto time = written();
  CHECK(tree.hashes() == before);
  CHECK(written() == time);
}

TEST_CASE("a program of this build has the hash of its sources, and any other that of its machine code") {
  const TemporaryFolder folder;
  ran("decay_study", "--tiny --out run", folder.path());
  const std::string sources = Json::parse(ran("decay_study", "--about").out)["sources"];
  CHECK(std::regex_match(sources, std::regex("[0-9a-f]{16}")));
  CHECK(Json::parse(file_text(folder / "run/summary.json"))["environment"]["sources"] == sources);
  CHECK(sources != Json::parse(ran("lm_norms", "--about").out)["sources"].get<std::string>());
  CHECK(isobar_sources() == isobar_sources());
  CHECK(std::regex_match(isobar_sources(), std::regex("[0-9a-f]{16}")));
  // A copy elsewhere is the same program.
  std::filesystem::copy_file(ISOBAR_BINARY_DIR "/bin/decay_study", folder / "study");
  CHECK(Json::parse(run_command("./study --about", folder.path()).out)["sources"] == sources);
}

TEST_CASE("a run tells the checksums of the data that it read") {
  const ScopedVariable shipped("ISOBAR_DATA", std::nullopt);
  const auto data_of = [](const std::string& study, const std::string& words) {
    return StudyRun(study, words + " --seeds 1").summary["environment"]["data"];
  };
  const Json digits = {{"mnist/t10k-images-idx3-ubyte.gz", "c4c9c2676a5ceb26"},
                       {"mnist/t10k-labels-idx1-ubyte.gz", "108ab1f06599996f"}};
  const Json text = {{"tinyshakespeare.txt", "6572a3fb9fde75d3"}};
  CHECK(data_of("decay_study", "--tiny") == Json::object());
  CHECK(data_of("lm_norms", "--tiny") == text);
  CHECK(data_of("lm_norms", "--tiny --corpus synthetic") == Json::object());
  CHECK(data_of("fine_tuning", "--tiny") == text);
  CHECK(data_of("recurrent_norms", "--tiny") == digits);
  CHECK(data_of("conv_norms", "--tiny") == digits);
  CHECK(data_of("duel", "rmsnorm dyt --tiny --task digits") == digits);
  const std::string own = ISOBAR_SOURCE_DIR "/README.md";
  CHECK(data_of("duel", "rmsnorm dyt --tiny --corpus " + own) ==
        Json{{"README.md", checksum(file_text(own))}});
}

TEST_CASE("every study that opens a text or images tells what it read") {
  const std::regex opens("\\b(open_corpus|TinyText|read_digits|make_task)\\b");
  size_t studies = 0;
  std::vector<std::filesystem::path> files = {ISOBAR_SOURCE_DIR "/experiments/duel/duel.cpp",
                                              ISOBAR_SOURCE_DIR "/experiments/lm/train_lm.cpp"};
  for (const auto& folder : std::filesystem::directory_iterator(ISOBAR_SOURCE_DIR "/experiments/studies"))
    files.push_back(folder.path() / (folder.path().filename().string() + ".cpp"));
  for (const std::filesystem::path& file : files) {
    const std::string text = file_text(file);
    if (!std::regex_search(text, opens)) continue;
    CAPTURE(file);
    CHECK(holds(text, "announce(run"));
    ++studies;
  }
  CHECK(studies >= 11);
}

TEST_CASE("results count where version, sources and data are those of today, and else it is said why not") {
  const Json data = {{"a.txt", "1"}, {"mnist/b", "2"}}, now = provenance("s", data);
  const auto change = [&](const std::string& field, const Json& value) {
    Json then = now;
    then["commit"] = "2ca2793a1b2c";
    if (value.is_null())
      then.erase(field);
    else
      then[field] = value;
    return change_since(then, now);
  };
  CHECK(change_since(now, now).empty());
  CHECK(change("commit", "another").empty());
  CHECK(change("compiler", "another").empty());
  CHECK(change("version", "0.1.0") == "it is of version 0.1.0");
  CHECK(change("sources", "t") == "the sources of its program have changed since commit 2ca2793a1b2c");
  for (const char* field : {"sources", "data"})
    CHECK(change(field, Json()) == "its summary does not say of which sources and data it is");
  for (const Json& damaged : {Json(3), Json({1, 2}), Json({{"a.txt", 1}})})
    for (const char* field : {"version", "sources", "data"})
      CHECK(change(field, damaged) == "its summary does not say of which sources and data it is");
  CHECK(change_since(Json(3), now) == "its summary does not say of which sources and data it is");
  CHECK(change("commit", 3).empty());
  const std::string changed = "its data have changed since: ";
  CHECK(change("data", {{"a.txt", "9"}, {"mnist/b", "2"}}) == changed + "a.txt is another file");
  CHECK(change("data", {{"mnist/b", "2"}}) == changed + "a.txt is another file");
  CHECK(change("data", {{"a.txt", "1"}, {"c", "3"}, {"mnist/b", "2"}}) == changed + "c is not read now");
}

TEST_CASE("the data of today are those that ISOBAR_DATA gives now") {
  const TemporaryFolder folder;
  const Json names = {{"tinyshakespeare.txt", ""}, {"mnist/any", ""}, {"kjv.txt", ""}, {"own.txt", ""}};
  Json shipped;
  {
    const ScopedVariable none("ISOBAR_DATA", std::nullopt);
    shipped = data_now(names);
  }
  CHECK(shipped.size() == 3);
  for (const auto& [name, xxh3] : shipped.items()) CHECK(is_shipped({name, xxh3.get<std::string>()}));
  const ScopedVariable own("ISOBAR_DATA", folder.path().string());
  CHECK(data_now(names) == shipped);
  folder.write("tinyshakespeare.txt", "another");
  for (const char* part : {"t10k-images", "t10k-labels", "train-images", "train-labels"})
    folder.write(fmt::format("mnist/{}-idx{}-ubyte", part, std::string(part).ends_with("images") ? 3 : 1),
                 part);
  const Json mine = data_now(names);
  CHECK(mine.size() == 5);
  CHECK(mine["tinyshakespeare.txt"] == checksum("another"));
  CHECK(mine["mnist/train-labels-idx1-ubyte"] == checksum("train-labels"));
  for (const auto& [name, xxh3] : mine.items()) CHECK_FALSE(is_shipped({name, xxh3.get<std::string>()}));
}

TEST_CASE("another text in ISOBAR_DATA than Tiny Shakespeare is read, and the user is told") {
  const TemporaryFolder folder;
  const ScopedVariable own("ISOBAR_DATA", folder.path().string());
  const std::string path =
      folder.write("tinyshakespeare.txt", "To be, or not to be, that is the question.\n");
  const std::string told = fmt::format(
      "ISOBAR_DATA: {} is not the Tiny Shakespeare that comes with Isobar: its xxh3 is {}; it is read as it is",
      path, checksum(file_text(path)));
  CHECK(open_corpus("", "char").passed_over == told);
  CHECK(open_corpus_with("", *open_corpus("", "char").text.tokenizer).passed_over == told);
  CHECK(open_corpus(path, "char").passed_over.empty());  // whoever names it means it
  std::filesystem::copy_file(ISOBAR_SOURCE_DIR "/data/tinyshakespeare.txt", path,
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(open_corpus("", "char").passed_over.empty());
}

}  // namespace isobar::provenance_test
