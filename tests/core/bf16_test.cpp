// bf16: rounding against values worked out by hand, products against double, gradients against f32.
#include "../../core/bf16.h"

#include <bit>
#include <cstdlib>

#include "../../autograd/autograd.h"
#include "../message_of.h"
#include "../run.h"
#include "../same_tensors.h"
#include "../scoped_variable.h"
#include "../skip.h"
#include "../thread_counts.h"
#include "gemm_product.h"

namespace isobar::bf16_test {

// Lets oneDNN emulate bf16 where the CPU has none.
struct Emulated : ScopedVariable {
  Emulated() : ScopedVariable("ISOBAR_BF16", "emulated") {}
};

// False, saying why, where not even emulation is possible: without oneDNN or AVX-512.
bool can_multiply() {
  const std::string obstacle = bf16_obstacle();
  if (!obstacle.empty()) skip(obstacle);
  return obstacle.empty();
}

// y, dx, dw and dbias of an op with a loss that weighs all of y differently.
struct Outcomes {
  Tensor y, dx, dw, dbias;
};

template <class Op>
Outcomes run(const Op& op, Precision precision, std::initializer_list<Shape> shapes) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes)
    inputs.push_back(Rng(2).split(inputs.size()).normal(shape, 0, 1, Dtype::f32).set_trainable());
  Tape tape;
  const WithPrecision scope(precision);
  const Tensor y = op(inputs);
  tape.backward(y, Rng(3).normal(y.shape(), 0, 1, Dtype::f32));
  return {y, inputs[0].grad(), inputs[1].grad(), inputs.size() > 2 ? inputs[2].grad() : Tensor()};
}

Tensor linear_of(const std::vector<Tensor>& in) { return linear(in[0], in[1], in[2]); }

TEST_CASE("to_bf16 rounds to the nearest, ties to even, and keeps NaN and infinity") {
  const struct {
    uint32_t from;
    uint16_t to;
    const char* what;
  } cases[] = {
      {0x3f800000, 0x3f80, "1"},
      {0x3f807fff, 0x3f80, "just below half: down"},
      {0x3f808000, 0x3f80, "half above an even one: down"},
      {0x3f808001, 0x3f81, "just above half: up"},
      {0x3f818000, 0x3f82, "half above an odd one: up"},
      {0xbf818000, 0xbf82, "the same below zero"},
      {0x3fffffff, 0x4000, "carries into the exponent"},
      {0x00000000, 0x0000, "0"},
      {0x80000000, 0x8000, "-0"},
      {0x00000001, 0x0000, "the smallest denormal"},
      {0x00008000, 0x0000, "half of the smallest bf16"},
      {0x00018000, 0x0002, "a denormal tie"},
      {0x007fffff, 0x0080, "the largest denormal becomes normal"},
      {0x7f7f7fff, 0x7f7f, "the largest that stays finite"},
      {0x7f7f8000, 0x7f80, "overflows to infinity"},
      {0xff7fffff, 0xff80, "overflows to -infinity"},
      {0x7f800000, 0x7f80, "infinity"},
      {0xff800000, 0xff80, "-infinity"},
      {0x7fc00000, 0x7fc0, "NaN"},
      {0x7f800001, 0x7fc0, "a NaN whose upper fraction is empty"},
      {0xffffffff, 0xffff, "a NaN that a carry would turn into 0"},
  };
  std::vector<float> in;
  for (const auto& one : cases) in.push_back(std::bit_cast<float>(one.from));
  std::vector<Bf16> out(in.size());
  to_bf16(static_cast<int64_t>(in.size()), in.data(), out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    CAPTURE(cases[i].what);
    CHECK(out[i].bits == cases[i].to);
    CHECK(to_bf16(in[i]).bits == cases[i].to);
  }
  CHECK(to_float(Bf16{0x3fc0}) == 1.5f);
  CHECK(std::isnan(to_float(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("a copy in bf16 takes two bytes a number and has the order of rows") {
  const Tensor x = transpose(Rng(1).normal({25, 40}, 0, 1, Dtype::f32));
  const size_t before = memory::stats().bytes_in_use;
  const Bf16Copy copy(x);
  const size_t taken = memory::stats().bytes_in_use - before;
  CHECK(taken >= 2000);
  CHECK(taken < 4000);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 25; ++j)
      REQUIRE(copy.data()[i * 25 + j].bits == to_bf16(static_cast<float>(x.at({i, j}))).bits);
}

TEST_CASE("a product of bf16 matrices equals three loops in double") {
  const Emulated guard;
  if (!can_multiply()) return;
  for (Problem p : {Problem{1, 1, 1},
                    {1, 7, 3},
                    {7, 1, 3},
                    {5, 3, 1},
                    {17, 33, 9},
                    {64, 64, 64},
                    {130, 70, 257},
                    {70, 1600, 40},
                    {20, 40, 5000}})
    for (int flags = 0; flags < 16; ++flags) {
      p.transpose_a = flags & 1;
      p.transpose_b = flags & 2;
      p.accumulate = flags & 4;
      p.gap = flags & 8 ? 3 : 0;
      // Products are exact; k sums in f32 round by 2^-24 each, at random: far below 1e-5 for k = 5000.
      check_against_loops<float, Bf16>(p, gemm, 1e-5);
    }
}

TEST_CASE("empty products of bf16 matrices leave C, or zeros, and take no other start") {
  const Emulated guard;
  if (!can_multiply()) return;
  std::vector<float> c{1, 2};
  gemm(Gemm<float, Bf16>{.m = 0, .n = 2, .k = 3, .a = {nullptr, 3}, .b = {nullptr, 2}, .c = {c.data(), 2}});
  gemm(Gemm<float, Bf16>{
      .m = 1, .n = 2, .k = 0, .b = {nullptr, 2}, .start = {c.data(), 2}, .c = {c.data(), 2}});
  CHECK(c == std::vector<float>{1, 2});
  gemm(Gemm<float, Bf16>{.m = 1, .n = 2, .k = 0, .b = {nullptr, 2}, .c = {c.data(), 2}});
  CHECK(c == std::vector<float>{0, 0});
  float bias[2] = {};
  CHECK(message_of([&] {
          gemm(Gemm<float, Bf16>{
              .m = 1, .n = 2, .k = 0, .b = {nullptr, 2}, .start = {bias, 2}, .c = {c.data(), 2}});
        }) == "gemm: products of bf16 matrices take no bias; add it afterwards");
}

TEST_CASE("products of bf16 matrices have the same bits for any number of threads") {
  const Emulated guard;
  if (!can_multiply()) return;
  for (const Problem& p : {Problem{700, 1700, 130, false, true, false, 0},  // many tiles, both ways
                           {513, 384, 700, true, false, true, 0},
                           {33, 31, 17, false, false, false, 1}}) {
    check_same_on_threads([&] {
      Product<float, Bf16> product(p);
      gemm(product.g);
      return product.c;
    });
  }
}

TEST_CASE("the precision scope nests, ends, and belongs to f32 tensors") {
  const Emulated guard;
  if (!can_multiply()) return;
  CHECK(recording.precision == Precision::f32);
  {
    const WithPrecision outer(Precision::bf16);
    CHECK(recording.precision == Precision::bf16);
    {
      const WithPrecision inner(Precision::f32);
      CHECK(recording.precision == Precision::f32);
    }
    CHECK(recording.precision == Precision::bf16);
    // 1 + 2^-9 is no bf16: it becomes 1 in a product of f32, and stays in one of f64.
    const Tensor x = full({1, 1}, 1 + 0x1p-9, Dtype::f64);
    CHECK(linear(raw::cast(x, Dtype::f32), ones({1, 1})).item() == 1);
    CHECK(linear(x, ones({1, 1}, Dtype::f64)).item() == 1 + 0x1p-9);
  }
  CHECK(recording.precision == Precision::f32);
}

TEST_CASE("linear and matmul in bf16 stay within 1 % of f32, values and gradients") {
  const Emulated guard;
  if (!can_multiply()) return;
  const auto matmul_of = [](const std::vector<Tensor>& in) { return matmul(in[0], in[1]); };
  const auto transposed_matmul = [](const std::vector<Tensor>& in) {
    return matmul(transpose(in[0]), transpose(in[1]));
  };
  const auto compare = [](const char* what, const auto& op, std::initializer_list<Shape> shapes) {
    CAPTURE(what);
    const Outcomes exact = run(op, Precision::f32, shapes), rounded = run(op, Precision::bf16, shapes);
    // An operand is off by 2^-9 at most, a product of two by 2^-8, and errors of a sum cancel in part.
    for (const auto& part : {&Outcomes::y, &Outcomes::dx, &Outcomes::dw}) {
      CHECK(difference(rounded.*part, exact.*part) < 1e-2);
      CHECK(difference(rounded.*part, exact.*part) > 1e-5);  // else nothing was rounded
    }
    if (exact.dbias.defined()) CHECK(difference(rounded.dbias, exact.dbias) == 0);
  };
  compare("linear", linear_of, {{6, 17, 40}, {33, 40}, {33}});
  compare("linear of a vector", linear_of, {{40}, {33, 40}, {33}});
  compare("matmul", matmul_of, {{5, 2, 19, 40}, {5, 2, 40, 7}});
  compare("matmul, broadcast", matmul_of, {{5, 1, 19, 40}, {2, 40, 7}});
  compare("matmul of transposed views", transposed_matmul, {{4, 40, 19}, {4, 7, 40}});
}

TEST_CASE("a gradient follows the precision of its forward, in the scope or after it") {
  const Emulated guard;
  if (!can_multiply()) return;
  const Tensor x = full({1, 1}, 1 + 0x1p-9, Dtype::f32);
  const auto gradient = [&](const auto& op) {
    Tensor w = ones({1, 1}).set_trainable();
    Tape tape;
    std::optional<WithPrecision> scope(std::in_place, Precision::bf16);
    const Tensor y = op(w);
    scope.reset();
    tape.backward(y, ones({1, 1}));
    return w.grad().item();
  };
  CHECK(gradient([&](const Tensor& w) { return linear(x, w); }) == 1);
  CHECK(gradient([&](const Tensor& w) { return matmul(x, w); }) == 1);
}

TEST_CASE("linear in bf16 on a higher-order tape has the second derivative of its composed form") {
  const Emulated guard;
  if (!can_multiply()) return;
  // y = (x w)², so dy/dw = 2 x² w and d²y/dw² = 2 x²; all numbers are exact in bf16.
  const WithPrecision scope(Precision::bf16);
  Tensor w = full({1, 1}, 3, Dtype::f32).set_trainable();
  Tape tape({.higher_order = true});
  const Tensor y = sum(square(linear(full({1, 1}, 2, Dtype::f32), w)));
  const Tensor dw = tape.gradient(y, {w})[0];
  CHECK(dw.item() == 24);
  CHECK(tape.gradient(sum(dw), {w})[0].item() == 8);
}

TEST_CASE("train_lm --precision bf16 trains in bf16, or says why not and gives f32's bits") {
  const TemporaryFolder folder;
  const std::string tiny =
      "--corpus synthetic --n_layer 1 --n_head 2 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 4"
      " --max_iters 6 --warmup_iters 2 --eval_iters 2";
  const auto train = [&](const std::string& precision, const std::string& name) {
    const Outcome run = run_built("train_lm", tiny + " --precision " + precision + " --out " + folder / name);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return run;
  };
  const auto losses = [&](const char* name) { return file_text(folder / (std::string(name) + "/loss.csv")); };
  train("f32", "f32");
  const Outcome as_is = train("bf16", "as_is");
  if (const std::string obstacle = bf16_obstacle(); !obstacle.empty()) {
    CHECK(as_is.err.find("warning: --precision bf16: " + obstacle + "; products stay in f32\n") !=
          std::string::npos);
    CHECK(losses("as_is") == losses("f32"));
    CHECK(file_text(folder / "as_is/summary.json").find("\"precision\": \"f32\"") != std::string::npos);
  }

  const Emulated guard;
  if (!can_multiply()) return;
  train("bf16", "bf16");
  CHECK(losses("bf16") != losses("f32"));
  CHECK(run_built("train_lm", "--precision bf61").err.find("did you mean bf16?") != std::string::npos);
}

}  // namespace isobar::bf16_test
