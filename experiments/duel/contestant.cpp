#include "contestant.h"

#include <fmt/ranges.h>

#include "../../autograd/tape.h"
#include "../../nn/model.h"
#include "../lm/training/small_config.h"
#include "../nets/decay/bits.h"
#include "../run/lists.h"
#include "../run/settings.h"
#include "typed_norm.h"

namespace isobar::duel {
namespace {

// What a duel sets for both alike, or what a training of train_lm alone has.
const std::set<std::string> of_both = {"corpus",
                                       "as_is",
                                       "tokenizer",
                                       "init_from",
                                       "vocab_size",
                                       "block_size",
                                       "batch_size",
                                       "max_iters",
                                       "muon_lr",
                                       "min_lr",
                                       "anomaly",
                                       "eval_iters",
                                       "learning_rate",
                                       "log_interval",
                                       "on_nan",
                                       "seeds",
                                       "keep",
                                       "eval_interval",
                                       "checkpoint_interval",
                                       "gradient_accumulation_steps"};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

bool is_header(const std::string& text) {
  return std::ranges::any_of(std::array{".h", ".hpp", ".hh", ".cpp"},
                             [&](const char* end) { return text.ends_with(end) && text != end; });
}

bool is_placement(const std::string& text) { return std::ranges::count(placement_names(), text) > 0; }

// "post.rmsnorm" → {"post", "rmsnorm"}, "my_norm.h" → {"", "my_norm.h"}.
std::pair<std::string, std::string> placement_and_norm(const std::string& net) {
  const size_t dot = net.find('.');
  const bool placed = dot != std::string::npos && is_placement(net.substr(0, dot)) && net.substr(dot) != ".h";
  return placed ? std::pair(net.substr(0, dot), net.substr(dot + 1)) : std::pair("", net);
}

bool is_name(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string::npos &&
         text != "x" && text != "-x";
}

[[noreturn]] void refuse_name(const std::string& name) {
  Choices known = net_names();
  for (const Choices& more : {norm_names(), placement_names()})
    known.insert(known.end(), more.begin(), more.end());
  throw_error(fmt::format(
      "wanted a norm ({}), a header (my_norm.h), flags (\"--norm dyt --placement post\") or a formula "
      "(\"x / (1 + mean(abs(x))) * w\"), got '{}'{}",
      fmt::join(norm_names(), ", "), name, did_you_mean(name, known)));
}

// The registered name of a norm that is named, or typed.
std::string registered(const std::string& norm) {
  if (std::ranges::count(norm_names(), norm) > 0) return norm;
  check(!is_header(norm),
        "'{}' is not built into this program; `isobar duel` builds one that has it, and becomes that program",
        norm);
  if (is_name(norm)) refuse_name(norm);
  register_norm(norm, [formula = live::parse_formula(norm)](const Shape& width, const NormOptions&) {
    return std::make_unique<TypedNorm>(formula, width);
  });
  return norm;
}

// Names of flags and their values: {"norm", "dyt", "bias", "true"}, of "--norm=dyt --bias", too.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::string& text) {
  const auto words = shell_words(text);
  check(words.has_value(), "a quote is not closed");
  LmConfig config;
  const std::vector<Setting> settings = settings_of(config);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    check(word.starts_with("--") && word.size() > 2, "wanted a flag such as --norm, got '{}'", word);
    const size_t end = std::min(word.find('='), word.size());
    std::string name = word.substr(2, end - 2);
    std::ranges::replace(name, '-', '_');
    const bool off = name.starts_with("no_");
    const auto flag = std::ranges::find(settings, off ? name.substr(3) : name, &Setting::name);
    const bool boolean = flag != settings.end() && std::holds_alternative<bool>(flag->value);
    if (end < word.size())
      pairs.emplace_back(name, word.substr(end + 1));
    else if (boolean)
      pairs.emplace_back(flag->name, off ? "false" : "true");
    else if (i + 1 < words->size() && !(*words)[i + 1].starts_with("--"))
      pairs.emplace_back(name, (*words)[++i]);
    else
      pairs.emplace_back(name, "");
    check(flag == settings.end() || boolean || !pairs.back().second.empty(), "--{}: wanted a value", name);
  }
  return pairs;
}

void take_flags(Contestant& c, const std::string& text) {
  bool has_norm = false;
  LmConfig config;
  std::set<std::string> given;
  for (const auto& [name, value] : pairs_of(text)) {
    check(!of_both.contains(name),
          "--{}: a duel has it alike for both; drop it here, and see `isobar duel --help`", name);
    if (name == "norm") {
      c.norm = registered(value);
      has_norm = true;
    } else if (set_setting_text(config, name, value, "--" + name); name == "placement") {
      c.placement = value;
    } else {
      c.flags.insert(c.flags.end(), {"--" + name, value});
    }
    given.insert(name);
  }
  if (!has_norm && !has_norms(placement_from_name(c.placement))) c.norm = "none";
  c.apply_to(config);
  give_way(config, given);
  config.check_together();
}

void take_net(Contestant& c, const std::string& net) {
  const auto [placement, norm] = placement_and_norm(net);
  if (!placement.empty()) c.placement = placement;
  if (placement.empty() && is_placement(net) && !has_norms(placement_from_name(net))) {
    c.placement = net == "none" ? "pre" : net;
    c.norm = "none";
  } else {
    check(!is_placement(net) || net == "none", "{0}: a placement wants its norm: {0}.rmsnorm", net);
    c.norm = registered(norm);
  }
  check(c.norm == "none" || has_norms(placement_from_name(c.placement)),
        "{} does without norms, so it has no place for {}; write {}, or pre.{}", c.placement, c.norm,
        c.placement, c.norm);
}

// The formulas' own labels are their texts; a header's is its name without the folder.
std::string label_of(const Contestant& c) {
  std::string label = is_header(c.norm) ? c.norm.substr(c.norm.rfind('/') + 1) : c.norm;
  if (!has_norms(placement_from_name(c.placement)) && c.norm == "none")
    label = c.placement;
  else if (c.placement != "pre")
    label += ", " + c.placement;
  for (size_t i = 0; i < c.flags.size(); i += 2) label += ", " + c.flags[i].substr(2) + " " + c.flags[i + 1];
  return label;
}

}  // namespace

void Contestant::apply_to(LmConfig& config) const {
  config.norm = norm;
  config.placement = placement;
  for (size_t i = 0; i < flags.size(); i += 2)
    set_setting_text(config, flags[i].substr(2), flags[i + 1], flags[i]);
}

Contestant parse_contestant(const std::string& words) {
  Contestant contestant{.words = trimmed(words)};
  try {
    if (contestant.words.starts_with("--"))
      take_flags(contestant, contestant.words);
    else
      take_net(contestant, contestant.words);
  } catch (const Error& error) {
    throw_error(fmt::format("contestant '{}': {}", contestant.words, error.what()));
  }
  contestant.label = label_of(contestant);
  return contestant;
}

std::unique_ptr<Module> norm_of(const Contestant& contestant, int64_t width) {
  LmConfig config;
  contestant.apply_to(config);
  return make_norm(config.norm, {width}, config.model(1).norm_options);
}

// Every parameter is moved a little, by a stream of its number: ones and zeros hide what a norm does with
// them.
std::string fingerprint(const Contestant& contestant) {
  const Rng rng(1);
  const std::unique_ptr<Module> norm = norm_of(contestant, 64);
  const std::vector<Tensor> all = parameters(*norm);
  for (size_t i = 0; i < all.size(); ++i) {
    Tensor parameter = all[i];
    assign(parameter, parameter.detach() + rng.split("parameter").split(i).normal(parameter.shape(), 0, 0.2));
  }
  const Tensor x = rng.split("x").normal({4, 8, 64}).set_trainable();
  Tape tape;
  const Tensor y = (*norm)(x);
  tape.backward(y, rng.split("dy").normal(y.shape()));
  std::vector<Tensor> values = {y.detach(), x.grad()};
  for (const Tensor& one : all) values.push_back(one.grad());
  decay::Bits bits;
  for (const Tensor& one : values)
    if (one.defined())
      for (const float value : one.to_vector<float>()) bits.add(value);
  return bits.text();
}

std::string header_in(const std::string& words) {
  const std::string text = trimmed(words);
  std::string norm = placement_and_norm(text).second;
  if (text.starts_with("--")) {
    norm.clear();
    for (const auto& [name, value] : pairs_of(text))
      if (name == "norm") norm = value;
  }
  return is_header(norm) ? norm : "";
}

std::vector<std::string> with_contestants_kept(std::vector<std::string> words) {
  for (std::string& word : words)
    if (const size_t space = word.find_first_of(" ="); word.starts_with("--") && space < word.size())
      if (word[space] == ' ') word.insert(0, " ");
  return words;
}

}  // namespace isobar::duel
