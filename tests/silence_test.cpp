// Programs that once gave a wrong gradient, or none, without a word, or that crashed. Each now gives the
// right numbers, or is refused with a sentence that names the op and the repair.
//
// Tapes are in silent_tapes_test.cpp, training in silence_training_test.cpp, and these elsewhere:
//
//   step() between forward and backward, any optimizer    optimizer_error_test "backward names the …"
//   step() or clipping without any gradient               optimizer_error_test "… without any gradient …"
//   an optimizer over tensors that the model replaced     optimizer_error_test three tests
//   a frozen parameter in an optimizer                    optimizer_error_test "parameters frozen after …"
//   a parameter that fields() forgot                      check_layer_test     "… what else a layer …"
//   check_layer's thread count after a layer that throws  check_layer_test     "… the number of threads …"
//   two watches; a watched model that moves, or ends      call_test            three tests
//   null parts of a model                                 call_test            "null parts are refused …"
//   an output of integers that a Probe sees               observe_test         "an output of integers …"
//   an empty list of axes                                 vocabulary_test      "an empty list of axes …"
//   x / 49 with x = 49, denormal divisors, −x of 0        vocabulary_test      "division by a number divides"
//   a variance far from zero; of too few elements         vocabulary_test      "a variance …", two tests
//   causal attention under detect_anomaly, higher order   vocabulary_test      "causal attention is finite …"
//   BatchNorm1d's running variance far from zero          layer_edges_test     "the running variance …"
//   mse_loss of [N, 1] against [N]                        loss_test            "losses refuse shapes …"
//   log_softmax at 1e8; attention at large logits         softmax_test         three tests
//   rows of −∞ alone                                      softmax_test         two tests
//   DyISRU's padded lane                                  padded_lane_test     "what a kernel computes …"
//   indices that are rewritten before backward            indices_test         "indices that were …", "i32 …"
//   pad by INT64_MAX                                      layout_test          "pad refuses amounts …"
//   giving memory back where there is none                memory_test          "giving blocks back …"
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <limits>

#include "../autograd/ops.h"
#include "../autograd/recompute.h"
#include "../autograd/tape.h"
#include "../core/raw.h"
#include "message_of.h"

namespace isobar::silence_test {
namespace {

using Values = std::vector<double>;

Tensor leaf(const Tensor& x) { return x.detach().set_trainable(); }
Tensor number(double value) { return full(Shape{}, value, Dtype::f64); }
Tensor matrix() { return leaf(tensor({2, 3}, Values{1, 2, 3, 4, 5, 6})); }

// d (Σ weights · f(w)) / dw for a w of (2, 3).
Values gradient_of(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor w = matrix();
  Tape tape;
  const Tensor y = f(w);
  tape.backward(sum(y * cast(reshape(tensor({6}, Values{1, 2, 3, 4, 5, 6}), y.shape()), y.dtype())));
  return w.grad().defined() ? w.grad().to_vector<double>() : Values{};
}

// The message of a backward through an op of one or two inputs whose closure returns this.
template <class Closure>
std::string backward_message(const std::vector<Tensor>& inputs, Closure closure) {
  Tape tape;
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : inputs) pointers.push_back(&x);
  const Scope scope(Scope::intern("blocks.3.mine"));
  const Tensor y = record("mine", ones(inputs[0].shape(), inputs[0].dtype()), pointers, closure);
  const Tensor loss = sum(y);
  return message_of([&] { tape.backward(loss); });
}

}  // namespace

TEST_CASE("copies, layouts and casts keep the gradient, whatever the memory layout") {
  const Values straight{1, 2, 3, 4, 5, 6}, turned{1, 3, 5, 2, 4, 6};
  struct Row {
    const char* what;
    std::function<Tensor(const Tensor&)> f;
    Values dw;
  };
  const std::vector<Row> rows{
      {"clone", [](const Tensor& w) { return clone(w); }, straight},
      {"clone of a transpose", [](const Tensor& w) { return clone(transpose(w)); }, turned},
      {"contiguous", [](const Tensor& w) { return contiguous(w); }, straight},
      {"contiguous of a transpose", [](const Tensor& w) { return contiguous(transpose(w)); }, turned},
      {"contiguous of a reshape",
       [](const Tensor& w) {
         return contiguous(reshape(w, {3, 2}));
       },
       straight},
      {"cast", [](const Tensor& w) { return cast(w, Dtype::f32); }, straight},
      {"cast of a transpose", [](const Tensor& w) { return cast(transpose(w), Dtype::f32); }, turned},
      {"cast there and back", [](const Tensor& w) { return cast(cast(w, Dtype::f32), Dtype::f64); },
       straight},
      {"reshape of a transpose", [](const Tensor& w) { return reshape(transpose(w), {6}); }, turned}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(gradient_of(row.f) == row.dw);
  }
}

TEST_CASE("a value that is overwritten between forward and backward is refused, and the op is named") {
  Tensor w = leaf(full({1}, 3));
  Tape tape;
  const Tensor loss = sum(w * w * w);
  assign(w, full({1}, 2));
  CHECK(message_of([&] { tape.backward(loss); }) ==
        "backward: input 1 [1] of multiply was overwritten by assign() after it was recorded; call backward "
        "before step()");
  CHECK(!w.grad().defined());
}

TEST_CASE("a weight used twice and overwritten is refused") {
  Tensor w = leaf(ones({2, 2}));
  Tape tape;
  const Tensor loss = sum(linear(linear(ones({1, 2}), w), w));
  assign(w, zeros({2, 2}));
  CHECK(message_of([&] { tape.backward(loss); }) ==
        "backward: input 1 [2, 2] of linear was overwritten by assign() after it was recorded; call backward "
        "before step()");
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

TEST_CASE(
    "a constant that recompute's function reads through unrecorded ops alone is checked by its result") {
  const Tensor x = leaf(tensor({3}, Values{1, 2, 3}));
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
  Values shift(33);
  const Tensor w = leaf(zeros({33}, Dtype::f64));
  for (double& element : shift) {  // wherever it stands
    Tape tape;
    const Tensor y = sum(recompute([&](const Tensor& h) { return h + tensor({33}, shift); }, w));
    element = 1;
    CHECK(
        message_of([&] { tape.backward(y); }).starts_with("recompute: the function gave other values [33]"));
  }
}

TEST_CASE("recompute of a function with constants that nobody overwrites goes through") {
  const Tensor x = leaf(number(3)), buffer = number(5);
  Tape tape;
  // A constant made and freed in the function: its memory serves other tensors before backward.
  const Tensor y = recompute([&](const Tensor& h) { return h * (buffer + 1) * number(2); }, x);
  for (int i = 0; i < 100; ++i) number(i);
  tape.backward(y);
  CHECK(x.grad().item() == 12);
}

TEST_CASE("a parameter may be frozen after it was used, and thawed") {
  Tensor w = leaf(number(2));
  const Tensor x = leaf(number(3));
  for (const bool frozen : {false, true, false}) {
    w.clear_grad(), x.clear_grad();
    w.set_trainable(!frozen);
    Tape tape;
    tape.backward(w * x);
    CHECK(x.grad().item() == 2);
    CHECK(w.grad().defined() == !frozen);
  }
}

TEST_CASE("weights frozen between two forwards on one tape count as constants in the second") {
  Tensor w = leaf(number(2));
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor first = w * x;
  w.set_trainable(false);
  const Tensor second = square(w) * x;
  w.set_trainable();
  tape.backward(first + second);
  CHECK(w.grad().item() == 3);
  CHECK(x.grad().item() == 2 + 4);
}

TEST_CASE("a weight that is frozen at backward receives no gradient") {
  Tensor w = leaf(number(2));
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor y = w * x;
  w.set_trainable(false);
  tape.backward(y);
  CHECK(!w.grad().defined());
  CHECK(x.grad().item() == 2);
}

TEST_CASE("a weight of recompute's function that is frozen before backward is refused") {
  Tensor w = leaf(number(2));
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor y = recompute([&](const Tensor& h) { return h * w; }, x);
  w.set_trainable(false);
  CHECK(message_of([&] { tape.backward(y); }) ==
        "recompute: the function gave [] from 2 tensors that want a gradient, and in backward [] from 1; it "
        "must do the same twice");
}

TEST_CASE("views outside of their storage are refused") {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const Tensor x = ones({2});
  CHECK(message_of([&] { raw::as_strided(x, {4}, {1000}); }) ==
        "as_strided: [4] with strides [1000] at offset 0 reaches outside of a storage of 2 elements");
  for (const int64_t stride : {huge, -huge, huge / 2 + 1, int64_t{-1}}) {
    CAPTURE(stride);
    CHECK(message_of([&] { raw::as_strided(x, {3}, {stride}); }).starts_with("as_strided: [3] with strides"));
    CHECK(message_of([&] {
            raw::as_strided(x, {2, 3}, {stride, stride});
          }).starts_with("as_strided: [2, 3]"));
  }
  CHECK(message_of([&] { raw::as_strided(x, {1}, {1}, huge); }).starts_with("as_strided: [1]"));
  CHECK(message_of([&] { raw::as_strided(x, {1}, {1}, -1); }).starts_with("as_strided: [1]"));
}

TEST_CASE("a closure must return one gradient per input") {
  const Tensor a = leaf(number(1)), b = leaf(number(2));
  const auto message = [](const char* got, const char* wanted) {
    return std::string("backward of mine in blocks.3.mine: its closure returned ") + got + " for " + wanted +
           "; return one per input, undefined where there is none";
  };
  CHECK(backward_message({a, b}, [](Tensor dy) { return dy; }) == message("1 gradient", "2 inputs"));
  CHECK(backward_message({a, b}, [](const Tensor& dy) { return std::vector{dy}; }) ==
        message("1 gradient", "2 inputs"));
  CHECK(backward_message({a, b}, [](const Tensor& dy) {
          return std::vector{dy, dy, dy};
        }) == message("3 gradients", "2 inputs"));
  CHECK(backward_message({a, b}, [](const Tensor& dy) {
          return std::array{dy, dy, dy};
        }) == message("3 gradients", "2 inputs"));
  CHECK(backward_message({a}, [](const Tensor&) { return std::vector<Tensor>{}; }) ==
        message("0 gradients", "1 input"));
  CHECK(!a.grad().defined());
}

TEST_CASE("a closure must return the input's dtype and shape") {
  const Tensor x = leaf(zeros({2, 3}, Dtype::f64));
  CHECK(backward_message({x}, [](const Tensor& dy) { return cast(dy, Dtype::f32); }) ==
        "backward of mine in blocks.3.mine: the gradient of input 0 must be f64, got f32");
  CHECK(backward_message({x}, [](const Tensor& dy) { return transpose(dy); }) ==
        "backward of mine in blocks.3.mine: the gradient of input 0 must be [2, 3], got [3, 2]; is it "
        "transposed?");
}

TEST_CASE("an op may not return its own input as a recorded result") {
  const Tensor x = leaf(number(3));
  Tape tape;
  CHECK(message_of([&] { record("mine", x, {x}, [](const Tensor& dy) { return dy * 2; }); }) ==
        "mine: its result is one of its inputs []; return a new tensor, such as x.detach()");
  const Tensor h = square(x);
  CHECK(!message_of([&] { record("mine", h, {h}, [](const Tensor& dy) { return dy * 2; }); }).empty());
  tape.backward(h);
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a recorded tensor cannot be made trainable") {
  const Tensor x = leaf(ones({3}));
  Tape tape;
  Tensor y = square(x);
  CHECK(message_of([&] { y.set_trainable(); }) ==
        "trainable: this tensor [3] was computed by an op on a tape, and gradients are kept for leaves only; "
        "call detach() first");
}

TEST_CASE("a trainable temporary lives as long as its name") {
  const Tensor& w = ones({3}).set_trainable();
  Tape tape;
  tape.backward(sum(w * 2.0));
  CHECK(w.grad().to_vector<double>() == Values(3, 2.0));
}

TEST_CASE("assign reads an overlapping source before it writes") {
  Tensor w = tensor({2, 2}, Values{1, 2, 3, 4});
  assign(w, transpose(w));
  CHECK(w.to_vector<double>() == Values{1, 3, 2, 4});
}

}  // namespace isobar::silence_test
