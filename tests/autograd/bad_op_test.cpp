#include "../../autograd/check/bad_op.h"

#include "../../autograd/ops.h"
#include "../same_tensors.h"

namespace isobar::bad_op_test {

constexpr float inf = INFINITY, nan = NAN;

// What a trace says of the loss that the function records, forward and back.
std::optional<BadOp> bad_op_of(const std::function<Tensor()>& loss) {
  const TapeTrace trace;
  Tape tape;
  tape.backward(loss());
  return first_bad_op(trace);
}

Tensor trainable(const Shape& shape, const std::vector<float>& values) {
  return tensor(shape, values).set_trainable();
}

// A loss, and the beginning of what is said of it; "" where it finds nothing.
struct Row {
  const char* name;
  std::function<Tensor()> loss;
  std::string text;
};

std::vector<Row> rows() {
  const Tensor x = trainable({2, 2}, {1, 2, 100, 3}), some = trainable({3}, {4, 0, 1}),
               bad_weight = trainable({3}, {1, nan, inf}), one = trainable({}, {1});
  const Tensor mask = tensor({2, 2}, std::vector<float>{0, -inf, -inf, -inf}),
               data = tensor({3}, std::vector<float>{1, 2, nan});
  return {
      {"a healthy step", [=] { return mean(square(x)); }, ""},
      {"exp overflows, and others pass it on", [=] { return mean(exp(x) * 2.0 + square(x)); },
       "forward of exp made inf at [1, 0] of its result [2, 2] out of input 0 [2, 2] from 1 to 100; passed on to "},
      {"0 / 0", [=] { return sum((some - 1.0) / (some - 1.0)); },
       "forward of divide made NaN at [2] of its result [3] out of input 0 [3] from -1 to 3, input 1 [3] from -1 to 3; passed"},
      {"inf - inf: what made the infinity, and who made NaN of it",
       [=] {
         const Tensor y = exp(x);
         return sum(y - y);
       },
       "forward of exp made inf at [1, 0] of its result [2, 2] out of input 0 [2, 2] from 1 to 100; subtract made NaN of it"},
      {"the logarithm of 0", [=] { return sum(log(some)); },
       "forward of log made -inf at [1] of its result [3] out"},
      {"an infinity that does not reach the loss",
       [=] {
         exp(x);
         return sum(square(x));
       },
       ""},
      {"one that reaches the loss beside one that does not",
       [=] {
         exp(x);
         return sum(log(some));
       },
       "forward of log made -inf at [1] of its result [3] out of input 0 [3] from 0 to 4; passed"},
      {"a row that is masked whole: softmax, not the mask", [=] { return sum(softmax(x + mask)); },
       "forward of softmax made NaN at [1, 0] and 1 more place of its result [2, 2] out of input 0 [2, 2] from 1 to 1 and 3 "
       "infinities; passed"},
      {"a parameter", [=] { return sum(bad_weight * 2.0); },
       "forward of multiply got NaN at [1] and 1 more place of input 0 [3], the parameter: it was not finite before"},
      {"data", [=] { return sum(some * data); },
       "forward of multiply got NaN at [2] of input 1 [3], a constant or data: it was not finite before; passed"},
      {"the slope of sqrt at 0", [=] { return sum(sqrt(some)); },
       "backward of sqrt made inf at [1] of the gradient of input 0 [3] out of dy [3] from 1 to 1, input 0 [3] from "
       "0 to 4"},
      {"a finite loss whose backward meets an infinity of forward",
       [=] { return sum(reciprocal(1.0 + exp(1e3 * some))); },
       "forward of exp made inf at [0] and 1 more place of its result [3] out of input 0 [3] from 0 to 4000; passed"},
      {"two finite gradients with an infinite sum",
       [=] {
         const Tensor y = one * 1e-30, z = y * 3e38;
         return z + y * 3e38;
       },
       "backward of multiply: the gradients of all uses of its result are finite, their sum holds inf at [] of dy []"},
  };
}

TEST_CASE("the search tells the op that made a NaN or infinity from those that passed it on") {
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    const std::optional<BadOp> bad = bad_op_of(row.loss);
    const std::string text = bad ? bad->text() : "";
    CHECK(text.substr(0, row.text.empty() ? text.npos : row.text.size()) == row.text);
  }
}

TEST_CASE("what is not finite is kept whole, with the numbers that the op read") {
  const Tensor x = trainable({2, 2}, {1, 2, 100, 3});
  const Scope scope(Scope::intern("blocks.1"));
  const std::optional<BadOp> bad = bad_op_of([&] { return sum(exp(square(x)) * 2.0); });
  REQUIRE(bad.has_value());
  CHECK(bad->place() == "forward of exp in blocks.1");
  CHECK(bad->number == 1);
  CHECK(bad->result.index() == std::vector<int64_t>{1, 0});
  CHECK(bad->inputs.at(0).greatest == 10000);
  CHECK(same_bits(bad->values, exp(square(x)).detach()));
  CHECK(bad->passed_on == 5);  // multiply, sum, reshape; the gradients of exp and square
}

TEST_CASE("a gradient that the caller gave is told from a sum") {
  const TapeTrace trace;
  Tape tape;
  tape.backward(square(trainable({2}, {1, 2})), tensor({2}, {1, INFINITY}));
  const std::optional<BadOp> bad = first_bad_op(trace);
  REQUIRE(bad.has_value());
  CHECK(bad->text().starts_with("backward of square was given inf at [1] of dy [2]"));
}

TEST_CASE("a step that an exception ends leaves the trace as it was") {
  const Tensor x = trainable({2, 2}, {1, 2, 100, 3});
  const TapeTrace trace;
  {
    Tape tape;
    const Tensor y =
        record("mine", square(x).detach(), {x}, [](const Tensor&) -> Tensor { throw Error("no"); });
    CHECK_THROWS_AS(tape.backward(sum(y)), Error);
  }
  CHECK(!first_bad_op(trace));
  Tape tape;
  tape.backward(sum(exp(square(x))));
  const std::optional<BadOp> bad = first_bad_op(trace);
  REQUIRE(bad.has_value());
  CHECK(bad->place() == "forward of exp");
  CHECK(bad->number == 1);
}

TEST_CASE("another batch shows which dimension of the bad tensor is the batch") {
  const Tensor w = trainable({2}, {1, 2});
  const auto trace_of = [&](int64_t rows) {
    auto trace = std::make_unique<TapeTrace>();
    Tape tape;
    sum(exp(transpose(ones({rows, 2}) * w) * 1e3));
    return trace;
  };
  const std::optional<BadOp> bad = first_bad_op(*trace_of(5));
  REQUIRE(bad.has_value());
  CHECK(bad->op == "exp");
  CHECK(shape_in(*trace_of(5), *bad) == Shape{2, 5});
  CHECK(shape_in(*trace_of(4), *bad) == Shape{2, 4});
  BadOp other = *bad;
  other.op = "log";
  CHECK(!shape_in(*trace_of(5), other));
}

}  // namespace isobar::bad_op_test
