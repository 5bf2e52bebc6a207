// Placements of a Transformer block: each is the formula of nn/norm.h, written out with the block's own
// parts. And the norms that are composed of ops, written out with loops.
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../same_tensors.h"
#include "../small_tensors.h"

namespace isobar::placement_test {

// A block in f64 whose parameters have all left their initial values.
std::unique_ptr<TransformerBlock> block_of(Placement placement) {
  const Rng rng(1);
  auto block = std::make_unique<TransformerBlock>(
      8, std::make_unique<MultiheadAttention>(8, 2, rng.split("attention")),
      std::make_unique<FeedForward>(8, 16, std::make_unique<ReLU>(), rng.split("mlp")),
      TransformerBlockOptions{.placement = placement, .branch_scale = 0.25});
  convert(*block, Dtype::f64);
  for (NamedTensor& p : named_parameters(*block))
    assign(p.tensor, p.tensor.detach() + rng.split(p.name).normal(p.tensor.shape(), 0, 0.2, Dtype::f64));
  return block;
}

using Branch = std::function<Tensor(const Tensor&)>;

// y of one branch f with the formula of a placement, from the parameters by their names.
Tensor written_out(TransformerBlock& b, bool attention, const Tensor& x) {
  const Branch f = [&](const Tensor& h) { return attention ? (*b.self_attn)(h) : (*b.mlp)(h); };
  const Branch norm = [&](const Tensor& h) {
    return attention ? (*b.input_layernorm)(h) : (*b.post_attention_layernorm)(h);
  };
  const std::string prefix = attention ? "self_attn_" : "mlp_";
  const auto number = [&](const char* name) {
    for (const NamedTensor& p : named_parameters(b))
      if (p.name == prefix + name) return p.tensor.item();
    FAIL("no parameter " << prefix << name);
    return 0.0;
  };
  switch (b.placement) {
    case Placement::none:
      return x + f(x);
    case Placement::pre:
      return x + f(norm(x));
    case Placement::post:
      return norm(x + f(x));
    case Placement::peri: {
      const std::unique_ptr<Module>& after =
          attention ? b.self_attn_output_layernorm : b.mlp_output_layernorm;
      return x + (*after)(f(norm(x)));
    }
    case Placement::residual_free:
      return f(norm(x));
    case Placement::skipinit:
    case Placement::rezero:
      return x + number("scale") * f(x);
    case Placement::fixup:
      return x + number("scale") * f(x + number("bias_before")) + number("bias_after");
  }
  return {};
}

LanguageModelConfig small(Placement placement) {
  return {.vocab_size = 11,
          .block_size = 8,
          .n_layer = 8,
          .n_head = 4,
          .n_embd = 64,
          .placement = placement,
          .ffn = "gelu"};
}

double std_of(const Tensor& x) { return std_dev(x.detach()).item(); }

TEST_CASE("a block is its placement's formula") {
  const Tensor x = Rng(2).normal({2, 5, 8}, 0, 1, Dtype::f64);
  for (const std::string& name : placement_names()) {
    CAPTURE(name);
    const auto block = block_of(placement_from_name(name));
    CHECK(placement_name(block->placement) == name);
    const Tensor h = written_out(*block, true, x);
    check_values((*block)(x), written_out(*block, false, h).to_vector<double>(), 1e-14);
  }
}

TEST_CASE("blocks start as their papers say, and have norms only where the placement has them") {
  const Tensor x = Rng(2).normal({2, 5, 64});
  for (const std::string& name : placement_names()) {
    CAPTURE(name);
    const Placement placement = placement_from_name(name);
    LanguageModel model(small(placement), Rng(1));
    TransformerBlock& block = model.blocks[3];
    int64_t norms = 0;
    for (const NamedModule& part : named_modules(model)) norms += part.module->type_name() == "RMSNorm";
    const int64_t final_norm = placement == Placement::post ? 0 : 1;
    CHECK(norms == (has_norms(placement) ? 8 * (placement == Placement::peri ? 4 : 2) + final_norm : 0));
    CHECK(block.self_attn_scalars.bias_after.defined() == (placement == Placement::fixup));
    // Within five standard errors, 5/√(2n).
    auto& mlp = dynamic_cast<FeedForward&>(*block.mlp);
    auto& attention = dynamic_cast<GroupedQueryAttention&>(*block.self_attn);
    const auto check_std = [](const Tensor& weight, double std) {
      const double error = 5 / std::sqrt(2.0 * static_cast<double>(weight.numel()));
      CHECK(std::abs(std_of(weight) - std) <= error * std);
    };
    const bool fixup = placement == Placement::fixup;
    check_std(attention.q_proj.weight, 0.02);
    check_std(attention.v_proj.weight, fixup ? 0.02 / 4 : 0.02);  // 16 branches
    check_std(mlp.linear1.weight, fixup ? 0.02 / 4 : 0.02);
    const bool unscaled = placement == Placement::skipinit || placement == Placement::rezero ||
                          placement == Placement::residual_free;
    check_std(mlp.linear2.weight, fixup ? 0 : unscaled ? 0.02 : 0.02 / 4);
    check_std(attention.o_proj.weight, fixup ? 0 : unscaled ? 0.02 : 0.02 / 4);
    if (placement == Placement::skipinit) CHECK(block.mlp_scalars.scale.item() == 0.25);
    if (fixup) CHECK(block.mlp_scalars.bias_before.item() == 0);
    const bool identity = fixup || placement == Placement::rezero;
    CHECK((block(x).to_vector<float>() == x.to_vector<float>()) == identity);
  }
}

TEST_CASE("norm-free models learn: every parameter moves within two steps") {
  // ReZero's and Fixup's branches have no gradient but at their scale, or last matrix, in the first step.
  const Tensor tokens = Rng(3).integers({4, 8}, 11), next = Rng(4).integers({4, 8}, 11);
  for (const Placement placement : {Placement::skipinit, Placement::rezero, Placement::fixup}) {
    CAPTURE(placement_name(placement));
    LanguageModel model(small(placement), Rng(1));
    for (int step = 0; step < 2; ++step) {
      clear_gradients(parameters(model));
      Tape tape;
      tape.backward(model.loss(tokens, next));
      if (step == 0)
        for (Tensor& p : parameters(model)) assign(p, p.detach() - 0.1 * p.grad());
    }
    for (const NamedTensor& p : named_parameters(model)) {
      CAPTURE(p.name);
      CHECK(norm(p.tensor.grad()).item() > 0);
    }
  }
}

TEST_CASE("zero_init is refused where the blocks would stay at 0") {
  for (const Placement placement : {Placement::rezero, Placement::residual_free}) {
    LanguageModelConfig config = small(placement);
    config.zero_init = true;
    const std::string wanted =
        "language_model: with placement " + placement_name(placement) +
        " and zero_init all gradients of the blocks are 0 for ever; leave out zero_init";
    CHECK_THROWS_WITH_AS(LanguageModel(config, Rng(1)), wanted.c_str(), Error);
  }
}

TEST_CASE("centring and then scaling is LayerNorm, over several dimensions too") {
  const Tensor x = Rng(5).normal({3, 2, 4}, 1, 2, Dtype::f64);
  for (const Shape& shape : {Shape{4}, Shape{2, 4}}) {
    CenterNorm center(shape);
    StdNorm scale(shape, {.eps = 1e-3});
    LayerNorm both(shape, {.eps = 1e-3, .bias = false});
    for (Tensor* weight : {&scale.weight, &both.weight}) assign(*weight, full(shape, 2));
    for (Module* norm : std::initializer_list<Module*>{&center, &scale, &both}) convert(*norm, Dtype::f64);
    check_values(scale(center(x)), both(x).to_vector<double>(), 1e-13);
  }
  PRMSNorm part(4, {.p = 1});  // all of the row
  RMSNorm whole(4);
  check_values(part(cast(x, Dtype::f32)), whole(cast(x, Dtype::f32)).to_vector<double>(), 1e-6);
}

TEST_CASE("Derf is erf with a slope and a shift") {
  Derf derf(3, {.alpha = 0.75});  // exact in f32
  convert(derf, Dtype::f64);
  CHECK(derf.shift.item() == 0);
  assign(derf.shift, full({1}, -0.2, Dtype::f64));
  assign(derf.weight, row({1, 2, -1}));
  assign(derf.bias, row({0, 0.5, 1}));
  check_values(derf(row({1, -2, 0})), {std::erf(0.55), 2 * std::erf(-1.7) + 0.5, 1 - std::erf(-0.2)}, 1e-14);
}

TEST_CASE("norms over channels of rows are BatchNorm1d and GroupNorm of the rows") {
  const Tensor x = Rng(6).normal({3, 5, 8}), rows = reshape(x, {15, 8});
  RowBatchNorm row_batch(8);
  BatchNorm1d batch(8);
  RowGroupNorm row_group(8, {.groups = 2});
  GroupNorm group(2, 8);
  for (const bool training : {true, false}) {
    training ? train(row_batch) : eval(row_batch);
    training ? train(batch) : eval(batch);
    CHECK(row_batch(x).to_vector<float>() == batch(rows).to_vector<float>());
    CHECK(row_group(x).to_vector<float>() == group(rows).to_vector<float>());
  }
  CHECK(row_batch.running_var.to_vector<float>() == batch.running_var.to_vector<float>());
}

TEST_CASE("in training, BatchNorm shows a causal model later positions; in evaluation it does not") {
  LanguageModelConfig config = small(Placement::pre);
  config.norm = "batchnorm";
  LanguageModel model(config, Rng(1));
  const auto first_logits = [&](int64_t last_token) {
    const std::vector<float> all =
        model(tensor<int64_t>({1, 3}, std::vector<int64_t>{1, 2, last_token})).to_vector<float>();
    return std::vector<float>(all.begin(), all.begin() + 11);
  };
  CHECK(first_logits(3) != first_logits(4));
  eval(model);
  CHECK(first_logits(3) == first_logits(4));
}

}  // namespace isobar::placement_test
