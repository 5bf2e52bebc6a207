// recompute: the same bits as without it, for less memory.
#include "../../autograd/recompute.h"

#include <cstring>

#include "../../autograd/autograd.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../message_of.h"
#include "../small_tensors.h"
#include "../thread_counts.h"
#include "../values_of.h"

namespace isobar::recompute_test {

using Function = std::function<Tensor(const Tensor&)>;

std::string bits(const Tensor& x) {
  if (!x.defined()) return "none";
  const Tensor packed = raw::contiguous(x);
  std::string bytes(static_cast<size_t>(packed.numel()) * sizeof(float), '\0');
  std::memcpy(bytes.data(), packed.data<float>(), bytes.size());
  return bytes;
}

// A loss and the gradients that it leaves on the parameters, bit for bit.
struct Step {
  std::string loss;
  std::vector<std::string> gradients;
  bool operator==(const Step&) const = default;
};
Step step_of(const std::vector<Tensor>& parameters, const std::function<Tensor()>& loss,
             TapeOptions options = {.rng = Rng(5), .again = true}) {
  clear_gradients(parameters);
  Step step;
  {
    Tape tape(options);
    const Tensor y = loss();
    step.loss = bits(y);
    tape.backward(y);
  }
  for (const Tensor& parameter : parameters) step.gradients.push_back(bits(parameter.grad()));
  clear_gradients(parameters);
  return step;
}

LanguageModelConfig small() {
  return {.vocab_size = 17, .block_size = 12, .n_layer = 3, .n_head = 4, .n_kv_head = 2, .n_embd = 32};
}

Tensor symbols() { return Rng(2).integers({3, 12}, 17); }
Tensor next_symbols() { return Rng(3).integers({3, 12}, 17); }

Step step_of(LanguageModel& model, bool checkpointing, TapeOptions options = {.rng = Rng(5), .again = true}) {
  model.config.activation_checkpointing = checkpointing;
  return step_of(
      parameters(model), [&] { return model.loss(symbols(), next_symbols()); }, options);
}

// What an observer was shown, in order.
struct Log : Observer {
  std::vector<std::string> outputs, gradients;
  void on_output(const Module& module, const Tensor& y) override {
    outputs.push_back(module.path() + bits(y));
  }
  void on_output_gradient(const Module& module, const Tensor& dy) override {
    gradients.push_back(module.path() + bits(dy));
  }
};

TEST_CASE("blocks that are computed again give a language model the same gradients, bit for bit") {
  const auto check = [](const std::string& what, const auto& change) {
    CAPTURE(what);
    LanguageModelConfig config = small();
    change(config);
    LanguageModel model(config, Rng(1));
    const Step plain = step_of(model, false);
    CHECK(plain.gradients.size() > 10);
    CHECK((step_of(model, true) == plain));
  };
  check("defaults", [](LanguageModelConfig&) {});
  check("dropout", [](LanguageModelConfig& c) { c.dropout = 0.3; });
  check("qk_norm", [](LanguageModelConfig& c) { c.qk_norm = true; });
  check("softcap", [](LanguageModelConfig& c) { c.softcap = 5; });
  check("untied", [](LanguageModelConfig& c) { c.tie_embeddings = false; });
  check("post", [](LanguageModelConfig& c) { c.placement = Placement::post; });
  check("nanogpt", [](LanguageModelConfig& c) {
    c.norm = "layernorm";
    c.positions = Positions::learned;
    c.ffn = "gelu";
    c.bias = true;
    c.dropout = 0.1;
  });
  for (const std::string& norm : norm_names()) check(norm, [norm](LanguageModelConfig& c) { c.norm = norm; });
  for (const std::string& placement : placement_names())
    check(placement, [placement](LanguageModelConfig& c) { c.placement = placement_from_name(placement); });
}

TEST_CASE("the bits do not depend on the number of threads") {
  LanguageModelConfig config = small();
  config.dropout = 0.2;
  LanguageModel model(config, Rng(1));
  const Step plain = step_of(model, false);
  for_thread_counts([&] { CHECK((step_of(model, true) == plain)); });
}

TEST_CASE("gradients add up in the same order where weights, x and other tensors are used again and again") {
  Linear layer(9, 9, Rng(1));
  Dropout dropout(0.4);
  const Tensor x = Rng(2).normal({4, 9}).set_trainable(), gain = Rng(3).normal({9}).set_trainable();
  // Eight uses of the weights in one order of sums: any other would show in the last bits.
  const auto step = [&](const std::function<Tensor(const Function&, const Tensor&)>& four_times) {
    return step_of({x, gain, layer.weight, layer.bias}, [&] {
      const Tensor scaled = x * gain;
      const Function f = [&layer, &dropout, scaled](const Tensor& h) {
        return h + dropout(tanh(layer(tanh(layer(h))))) * scaled + scaled;
      };
      return mean(square(four_times(f, scaled)));
    });
  };
  const auto again = [](const Function& f) { return [f](const Tensor& h) { return recompute(f, h); }; };
  const Step plain = step([](const Function& f, const Tensor& h) { return f(f(f(f(h)))); });
  CHECK((step([&](const Function& f, const Tensor& h) {
           const Function one = again(f), nested = again(one);
           return nested(one(f(nested(h))));
         }) == plain));
  CHECK((step([&](const Function& f, const Tensor& h) {
           const Function one = again(f), twice = again([one](const Tensor&y) { return one(one(y)); });
           return twice(twice(h));
         }) == plain));
}

TEST_CASE("a function may return what it was given, a weight or a constant") {
  const Tensor x = Rng(1).normal({3}).set_trainable(), w = Rng(2).normal({3}).set_trainable();
  const std::vector<Tensor> all{x, w};
  const auto step = [&](const Function& f) {
    return step_of(all, [&] { return sum(square(f(x * 2.0) + x * w)); });
  };
  for (const Function& f :
       {Function([](const Tensor& h) { return h; }), Function([&](const Tensor&) { return w; }),
        Function([](const Tensor& h) { return h.detach(); })})
    CHECK((step([&](const Tensor& h) { return recompute(f, h); }) == step(f)));
}

TEST_CASE("a language model's running statistics move once a step, computed again or not") {
  LanguageModelConfig config = small();
  config.norm = "batchnorm";
  LanguageModel plain(config, Rng(1)), again(config, Rng(1));
  step_of(plain, false);
  step_of(again, true);
  CHECK(values_of(again) == values_of(plain));
  int counters = 0;
  for (const NamedTensor& entry : named_state(again))
    if (entry.name.ends_with("num_batches_tracked")) counters += entry.tensor.item() == 1;
  CHECK(counters == 7);  // two in each of three blocks, and the last norm's
}

TEST_CASE("an observer sees each value and each gradient once, in the order and to the bit as without") {
  LanguageModelConfig config = small();
  config.dropout = 0.1;
  LanguageModel model(config, Rng(1));
  Log plain, again;
  const Step unobserved = step_of(model, false);
  {
    const Watch watching(model, plain);
    CHECK((step_of(model, false) == unobserved));
  }
  {
    const Watch watching(model, again);
    CHECK((step_of(model, true) == unobserved));
  }
  CHECK(plain.outputs.size() > 30);
  CHECK(plain.outputs.size() == plain.gradients.size());
  CHECK((again.outputs == plain.outputs));
  CHECK((again.gradients == plain.gradients));
}

TEST_CASE("checks of numbers name the same op and module, forward and backward") {
  LanguageModel model(small(), Rng(1));
  Tensor& weight = dynamic_cast<SwiGLU&>(*model.blocks[1].mlp).down_proj.weight;
  assign(weight, full(weight.shape(), INFINITY));
  for (const bool again : {false, true}) {
    CAPTURE(again);
    model.config.activation_checkpointing = again;
    CHECK(message_of([&] {
            const Tape tape({.detect_anomaly = true});
            model.loss(symbols(), next_symbols());
          }).starts_with("in blocks.1.mlp.down_proj: linear: the result"));
    // The slope of the root is infinite at 0.
    const Tensor x = zeros(3).set_trainable();
    const Function f = [](const Tensor& h) {
      const Scope part(Scope::intern("part"));
      return sqrt(square(h));
    };
    CHECK(message_of([&] {
            Tape tape({.detect_anomaly = true});
            tape.backward(sum(again ? recompute(f, x) : f(x)));
          }) == "backward of sqrt in part: the gradient of input 0 [3] is not finite");
  }
}

TEST_CASE("a block's activations are there one block at a time") {
  const WithThreads one(1);  // scratch of threads would count
  LanguageModelConfig config = small();
  config.n_layer = 12;
  config.block_size = 128;
  LanguageModel model(config, Rng(1));
  const auto peak = [&](bool checkpointing) {
    model.config.activation_checkpointing = checkpointing;
    const Tensor x = Rng(2).integers({4, 128}, 17);
    size_t bytes = 0;
    for (int i = 0; i < 2; ++i) {  // the first step also takes room for gradients' handles
      const size_t before = memory::stats().bytes_in_use;
      memory::reset_peak();
      {
        Tape tape({.rng = Rng(5), .again = true});
        tape.backward(model.loss(x, x));
      }
      bytes = memory::stats().peak_bytes - before;
      clear_gradients(parameters(model));
    }
    return static_cast<double>(bytes);
  };
  const double whole = peak(false), again = peak(true);
  // A block keeps some 18 times its input of 32 channels (7 of 32 and 3 of 128 channels, log-sums): in place
  // of 12 · 18 stay 12 + 18, and as much again for a block's gradients and the logits.
  MESSAGE("peak: " << whole << " bytes, with activation checkpointing " << again);
  CHECK(again < whole / 4);
}

TEST_CASE("without a tape a function is just called, and on a higher-order one refused") {
  const Tensor x = Rng(1).normal({3}).set_trainable();
  int calls = 0;
  const Function f = [&](const Tensor& h) {
    ++calls;
    CHECK_FALSE(recomputing());
    return tanh(h);
  };
  CHECK((bits(recompute(f, x)) == bits(tanh(x))));
  CHECK(calls == 1);
  Tape tape({.higher_order = true});
  CHECK(message_of([&] { recompute(f, x); }) ==
        "recompute: a higher-order tape keeps all of its nodes, so nothing would be saved; call the function "
        "itself");
}

TEST_CASE("a function that does something else in backward is named") {
  const Tensor x = Rng(1).normal({3}).set_trainable(), w = Rng(2).normal({3}).set_trainable();
  int calls = 0;
  const auto error_of = [&](const Function& f) {
    calls = 0;
    return message_of([&] {
      Tape tape({.rng = Rng(1)});
      tape.backward(sum(recompute(f, x)));
    });
  };
  CHECK(
      error_of([&](const Tensor& h) { return ++calls == 1 ? h * 2.0 : h * w; }) ==
      "recompute: the function gave [3] from 1 tensors that want a gradient, and in backward [3] from 2; it "
      "must do the same twice");
  CHECK(error_of([&](const Tensor& h) {
          return ++calls == 1 ? h * 2.0 : sum(h);
        }).find("in backward [] from 1") != std::string::npos);
  const auto dropped = [](const Tensor& h) { return dropout(h, 0.5, Tape::active()->next_rng()); };
  CHECK(error_of([&](const Tensor& h) {
          return ++calls == 1 ? dropped(h) : dropped(dropped(h));
        }).find("draws more random masks than the first") != std::string::npos);
  CHECK_FALSE(recomputing());
}

TEST_CASE("a value that recompute's function reads and somebody overwrites is refused") {
  const Tensor x = leaf(number(3));
  Tensor buffer = number(5);
  const auto f = [&](const Tensor& h) { return h * buffer; };
  for (const bool nested : {false, true}) {
    Tape tape;
    const Tensor y =
        nested ? recompute([&](const Tensor& h) { return recompute(f, h); }, x) : recompute(f, x);
    assign(buffer, number(7));
    CHECK(message_of([&] { tape.backward(y); }) ==
          "backward: a constant [] in the function of recompute was overwritten by assign() after it was "
          "recorded; call backward before step()");
    CHECK(!x.grad().defined());
  }
}

TEST_CASE("a constant that recompute's function reads by unrecorded ops alone is checked by its result") {
  const Tensor x = leaf(row({1, 2, 3}));
  Tensor buffer = number(5);
  const auto f = [&](const Tensor& h) { return h * (buffer * 2); };  // buffer * 2 needs no gradient
  const std::string refused =
      "recompute: the function gave other values [3] in backward than before; it must do the same twice, so "
      "leave what it reads unchanged until then";
  for (const bool nested : {false, true}) {
    Tape tape;
    const Tensor y =
        sum(nested ? recompute([&](const Tensor& h) { return recompute(f, h); }, x) : recompute(f, x));
    assign(buffer, number(nested ? 9 : 7));
    CHECK(message_of([&] { tape.backward(y); }) == refused);
    CHECK(!x.grad().defined());
  }
  Doubles shift(33);
  const Tensor w = leaf(zeros({33}, Dtype::f64));
  for (double& element : shift) {  // wherever it stands
    Tape tape;
    const Tensor y = sum(recompute([&](const Tensor& h) { return h + row(shift); }, w));
    element = 1;
    CHECK(
        message_of([&] { tape.backward(y); }).starts_with("recompute: the function gave other values [33]"));
  }
  Doubles signs(32, 1);
  Tape tape;
  const Tensor y =
      sum(recompute([&](const Tensor& h) { return h * row(signs); }, leaf(ones({32}, Dtype::f64))));
  signs.assign(32, -1);  // a row of equal changes, which might cancel out
  CHECK(message_of([&] { tape.backward(y); }).starts_with("recompute: the function gave other values [32]"));
}

TEST_CASE("an exception in a piece that is computed again leaves the tape as it was") {
  const Tensor x = leaf(number(3)), w = leaf(number(2));
  Tape tape;
  const Tensor other = x * w;
  const Tensor y = recompute(
      [&](const Tensor& h) {
        check(!recomputing(), "no");
        return h * w;
      },
      x);
  const Tensor loss = square(w) + square(x) + y;
  CHECK(message_of([&] { tape.backward(loss); }) == "no");
  CHECK(Tape::active() == &tape);
  CHECK(!recomputing());
  tape.backward(other);
  CHECK(x.grad().item() == 2);
  CHECK(w.grad().item() == 3);
}

}  // namespace isobar::recompute_test
