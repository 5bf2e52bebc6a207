// The names that the keys of masks depend on: whatever looks at a model leaves the masks of its training alone.
#include <doctest/doctest.h>

#include "../../nn/nn.h"
#include "../../nn/pieces.h"
#include "../../optim/optim.h"

namespace isobar::mask_names_test {

// A net whose training loop calls the parts, and whose evaluation calls the whole.
struct Net : Module {
  Sequential enc{Linear(3, 8, Rng(1)), Dropout(0.5)}, head{Dropout(0.25), Linear(8, 1, Rng(2))};
  Tensor forward(const Tensor& x) override { return head(enc(x)); }
  void fields(Fields& f) override {
    f("enc", enc);
    f("head", head);
  }
};

const Tensor x = Rng(3).normal({4, 3});

// What a training calls: the parts, or the whole.
using Forward = std::function<Tensor(Net&)>;
const std::vector<Forward> forwards{
    [](Net& net) { return net.head(net.enc(x)); },
    [](Net& net) { return net(x); },
};

// The losses of six steps; `look` looks at the net before the step of this number.
std::vector<float> losses_of(const Forward& forward, int64_t when, const std::function<void(Net&)>& look) {
  Net net;
  SGD optimizer(parameters(net), {.lr = 0.1});
  std::vector<float> losses;
  for (int64_t step = 0; step < 6; ++step) {
    if (step == when) look(net);
    Tape tape({.rng = Rng(4).split(static_cast<uint64_t>(step))});
    const Tensor loss = mean(square(forward(net) - 1.0));
    losses.push_back(static_cast<float>(loss.item()));
    tape.backward(loss);
    optimizer.step();
  }
  return losses;
}

TEST_CASE("an evaluation, an observer or an export changes no mask of the later steps") {
  struct Container : HasFields {
    Net& net;
    explicit Container(Net& of) : net(of) {}
    void fields(Fields& f) override { f("net", net); }
  };
  const std::vector<std::function<void(Net&)>> looks{
      [](Net& net) {
        const Evaluation here(net);
        net(x);
      },
      [](Net& net) {
        const Evaluation here(net);
        net.enc(x);
        net(x);
        net.head.parts[1]->operator()(ones({1, 8}));
      },
      [](Net& net) {  // gradients of a part, on a tape that could draw masks
        {
          const Evaluation here(net);
          Tape tape({.rng = Rng(5)});
          tape.backward(sum(net.enc(x)));
        }
        clear_gradients(parameters(net));
      },
      [](Net& net) {  // without NoTape
        eval(net);
        net(x);
        train(net);
      },
      [](Net& net) {  // gradients of an evaluation
        eval(net);
        {
          Tape tape;
          tape.backward(sum(net(x)));
        }
        clear_gradients(parameters(net));
        train(net);
      },
      [](Net& net) {  // within the scope of another model
        const Evaluation here(net);
        const Scope scope("whole");
        net(x);
      },
      [](Net& net) {
        Probe probe;
        const Watch watch(net, probe);
        const Evaluation here(net);
        net(x);
      },
      [](Net& net) {  // as a part of another model
        Container whole(net);
        const Evaluation here(whole);
        net(x);
        describe(whole);
        named_state(whole);
        named_modules(whole);
        parameter_count(whole);
      },
  };
  for (size_t f = 0; f < forwards.size(); ++f) {
    const std::vector<float> wanted = losses_of(forwards[f], -1, looks[0]);
    for (size_t i = 0; i < looks.size(); ++i)
      for (const int64_t when : {0, 1, 3}) {
        CAPTURE(f);
        CAPTURE(i);
        CAPTURE(when);
        CHECK(losses_of(forwards[f], when, looks[i]) == wanted);
      }
  }
}

TEST_CASE("a step in pieces changes no mask of the later steps of a training that calls the parts") {
  for (const int64_t when : {1, 3}) {
    CAPTURE(when);
    const auto in_pieces = [](Net& net) {
      backward_in_pieces(net, 2, [&](int64_t) { return mean(net(x)); }, {.rng = Rng(9)});
      clear_gradients(parameters(net));
    };
    CHECK(losses_of(forwards[0], when, in_pieces) == losses_of(forwards[0], -1, in_pieces));
  }
  Net net;  // without an earlier call, the parts have the paths that a call of the whole gives
  backward_in_pieces(net, 2, [&](int64_t) { return mean(net.head(net.enc(x))); }, {.rng = Rng(9)});
  CHECK(net.head.parts[0]->path() == "head.0");
}

TEST_CASE("a part that is added after an evaluation draws as if there had been none") {
  const auto losses = [](bool evaluated) {
    Net net;
    if (evaluated) {
      const Evaluation here(net);
      net(x);
    }
    net.enc.add(std::make_unique<Dropout>(0.5));
    Tape tape({.rng = Rng(4)});
    return net.head(net.enc(x)).to_vector<float>();
  };
  CHECK(losses(false) == losses(true));
}

TEST_CASE("the parts keep the paths of the first training call, and those without one get the whole's") {
  Net net;
  {
    const Evaluation here(net);
    net(x);
  }
  CHECK(net.enc.parts[1]->path() == "enc.1");
  {
    const Tape tape({.rng = Rng(4)});
    net.enc(x);
  }
  CHECK(net.enc.parts[1]->path() == "1");
  const Tape tape({.rng = Rng(4)});
  net(x);
  CHECK(net.enc.parts[1]->path() == "1");
  CHECK(net.head.parts[0]->path() == "head.0");
}

}  // namespace isobar::mask_names_test
