// KeyValueCache: a text read in parts has the logits of the text read at once, to the last bit.
#include "../../nn/lm/lm.h"

#include <doctest/doctest.h>

#include <bit>

#include "../../nn/nn.h"
#include "../../optim/sgd.h"
#include "../message_of.h"
#include "../thread_counts.h"

namespace isobar::key_value_cache_test {

constexpr int64_t block_size = 12, vocab_size = 11;

LanguageModelConfig config_of(Positions positions) {
  return {.vocab_size = vocab_size,
          .block_size = block_size,
          .n_layer = 3,
          .n_head = 4,
          .n_embd = 32,
          .positions = positions,
          .init_std = 0.3};  // logits of size 1 and more: 0.02 would hide differences
}

struct Case {
  const char* name;
  LanguageModelConfig config;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"rope", config_of(Positions::rope)},
                           {"learned", config_of(Positions::learned)},
                           {"grouped heads", config_of(Positions::rope)},
                           {"QK-norm", config_of(Positions::rope)},
                           {"softcap", config_of(Positions::rope)},
                           {"post-norm, gelu, biases", config_of(Positions::learned)}};
  all[2].config.n_kv_head = 2;
  all[3].config.qk_norm = true;
  all[4].config.softcap = 5;
  const auto add = [&](const char* name, const char* norm, Placement placement) {
    all.push_back({name, config_of(Positions::rope)});
    all.back().config.norm = norm;
    all.back().config.placement = placement;
  };
  add("BatchNorm", "batchnorm", Placement::pre);
  add("peri", "rmsnorm", Placement::peri);
  add("residual-free", "rmsnorm", Placement::residual_free);
  add("SkipInit", "none", Placement::skipinit);
  add("ReZero", "none", Placement::rezero);
  add("Fixup", "none", Placement::fixup);
  all[5].config.placement = Placement::post;
  all[5].config.norm = "layernorm";
  all[5].config.ffn = "gelu";
  all[5].config.bias = true;
  return all;
}

TEST_CASE("logits with a key/value cache are those without, however the text is cut") {
  const Tensor tokens = Rng(2).integers({2, block_size}, vocab_size);
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    LanguageModel model(one.config, Rng(1));
    // Running statistics, scales and matrices that start at 0 or 1 would hide mistakes.
    if (one.config.norm == "batchnorm") model(tokens);
    if (!has_norms(one.config.placement))
      for (NamedTensor& p : named_parameters(model))
        assign(p.tensor, p.tensor.detach() + Rng(3).split(p.name).normal(p.tensor.shape(), 0, 0.1));
    eval(model);
    const std::vector<float> whole = model(tokens).to_vector<float>();
    for (const std::vector<int64_t>& pieces :
         {std::vector<int64_t>{12}, {5, 7}, {3, 1, 1, 4, 1, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
      KeyValueCache cache;
      std::vector<Tensor> logits;
      for (const int64_t length : pieces) {
        const int64_t begin = cache.length;
        logits.push_back(model(slice(tokens, 1, begin, begin + length), cache));
        CHECK(cache.length == begin + length);
      }
      const std::vector<float> joined = concat(logits, 1).to_vector<float>();
      CHECK(joined == whole);
      CHECK(cache.layers.size() == 3);
    }
  }
}

// How many logits were compared, and how many of them differ in a bit.
struct Compared {
  int64_t logits = 0, differing = 0;

  void add(const Tensor& got, const Tensor& wanted) {
    REQUIRE(got.shape() == wanted.shape());
    const std::vector<float> a = got.to_vector<float>(), b = wanted.to_vector<float>();
    logits += std::ssize(a);
    for (size_t i = 0; i < a.size(); ++i)
      differing += std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]);
  }
};

Tensor times(const Tensor& x, int64_t begin, int64_t end) { return slice(x, 1, begin, end); }

// The logits of `tokens`, read so many at a time.
Tensor decoded(LanguageModel& model, const Tensor& tokens, int64_t at_a_time) {
  KeyValueCache cache;
  std::vector<Tensor> logits;
  while (cache.length < tokens.size(1)) {
    const int64_t begin = cache.length, end = std::min(begin + at_a_time, tokens.size(1));
    logits.push_back(model(times(tokens, begin, end), cache));
  }
  return concat(logits, 1);
}

// Reads a text longer than the window token by token, as generate() does: a full cache is dropped, and the last tokens
// are read again. Compares the logits of each last token with those of a forward of the window.
void slide(LanguageModel& model, const Tensor& text, Compared& compared) {
  const int64_t window = model.config.block_size;
  KeyValueCache cache;
  for (int64_t end = 1; end <= text.size(1); ++end) {
    const int64_t begin = std::max<int64_t>(0, end - window);
    if (cache.length == window) cache = {};
    const Tensor got = model(times(text, begin + cache.length, end), cache),
                 whole = model(times(text, begin, end));
    compared.add(times(got, got.size(1) - 1, got.size(1)), times(whole, end - begin - 1, end - begin));
  }
}

TEST_CASE("decoding computes the logits of training to the last bit, on any number of threads") {
  // Widths that no register divides, and a prime vocabulary.
  const LanguageModelConfig llama{
      .vocab_size = 61, .block_size = 48, .n_layer = 2, .n_head = 5, .n_embd = 70, .init_std = 0.2};
  LanguageModelConfig grouped = llama, gpt = llama;
  grouped.n_head = 10, grouped.n_kv_head = 2, grouped.n_embd = 100, grouped.qk_norm = true;
  gpt.positions = Positions::learned, gpt.norm = "layernorm", gpt.ffn = "gelu", gpt.bias = true;
  Compared all;
  for (const LanguageModelConfig& config : {llama, grouped, gpt}) {
    CAPTURE(config.ffn);
    CAPTURE(config.n_kv_head);
    Compared compared;
    LanguageModel model(config, Rng(1));
    const int64_t time = config.block_size;
    const Tensor texts = Rng(2).integers({3, time}, config.vocab_size), one = slice(texts, 0, 1, 2),
                 longer = Rng(3).integers({1, 2 * time + 5}, config.vocab_size);
    Tensor whole;
    {
      const WithThreads alone(1);
      const Tape tape;
      whole = model(texts).detach();  // as training computes it, recorded
    }
    // 2, 3 and 8 threads share products and heads in other ways than one does.
    for_thread_counts([&] {
      for (const int64_t at_a_time : {int64_t{1}, int64_t{5}, time / 2}) {
        compared.add(decoded(model, texts, at_a_time), whole);
        compared.add(decoded(model, one, at_a_time), slice(whole, 0, 1, 2));
      }
    });
    slide(model, longer, compared);
    CHECK(compared.differing == 0);
    all.logits += compared.logits, all.differing += compared.differing;
  }
  MESSAGE(all.logits, " logits compared, ", all.differing, " differ");
  CHECK(all.logits >= 40'000);
}

TEST_CASE("a full cache takes no more, and a block without keys takes none") {
  LanguageModel model(config_of(Positions::rope), Rng(1));
  KeyValueCache cache;
  model(zeros({1, 11}, Dtype::i64), cache);
  CHECK(message_of([&] {
          model(zeros({1, 2}, Dtype::i64), cache);
        }) ==
        "language_model: wanted tokens (B, T) with T up to 1 after the 11 in the cache, got [1, 2]; start a "
        "new "
        "cache with the last tokens");
  TransformerBlock block(8, std::make_unique<MultiheadAttention>(8, 2, Rng(1)),
                         std::make_unique<FeedForward>(8, 16, std::make_unique<ReLU>(), Rng(2)));
  KeyValues none;
  CHECK(message_of([&] {
          block(zeros({1, 1, 8}), none);
        }) ==
        "transformer_block: wanted attention with a key/value cache, such as GroupedQueryAttention, got "
        "MultiheadAttention");
}

TEST_CASE("a forward that throws, wherever it does, leaves the cache as it was") {
  struct Thrower : Observer {
    bool throws = false;
    void on_output(const Module&, const Tensor&) override {
      if (throws) throw std::runtime_error("thrown");
    }
    void on_output_gradient(const Module&, const Tensor&) override {}
  };
  LanguageModel model(config_of(Positions::rope), Rng(1));
  const Tensor first = Rng(2).integers({1, 4}, vocab_size), next = Rng(3).integers({1, 2}, vocab_size);
  KeyValueCache whole;
  const std::vector<float> begun = model(first, whole).to_vector<float>();
  const std::vector<float> wanted = model(next, whole).to_vector<float>();
  for (const NamedModule& part : named_modules(model)) {
    CAPTURE(part.path);
    Thrower thrower;
    const Watch watch(*part.module, thrower);
    KeyValueCache cache;
    const auto fails = [&](const Tensor& tokens) {
      thrower.throws = true;
      CHECK_THROWS_AS(model(tokens, cache), std::runtime_error);
      thrower.throws = false;
    };
    fails(first);
    CHECK(cache.length == 0);
    CHECK(model(first, cache).to_vector<float>() == begun);
    fails(next);
    CHECK(cache.length == 4);
    CHECK(model(next, cache).to_vector<float>() == wanted);
  }
}

TEST_CASE("a block and an attention that throw leave their keys and values as they were") {
  GroupedQueryAttention layer(8, 2, Rng(1), {.causal = true});
  KeyValues past;
  layer(ones({1, 3, 8}), past);
  const Tensor k = past.k, o_proj = layer.o_proj.weight;
  layer.o_proj.weight = zeros({8, 5});
  CHECK_THROWS_AS(layer(ones({1, 2, 8}), past), Error);
  CHECK(past.length() == 3);
  CHECK(past.k.to_vector<float>() == k.to_vector<float>());
  TransformerBlock block(
      8, std::make_unique<GroupedQueryAttention>(8, 2, Rng(1), GroupedQueryAttentionOptions{.causal = true}),
      std::make_unique<Linear>(7, 8, Rng(2)));
  KeyValues none;
  CHECK_THROWS_AS(block(ones({1, 2, 8}), none), Error);
  CHECK_FALSE(none.k.defined());
}

TEST_CASE("a cache goes with the model and the weights that filled it, also when the model moves") {
  const LanguageModelConfig config = config_of(Positions::rope);
  LanguageModelConfig deeper = config;
  ++deeper.n_layer;
  LanguageModel model(config, Rng(1)), twin(config, Rng(1)), deep(deeper, Rng(1));
  const Tensor tokens = Rng(2).integers({1, 4}, vocab_size), next = Rng(3).integers({1, 1}, vocab_size);
  const std::string refusal =
      "language_model: the 4 tokens in the cache were read by another model, or before this model's weights changed; "
      "start a new cache with all tokens";
  KeyValueCache cache, again;
  model(tokens, cache);
  model(tokens, again);
  for (LanguageModel* other : {&twin, &deep}) CHECK(message_of([&] { (*other)(next, cache); }) == refusal);
  LanguageModel moved(std::move(model));
  moved(next, cache);
  CHECK(cache.length == 5);

  const auto changes = [&](const char* what, const auto& change) {
    CAPTURE(what);
    KeyValueCache stale;
    moved(tokens, stale);
    change();
    CHECK(message_of([&] { moved(next, stale); }) == refusal);
    stale = {};
    moved(tokens, stale);
    moved(next, stale);
  };
  changes("a step", [&] {
    SGD optimizer(parameters(moved), {.lr = 0.1});
    {
      Tape tape;
      tape.backward(moved.loss(tokens, tokens));
    }
    optimizer.step();
  });
  changes("loading", [&] { copy_state(twin, moved); });
  changes("a new weight", [&] { moved.blocks[1].mlp = std::make_unique<SwiGLU>(32, Rng(5)); });
  CHECK(message_of([&] { moved(next, again); }) == refusal);
}

TEST_CASE("attention that is not causal, which is the default, takes no cache") {
  GroupedQueryAttention layer(8, 2, Rng(1));
  KeyValues past;
  CHECK(message_of([&] {
          layer(zeros({1, 3, 8}), past);
        }) == "attention: a key/value cache needs causal attention; build the layer with {.causal = true}");
}

}  // namespace isobar::key_value_cache_test
