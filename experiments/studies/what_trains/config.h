// What what_trains trains: a net of the map, and every knob of the study.
#pragma once

#include <limits>
#include <set>

#include "../../../core/fields.h"
#include "../../../core/rng.h"
#include "../../run/json.h"

namespace isobar::trains {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// One net of the map, but for its learning rate and its seed.
//
//   plain        digit (784) → input → depth × relu(N(W h)) → head → 10 logits
//   residual     digit (784) → input → depth blocks around relu: h + W2 relu(W1 h) → head → 10 logits
//   transformer  characters → embedding → depth blocks of attention and GELU → head → 65 logits
//
// The norm is one of norm_choices(): "none"; "pre.rmsnorm" and others, a norm's placement and name; "fixup" and
// "skipinit", which need none. A plain chain has its norm before each ReLU, whatever the placement.
struct Net {
  std::string task = "residual", norm = "none", optimizer = "adamw";
  int64_t depth = 8, width = 64;
  // The std of an initial matrix is scale / √width. That of MLPs scales their hidden matrices (input and head:
  // 1/√fan_in), that of a transformer all, of which those that end a branch have 1/√(2 depth) of it, as in GPT-2;
  // Fixup's first matrices have 1/√depth of it (transformer: 1/√(2 depth)), its last ones are 0.
  double scale = 1;
  double embedding_std = 1;  // of the transformer

  bool operator==(const Net&) const = default;
  bool is_mlp() const { return task != "transformer"; }
  bool has_norm() const { return norm != "none" && norm != "fixup" && norm != "skipinit"; }
  std::string placement() const { return norm.substr(0, norm.find('.')); }
  std::string norm_name() const { return has_norm() ? norm.substr(norm.find('.') + 1) : "none"; }
  // Which line of the map it is on: all but depth, width and scale. "residual.adamw.pre.rmsnorm",
  // "transformer.muon.none.e0.02".
  std::string key() const;
  Json settings() const;
};

// The optimizers of a model: of two the first is Muon, whose rate the map shows.
inline constexpr double adam_w_share = 0.15;  // AdamW's rate over Muon's: 3e-3 over 0.02, as in duel
inline constexpr double momentum = 0.9;       // SGD's

// Whether there is such a net: a plain chain has no branches, and SGD trains no transformer here.
bool makes_sense(const Net& net);

const Choices& task_names();
const Choices& norm_choices();
const Choices& optimizer_names();

// The scale at which a chain keeps its signal: √2 for plain chains of ReLUs (He et al. 2015), else 1.
double default_scale(const std::string& task);
int64_t default_depth(const std::string& task);

struct Config : HasFields {
  std::vector<std::string> tasks = task_names();
  std::vector<std::string> norms = {"none", "pre.rmsnorm", "post.layernorm", "pre.dyt_sqrtd", "fixup"};
  std::vector<std::string> more_norms = {};  // with AdamW alone
  std::vector<std::string> optimizers = optimizer_names();
  std::vector<double> scales = {0.125, 0.5, 2, 8};  // of AdamW
  std::vector<double> few_scales = {0.25, 4};       // of the other optimizers
  std::vector<double> embedding_stds = {1, 0.02};   // nanoGPT's is 0.02
  std::vector<int64_t> depths = {2, 8, 32};         // of MLPs at the default scale, with AdamW
  std::vector<int64_t> n_layers = {2, 4, 8};        // the same of transformers
  int64_t width = 64;                               // of MLPs
  int64_t n_embd = 32;                              // of transformers
  int64_t steps = 100;
  int64_t batch = 64;                   // digits a step
  int64_t block_size = 32, blocks = 8;  // characters of a text, and texts, a step
  int64_t seeds = 3;                    // of cells at a border
  double share = 0.9;                   // of the best cell's gain: the net learns
  int64_t draw = 0;                     // nets that are drawn at random, to try the answers
  std::string mnist = "", corpus = "";
  // A net that is asked about; nothing is trained then.
  std::string task = "transformer", norm = "", optimizer = "";
  int64_t depth = 0;
  double init_std = 0, embedding_std = 0, rate = 0;

  void fields(Fields& f) override;
  void check_together() const;
  // A net of this study at its task's default depth and scale.
  Net net(const std::string& of_task, const std::string& with_norm, const std::string& moved_by) const;
  // A net and a rate (the octave) within what is asked for, drawn by this stream.
  std::pair<Net, double> drawn(const Rng& rng) const;
  // The flags that ask about a net, and that net.
  static const std::set<std::string>& questions();
  Net asked() const;
};

}  // namespace isobar::trains
