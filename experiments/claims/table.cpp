// The table of claims: what five texts on normalization say, and the measured figures that decide. 000 is a
// note on RMSNorm from LayerNorm, 001 an introduction to RMSNorm, 002 a reading of Llama's RMSNorm, 003 a
// study of why deep networks need normalization, 004 a derivation of DyT and DyISRU.
//
// Bounds. An identity in f64 holds to 1e-9, some thousand roundings. A printed figure holds if it could be
// one more of our seeds. Other bounds say why.
#include <algorithm>

#include "claim.h"

namespace isobar::claims {
namespace {

using std::string_view;

constexpr string_view properties = "norm_properties", blog8 = "blog8", blog8_rmsnorm = "blog8_rmsnorm",
                      depth = "depth_table", jacobian = "norm_jacobian", speed = "norm_speed",
                      logits = "logit_growth", lm = "lm_norms", training = "depth_trainability",
                      scripts = "why_normalization", scripts_norm = "why_normalization_norm";

constexpr string_view rounding = "an identity in f64, a thousand roundings";

Part at_most(string_view says, string_view run, string_view key, double high, string_view why,
             Sight sight = Sight::median) {
  return {says, run, key, sight, -infinity, high, why};
}
Part at_least(string_view says, string_view run, string_view key, double low, string_view why,
              Sight sight = Sight::median) {
  return {says, run, key, sight, low, infinity, why};
}
Part within(string_view says, string_view run, string_view key, double low, double high, string_view why,
            Sight sight = Sight::median) {
  return {says, run, key, sight, low, high, why};
}
Part identity(string_view says, string_view key, string_view run = properties) {
  return at_most(says, run, key, 1e-9, rounding, Sight::every);
}
Part exactly(string_view says, string_view key, double value, string_view run = properties) {
  return within(says, run, key, value, value, "a count", Sight::every);
}
Part printed(string_view says, string_view run, string_view key, double value) {
  return {says, run, key, Sight::one_more, value, value, "a printed figure comes from one run"};
}

Claim cited(string_view id, string_view source, string_view text, string_view note) {
  return {.id = id, .source = source, .printed = text, .standing = Standing::cited, .note = note};
}
Claim no_source(string_view id, string_view source, string_view text, string_view note) {
  return {.id = id, .source = source, .printed = text, .standing = Standing::no_source, .note = note};
}
Claim tested(string_view id, string_view source, string_view text, std::vector<Part> parts,
             string_view left_out = "") {
  return {.id = id, .source = source, .printed = text, .note = left_out, .parts = std::move(parts)};
}
Claim statement(string_view id, string_view source, string_view text, std::vector<Part> parts) {
  return {.id = id, .source = source, .printed = text, .one_statement = true, .parts = std::move(parts)};
}

std::vector<Claim> invariances() {
  return {
      tested("A01", "000", "LayerNorm gives each feature vector mean 0 and std 1",
             {identity("the mean of every row is 0", "layernorm.row_mean"),
              identity("its population std is 1 but for eps", "layernorm.row_std_error")}),
      tested("A02", "000", "[0,1,2,3] + 10000, re-centred, is [-1.5, -0.5, 0.5, 1.5]",
             {at_most("f32 gives the printed numbers", properties, "recentre.example.error", 0,
                      "these sums are exact in f32", Sight::every)}),
      tested("A03", "000", "[0,1,2,3] · 10000, divided by std + 1e-5, is [0, 0.7746, 1.5492, 2.3238]",
             {at_most("f32 gives the printed numbers", properties, "rescale.example.error", 5e-5,
                      "four printed decimals", Sight::every)}),
      statement("A04", "000", "the functions re_centering and re_scaling serve any input",
                {at_least("they take a batch of rows (2, 4)", properties, "recentre.rows.works", 1,
                          "works or throws", Sight::every),
                 identity("on a square batch they give each row's own", "recentre.square.error")}),
      tested("A05", "000", "a shift of the whole input does not change LayerNorm's output",
             {at_most("shifts of 0.1 to 1e4 change nothing", properties, "shift.layernorm.change", 1e-7,
                      "f64 has 1e-12 left at 1e4, eps adds as much", Sight::every)}),
      tested("A06", "000", "scaling the input has no effect",
             {at_most("scales of 0.5 to 1e4 of unit input change little", properties, "scale.rmsnorm.change",
                      1e-3, "eps is 1e-5 of the mean square", Sight::every),
              at_least("an input of rms 1e-3 still comes out with std 1", properties,
                       "scale.rmsnorm.small_input_std", 0.9, "a tenth less would be an effect")}),
      tested("A07", "000", "RMSNorm is x / √(mean x² + eps) · γ, without mean and β",
             {identity("spelled out in ops it is the fused norm", "formula.rmsnorm.error")}),
      tested("A08", "000", "RMSNorm has fewer parameters: γ alone",
             {exactly("RMSNorm(512) has 512", "count.rmsnorm512", 512),
              exactly("LayerNorm(512) has 1024", "count.layernorm512", 1024)}),
      cited("A10", "000", "nn.RMSNorm's arguments are normalized_shape, eps, element_affine",
            "PyTorch's documentation names it elementwise_affine"),
      tested("A11", "000", "nn.RMSNorm([2, 3]) takes one rms over the last two dimensions",
             {within("each (2, 3) slab has mean square 1", properties, "shape.slab.first_mean_square",
                     1 - 1e-9, 1 + 1e-9, rounding, Sight::every)}),
      tested("A12", "000", "a hand-written RMSNorm(normalized_shape list) with mean over dim −1 equals it",
             {identity("for normalized_shape [2, 3] it does", "shape.last_dimension_only.difference")}),
      tested("B01", "001", "LayerNorm: μ, σ² with 1/n, eps inside the root, γ, β",
             {identity("spelled out in ops it is the fused norm", "formula.layernorm.error")}),
      tested("B02", "001", "RMS(x) = √(mean x² + eps), y = g x / RMS",
             {identity("spelled out in ops it is the fused norm", "formula.rmsnorm.error")}),
      tested("B03", "001", "LayerNorm does not depend on the batch size, BatchNorm does",
             {at_most("a row's LayerNorm is the same alone", properties, "batch.layernorm.change", 0,
                      "the same arithmetic", Sight::every),
              at_least("BatchNorm errs by 0.2 in batches of 8", properties, "batch.batchnorm.error.b8", 0.2,
                       "√(1.5/8) = 0.43 in theory", Sight::every),
              at_most("and by less than 0.1 in batches of 256", properties, "batch.batchnorm.error.b256", 0.1,
                      "√(1.5/256) = 0.077 in theory", Sight::every)}),
      tested("B05", "001", "less memory, since β is gone",
             {at_least("MiniMind saves parameters", properties, "count.minimind.saved_share", 1e-6,
                       "any saving", Sight::every)}),
      tested("B07", "001", "RMSNorm may be worse where features are skewed",
             {within("the mean of N(2, 5²) stays in RMSNorm's output", properties, "skew.rmsnorm.mean", 0.3,
                     0.45, "2/√29 = 0.371, ten standard errors"),
              at_most("LayerNorm turns such a vector away", properties, "skew.one.layernorm_cosine", 0.8,
                      "√½ = 0.707 in theory")},
             "whether a model's quality suffers"),
      cited("B08", "001", "Llama and PaLM use RMSNorm",
            "Llama's paper and code do; PaLM's paper speaks of LayerNorm without biases"),
      tested("B09", "001", "the printed code x / rms · weight, eps 1e-6",
             {at_most("equals the form with rsqrt to a few roundings of f32", properties,
                      "formula.two_forms_f32.error", 2e-6, "|y| below 5, four roundings of 6e-8 each",
                      Sight::every)}),
      tested("B10", "001", "TransformerLayer(512, 8, 2048): pre-norm attention and a ReLU part",
             {exactly("with RMSNorm it has 3,151,360 parameters", "count.source001_layer.rmsnorm", 3151360),
              exactly("with LayerNorm 3,152,384", "count.source001_layer.layernorm", 3152384)}),
      tested("B11", "001", "deep stacks with pre-norm stay stable",
             {at_least("the gradient at block 1 of 1000 is not small", depth,
                       "pre.default.rmsnorm.random.D1000.layer1.grad_norm", 10,
                       "a thirtieth of the last block's 300"),
              at_most("the std stays what it was", depth, "pre.default.rmsnorm.random.D1000.layer1000.std", 2,
                      "twice the input's 1")}),
      tested("C01", "002", "batch and layer norm are (x − mean)/√(var + eps) · scale + shift",
             {identity("batch norm spelled out is the op", "formula.batchnorm.error"),
              identity("layer norm too", "formula.layernorm.error"),
              within("running_var uses n − 1", properties, "formula.batchnorm.running_var_ratio", 1.1428,
                     1.1429, "8/7 in f32", Sight::every)}),
      tested("C02", "002", "BatchNorm is bad for small batches",
             {at_least("batches of 2 err by half a std", properties, "batch.batchnorm.error.b2", 0.5,
                       "as large as half the signal", Sight::every)},
             "recurrent nets and sequences"),
      tested(
          "C03", "002", "RMSNorm is a special case of LayerNorm",
          {identity("LayerNorm is RMSNorm after centring", "formula.layernorm_is_rmsnorm_of_centred.error"),
           identity("RMSNorm of an input with a mean is its LayerNorm",
                    "formula.rmsnorm_is_layernorm.difference")}),
      cited("C04", "002", "Llama's class RMSNorm(dim, eps=1e-6)",
            "so in Llama's model.py, whose ModelArgs passes norm_eps = 1e-5"),
      tested("C05", "002", "the example randn(1, 10, 512) keeps its shape",
             {exactly("it does", "shape.kept", 1)}),
      tested("C06", "002, 003", "statistics in f32 are for stability at low precision",
             {at_most("fp16 with them is right to a few units", properties,
                      "precision.fp16.scale100.upcast_error", 2e-3,
                      "|y| below 4: half a unit of fp16 is 1e-3", Sight::every),
              at_least("fp16 without them fails at a scale of 100", properties,
                       "precision.fp16.scale100.plain_error", 0.5, "the output is 0", Sight::every),
              exactly("the square of 256 overflows fp16", "precision.fp16.square_overflows_at_256", 1),
              exactly("that of 255.875 does not", "precision.fp16.square_overflows_at_255.875", 0)}),
      tested(
          "C07", "002", "the result has the input's type",
          {at_least("norm(x).type_as(x) * weight with an f32 weight is fp16", properties,
                    "precision.type_as_before_weight.share_in_type", 1, "all of its numbers", Sight::every)}),
      tested("C09", "002", "RMSNorm is more robust to scaling, because it does not use the mean",
             {at_least("LayerNorm changes twice as much under a scale", properties,
                       "scale.layernorm_over_rmsnorm.change", 2, "an advantage worth the name")}),
      tested("C10", "002", "β can go, since the Linear that follows learns the shift",
             {identity("a Linear with a bias takes it over", "fold.with_bias.error"),
              identity("so does one without, as in Llama", "fold.without_bias.difference")}),
  };
}

std::vector<Claim> depths() {
  return {
      statement(
          "D01", "003", "table 2.1: std after each of 8 layers, 0.8932 … 0.0163",
          {printed("layer 1", blog8, "layer1.std", 0.8932), printed("layer 2", blog8, "layer2.std", 0.6421),
           printed("layer 3", blog8, "layer3.std", 0.4156), printed("layer 4", blog8, "layer4.std", 0.2387),
           printed("layer 5", blog8, "layer5.std", 0.1024), printed("layer 6", blog8, "layer6.std", 0.0432),
           printed("layer 7", blog8, "layer7.std", 0.0198), printed("layer 8", blog8, "layer8.std", 0.0163)}),
      statement(
          "D02", "003", "y = W x with W ~ N(0, 1): std(y) = std(x) √in / √out",
          {within("512 → 512 keeps the std", properties, "product.std.512_to_512", 0.8, 1.25,
                  "√(512/512) = 1, a quarter to either side"),
           within("512 → 128 doubles it", properties, "product.std.512_to_128", 1.6, 2.5, "√(512/128) = 2"),
           within("512 → 2048 halves it", properties, "product.std.512_to_2048", 0.4, 0.63,
                  "√(512/2048) = 1/2")}),
      tested(
          "D03", "003", "ReLU about halves the std",
          {within("relu(randn) has", properties, "relu.std", 0.4, 0.6, "a fifth to either side of a half")}),
      tested("D04", "003", "the std is multiplied by the same k < 1 in every layer",
             {at_most("layer 2", blog8, "layer2.ratio", 0.6, "well below 1"),
              at_most("layer 4", blog8, "layer4.ratio", 0.6, "well below 1"),
              at_most("layer 8", blog8, "layer8.ratio", 0.9, "still falling")}),
      tested("D05", "003", "weights ~ N(0, 1) explain the decay",
             {at_most("8 layers of them shrink the std", depth, "plain.normal01.none.sum.D8.layer8.std", 1,
                      "the input's")}),
      statement("D06", "003", "table 2.3: gradient norms 0.000012 … 0.432156",
                {printed("layer 1", blog8, "layer1.grad_norm", 0.000012),
                 printed("layer 2", blog8, "layer2.grad_norm", 0.000045),
                 printed("layer 3", blog8, "layer3.grad_norm", 0.000231),
                 printed("layer 7", blog8, "layer7.grad_norm", 0.123456),
                 printed("layer 8", blog8, "layer8.grad_norm", 0.432156)}),
      tested("D07", "003", "front layers get no gradient, only back layers learn",
             {at_least("of 8 layers, the last has 1000 times the first", blog8, "grad_norm.last_over_first",
                       1000, "a thousandth is next to nothing"),
              at_most("of 100 layers, the first has nothing", depth,
                      "plain.default.none.sum.D100.layer1.grad_norm", 1e-3, "the last has about 100")}),
      tested("D08", "003", "after 100 layers the std is about 1e-10",
             {printed("PyTorch's default", depth, "plain.default.none.sum.D100.layer100.std", 1e-10),
              printed("without biases", depth, "plain.default_nobias.none.sum.D100.layer100.std", 1e-10),
              printed("Xavier", depth, "plain.xavier_normal.none.sum.D100.layer100.std", 1e-10),
              printed("He", depth, "plain.he_normal.none.sum.D100.layer100.std", 1e-10),
              printed("orthogonal · √2", depth, "plain.orthogonal_sqrt2.none.sum.D100.layer100.std", 1e-10)}),
      tested("D09", "003", "1000 layers cannot be trained at all",
             {at_most("default weights: no gradient at layer 1", depth,
                      "plain.default.none.sum.D1000.layer1.grad_norm", 1e-6, "a weight of 0.05 never moves"),
              at_most("He: none either", depth, "plain.he_normal.none.sum.D1000.layer1.grad_norm", 1e-6,
                      "as above"),
              at_most("orthogonal · √2: none either", depth,
                      "plain.orthogonal_sqrt2.none.sum.D1000.layer1.grad_norm", 1e-6, "as above")}),
      tested("D11", "003", "vectors are normalised to about unit length",
             {within("the Euclidean length of a row of 512", properties, "length.euclidean", 0.9, 1.1,
                     "a tenth to either side")}),
      statement("D12", "003", "table 3.3: std after each block with RMSNorm, 0.98 … 1.01",
                {printed("block 1", blog8_rmsnorm, "layer1.std", 0.9823),
                 printed("block 2", blog8_rmsnorm, "layer2.std", 1.0142),
                 printed("block 3", blog8_rmsnorm, "layer3.std", 0.9956),
                 printed("block 4", blog8_rmsnorm, "layer4.std", 1.0089),
                 printed("block 5", blog8_rmsnorm, "layer5.std", 0.9934),
                 printed("block 6", blog8_rmsnorm, "layer6.std", 1.0023),
                 printed("block 7", blog8_rmsnorm, "layer7.std", 0.9987),
                 printed("block 8", blog8_rmsnorm, "layer8.std", 0.9956)}),
      tested("D13", "003", "with RMSNorm gradients neither explode nor vanish, also with 96 layers and more",
             {at_least("layer 1 of 100", depth, "plain.default.rmsnorm.sum.D100.layer1.grad_norm", 4,
                       "a thousandth of the last layer's 4000"),
              at_least("layer 1 of 1000, no residual", depth,
                       "plain.default.rmsnorm.sum.D1000.layer1.grad_norm", 4, "as above"),
              at_least("block 1 of 1000, pre-norm residual", depth,
                       "pre.default.rmsnorm.sum.D1000.layer1.grad_norm", 4, "as above"),
              at_least("100 plain layers learn MNIST", training, "plain.default.rmsnorm.depth100.accuracy",
                       0.5, "half of the digits, in 100 steps"),
              at_least("100 pre-norm blocks do", training, "pre.default.rmsnorm.depth100.accuracy", 0.5,
                       "as above")}),
      tested("D14", "003", "RMSNorm keeps the direction: the cosine is 1 to 1e-9",
             {at_most("f32 data, cosine in f64", properties, "direction.cosine_in_f64.deviation", 1e-9,
                      "as printed", Sight::every),
              at_most("f32 data, cosine in f32", properties, "direction.cosine_in_f32.deviation", 1e-9,
                      "as printed", Sight::every),
              at_most("bf16 data", properties, "direction.bf16.deviation", 1e-9, "as printed", Sight::every),
              at_most("a weight of 1 + 0.1 N", properties, "direction.weighted.deviation", 1e-9, "as printed",
                      Sight::every)}),
      statement("D15", "003", "with RMSNorm the output of each layer has std 1",
                {within("block 1", blog8_rmsnorm, "layer1.std", 0.9, 1.1, "a tenth to either side"),
                 within("block 8", blog8_rmsnorm, "layer8.std", 0.9, 1.1, "a tenth to either side")}),
      tested("D16", "003", "the formulas of LayerNorm and RMSNorm",
             {identity("LayerNorm's", "formula.layernorm.error"),
              identity("RMSNorm's", "formula.rmsnorm.error")}),
      tested("D19", "003", "after many layers the mean of activations is about 0, more so with residuals",
             {at_most("100 plain layers: mean/std before the ReLU", depth,
                      "plain.default.none.sum.D100.layer100.mean_over_std", 0.2, "a fifth of the std"),
              at_most("100 blocks with a residual: a tenth of that", depth,
                      "residual.default.none.sum.D100.layer100.mean_over_std", 0.01, "tighter, as claimed")}),
      no_source("D20", "003", "100 layers: the mean lies in [-0.0234, 0.0187], after the Llama paper",
                "no such experiment was found in the LLaMA paper"),
      no_source("D21", "003", "Llama paper: perplexity of 7B 12.34 with LayerNorm, 12.31 with RMSNorm",
                "the paper states that it uses RMSNorm; no comparison was found in it"),
      no_source("D22", "003", "training 12 % faster, memory 2 % less",
                "no source was found; parameters alone save 0.004 % of a 7B model"),
      cited("D24", "003", "MiniMindBlock: pre-norm attention and feed-forward with residuals",
            "so in its source; the introductory snippet of section 1.1 has no residuals"),
      tested("D25", "003", "8 blocks × 2 + 1 = 17 RMSNorms",
             {exactly("MiniMind as described has", "count.minimind.rmsnorms", 17),
              exactly("and 25,829,888 parameters", "count.minimind.parameters", 25829888)}),
      cited("D26", "003", "model_minimind.py, lines 95 to 105 and 359 to 380",
            "so at the commit of 2025-11-08; moved since"),
      tested("D27", "003", "weight · norm(x) and norm(x) · weight are the same mathematics",
             {identity("in f64", "formula.weight_first.error")}),
      tested("D28", "003", "post-norm is N(x + A(x)), pre-norm x + A(N(x))",
             {at_most("pre-norm, block against formula, f32", properties, "formula.pre_norm.error", 1e-5,
                      "a hundred roundings of f32", Sight::every),
              at_most("post-norm", properties, "formula.post_norm.error", 1e-5, "as above", Sight::every)}),
      cited("D30", "003", "modern language models all use pre-norm",
            "Gemma 2 and 3 use both; OLMo 2 normalises the branches' outputs; nGPT has no pre-norm"),
      cited("D31", "003", "GPT-3, Llama, MiniMind and Mistral are pre-norm", "GPT-3 with LayerNorm"),
      statement("D32", "003", "the three scripts demonstrate the text's figures",
                {at_most("why_normalization.py without norm falls below its own alarm of 0.01", scripts,
                         "layer8.std", 0.01, "the script's threshold"),
                 within("with norm it stays near 1", scripts_norm, "layer8.std", 0.95, 1.05,
                        "\"always near 1.0\"")}),
  };
}

std::vector<Claim> elementwise() {
  return {
      tested("F01", "004", "DyT(x) = γ tanh(α x) + β",
             {identity("spelled out in ops it is the fused layer", "formula.dyt.error")}),
      tested("F02", "004", "y = x / rms(x) = √d x / ‖x‖",
             {identity("both forms agree", "formula.sqrt_d.error")}),
      tested(
          "F05", "004", "√(1 + 2u) = 1 + u",
          {at_most("at u = 0.001", properties, "expansion.u0.001.relative_error", 1e-6, "u² = 1e-6",
                   Sight::every),
           at_most("at u = 1", properties, "expansion.u1.relative_error", 1e-6, "as above", Sight::every)}),
      tested("F12", "004", "DyT keeps the forward pass from exploding",
             {at_most("He, pre-norm, 100 blocks with DyT", "explosion_dyt", "layer100.std", 100,
                      "a tenfold of √100"),
              at_least("while without a norm it explodes", depth,
                       "residual.he_normal.none.sum.D100.layer100.std", 1e10, "3^50 = 7e23 in theory")}),
      tested(
          "F16", "004", "SkipInit, ReZero and Fixup do without normalization",
          {within("Fixup, 1000 blocks: the std stays 1", depth,
                  "fixup.he_normal.none.random.D1000.layer1000.std", 0.9, 1.1, "branches start at 0"),
           within("SkipInit with 1/√depth, 1000 blocks: it stays bounded", depth,
                  "skipinit.he_normal.none.random.D1000.layer1000.std", 0.5, 5, "√e = 1.65, e in theory")}),
      cited("F13", "004", "softcap is Gemma 2's, on attention logits",
            "50 on attention, 30 on the output; Gemma 3 has QK-norm instead"),
      cited("F17", "004", "nGPT normalises everything", "so in its source"),
      cited("F18", "004", "the paper's name and title",
            "arXiv 2503.21708 began as \"Elementwise Layer Normalization\"; later versions say DyISRU"),
      cited("F20", "004", "no elementwise function beats normalization", "an opinion"),
      cited("F08", "004", "an explicit √d with a trainable 1/ρ may be better", "an opinion"),
  };
}

std::vector<Claim> derivatives() {
  return {
      tested("F03", "004", "the gradient of x/‖x‖ is I/‖x‖ − x xᵀ/‖x‖³",
             {identity("by backward, d = 512", "jacobian.unit.d512.max_abs_diff", jacobian)}),
      tested("F04", "004", "RMSNorm's Jacobian is (1/rms)(I − y yᵀ/d)",
             {identity("by backward, d = 512", "jacobian.rmsnorm.d512.max_abs_diff", jacobian),
              exactly("its rank is d − 1", "jacobian.rmsnorm.d512.rank", 511, jacobian),
              identity("J x = 0", "jacobian.rmsnorm.d512.null", jacobian)}),
      tested("F06", "004", "dy/dx = (1/ρ)(1 − y²/d) is solved by y = √d tanh(x/(ρ√d))",
             {identity("the curve's own slope", "ode.dyt_sqrtd.d512.slope_residual", jacobian),
              identity("the equation integrated from 0", "ode.dyt_sqrtd.d512.integrated_diff", jacobian)}),
      tested("F07", "004", "DyT absorbs √d in γ and 1/(ρ√d) in α",
             {identity("with them it is the explicit form", "dyt_as_dyt_sqrtd.d512.max_abs_diff", jacobian)}),
      tested("F09", "004", "dy/dx = (y/x)(1 − y²/d) is solved by y = √d x/√(x² + C)",
             {identity("C = 1", "ode.dyisru.d512.c1.slope_residual", jacobian),
              identity("C = 511", "ode.dyisru.d512.c511.slope_residual", jacobian),
              identity("C = 512", "ode.dyisru.d512.c512.slope_residual", jacobian)}),
      tested("F10", "004", "DyISRU is the best elementwise approximation of RMSNorm",
             {identity("with a C of its own per element it is exact", "exact_per_element.d512.max_abs_diff",
                       jacobian),
              at_most("normal inputs: its error is DyT's at most", jacobian, "fit.normal.dyisru_over_dyt", 1,
                      "not worse"),
              at_most("one outlier channel: its error is DyT's at most", jacobian,
                      "fit.outlier_channel.dyisru_over_dyt", 1, "not worse")}),
      tested("F19", "004", "every |y| of a norm is bounded",
             {within("RMSNorm's by √d, d = 512", jacobian, "bound.rmsnorm.d512", 22.6, 22.6275,
                     "√512 = 22.6274", Sight::every),
              within("LayerNorm's by √(d − 1)", jacobian, "bound.layernorm.d512", 22.6, 22.6054,
                     "√511 = 22.6053", Sight::every)}),
  };
}

std::vector<Claim> speeds() {
  constexpr string_view tenth = "a tenth is more than the noise of medians";
  return {
      tested("A09", "000", "RMSNorm computes less: no mean",
             {exactly("it takes one reduction", "reductions.rmsnorm_spelled", 1, speed),
              at_least("LayerNorm spelled out takes longer than RMSNorm spelled out", speed,
                       "forward.1000x512.layernorm_squares_over_rmsnorm_spelled", 1.1, tenth),
              at_least("a fused LayerNorm takes longer than RMSNorm as printed", speed,
                       "forward.1000x512.layernorm_fused_over_rmsnorm_spelled", 1.1, tenth)}),
      Claim{.id = "B04",
            .source = "001",
            .printed = "RMSNorm is 7 % to 64 % faster than LayerNorm on a GPU",
            .standing = Standing::not_run,
            .note = "no GPU here; the paper's abstract says that of whole models' running time"},
      tested("B06", "001", "LayerNorm needs mean and variance, RMSNorm one reduction",
             {exactly("LayerNorm spelled out has two", "reductions.layernorm_squares", 2, speed),
              exactly("RMSNorm one", "reductions.rmsnorm_spelled", 1, speed)}),
      tested("C08", "002", "faster at comparable quality",
             {at_least("a fused LayerNorm takes longer than RMSNorm as printed", speed,
                       "forward.1000x512.layernorm_fused_over_rmsnorm_spelled", 1.1, tenth),
              at_most("the losses differ by no more than seeds do", lm,
                      "pre.layernorm_minus_rmsnorm.mean_over_seeds_range", 1, "the range of paired seeds")}),
      tested(
          "D17", "003", "LayerNorm passes twice over the data, RMSNorm once",
          {exactly("spelled out, LayerNorm takes two sums", "reductions.layernorm_squares", 2, speed),
           exactly("RMSNorm one", "reductions.rmsnorm_spelled", 1, speed),
           at_least("a fused LayerNorm takes twice the time of a fused RMSNorm", speed,
                    "forward_backward.1000x512.layernorm_fused_over_rmsnorm", 1.8, "twice, less a tenth")}),
      tested("D18", "003", "RMSNorm is 7.7 times as fast (1000 × 512, forward; on an A100, here on a CPU)",
             {at_least("both fused", speed, "forward.1000x512.layernorm_fused_over_rmsnorm", 7,
                       "7.7, less a tenth"),
              at_least("both spelled out with means of squares", speed,
                       "forward.1000x512.layernorm_squares_over_rmsnorm_spelled", 7, "as above"),
              at_least("fused LayerNorm against the printed RMSNorm", speed,
                       "forward.1000x512.layernorm_fused_over_rmsnorm_spelled", 7, "as above")}),
      tested("F21", "004", "DyT is faster than normalization",
             {at_most("both fused, forward", speed, "forward.1000x512.dyt_over_rmsnorm", 0.95,
                      "a twentieth faster"),
              at_most("both spelled out, forward", speed, "forward.1000x512.dyt_spelled_over_rmsnorm_spelled",
                      0.95, "as above")}),
  };
}

std::vector<Claim> language_models() {
  return {
      tested("A13", "000", "RMSNorm is as good as LayerNorm",
             {at_most("small language model: the losses differ by no more than seeds do", lm,
                      "pre.layernorm_minus_rmsnorm.mean_over_seeds_range", 1, "the range of paired seeds")}),
      tested("D10", "003", "without normalization deep Transformers cannot be trained",
             {at_least("a small language model without norms learns no more than how frequent letters are",
                       lm, "pre.none.val_loss_over_unigram_loss", 0.95, "their frequencies alone give 1"),
              at_most("residual nets of 100 blocks without norms learn nothing on MNIST", training,
                      "pre.default.none.depth100.accuracy", 0.2, "guessing gives 0.12")}),
      tested("D23", "003", "trained models are equally good with either norm",
             {at_most("small language model: the losses differ by no more than seeds do", lm,
                      "pre.layernorm_minus_rmsnorm.mean_over_seeds_range", 1, "the range of paired seeds")}),
      tested("D29", "003",
             "pre-norm is more stable and takes larger learning rates; post-norm is hard when deep",
             {at_least("16 blocks at a rate of 1e-2: post-norm ends 0.3 nats above pre-norm", lm,
                       "64x16.rmsnorm.lr_0.01.post_minus_pre", 0.3, "several times what seeds differ"),
              at_least("4 blocks: post-norm ends above pre-norm too", lm, "rmsnorm.post_minus_pre", 0.01,
                       "a third of what seeds differ")}),
      tested("F11", "004", "softcap(x, t) = t tanh(x/t) approximates clipping",
             {at_most("t = 50: the largest gap to a clip, over t", logits,
                      "softcap50.largest_gap_to_clip_over_cap", 0.25, "1 − tanh 1 = 0.238", Sight::every),
              at_most("its slope at 500 is 0", logits, "softcap50.slope.x500", 1e-6, "as a clip's",
                      Sight::every)}),
      tested("F14", "004", "behind the softcap logits are bounded, before it they still grow",
             {at_most("behind a cap of 5", logits, "softcap.capped.highest", 5, "the cap", Sight::every),
              at_least("before it they pass four times that", logits, "softcap.precap.end", 20,
                       "they start near 1.7")}),
      tested("F15", "004", "QK-norm curbs the growth of logits better",
             {at_most("with QK-norm they end at less than half", logits, "qk_norm.logit_over_none.end", 0.5,
                      "of those without"),
              at_least("with softcap they end as high as without", logits, "softcap.precap_over_none.end",
                       0.7, "not less than seeds differ")}),
  };
}

}  // namespace

const std::vector<Claim>& table() {
  static const std::vector<Claim> all = [] {
    std::vector<Claim> claims;
    for (const auto& part :
         {invariances(), depths(), elementwise(), derivatives(), speeds(), language_models()})
      claims.insert(claims.end(), part.begin(), part.end());
    std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) { return a.id < b.id; });
    return claims;
  }();
  return all;
}

}  // namespace isobar::claims
