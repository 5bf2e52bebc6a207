// Contestants of a duel: what words mean, and the norm of a formula.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include "../../experiments/duel/contestant.h"
#include "../../nn/check/check.h"
#include "../../nn/nn.h"
#include "../message_of.h"
#include "../misuse.h"

namespace isobar::contestant_test {

using namespace duel;

// "label | norm | placement | flags"
std::string parsed(const std::string& words) {
  const Contestant c = parse_contestant(words);
  return fmt::format("{} | {} | {} | {}", c.label, c.norm, c.placement, fmt::join(c.flags, " "));
}

TEST_CASE("words mean a norm, a placement with its norm, flags, or a formula") {
  CHECK(parsed("rmsnorm") == "rmsnorm | rmsnorm | pre | ");
  CHECK(parsed(" post.dyt ") == "dyt, post | dyt | post | ");
  CHECK(parsed("rezero") == "rezero | none | rezero | ");
  CHECK(parsed("none") == "none | none | pre | ");
  CHECK(parsed("--norm dyt --placement peri") == "dyt, peri | dyt | peri | ");
  CHECK(parsed("--optimizer=muon --bias --no-tie-embeddings") ==
        "rmsnorm, optimizer muon, bias true, tie_embeddings false | rmsnorm | pre | "
        "--optimizer muon --bias true --tie_embeddings false");
  CHECK(parsed("--placement fixup") == "fixup | none | fixup | ");
  CHECK(parsed("x / (1 + mean(abs(x)))") == "x / (1 + mean(abs(x))) | x / (1 + mean(abs(x))) | pre | ");
  CHECK(parsed("peri.x * 2") == "x * 2, peri | x * 2 | peri | ");
  CHECK(parsed("--norm 'x * w' --alpha 3") == "x * w, alpha 3 | x * w | pre | --alpha 3");
  LmConfig config;
  parse_contestant("--norm derf --n_layer 2 --bias").apply_to(config);
  CHECK((config.norm == "derf" && config.n_layer == 2 && config.bias));
}

TEST_CASE("words that mean nothing get a sentence that says what was wanted") {
  const auto of = [](const char* words) { return [=] { parse_contestant(words); }; };
  const std::vector<Misuse> rows = {
      {of(""), "contestant '': wanted a norm (none, layernorm, …"},
      {of("rmsnrom"), "contestant 'rmsnrom': wanted a norm (none, layernorm, …"},
      {of("post"), "contestant 'post': post: a placement wants its norm: post.rmsnorm"},
      {of("rezero.dyt"),
       "contestant 'rezero.dyt': rezero does without norms, so it has no place for dyt; write rezero, or pre.dyt"},
      {of("mine.h"),
       "contestant 'mine.h': 'mine.h' is not built into this program; `isobar duel` builds one …"},
      {of("x / (1 +"), "contestant 'x / (1 +': at 9: wanted a number, x, w, b, '(' or one of mean, …"},
      {of("mean(x)"),
       "contestant 'mean(x)': at 1: a norm gives a number for each of x, and this formula one …"},
      {of("--nrom dyt"), "contestant '--nrom dyt': --nrom: no such setting; did you mean norm?"},
      {of("--norm"), "contestant '--norm': --norm: wanted a value"},
      {of("--norm --bias"), "contestant '--norm --bias': --norm: wanted a value"},
      {of("--norm dyt rmsnorm"),
       "contestant '--norm dyt rmsnorm': wanted a flag such as --norm, got 'rmsnorm'"},
      {of("--norm 'dyt"), "contestant '--norm 'dyt': a quote is not closed"},
      {of("--placement above"),
       "contestant '--placement above': --placement: wanted one of none, pre, post, …"},
      {of("--norm dyt --placement rezero"),
       "contestant '--norm dyt --placement rezero': --norm dyt has no place in --placement rezero, which does …"},
      {of("--alpha 2"),
       "contestant '--alpha 2': --alpha has no meaning with --norm rmsnorm; drop it, or take …"},
      {of("--learning_rate 1e-3"),
       "contestant '--learning_rate 1e-3': --learning_rate: a duel has it alike for both; drop it here, and …"},
      {of("--n_embd 3.5"), "contestant '--n_embd 3.5': --n_embd: wanted a whole number >= 1, got '3.5'…"},
  };
  for (const Misuse& row : rows) {
    const std::string message = message_of(row.code);
    const size_t most = row.message.ends_with("…") ? row.message.size() - 3 : std::string::npos;
    CHECK(message.substr(0, most) == row.message.substr(0, most));
  }
  CHECK(message_of(of("rmsnrom")).ends_with("got 'rmsnrom'; did you mean rmsnorm?"));
  CHECK(message_of(of("pots.rmsnorm")).ends_with("got 'pots.rmsnorm'; did you mean post.rmsnorm?"));
}

TEST_CASE("words on a command line show their header, and flags in one word stay one") {
  CHECK(header_in("my_norm.h") == "my_norm.h");
  CHECK(header_in("post.norms/my_norm.hpp") == "norms/my_norm.hpp");
  CHECK(header_in("--placement post --norm=../my.h") == "../my.h");
  CHECK(header_in("../my.h") == "../my.h");
  CHECK(header_in("a11.cpp") == "a11.cpp");
  CHECK(header_in("pre.h") == "pre.h");
  for (const char* none : {"rmsnorm", "post.rmsnorm", "--norm dyt", "x / (1 + mean(abs(x)))", ".h", ""})
    CHECK(header_in(none) == "");
  CHECK(with_contestants_kept({"--norm dyt", "rmsnorm", "--out", "a b", "--out=a b"}) ==
        std::vector<std::string>{" --norm dyt", "rmsnorm", "--out", "a b", "--out=a b"});
}

// y and the gradients of x and weight.
std::vector<Tensor> values_of(Module& norm, Dtype dtype) {
  convert(norm, dtype);
  const Tensor x = Rng(1).normal({3, 5, 8}, 0.5, 2, dtype).set_trainable(),
               dy = Rng(2).normal({3, 5, 8}, 0, 1, dtype);
  Tape tape;
  const Tensor y = norm(x);
  tape.backward(y, dy);
  return {y.detach(), x.grad(), parameters(norm).at(0).grad()};
}

TEST_CASE("a norm that is typed is the norm that is registered, in another order of operations") {
  for (const auto& both : {std::pair{"x / (mean(x^2) + 1e-5)^0.5 * w", "rmsnorm"},
                           {"w * (x - mean(x)) / sqrt(mean((x - mean(x))^2) + 1e-5) + b", "layernorm"},
                           {"tanh(0.5 * x) * w + b", "dyt"}}) {
    CAPTURE(both.first);
    const auto norm = norm_of(parse_contestant(both.first), 8);
    const auto same = norm_of(parse_contestant(both.second), 8);
    const std::vector<Tensor> got = values_of(*norm, Dtype::f32), wanted = values_of(*same, Dtype::f32);
    for (const size_t i : {0, 1})
      CHECK(max(abs(got[i] - wanted[i])).item() < 1e-6 * max(abs(wanted[i])).item());
  }
  // All of the alphabet, and its gradient.
  const Contestant all =
      parse_contestant("w*-x^3/(1+sum(abs(tanh(x)-sigmoid(x)*erf(x)+relu(x)-exp(x)-log(x^2))))+b");
  const LayerReport checked = check_layer([&] { return norm_of(all, 5); }, Rng(3).normal({4, 5}));
  CHECK_MESSAGE(checked.passed(), checked.text());
}

TEST_CASE("a fingerprint is of what a norm computes, and of no name") {
  const auto of = [](const char* words) { return fingerprint(parse_contestant(words)); };
  CHECK(of("rmsnorm") == of("post.rmsnorm"));
  CHECK(of("rmsnorm") != of("layernorm"));
  CHECK(of("rmsnorm") != of("--norm_eps 1e-6"));
  CHECK(of("x*w") == of("w * x"));
  CHECK(of("x*w") != of("x*w*1.0000001"));
}

}  // namespace isobar::contestant_test
