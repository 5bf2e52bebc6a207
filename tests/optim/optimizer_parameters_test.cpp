// What a step takes: parameters of both float types, strided gradients, empty tensors; and what it refuses:
// shared numbers, replaced parts of a model, no gradient. (Many parameters: spec/same_as_spec.cpp.)
#include "../../autograd/tape.h"
#include "../../nn/activation.h"
#include "../../nn/linear.h"
#include "../../nn/model.h"
#include "../../nn/pieces.h"
#include "../../nn/sequential.h"
#include "../message_of.h"
#include "optimizer_values.h"

namespace isobar::optimizer_parameters_test {

const std::string forgotten =
    ": no parameter has a gradient; call tape.backward(loss) before step(), and make the optimizer after "
    "convert() or another replacement of the model's tensors";

Sequential two_layers() { return Sequential(Linear(2, 3, Rng(1)), ReLU(), Linear(3, 1, Rng(2))); }

TEST_CASE("a step uses up gradients and counts updates per parameter") {
  Tensor w = parameter({1, 2}), b = parameter({3});
  AdamW optimizer({w, b});
  w.set_grad(row({1, 1}));
  CHECK(optimizer.step() == 1);
  CHECK_FALSE(w.grad().defined());
  CHECK(b.to_vector<double>() == Doubles{3});
  w.set_grad(row({1, 1}));
  b.set_grad(row({1}));
  CHECK(optimizer.step() == 2);
  CHECK(state_of(optimizer).at("steps").to_vector<int64_t>() == std::vector<int64_t>{2, 1});
}

// A net whose fields() forget a part.
struct Forgetful : Module {
  Linear listed{2, 2, Rng(1)}, forgotten{2, 2, Rng(2)};
  Tensor forward(const Tensor& x) override { return forgotten(listed(x)); }
  void fields(Fields& f) override { f("listed", listed); }
};

TEST_CASE("a trainable tensor whose gradient no step uses up is named, with the op that reads it") {
  const Tensor x = ones({3, 2});
  Forgetful net;
  SGD optimizer(parameters(net), {.lr = 0.1});
  const auto backward = [&] {
    Tape tape;
    tape.backward(mean(square(net(x))));
  };
  backward();
  backward();  // of a second micro-batch
  optimizer.step();
  const Tensor before = clone(net.listed.weight.detach());
  CHECK(
      message_of(backward) ==
      "backward: a trainable tensor [2, 2], which linear reads, has its gradient of an earlier step: no fields() "
      "lists it and no optimizer has it, so that it is never trained; list it in fields(), or call "
      "set_trainable(false) or clear_grad()");
  CHECK_FALSE(net.listed.weight.grad().defined());
  CHECK(same_bits(net.listed.weight.detach(), before));
  SUBCASE("listed") {
    SGD all({net.listed.weight, net.listed.bias, net.forgotten.weight, net.forgotten.bias});
    backward();
    CHECK(message_of([&] { all.step(); }).find("is a sum across steps") != std::string::npos);
    clear_gradients({net.forgotten.weight, net.forgotten.bias});
    backward();
    CHECK(all.step() == 4);
  }
  SUBCASE("frozen") { freeze(net.forgotten); }
  SUBCASE("cleared") { clear_gradients({net.forgotten.weight, net.forgotten.bias}); }
  backward();
}

TEST_CASE("a step refuses a gradient that goes across another optimizer's step, and moves nothing") {
  const Tensor x = ones({3, 2});
  Sequential generator(Linear(2, 2, Rng(1))), judge(Linear(2, 1, Rng(2)));
  SGD of_generator(parameters(generator), {.lr = 0.1}), of_judge(parameters(judge), {.lr = 0.1});
  const auto backward_of_generator = [&] {
    Tape tape;
    tape.backward(mean(judge(generator(x))));
  };
  int64_t pieces = 0;  // 0: a tape of our own
  const auto backward_of_judge = [&] {
    const auto loss = [&](int64_t) { return mean(square(judge(x))); };
    if (pieces > 0) {
      backward_in_pieces(judge, pieces, loss);
    } else {
      Tape tape;
      tape.backward(loss(0));
    }
  };
  const Tensor weight = named_parameters(judge)[0].tensor;
  backward_of_judge();
  const Tensor wanted = clone(weight.grad());
  for (pieces = 0; pieces < 3; ++pieces) {
    CAPTURE(pieces);
    clear_gradients(parameters(judge));
    backward_of_generator();  // reaches the judge, too
    of_generator.step();
    backward_of_judge();
    const Tensor before = clone(weight.detach());
    std::optional<double> clipped;
    const auto step = [&] {
      const Tensor held = weight.grad();  // so that clipping stores the gradient anew
      if (clipped) clip_grad_norm(parameters(judge), *clipped);
      of_judge.step();
    };
    const std::string refused =
        "sgd: the gradient of parameter 0 [1, 2] is a sum across steps: a step before did not use it up, and a later "
        "backward added to it; call clear_gradients() after a step that leaves gradients, freeze() what a loss is not "
        "to train, or call set_grad(grad()) of the parameter where the sum is wanted";
    CHECK(message_of(step) == refused);
    clipped = 1e-3;
    CHECK(message_of(step) == refused);
    CHECK(same_bits(weight.detach(), before));
    CHECK(same_bits(named_parameters(judge)[0].tensor.detach(), before));
  }
  // The repairs.
  pieces = 0;
  SUBCASE("cleared") {
    clear_gradients(parameters(judge));
    backward_of_judge();
    CHECK(same_bits(weight.grad(), wanted));
    CHECK(of_judge.step() == 2);
  }
  SUBCASE("frozen") {
    clear_gradients(parameters(judge));
    freeze(judge);
    backward_of_generator();
    of_generator.step();
    thaw(judge);
    backward_of_judge();
    CHECK(same_bits(weight.grad(), wanted));
    CHECK(of_judge.step() == 2);
  }
  SUBCASE("wanted") {
    for (const Tensor& parameter : parameters(judge)) parameter.set_grad(parameter.grad());
    CHECK(of_judge.step() == 2);
  }
}

TEST_CASE("gradients add up over backwards without a step between, and may wait for their optimizer") {
  const Tensor x = ones({3, 2});
  Sequential body(Linear(2, 2, Rng(1))), head(Linear(2, 1, Rng(2)));
  SGD of_body(parameters(body), {.lr = 0.1}), of_head(parameters(head), {.lr = 0.1});
  for (int step = 0; step < 3; ++step) {
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      Tape tape;
      tape.backward(mean(head(body(x))));
    }
    of_body.step();
    of_head.step();  // of the gradients of before of_body's step
    // Zeros in the place of a gradient are none.
    for (const Tensor& parameter : parameters(head)) parameter.set_grad(zeros(parameter.shape()));
    {
      Tape tape;
      tape.backward(mean(body(x)));
    }
    of_body.step();
  }
  Tensor own = ones({2}).set_trainable();  // that nobody lists
  for (int step = 0; step < 3; ++step) {
    own.set_grad(zeros({2}));
    Tape tape;
    tape.backward(mean(body(x)));
    of_body.step();
    tape.backward(sum(own));
    check_values(own.grad(), {1, 1});
  }
}

TEST_CASE("parameters that a model lists may be left to other optimizers, and wait for their turn") {
  Sequential generator(Linear(2, 2, Rng(1))), judge(Linear(2, 2, Rng(2)), Linear(2, 1, Rng(3)));
  const Tensor x = ones({3, 2});
  SGD of_generator(parameters(generator), {.lr = 0.1});
  std::optional<SGD> of_judge;
  const auto backward = [&] {
    Tape tape;
    tape.backward(mean(judge(generator(x))));
  };
  for (int i = 0; i < 3; ++i) {  // the judge is trainable and nobody's yet
    backward();
    of_generator.step();
  }
  of_judge.emplace(parameters(*judge.parts[1]));  // and then a part of it
  clear_gradients(parameters(judge));             // which is not to be trained by what it has collected
  for (int i = 0; i < 3; ++i) {
    backward();
    of_judge->step();
  }
  // An input that is another tensor in each step, and one whose gradient is read and cleared.
  Tensor kept = ones({3, 2}).set_trainable();
  for (int i = 0; i < 3; ++i) {
    Tensor fresh = ones({3, 2}).set_trainable();
    Tape tape;
    tape.backward(mean(judge(fresh + kept)));
    kept.clear_grad();
    of_judge->step();
  }
  // Steps before a gradient, and without an optimizer on this thread, are no reason.
  Tensor w = ones({2}).set_trainable();
  for (int i = 0; i < 3; ++i) {
    Tape tape;
    tape.backward(sum(w));
  }
  check_values(w.grad(), {3, 3});
}

TEST_CASE("parameters of both float types share a step") {
  Tensor w = parameter({1, -2}, Dtype::f32), b = parameter({3}, Dtype::f64);
  w.set_grad(row({1, 2}, Dtype::f32));
  b.set_grad(row({4}));
  CHECK(grad_norm({w, b}) == doctest::Approx(std::sqrt(21.0)).epsilon(1e-15));
  SGD({w, b}, {.lr = 0.5}).step();
  CHECK(w.to_vector<double>() == Doubles{0.5, -3});
  CHECK(b.to_vector<double>() == Doubles{1});
}

TEST_CASE("a gradient that is a strided view is read in its own order") {
  Tensor w = zeros({2, 3}, Dtype::f64).set_trainable();
  w.set_grad(raw::as_strided(row({1, 2, 3, 4, 5, 6}), {2, 3}, {1, 2}));  // rows 1 3 5 and 2 4 6
  CHECK(grad_norm({w}) == doctest::Approx(std::sqrt(91.0)).epsilon(1e-15));
  SUBCASE("by a step") {
    SGD({w}, {.lr = 1}).step();
    CHECK(w.to_vector<double>() == Doubles{-1, -3, -5, -2, -4, -6});
  }
  SUBCASE("by clipping") {
    clip_grad_norm({w}, 1e-6);
    CHECK(w.grad().at({0, 1}) / w.grad().at({0, 0}) == doctest::Approx(3).epsilon(1e-14));
    CHECK(w.grad().at({1, 0}) / w.grad().at({0, 0}) == doctest::Approx(2).epsilon(1e-14));
  }
}

TEST_CASE("empty tensors and single numbers are parameters too") {
  Tensor none = zeros({0, 3}).set_trainable(), one = ones({}).set_trainable();
  AdamW optimizer({none, one}, {.lr = 0.5, .weight_decay = 0});
  none.set_grad(zeros({0, 3}));
  one.set_grad(full({}, 7));
  CHECK(clip_grad_norm({none, one}, 100) == 7);
  optimizer.step();
  CHECK(one.item() == doctest::Approx(0.5).epsilon(1e-6));  // the first step of Adam is lr · sign(dw)
}

TEST_CASE("two parameters that share numbers are refused, and views that share none are not") {
  const Tensor w = leaf(row({1, 2})), other = leaf(row({3}));
  const auto message = [](const std::vector<Tensor>& parameters) {
    return message_of([&] { SGD optimizer(parameters); });
  };
  // A weight and a trainable view of it, whole or in part.
  const auto view = [&](int64_t begin, int64_t end) {
    return raw::as_strided(w, Shape{end - begin}, {1}, begin).set_trainable();
  };
  const std::string shared = " share numbers, which a step would move twice; give one of them, or a clone()";
  CHECK(message({w, other, view(0, 2)}) == "sgd: parameters 0 [2] and 2 [2]" + shared);
  CHECK(message({view(1, 2), w}) == "sgd: parameters 0 [1] and 1 [2]" + shared);
  CHECK_NOTHROW(SGD({view(0, 1), view(1, 2), view(1, 1)}));
}

TEST_CASE("a step without any gradient is refused, and changes nothing") {
  Tensor w = parameter({1, -2}), b = parameter({3});
  AdamW adam_w({w, b});
  SGD sgd({w}, {.lr = 1});
  CHECK(message_of([&] { adam_w.step(); }) == "adam_w" + forgotten);
  CHECK(message_of([&] { sgd.step(); }) == "sgd" + forgotten);
  w.set_grad(row({1, 1}));
  CHECK_THROWS_AS(sgd.set_lr(-2), Error);
  CHECK(sgd.lr() == 1);
  CHECK(sgd.step() == 1);
  CHECK(message_of([&] { sgd.step(); }) == "sgd" + forgotten);  // the gradient is used up
  CHECK(w.to_vector<double>() == Doubles{0, -3});
  CHECK(adam_w.lr() == 1e-3);
  b.set_grad(row({1}));
  CHECK(adam_w.step() == 1);  // one without a gradient among others is legal
  CHECK(w.to_vector<double>() == Doubles{0, -3});
}

TEST_CASE("a step after convert() is refused where the user still holds the old list, too") {
  Sequential model = two_layers();
  const std::vector<Tensor> all = parameters(model);
  AdamW optimizer(all);
  convert(model, Dtype::f64);
  Tape tape;
  tape.backward(mean(model(ones({4, 2}, Dtype::f64))));
  CHECK(message_of([&] { optimizer.step(); }) == "adam_w" + forgotten);
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

TEST_CASE("a replaced or converted part of a model is refused, whatever still holds the old tensors") {
  struct Net : Module {
    Linear first{2, 3, Rng(1)}, second{3, 1, Rng(2)};
    Tensor forward(const Tensor& x) override { return second(relu(first(x))); }
    void fields(Fields& f) override {
      f("first", first);
      f("second", second);
    }
  };
  const auto refused = [](int64_t i, const Shape& shape) {
    return fmt::format(
        "sgd: parameter {} {} is not among the model's any more: was the model converted, or a part of it replaced? Make "
        "the optimizer after that",
        i, shape);
  };
  Net net;
  SGD optimizer(parameters(net), {.lr = 0.1});
  Tape tape;  // holds every tensor that it read
  Dtype dtype = Dtype::f32;
  const auto backward = [&] { tape.backward(mean(net(ones({4, 2}, dtype)))); };
  const auto train = [&] {
    backward();
    clip_grad_norm(parameters(net), 1.0);
    optimizer.step();
  };
  train();
  const std::vector<float> before = net.first.weight.to_vector<float>();
  SUBCASE("a part") {
    net.second = Linear(3, 1, Rng(3));
    CHECK(message_of(train) == refused(2, {1, 3}));
  }
  SUBCASE("the whole") {
    Net other;
    net = std::move(other);
    CHECK(message_of(train) == "sgd" + forgotten);
    return;
  }
  SUBCASE("converted between backward and step") {
    backward();
    convert(net.second, Dtype::f64);
    CHECK(message_of([&] { optimizer.step(); }) == refused(2, {1, 3}));
  }
  SUBCASE("converted") {
    convert(net, dtype = Dtype::f64);
    CHECK(message_of(train) == "sgd" + forgotten);
    SGD made_after(parameters(net), {.lr = 0.1});
    backward();
    CHECK(made_after.step() == 4);
    return;
  }
  SUBCASE("no part: moved away and back") {
    Net held = std::move(net), other;
    net = std::move(held);
    std::swap(net, other);
    std::swap(net, other);
    std::vector<Net> some(1);
    some.insert(some.begin(), std::move(net));
    some.erase(some.begin() + 1);
    net = std::move(some[0]);
    backward();
    CHECK(optimizer.step() == 4);
    return;
  }
  CHECK(net.first.weight.to_vector<float>() == before);
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
        }).starts_with("sgd: parameter 0 [0], 1 [1], 2 [2], 3 [3] and 3 more can"));
}

TEST_CASE("parameters frozen after the optimizer was made are skipped") {
  Tensor w = parameter({1}), b = parameter({2});
  SGD optimizer({w, b}, {.lr = 1, .momentum = 0.5});
  w.set_grad(row({1}));
  b.set_grad(row({1}));
  w.set_trainable(false);
  CHECK(optimizer.step() == 1);
  CHECK(w.item() == 1);
  CHECK_FALSE(w.grad().defined());  // a gradient from before does not wait for the thaw
  CHECK(b.item() == 1);
  CHECK(message_of([&] { optimizer.step(); }) == "sgd" + forgotten);
  b.set_trainable(false);
  CHECK(optimizer.step() == 0);  // all are frozen on purpose: this stage moves other parameters
  w.set_trainable();
  w.set_grad(row({1}));
  CHECK(optimizer.step() == 1);
  CHECK(w.item() == 0);
}

TEST_CASE("backward names the optimizer whose step overwrote what it needs, its op and its module") {
  const auto message = [](auto make_optimizer) {
    const Tensor w = leaf(f64(2, 2));
    auto optimizer = make_optimizer(std::vector<Tensor>{w});
    Tape tape;
    const Tensor loss = sum(square(w));
    w.set_grad(f64(2, 2));
    optimizer->step();
    const std::string said = message_of([&] { tape.backward(loss); });
    CHECK_FALSE(w.grad().defined());
    return said;
  };
  using All = std::vector<Tensor>;
  const std::string begin = "backward: input 0 [2, 2] of square was overwritten by ",
                    end = "'s step after it was recorded; call backward before step()";
  CHECK(message([](const All& w) { return std::make_unique<SGD>(w); }) == begin + "SGD" + end);
  CHECK(message([](const All& w) { return std::make_unique<Adam>(w); }) == begin + "Adam" + end);
  CHECK(message([](const All& w) { return std::make_unique<Muon>(w); }) == begin + "Muon" + end);
  Sequential model = two_layers();
  AdamW optimizer(parameters(model));
  Tape tape;
  const Tensor loss = mean(model(f32(4, 2)));
  for (const Tensor& p : parameters(model)) p.set_grad(ones(p.shape()));
  optimizer.step();
  CHECK(message_of([&] { tape.backward(loss); }) ==
        "backward: input 1 [1, 3] of linear in 2 was overwritten by AdamW" + end);
}

}  // namespace isobar::optimizer_parameters_test
