#include "../../experiments/lm/checkpoints/checkpoint.h"

#include <doctest/doctest.h>

#include "../../data/checked_file.h"
#include "../../experiments/lm/training/train.h"
#include "../../experiments/run/settings.h"
#include "../../nn/model.h"
#include "../message_of.h"
#include "../run.h"
#include "../same_tensors.h"

namespace isobar::checkpoint_test {

LmConfig small_config() {
  LmConfig config;
  config.n_layer = 2;
  config.n_head = 2;
  config.n_kv_head = 1;
  config.n_embd = 8;
  config.block_size = 8;
  return config;
}

// A model after one step of its optimizer, and a run's records.
struct Trained {
  LmConfig config = small_config();
  std::shared_ptr<const Tokenizer> tokenizer = std::make_shared<CharTokenizer>("hello \xff ß");
  LanguageModel model{config.model(tokenizer->vocab_size()), Rng(1)};
  AdamW optimizer{decay_matrices_only(model), adam_w_options(config)};

  Trained() {
    const Tensor x = tensor({2, 4}, std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 0});
    gradients_of(model, {x, x}, Rng(2));
    optimizer.step();
  }
  Checkpoint checkpoint(int64_t step = 7) {
    Checkpoint now;
    now.config = json_text(settings_json(config));
    now.tokenizer = tokenizer;
    now.model = named_state(model);
    now.step = step;
    now.key = 0xfedcba9876543210;
    now.optimizer = named_state(optimizer);
    now.best_val_loss = 2.5;
    now.skipped_steps = 1;
    now.corpus = "0123456789abcdef";
    now.lines = {step, std::min<int64_t>(step, 3), "0123456789abcdef", "fedcba9876543210"};
    return now;
  }
};

bool same(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && same_bits(one.tensor, other.tensor);
  });
}

TEST_CASE("a checkpoint gives back every bit") {
  const TemporaryFolder folder;
  Trained trained;
  const Checkpoint saved = trained.checkpoint();
  save_checkpoint(folder / "step.safetensors", saved);
  const Checkpoint loaded = load_checkpoint(folder / "step.safetensors");
  CHECK(loaded.config == saved.config);
  CHECK(loaded.tokenizer->to_json() == saved.tokenizer->to_json());
  CHECK(same(loaded.model, saved.model));
  CHECK(same(loaded.optimizer, saved.optimizer));
  CHECK(loaded.step == 7);
  CHECK(loaded.key == 0xfedcba9876543210);
  CHECK(loaded.best_val_loss == 2.5);
  CHECK(loaded.skipped_steps == 1);
  CHECK(loaded.corpus == saved.corpus);
  CHECK(loaded.lines.steps == 7);
  CHECK(loaded.lines.modules == 3);
  CHECK(loaded.lines.steps_sum == saved.lines.steps_sum);
  CHECK(loaded.lines.modules_sum == saved.lines.modules_sum);
  CHECK(loaded.origin == saved.origin);
  CHECK(checkpoint_bytes(loaded) == checkpoint_bytes(saved));
}

TEST_CASE("a checkpoint with settings that are gone, and that decided no weight, is read without them") {
  const TemporaryFolder folder;
  Trained trained;
  const Checkpoint now = trained.checkpoint();
  Checkpoint older = now;
  Json config = Json::parse(older.config);
  config["precision"] = "f32", config["activation_checkpointing"] = true;
  older.config = json_text(config);
  save_checkpoint(folder / "older.safetensors", older);
  CHECK(load_checkpoint(folder / "older.safetensors").config == now.config);
}

TEST_CASE("nothing is saved of tensors that are not finite") {
  Trained trained;
  raw::write<float>(trained.model.embed_tokens.weight)[5] = INFINITY;
  CHECK(message_of([&] { checkpoint_bytes(trained.checkpoint()); }) ==
        "checkpoint: element 5 of embed_tokens.weight is inf; nothing was saved");
}

TEST_CASE("a run's folder keeps the last checkpoints and the best, and removes what was there before") {
  const TemporaryFolder folder;
  Trained trained;
  const auto names = [&] {
    std::vector<std::string> found;
    for (const std::string& path : checkpoint_files(folder / "run"))
      found.push_back(std::filesystem::path(path).filename());
    return found;
  };
  std::filesystem::create_directories(folder / "run/checkpoints");
  for (const char* name : {"step_000009", "best"})
    save_checkpoint(folder / fmt::format("run/checkpoints/{}.safetensors", name), trained.checkpoint(9));
  const std::string half = temporary_name(folder / "run/checkpoints/step_000007.safetensors");
  folder.write(std::filesystem::path(half).lexically_relative(folder.path()), "half");
  folder.write("run/checkpoints/notes.draft-2024-11.tmp", "of the user");
  folder.write("run/checkpoints/mine.safetensors", "of the user");
  CheckpointFolder fresh(folder / "run", 2);
  CHECK_FALSE(std::filesystem::exists(half));
  CHECK(std::filesystem::exists(folder / "run/checkpoints/notes.draft-2024-11.tmp"));
  CHECK(names() == std::vector<std::string>{"step_000009.safetensors", "best.safetensors"});
  CHECK(foreign_checkpoint(folder / "run").empty());
  folder.write("run/checkpoints/step_3.safetensors", "of the user");
  CHECK(foreign_checkpoint(folder / "run") == folder / "run/checkpoints/step_3.safetensors");
  fresh.clear();
  CHECK(names() == std::vector<std::string>{"step_3.safetensors"});
  std::filesystem::remove(folder / "run/checkpoints/step_3.safetensors");
  fresh.save(trained.checkpoint(1), {.step = true});
  CHECK(names() == std::vector<std::string>{"step_000001.safetensors"});
  fresh.save(trained.checkpoint(1), {.best = true});
  for (const int64_t step : {2, 3, 4}) fresh.save(trained.checkpoint(step), {.step = true});
  CHECK(names() ==
        std::vector<std::string>{"step_000004.safetensors", "step_000003.safetensors", "best.safetensors"});
  CHECK(std::filesystem::exists(folder / "run/checkpoints/mine.safetensors"));

  // A run that could not read step 4 goes on from 3: 4 is of no use.
  CheckpointFolder resumed(folder / "run", 3);
  resumed.save(trained.checkpoint(3), {.step = true});
  CHECK(names() == std::vector<std::string>{"step_000003.safetensors", "best.safetensors"});
  resumed.save(trained.checkpoint(1'000'000), {.step = true});
  CHECK(names() ==
        std::vector<std::string>{"step_1000000.safetensors", "step_000003.safetensors", "best.safetensors"});
}

TEST_CASE("a damaged checkpoint is named and the one before it taken") {
  const TemporaryFolder folder;
  Trained trained;
  CHECK(holds(message_of([&] { newest_checkpoint(folder / "run"); }), "found none"));
  std::filesystem::create_directory(folder / "run");
  CheckpointFolder checkpoints(folder / "run", 3);
  for (const int64_t step : {1, 2, 3}) checkpoints.save(trained.checkpoint(step), {.step = true});
  for (const char* step : {"3", "2"}) {
    const std::string path = folder / (std::string("run/checkpoints/step_00000") + step + ".safetensors");
    std::string bytes = file_text(path);
    bytes[bytes.size() / 2] ^= 1;
    folder.write(std::string("run/checkpoints/step_00000") + step + ".safetensors", bytes);
  }
  std::vector<std::string> heard;
  CHECK(newest_checkpoint(folder / "run", [&](const auto& line) { heard.push_back(line); }).step == 1);
  REQUIRE(heard.size() == 2);
  CHECK(heard[0] == folder / "run/checkpoints/step_000003.safetensors" +
                        ": is damaged: its checksum is not that of its content");
  CHECK(holds(heard[1], "step_000002.safetensors"));
  std::filesystem::remove(folder / "run/checkpoints/step_000001.safetensors");
  CHECK(holds(message_of([&] { newest_checkpoint(folder / "run"); }), "none of its 2 checkpoints"));
}

TEST_CASE("a checkpoint that is cut or changed anywhere is one clear error") {
  const TemporaryFolder folder;
  Trained trained;
  const std::string whole = checkpoint_bytes(trained.checkpoint());
  const auto refused = [&](const std::string& bytes) {
    folder.write("x.safetensors", bytes);
    const std::string message = message_of([&] { load_checkpoint(folder / "x.safetensors"); });
    CHECK(message.starts_with(folder / "x.safetensors" + ": "));
    CHECK_FALSE(holds(message, "\n"));
    return message;
  };
  for (const size_t length : {size_t{0}, size_t{1}, size_t{17}, size_t{100}, size_t{511}, size_t{512},
                              whole.size() / 2, whole.size() - 1}) {
    CAPTURE(length);
    refused(whole.substr(0, length));
  }
  CHECK(holds(refused(whole.substr(0, 1000)), "bytes, but only 992 follow"));
  CHECK(holds(refused(whole + '\0'), "1 bytes after the last tensor belong to no tensor"));
  CHECK(holds(refused(""), "is no isobar checkpoint"));
  CHECK(holds(refused(whole.substr(512)), "is no isobar checkpoint"));
  for (const char* old : {"isobar checkpoint\nxxh3-64 ", "\x89HDF\r\n\x1a\n"})
    CHECK(
        refused(old + std::string(600, 'x')) ==
        folder / "x.safetensors" +
            ": is in HDF5, as isobar wrote it before version 0.3, and can no longer be read; the isobar that "
            "wrote it exports its model (isobar export), which isobar import reads");
  // Every bit of the header counts, and any of the content.
  const auto flipped = [&](size_t bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    CAPTURE(bit);
    refused(bytes);
  };
  for (size_t byte = 0; byte < 512; byte += 3) flipped(8 * byte + byte % 8);
  for (uint64_t i = 0; i < 100; ++i) flipped(Rng(3).below(8 * whole.size(), i));
  flipped(8 * whole.size() - 1);
}

// Writes any text where a tokenizer should be.
struct FakeTokenizer : ByteTokenizer {
  std::string text;
  explicit FakeTokenizer(std::string json) : text(std::move(json)) {}
  std::string to_json() const override { return text; }
};

struct Hostile {
  std::string part;  // what the error must say
  std::function<void(Checkpoint&)> edit;
};

// An edit that gives one setting another value.
std::function<void(Checkpoint&)> setting(std::vector<std::pair<std::string, Value>> values) {
  return [values](Checkpoint& checkpoint) {
    LmConfig config = small_config();
    for (const auto& change : values) set_setting(config, change.first, change.second, "test");
    checkpoint.config = json_text(settings_json(config));
  };
}

TEST_CASE("a checkpoint whose checksum is right is still distrusted") {
  const auto tokenizer = [](std::string json) {
    return [json](Checkpoint& c) { c.tokenizer = std::make_shared<FakeTokenizer>(json); };
  };
  constexpr int64_t huge = int64_t{1} << 60;
  // One row a line reads best: the formatter would spread each over four.
  // clang-format off
  const std::vector<Hostile> all = {
      {"not valid JSON", [](Checkpoint& c) { c.config = "{\"n_layer\": "; }},
      {"wanted one object", [](Checkpoint& c) { c.config = std::string(100'000, '['); }},
      {"n_layers: no such setting; did you mean n_layer",
       [](Checkpoint& c) { c.config = "{\"n_layers\": 2}"; }},
      {"wanted a whole number", [](Checkpoint& c) { c.config = "{\"n_layer\": \"2\"}"; }},
      {"n_layer: wanted a whole number >= 1", [](Checkpoint& c) { c.config = "{\"n_layer\": 0}"; }},
      {"asks for 1000000000 layers", setting({{"n_layer", int64_t{1'000'000'000}}})},
      {"asks for 2 layers and at least", setting({{"n_embd", huge}})},
      {"asks for 2 layers and at least", setting({{"positions", "learned"}, {"block_size", huge}})},
      {"wanted the JSON text of a tokenizer", tokenizer("{")},
      {"embed_tokens.weight", tokenizer("{\"type\": \"char\", \"characters\": [1, 2]}")},
      {"norm.weight", [](Checkpoint& c) { c.model.erase(c.model.end() - 1); }},
      {"stranger", [](Checkpoint& c) { c.model.push_back({"stranger", zeros({1})}); }},
      {"embed_tokens.weight", [](Checkpoint& c) { c.model[0].tensor = zeros({8, 9}); }},
      {"embed_tokens.weight", [](Checkpoint& c) { c.model[0].tensor = zeros({9, 8}, Dtype::f64); }},
      {"wanted a step from 0 to 1500, got -1", [](Checkpoint& c) { c.step = -1; }},
      {"wanted a step from 0 to 1500, got 1501", [](Checkpoint& c) { c.step = 1501; }},
      {"wanted from 0 to 7 skipped steps, got 8", [](Checkpoint& c) { c.skipped_steps = 8; }},
      {"wanted from 0 to 7 module_lines, got 8", [](Checkpoint& c) { c.lines.modules = 8; }},
      {"wanted from 0 to 7 module_lines, got -2", [](Checkpoint& c) { c.lines.modules = -2; }},
  };
  // clang-format on
  const TemporaryFolder folder;
  Trained trained;
  for (const Hostile& hostile : all) {
    CAPTURE(hostile.part);
    Checkpoint checkpoint = trained.checkpoint();
    hostile.edit(checkpoint);
    save_checkpoint(folder / "x.safetensors", checkpoint);
    const std::string message = message_of([&] { model_of(load_checkpoint(folder / "x.safetensors")); });
    INFO(message);
    CHECK(holds(message, hostile.part));
    CHECK_FALSE(holds(message, "\n"));
  }

  // Other files with right checksums: those of another kind and version, without a part, with another dtype.
  const auto refusal = [&](const FileKind& kind, const std::function<void(Safetensors&)>& edit) {
    save_checkpoint(folder / "x.safetensors", trained.checkpoint());
    Safetensors file = read_checked(folder / "x.safetensors", {"checkpoint", 4, ""});
    edit(file);
    folder.write("x.safetensors", checked_bytes(file, kind));
    return message_of([&] { load_checkpoint(folder / "x.safetensors"); });
  };
  const auto nothing = [](Safetensors&) {};
  const auto without = [](const std::string& key) {
    return [key](Safetensors& file) { CHECK(file.metadata.erase(key) == 1); };
  };
  const std::string who = folder / "x.safetensors" + ": ";
  CHECK(refusal({"checkpoint", 4, ""}, nothing) == "");
  CHECK(refusal({"token store", 2, ""}, nothing) == who + "is no isobar checkpoint, but 'token store'");
  for (const int64_t version : {2, 5})
    CHECK(refusal({"checkpoint", version, ""}, nothing)
              .starts_with(
                  who + fmt::format("wanted an isobar checkpoint of version 4, got version {}; ", version)));
  for (const std::string key :
       {"config", "tokenizer", "step", "key", "best_val_loss", "skipped_steps", "corpus"})
    CHECK(refusal({"checkpoint", 4, ""}, without(key)) == who + "its metadata have no " + key);
  CHECK(refusal({"checkpoint", 4, ""}, [](Safetensors& file) { file.metadata["step"] = "7 "; }) ==
        who + "wanted a number as step of the metadata");
  CHECK(refusal({"checkpoint", 4, ""}, [](Safetensors& file) { file.metadata["best_step"] = "8"; }) ==
        who + "wanted a best_step from 0 to 7, got 8");
}

TEST_CASE("of a checkpoint of version 3, which had the series, the model is read and the lines are unknown") {
  const TemporaryFolder folder;
  Trained trained;
  const std::string path = folder / "x.safetensors";
  save_checkpoint(path, trained.checkpoint());
  Safetensors file = read_checked(path, {"checkpoint", 4, ""});
  file.metadata.erase("module_lines");
  file.metadata.erase("best_step");
  file.tensors.emplace("run/series/loss", tensor({7}, std::vector<double>(7, 2.5)));
  file.texts.emplace("run/lists/metrics", std::string("loss\0", 5));
  folder.write("x.safetensors", checked_bytes(file, {"checkpoint", 3, ""}));
  const Checkpoint old = load_checkpoint(path);
  LanguageModel model = model_of(old);
  CHECK(same(named_state(model), named_state(trained.model)));
  CHECK(old.lines.modules == Run::Lines::unknown);
  CHECK(old.best_step == 7);  // --patience counts from the resumed step, not from the first one
}

}  // namespace isobar::checkpoint_test
