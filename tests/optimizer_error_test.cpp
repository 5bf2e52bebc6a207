// What optimizers refuse, and what they say: settings, parameters, and steps that could move nothing.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "../core/raw.h"
#include "../nn/activation.h"
#include "../nn/linear.h"
#include "../nn/model.h"
#include "../nn/sequential.h"
#include "../optim/optim.h"
#include "message_of.h"
#include "optimizer_values.h"

namespace isobar::optimizer_error_test {

namespace {

const std::string forgotten =
    ": no parameter has a gradient; call tape.backward(loss) before step(), and make the optimizer after "
    "convert() or another replacement of the model's tensors";

Sequential two_layers() { return Sequential(Linear(2, 3, Rng(1)), ReLU(), Linear(3, 1, Rng(2))); }

}  // namespace

TEST_CASE("bad settings are refused by name") {
  Tensor w = parameter({1, 2});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of([&] { SGD({w}, {.lr = -1}); }) == "sgd: lr must be finite and not negative, got -1");
  CHECK(message_of([&] { AdamW({w}, {.lr = nan}); }) ==
        "adam_w: lr must be finite and not negative, got nan");
  CHECK(message_of([&] { SGD({w}, {.nesterov = true}); }) ==
        "sgd: nesterov wants a momentum above 0; set .momentum");
  CHECK(message_of([&] { SGD({w}, {.momentum = -0.1}); }) ==
        "sgd: momentum must be finite and not negative, got -0.1");
  CHECK(message_of([&] { Adam({w}, {.beta1 = 1}); }) == "adam: beta1 must be in [0, 1), got 1");
  CHECK(message_of([&] { AdamW({w}, {.beta2 = -0.5}); }) == "adam_w: beta2 must be in [0, 1), got -0.5");
  CHECK(message_of([&] { AdamW({w}, {.eps = nan}); }) ==
        "adam_w: eps must be finite and not negative, got nan");
  CHECK(message_of([&] { AdamW({w}, {.weight_decay = -1}); }) ==
        "adam_w: weight_decay must be finite and not negative, got -1");
  const auto grouped_sgd = [](const ParameterGroup& group) { SGD optimizer(std::vector{group}); };
  CHECK(message_of([&] { grouped_sgd({.parameters = {w}, .weight_decay = -1}); }) ==
        "sgd: weight_decay of a group must be finite and not negative, got -1");
  CHECK(message_of([&] { grouped_sgd({.parameters = {w}, .lr_scale = -1}); }) ==
        "sgd: lr_scale of a group must be finite and not negative, got -1");
  SGD optimizer({w}, {.lr = 0.5});
  CHECK(message_of([&] { optimizer.set_lr(-2); }) == "sgd: lr must be finite and not negative, got -2");
  CHECK(optimizer.lr() == 0.5);
}

TEST_CASE("bad parameters are refused by index") {
  Tensor w = parameter({1, 2});
  const auto message = [](const std::vector<Tensor>& parameters) {
    return message_of([&] { SGD optimizer(parameters); });
  };
  CHECK(message({}) == "sgd: wanted at least one parameter, got none; does the model list its fields?");
  CHECK(message({w, w}) == "sgd: parameter 1 [2] is given twice");
  // A weight and a trainable view of it, whole or in part.
  const auto view = [&](int64_t begin, int64_t end) {
    return raw::as_strided(w, Shape{end - begin}, {1}, begin).set_trainable();
  };
  const Tensor other = parameter({3});
  const std::string shared = " share numbers, which a step would move twice; give one of them, or a clone()";
  CHECK(message({w, other, view(0, 2)}) == "sgd: parameters 0 [2] and 2 [2]" + shared);
  CHECK(message({view(1, 2), w}) == "sgd: parameters 0 [1] and 1 [2]" + shared);
  CHECK_NOTHROW(SGD({view(0, 1), view(1, 2), view(1, 1)}));
  CHECK(message({w, Tensor()}) == "sgd: parameter 1 is undefined; give it a value first");
  CHECK(message({zeros({3}, Dtype::i64)}) == "sgd: parameter 0 [3] must be f32 or f64, got i64");
  CHECK(message({raw::as_strided(zeros({3, 2}), {2, 3}, {1, 2}).set_trainable()}) ==
        "sgd: parameter 0 [2, 3] is not contiguous; train a clone() of it");
  CHECK(message({w, zeros({3})}) ==
        "sgd: parameter 1 [3] is frozen; call set_trainable() before the optimizer is made, or leave it out");
  Tape tape;
  CHECK(
      message({w, w * 2.0}) ==
      "sgd: parameter 1 [2] was computed by an op on a tape, and gradients are kept for leaves only; train a "
      "detach() of it");
}

TEST_CASE("a step without any gradient is refused, and changes nothing") {
  Tensor w = parameter({1, -2}), b = parameter({3});
  AdamW adam_w({w, b});
  SGD sgd({w}, {.lr = 1});
  CHECK(message_of([&] { adam_w.step(); }) == "adam_w" + forgotten);
  CHECK(message_of([&] { sgd.step(); }) == "sgd" + forgotten);
  w.set_grad(make({1, 1}));
  CHECK(sgd.step() == 1);
  CHECK(message_of([&] { sgd.step(); }) == "sgd" + forgotten);  // the gradient is used up
  CHECK(w.to_vector<double>() == Doubles{0, -3});
  CHECK(adam_w.lr() == 1e-3);
  b.set_grad(make({1}));
  CHECK(adam_w.step() == 1);  // one without a gradient among others is legal
  CHECK(w.to_vector<double>() == Doubles{0, -3});
}

TEST_CASE("a step after convert() names the tensors that the model has let go of") {
  Sequential model = two_layers();
  const Tensor x = ones({4, 2}, Dtype::f64);
  SUBCASE("nobody else holds them") {
    AdamW optimizer(parameters(model));
    convert(model, Dtype::f64);
    Tape tape;
    tape.backward(mean(model(x)));
    CHECK(message_of([&] { optimizer.step(); }) ==
          "adam_w: parameter 0 [3, 2], 1 [3], 2 [1, 3], 3 [1] can get no gradient any more, because only the "
          "optimizer still holds it: was the model converted, or a part of it replaced? Make the optimizer "
          "after convert()");
  }
  SUBCASE("the user holds the old list, too") {
    const std::vector<Tensor> all = parameters(model);
    AdamW optimizer(all);
    convert(model, Dtype::f64);
    Tape tape;
    tape.backward(mean(model(x)));
    CHECK(message_of([&] { optimizer.step(); }) == "adam_w" + forgotten);
  }
}

TEST_CASE("a step names a replaced part of the model even where the others have gradients") {
  Linear first(2, 3, Rng(1)), second(3, 1, Rng(2));
  std::vector<Tensor> all = parameters(first);
  for (const Tensor& p : parameters(second)) all.push_back(p);
  SGD optimizer(all, {.lr = 0.1});
  all.clear();
  const Tensor x = ones({4, 2});
  const auto train = [&] {
    Tape tape;
    tape.backward(mean(second(first(x))));
    return optimizer.step();
  };
  CHECK(train() == 4);
  second = Linear(3, 1, Rng(3));
  const std::vector<float> before = first.weight.to_vector<float>();
  CHECK(message_of(train) ==
        "sgd: parameter 2 [1, 3], 3 [1] can get no gradient any more, because only the optimizer still holds "
        "it: was the model converted, or a part of it replaced? Make the optimizer after convert()");
  CHECK(first.weight.to_vector<float>() == before);
}

TEST_CASE("an optimizer that follows its model sees a replaced part although a list holds the old tensors") {
  Linear first(2, 3, Rng(1)), second(3, 1, Rng(2));
  const auto of_model = [&] {
    std::vector<Tensor> all = parameters(first);
    for (const Tensor& p : parameters(second)) all.push_back(p);
    return all;
  };
  const std::vector<Tensor> all = of_model();
  SGD optimizer(all, {.lr = 0.1});
  optimizer.follow(of_model);
  const auto train = [&] {
    Tape tape;
    tape.backward(mean(second(first(ones({4, 2})))));
    clip_grad_norm(all, 1.0);
    return optimizer.step();
  };
  CHECK(train() == 4);
  second.weight.set_trainable(false);  // parameters() leaves it out
  CHECK(train() == 3);
  second = Linear(3, 1, Rng(3));
  CHECK(message_of(train) ==
        "sgd: parameter 3 [1] is not among the model's any more: was the model converted, or a part of it "
        "replaced? Make the optimizer after that");
}

TEST_CASE("a long list of replaced tensors is cut") {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < 7; ++i) all.push_back(ones(Shape{i}).set_trainable());
  SGD optimizer(all);
  all.clear();
  CHECK(message_of([&] {
          optimizer.step();
        }).find("sgd: parameter 0 [0], 1 [1], 2 [2], 3 [3] and 3 more can") == 0);
}

TEST_CASE("parameters frozen after the optimizer was made are skipped") {
  Tensor w = parameter({1}), b = parameter({2});
  SGD optimizer({w, b}, {.lr = 1, .momentum = 0.5});
  w.set_grad(make({1}));
  b.set_grad(make({1}));
  w.set_trainable(false);
  CHECK(optimizer.step() == 1);
  CHECK(w.item() == 1);
  CHECK_FALSE(w.grad().defined());  // a gradient from before does not wait for the thaw
  CHECK(b.item() == 1);
  CHECK(message_of([&] { optimizer.step(); }) == "sgd" + forgotten);
  b.set_trainable(false);
  CHECK(optimizer.step() == 0);  // all are frozen on purpose: this stage moves other parameters
  w.set_trainable();
  w.set_grad(make({1}));
  CHECK(optimizer.step() == 1);
  CHECK(w.item() == 0);
}

TEST_CASE("clipping without any gradient is refused, and the norm of none is 0") {
  const Tensor w = parameter({1, 2}), b = parameter({3});
  CHECK(grad_norm({w, b}) == 0);
  CHECK(message_of([&] {
          clip_grad_norm({w, b}, 1);
        }) ==
        "clip_grad_norm: none of 2 parameters has a gradient; call tape.backward(loss) before clipping");
}

TEST_CASE("backward names the optimizer whose step overwrote what it needs") {
  SUBCASE("by its op") {
    const Tensor w = parameter({3});
    SGD optimizer({w}, {.lr = 1});
    Tape tape;
    const Tensor loss = sum(w * w * w);
    w.set_grad(make({1}));
    optimizer.step();
    CHECK(
        message_of([&] { tape.backward(loss); }) ==
        "backward: input 1 [1] of multiply was overwritten by SGD's step after it was recorded; call backward "
        "before step()");
    CHECK_FALSE(w.grad().defined());
  }
  SUBCASE("and by its module") {
    Sequential model = two_layers();
    AdamW optimizer(parameters(model));
    Tape tape;
    const Tensor loss = mean(model(ones({4, 2})));
    for (const Tensor& p : parameters(model)) p.set_grad(ones(p.shape()));
    optimizer.step();
    CHECK(
        message_of([&] { tape.backward(loss); }) ==
        "backward: input 1 [1, 3] of linear in 2 was overwritten by AdamW's step after it was recorded; call "
        "backward before step()");
  }
  SUBCASE("of all optimizers") {
    const auto message = [](auto make_optimizer) {
      const Tensor w = ones({2, 2}, Dtype::f64).set_trainable();
      auto optimizer = make_optimizer(std::vector<Tensor>{w});
      Tape tape;
      const Tensor loss = sum(square(w));
      w.set_grad(ones({2, 2}, Dtype::f64));
      optimizer->step();
      return message_of([&] { tape.backward(loss); });
    };
    const auto starts = [](const std::string& text, const std::string& start) {
      return text.find("backward: input 0 [2, 2] of square was overwritten by " + start) == 0;
    };
    using All = std::vector<Tensor>;
    CHECK(starts(message([](const All& w) { return std::make_unique<Adam>(w); }), "Adam's step after"));
    CHECK(starts(message([](const All& w) { return std::make_unique<Muon>(w); }), "Muon's step after"));
  }
}

}  // namespace isobar::optimizer_error_test
