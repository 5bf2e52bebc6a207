// The programs that use a trained model, as their users meet them.
#include <doctest/doctest.h>

#include <regex>

#include "../../experiments/lm/checkpoints/checkpoint.h"
#include "../run.h"

namespace isobar::use_model_test {

// A folder with a text, and a run on it of a model of this kind.
struct Workplace {
  TemporaryFolder folder;
  std::string text;

  explicit Workplace(const std::string& model) {
    text = "ROMEO:\n";
    for (int i = 0; i < 200; ++i) text += fmt::format("{} times {} is {}.\n", i, i % 7, i * (i % 7));
    folder.write("my.txt", text);
    run("train_lm", "--tiny --corpus my.txt --n_layer 2 --n_head 2 --out runs/train_lm " + model);
  }
  // build/bin/<name> as if called from the folder; it must end with 0.
  Outcome run(const std::string& name, const std::string& arguments) const {
    return ran(name, arguments, folder.path());
  }
};

// A Llama-like model, trained once for all.
const Workplace& llama() {
  static const Workplace place("");
  return place;
}

const std::string gpt2 = "--norm layernorm --positions learned --ffn gelu --n_kv_head 0";

TEST_CASE("sample goes on from the prompt, the same for the same seed") {
  const Workplace& place = llama();
  const auto drawn = [&](const std::string& options) {
    const Outcome outcome = place.run("isobar sample", "runs/train_lm --prompt '12 times' " + options);
    CHECK(outcome.out.starts_with("12 times"));
    return outcome.out;
  };
  const std::string text = drawn("--max_new_tokens 40 --seed 3");
  CHECK(text.size() == 8 + 40 + 1);
  CHECK(text == drawn("--max_new_tokens 40 --seed 3 --threads 1"));
  CHECK(text != drawn("--max_new_tokens 40 --seed 4"));
  CHECK(drawn("--max_new_tokens 40 --temperature 0") == drawn("--max_new_tokens 40 --top_k 1 --seed 9"));
  CHECK(drawn("--max_new_tokens 0") == "12 times\n");
}

TEST_CASE("sample needs no prompt where the text had no newline") {
  const TemporaryFolder folder;
  ran("train_lm", "--tiny --corpus synthetic --out run", folder.path());
  const Outcome drawn = ran("isobar sample", "run --max_new_tokens 9", folder.path());
  CHECK(drawn.out.size() == 1 + 9 + 1);
  CHECK(run_built("isobar sample", "run --prompt Z", folder.path()).code == 2);
}

TEST_CASE("evaluate's values are those of a loop over all tokens, one at a time") {
  const Workplace& place = llama();
  const Outcome outcome = place.run("isobar evaluate", "runs/train_lm --corpus my.txt --part validation");
  Trained trained = load_trained(place.folder / "runs/train_lm");
  const std::vector<int32_t> all = trained.tokenizer->encode(place.text);
  const std::vector<int32_t> tokens(all.begin() + static_cast<std::ptrdiff_t>(all.size() * 9 / 10),
                                    all.end());
  double nats = 0;
  for (size_t i = 1; i < tokens.size(); ++i) {
    const size_t begin = (i - 1) / 16 * 16;
    const std::vector<int32_t> seen(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(i));
    const Tensor logits = trained.model(tensor<int32_t>({1, static_cast<int64_t>(seen.size())}, seen));
    const std::vector<double> last = slice(logits, 1, logits.size(1) - 1, logits.size(1)).to_vector<double>();
    double sum = 0;
    for (const double z : last) sum += std::exp(z);
    nats += std::log(sum) - last[static_cast<size_t>(tokens[i])];
  }
  const auto count = static_cast<double>(tokens.size() - 1);
  // Printed to four digits.
  std::smatch match;
  REQUIRE(std::regex_search(outcome.out, match,
                            std::regex("loss ([0-9.]+) nats a token, perplexity ([0-9.]+), ([0-9.]+) bits")));
  CHECK(std::stod(match[1]) == doctest::Approx(nats / count).epsilon(1e-4));
  CHECK(std::stod(match[2]) == doctest::Approx(std::exp(nats / count)).epsilon(1e-3));
  CHECK(std::stod(match[3]) == doctest::Approx(nats / std::log(2.0) / count).epsilon(1e-4));
  CHECK(holds(outcome.out, fmt::format("{} tokens predicted, {} bytes", count, count)));
}

TEST_CASE("a model comes back from each layout as the same model") {
  for (const auto& [layout, model] : {std::pair<std::string, std::string>{"llama", ""}, {"gpt2", gpt2}}) {
    const std::string& name = layout;
    CAPTURE(name);
    const Workplace place(model);
    const std::string out = "runs/train_lm -o there/model.safetensors --layout " + layout,
                      back = "there/model.safetensors -o back.safetensors";
    CHECK(holds(place.run("isobar export", out).out, "there/tokenizer.json: the char tokenizer, "));
    CHECK(holds(place.run("isobar import", back).out, " parameters; the char tokenizer, "));
    Trained one = load_trained(place.folder / "runs/train_lm"),
            two = load_trained(place.folder / "back.safetensors");
    const std::vector<int32_t> tokens = one.tokenizer->encode("3 times 4 is 12.");
    CHECK(two.tokenizer->encode("3 times 4 is 12.") == tokens);
    const Tensor symbols = tensor<int32_t>({1, static_cast<int64_t>(tokens.size())}, tokens);
    CHECK(one.model(symbols).to_vector<float>() == two.model(symbols).to_vector<float>());
    check_refusals(
        {{"isobar export", out, "is there already; choose another folder, or --force"},
         {"isobar import", back, "back.safetensors: is there already; choose another name, or --force"}},
        place.folder);
  }
}

TEST_CASE("bad input gets one line and exit code 2, and nothing is written") {
  const Workplace& place = llama();
  place.folder.write("bad.safetensors", "not a model");
  place.folder.write("config.json", "{");
  place.folder.write("junk.safetensors", std::string(3000, 'x'));
  place.run("isobar prepare", "my.txt -o tokens.safetensors");
  check_refusals(
      {{"isobar sample", "", "CHECKPOINT is required"},
       {"isobar sample", "none.safetensors", "none.safetensors"},
       {"isobar sample", "junk.safetensors", "junk.safetensors: is no isobar checkpoint"},
       {"isobar sample", "there", "there"},
       {"isobar sample", "runs/train_lm --top_p 2", "--top_p: wanted a chance in (0, 1], got 2"},
       {"isobar sample", "runs/train_lm --temperature -1", "--temperature: wanted 0 or more"},
       {"isobar sample", "runs/train_lm --prompt 'ß'", "ß"},
       {"isobar sample", "runs/train_lm --temprature 1", "--temprature"},
       {"isobar evaluate", "runs/train_lm", "--corpus: wanted a text file"},
       {"isobar evaluate", "runs/train_lm --corpus none.txt", "none.txt"},
       {"isobar evaluate", "runs/train_lm --corpus tokens.safetensors",
        "is a token store; name the text it was made from"},
       {"isobar export", "runs/train_lm -o out.bin", "--output: wanted a name that ends with .safetensors"},
       {"isobar export", "runs/train_lm -o o/x.safetensors --layout gpt2",
        "layout gpt2: wanted norm layernorm"},
       {"isobar export", "runs/train_lm -o o/x.safetensors --layout bert",
        "--layout: wanted one of llama, gpt2"},
       {"isobar import", "bad.safetensors -o o.safetensors", "config.json: not valid JSON"},
       {"isobar import", "bad.safetensors", "--output: wanted the checkpoint to write"}},
      place.folder);
}

}  // namespace isobar::use_model_test
