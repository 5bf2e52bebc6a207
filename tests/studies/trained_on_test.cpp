// What a study says of its trained nets: in the words of its settings and data, or it does not start.
#include "../../experiments/run/trained_on.h"

#include "study.h"

namespace isobar::trained_on_test {

// The entries' texts of a run that measured `key`, as summary.json has them.
Json of(const std::vector<TrainedOn>& entries, const std::string& key, const Json& config,
        const std::string& corpus = "", const Json& data = Json::object()) {
  return trained_json(entries, {{"config", config},
                                {"corpus", corpus},
                                {"environment", {{"data", data}}},
                                {"measured", {{key, Json::object()}}}});
}

const std::vector<TrainedOn> small_models = {
    {.of = ".start."},
    {.of = "x{deep_layers}.",
     .en = "{deep_layers} blocks on {corpus}",
     .zh = "{deep_layers} 块，在{corpus}上"},
    {.en = "{n_layer} blocks, {steps} steps on {corpus}, best rate of {learning_rates}",
     .zh = "{n_layer} 块，在{corpus}上训练 {steps} 步，学习率取 {learning_rates} 中最佳"}};

TEST_CASE("what was trained is said by the settings of the run, in both languages") {
  const Json config = {{"n_layer", 4}, {"deep_layers", 16}, {"steps", 250}, {"learning_rates", "1e-3,3e-3"}};
  const auto of_key = [&](const std::string& key) { return of(small_models, key, config, "synthetic"); };
  CHECK(of_key("pre.none_minus_rmsnorm.share_of_gain") ==
        Json{{{"of", ""},
              {"en", "4 blocks, 250 steps on the synthetic language, best rate of 1e-3,3e-3"},
              {"zh", "4 块，在合成语言上训练 250 步，学习率取 1e-3,3e-3 中最佳"}}});
  CHECK(of_key("64x16.pre.x") ==
        Json{{{"of", "x16."}, {"en", "16 blocks on the synthetic language"}, {"zh", "16 块，在合成语言上"}}});
  CHECK(of_key("pre.start.std") == Json{{{"of", ".start."}, {"en", ""}, {"zh", ""}}});
  CHECK(of(trains_no_nets, "layer8.std", config) == Json{{{"of", ""}, {"en", ""}, {"zh", ""}}});
  CHECK(of({{.of = "pre.", .en = "a net", .zh = "网络"}}, "layer8.std", config) == Json::array());
  const std::vector<TrainedOn> rate = {{.en = "{n_layer} blocks, rate {learning_rate}", .zh = "x"}};
  CHECK(of(rate, "x", {{"n_layer", 1}, {"learning_rate", 0.0}})[0]["en"] == "1 block, rate tuned");
  CHECK(of(rate, "x", {{"n_layer", 11}, {"learning_rate", 1e-4}})[0]["en"] == "11 blocks, rate 0.0001");
}

TEST_CASE("data are called by a known name where their checksums are the known ones") {
  const auto name_of = [](const char* setting, const std::string& corpus, const Json& data) {
    return of({{.en = fmt::format("{{{}}}", setting), .zh = "x"}}, "x", Json::object(), corpus,
              data)[0]["en"];
  };
  const Json none = Json::object();
  for (const char* setting : {"corpus", "data"}) {
    const auto text = [&](const std::string& corpus, const Json& data) {
      return name_of(setting, corpus, data);
    };
    CHECK(text("tinyshakespeare.txt", {{"tinyshakespeare.txt", "6572a3fb9fde75d3"}}) == "Tiny Shakespeare");
    CHECK(text("tinyshakespeare.txt", {{"tinyshakespeare.txt", "6572a3fb9fde75d4"}}) ==
          "a text named tinyshakespeare.txt");
    CHECK(text("tinyshakespeare.txt", none) == "a text named tinyshakespeare.txt");
    CHECK(text("my_tinyshakespeare.txt", {{"my_tinyshakespeare.txt", "6572a3fb9fde75d3"}}) ==
          "a text named my_tinyshakespeare.txt");
    CHECK(text("kjv.txt", {{"kjv.txt", "72eb6373bb6f38a6"}}) == "the King James Bible");
    CHECK(text("kjv.txt", {{"kjv.txt", "6572a3fb9fde75d3"}}) == "a text named kjv.txt");
    CHECK(text("synthetic", none) == "the synthetic language");
    CHECK(text("synthetic", {{"synthetic", "1"}}) == "a text named synthetic");
    CHECK(text("", none) == "a text that its study does not name");
  }
  const Json gzipped = {{"mnist/t10k-images-idx3-ubyte.gz", "c4c9c2676a5ceb26"},
                        {"mnist/t10k-labels-idx1-ubyte.gz", "108ab1f06599996f"}},
             plain = {{"mnist/t10k-images-idx3-ubyte", "6aa8aa9c0102c17c"},
                      {"mnist/t10k-labels-idx1-ubyte", "63c4bd8be7e7204f"}};
  Json more = gzipped;
  more["mnist/train-images-idx3-ubyte"] = "1";
  for (const char* setting : {"data", "digits"}) {
    const auto digits = [&](const Json& data) { return name_of(setting, "digits", data); };
    CHECK(digits(gzipped) == "MNIST digits");
    CHECK(digits(plain) == "MNIST digits");
    for (const Json& other : {none, more, Json{{"mnist/t10k-images-idx3-ubyte", "6aa8aa9c0102c17c"}}})
      CHECK(digits(other) == "digits of unknown origin");
  }
}

TEST_CASE("a study that does not say what it trains, or names what is no setting of it, does not start") {
  const std::pair<std::vector<TrainedOn>, const char*> refused[] = {
      {{},
       "study: the study does not say on what it trains nets; give its Program .trained, or .trained = "
       "trains_no_nets"},
      {{{.en = "{depht} layers", .zh = "层"}},
       "trained: '{depht} layers' names {depht}, which is no setting of the "
       "program"},
      {{{.of = "x{corpus}."}}, "trained: 'x{corpus}.' names {corpus}, which is no setting"},
      {{{.en = "{depth layers", .zh = "层"}}, "trained: '{depth layers' has a { without a }"},
      {{{.en = "layers"}}, "trained: 'layers' is in one language alone; write .en and .zh"}};
  for (const auto& [entries, complaint] : refused) {
    const TemporaryFolder folder;
    bool began = false;
    Study study{.body = [&](Run&) { began = true; }, .trained = entries};
    const Outcome outcome = study.run({"--out", folder / "run"});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(holds(outcome.err, complaint));
    CHECK_FALSE(began);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  }
}

TEST_CASE("summary.json says what was trained") {
  const TemporaryFolder folder;
  Study study{.body = [](Run& run) { run.measured("end.loss", 1.0); },
              .trained = {{.of = "start."}, {.en = "{depth} layers, rate {rate}", .zh = "{depth} 层"}}};
  CHECK(study.run({"--out", folder / "run", "--depth", "3"}).code == 0);
  CHECK(Json::parse(file_text(folder / "run/summary.json"))["trained"] ==
        Json{{{"of", ""}, {"en", "3 layers, rate 0.5"}, {"zh", "3 层"}}});
}

}  // namespace isobar::trained_on_test
