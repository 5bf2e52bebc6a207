// Values that another thread computed: a tape takes them as the constants that they are meant to be, or
// refuses them, and never loses a gradient without a word.
#include <doctest/doctest.h>

#include <future>
#include <thread>

#include "../../autograd/tape.h"
#include "../../core/parallel.h"
#include "../../core/serial_loops.h"
#include "../../nn/nn.h"
#include "../../nn/pieces.h"
#include "../../optim/optim.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::other_threads_test {

// What f() returns on a new thread; rethrows what it throws.
template <class F>
auto elsewhere(const F& f) {
  return std::async(std::launch::async, f).get();
}

std::string lost(const char* op, const Shape& shape = {}) {
  return fmt::format(
      "{}: a tensor {} was computed from trainable tensors on another thread without a tape, so its gradient would be "
      "lost; open a tape there, or detach() it if it is meant to be a constant",
      op, shape);
}

std::string recorded_elsewhere(const char* op) {
  return fmt::format(
      "{}: a tensor [] is recorded on a tape of another thread, which cannot record this op, so the gradient would be "
      "lost; call the op on that thread, or detach() the tensor if it is meant to be a constant",
      op);
}

TEST_CASE("heads that several threads compute get the whole gradient, or an error, in every run") {
  const Tensor w = leaf(number(3));
  for (const bool recorded : {false, true}) {  // whether the heads' input is recorded
    for (const int count : {1, 2, 4}) {
      const WithThreads some(count);
      for (int run = 0; run < 50; ++run) {
        w.clear_grad();
        Tape tape;
        const Tensor x = recorded ? square(w) : w;
        std::vector<Tensor> heads(4);
        const std::string message = message_of([&] {
          parallel_tasks(4,
                         [&](int64_t i) { heads[static_cast<size_t>(i)] = x * static_cast<double>(i + 1); });
          tape.backward(heads[0] + heads[1] + heads[2] + heads[3]);
        });
        CAPTURE(message);
        if (message.empty())
          CHECK(w.grad().item() == (recorded ? 60 : 10));
        else
          CHECK((!w.grad().defined() && count > 1 &&
                 (message == lost("add") || message == recorded_elsewhere("multiply"))));
      }
    }
  }
}

TEST_CASE("a value that another thread computed without a tape is refused, whatever it went through there") {
  const Tensor w = leaf(row({1, 2, 3, 4}));
  using Function = std::function<Tensor(const Tensor&)>;
  const std::vector<Function> branches{
      [](const Tensor& x) { return square(x); },
      [](const Tensor& x) { return x + 1.0; },
      [](const Tensor& x) { return clone(x); },
      [](const Tensor& x) { return cast(cast(x, Dtype::f32), Dtype::f64); },
      [](const Tensor& x) { return reshape(x, {4}); },  // the same shape
      [](const Tensor& x) {
        return reshape(contiguous(transpose(reshape(x, {2, 2}))), {4});
      },  // views and copies
      [](const Tensor& x) { return slice(silu(x), 0, 1, 3); },
      [](const Tensor& x) { return layer_norm(x, {4}, Tensor(), Tensor(), 1e-5); },
      [](const Tensor& x) {
        return reshape(matmul(ones({4, 4}, Dtype::f64), reshape(x.detach() + x, {4, 1})), {4});
      },
      [](const Tensor& x) { return dropout(x, 0.5, Rng(1)); },
  };
  for (size_t i = 0; i < branches.size(); ++i) {
    CAPTURE(i);
    Tape tape;
    const Tensor own = square(w);
    const Tensor h = elsewhere([&] { return branches[i](square(w)); });
    const Tensor later = elsewhere([&] { return h + 1.0; });  // on a third thread
    for (const Tensor& x : {h, later}) {
      CHECK(message_of([&] { square(x); }) == lost("square", x.shape()));
      CHECK(message_of([&] { concat({own, x}, 0); }) == lost("concat", x.shape()));
      CHECK(message_of([&] { tape.backward(x, x); }) == lost("backward", x.shape()));
      CHECK(message_of([&] { tape.gradient(sum(own), {x}); }).starts_with("tape: a tensor"));
    }
    tape.backward(sum(own));  // nothing else has happened to the tape
    CHECK(w.grad().to_vector<double>() == Doubles{2, 4, 6, 8});
    w.clear_grad();
  }
}

TEST_CASE("what is meant to be a constant is one on every thread: NoTape, detach(), integers, masks") {
  const Tensor w = leaf(row({1, 2, 3, 4}));
  const std::vector<std::function<Tensor()>> constants{
      [&] { return square(w).detach(); },
      [&] { return square(w.detach()); },
      [&] {
        const NoTape meant;
        return square(w) + 1.0;
      },
      [&] {
        const NoTape meant;
        const Tape inner;
        return square(w.detach());
      },
      [&] {
        return cast(argmax(reshape(square(w), {2, 2}), -1), Dtype::f64);
      },
      [&] { return cast(square(w) > 2.0, Dtype::f64); },
      [&] { return norm_of(square(w)) * ones({4}, Dtype::f64); },
  };
  for (size_t i = 0; i < constants.size(); ++i) {
    CAPTURE(i);
    w.clear_grad();
    const Tensor h = elsewhere(constants[i]);
    Tape tape;
    tape.backward(sum(w) * sum(h));
    CHECK(w.grad().to_vector<double>() == Doubles(4, sum(h).item()));
  }
}

TEST_CASE("a thread's later tape takes what the thread computed without a tape as a constant") {
  const Tensor w = leaf(number(3));
  const auto gradient_of = [&](const Tensor& h) {
    w.clear_grad();
    Tape tape;
    const Tensor constant = square(h);  // which the tape need not record
    tape.backward(w * constant);
    CHECK(tape.recorded() == 1);
    const std::string elsewhere_refused = elsewhere([&] {
      return message_of([&] {
        Tape other;
        square(constant);
      });
    });
    CHECK(elsewhere_refused == lost("square"));
    return w.grad().item();
  };
  CHECK(gradient_of(square(w)) == 81);
  Tensor recorded;
  {
    const Tape ended;
    recorded = square(w);
  }
  CHECK(gradient_of(recorded + 0.0) == 81);  // an evaluation after the tape
  elsewhere([&] {
    const Scope scope("first");  // the thread gets its mark within a block that restores its recording
    const Tensor h = square(w);
    const NoTape pause;
    Tape tape;
    square(h);
    return 0;
  });
}

TEST_CASE("the mark of a thread is no other thread's, also after the thread has ended") {
  const Tensor w = leaf(number(3));
  std::vector<Tensor> values;
  for (int i = 0; i < 20; ++i) {
    values.push_back(elsewhere([&] {
      const Tensor own = square(w);
      Tape tape;
      square(own);
      for (const Tensor& others : values) CHECK(message_of([&] { square(others); }) == lost("square"));
      return own;
    }));
  }
}

TEST_CASE("a tensor that becomes trainable is a leaf, wherever it was computed") {
  const Tensor w = leaf(number(3));
  Tensor h = elsewhere([&] { return square(w); });
  const Tensor frozen = elsewhere([&] { return square(w).set_trainable(false); });
  h.set_trainable();
  SGD({h}, {.lr = 0.1});
  Tape tape;
  tape.backward(h * h * frozen);
  CHECK(h.grad().item() == 2 * 9 * 9);
}

TEST_CASE("an optimizer's step, initial values and gradients of another thread are refused nowhere") {
  Linear layer(2, 2, Rng(1));
  SGD optimizer(parameters(layer), {.lr = 0.1});
  const Tensor x = ones({1, 2});
  for (int step = 0; step < 3; ++step) {
    elsewhere([&] {
      Tape tape;
      tape.backward(sum(square(layer(x))));
      layer.bias.set_grad(layer.bias.grad() * 2.0);
      return 0;
    });
    elsewhere([&] {
      optimizer.step();
      assign(layer.weight, layer.weight * 0.9);
      return 0;
    });
    clear_gradients(parameters(layer));
  }
  Tape tape;
  tape.backward(sum(layer(x)));
  CHECK(layer.bias.grad().to_vector<double>() == Doubles{1, 1});
}

TEST_CASE("assign refuses a value of another thread as ops do, and a buffer takes its mark") {
  const Tensor w = leaf(number(3));
  Tensor buffer = number(0), parameter = leaf(number(0));
  const Tensor h = elsewhere([&] { return square(w); });
  {
    Tape tape;
    CHECK(message_of([&] { assign(buffer, h); }) == lost("assign"));
    CHECK(message_of([&] { assign(parameter, h); }) == lost("assign"));
    const Tensor own = square(w);
    CHECK(elsewhere([&] { return message_of([&] { assign(buffer, own); }); }) ==
          recorded_elsewhere("assign"));
    CHECK(buffer.item() == 0);
    assign(parameter, w - own);  // a step by hand
    assign(buffer, h.detach());
    assign(buffer, own);
    CHECK(square(buffer).item() == 81);
    const NoTape meant;
    assign(buffer, h);
  }
  assign(buffer, h);
  assign(parameter, h);
  Tape tape;
  CHECK(message_of([&] { square(buffer); }) == lost("square"));
  tape.backward(square(parameter));
  CHECK(parameter.grad().item() == 18);
  {
    const NoTape pause;
    assign(buffer, number(2));  // all numbers are new
  }
  CHECK(square(buffer).item() == 4);
}

TEST_CASE("a buffer takes the mark of the thread that computed what it is given, whoever gives it") {
  const Tensor w = leaf(number(3));
  Tensor buffer = number(0), meant = number(0), copied = number(0);
  elsewhere([&] {
    assign(buffer, square(w));
    Tape own;
    CHECK(square(buffer).item() == 81);  // a constant of this thread
    return 0;
  });
  elsewhere([&] {
    const NoTape pause;
    assign(meant, square(w));
    return 0;
  });
  elsewhere([&] {
    assign(copied, w);  // a copy of a parameter, as for a target network
    return 0;
  });
  Tape tape;
  CHECK(message_of([&] { w + buffer; }) == lost("add"));
  CHECK((w + meant + copied).item() == 3 + 9 + 3);
}

TEST_CASE("a tensor on a living tape of another thread is refused, and under NoTape it is a constant") {
  const Tensor w = leaf(number(3));
  auto tape = std::make_unique<Tape>();
  const Tensor recorded = square(w);
  elsewhere([&] {
    CHECK(message_of([&] { exp(recorded); }) == recorded_elsewhere("exp"));
    CHECK(message_of([&] { reshape(recorded, {1}); }) == recorded_elsewhere("reshape"));
    CHECK(!raw::slot(cast(recorded, Dtype::i64)).marked());
    Tape own;
    CHECK(message_of([&] { exp(recorded); }) == recorded_elsewhere("exp"));
    const NoTape meant;
    CHECK(raw::slot(exp(recorded)).tape == 0);
    return 0;
  });
  tape->backward(recorded);
  CHECK(w.grad().item() == 6);
  tape.reset();
  elsewhere([&] {
    CHECK(raw::slot(exp(recorded)).marked());
    Tape own;
    CHECK(message_of([&] { exp(recorded); }).find("belongs to a tape that has ended") != std::string::npos);
    return 0;
  });
}

TEST_CASE("two trainings side by side that evaluate without NoTape disturb each other never") {
  const Tensor x = Rng(3).normal({4, 2});
  const auto train = [&](uint64_t seed) {
    const SerialLoops serial;
    Linear layer(2, 1, Rng(seed));
    SGD optimizer(parameters(layer), {.lr = 0.01});
    double sum_of_losses = 0;
    for (int round = 0; round < 1000; ++round) {
      const Tensor before = mean(square(layer(x)));
      sum_of_losses += before.item();
      Tape tape;
      const Tensor loss = mean(square(layer(x)));
      tape.backward(loss * 2.0 - before);  // the evaluated loss as a constant
      optimizer.step();
      sum_of_losses += mean(loss).item();
    }
    return sum_of_losses;
  };
  auto first = std::async(std::launch::async, train, 1), second = std::async(std::launch::async, train, 2);
  const double together[] = {first.get(), second.get()};
  CHECK(together[0] == train(1));
  CHECK(together[1] == train(2));
}

TEST_CASE("what a thread that helps to evaluate a model computed is a constant for a later tape") {
  Sequential teacher(Linear(2, 2, Rng(1)), Dropout(0.5)), student(Linear(2, 2, Rng(2)));
  const Tensor x = Rng(3).normal({4, 2});
  const auto answer = [&] { return softmax(teacher(x)); };
  Tensor wanted;
  {
    const Evaluation here(teacher);
    wanted = elsewhere(answer);
  }
  const auto train = [&](const Tensor& to) {
    Tape tape;
    tape.backward(mean(square(student(x) - to)));
  };
  train(wanted);
  // After the evaluation, such a thread could have been meant to record.
  eval(teacher);
  CHECK(message_of([&] { train(elsewhere(answer)); }).find("on another thread without a tape") !=
        std::string::npos);
  {
    const Evaluation of_another_model(student);
    wanted = elsewhere(answer);
  }
  CHECK(message_of([&] { train(wanted); }).find("on another thread without a tape") != std::string::npos);
}

TEST_CASE("micro-batches on several threads take what their caller computed without a tape as constants") {
  Linear layer(2, 1, Rng(1)), teacher(2, 1, Rng(2));
  const Tensor x = Rng(3).normal({8, 2});
  const Tensor wanted = teacher(x);  // without NoTape
  std::vector<float> gradient;
  for (const int count : {1, 2, 4}) {
    const WithThreads some(count);
    clear_gradients(parameters(layer));
    backward_in_pieces(layer, 4, [&](int64_t i) {
      const auto part = [i](const Tensor& all) { return slice(all, 0, 2 * i, 2 * i + 2); };
      return mean(square(layer(part(x)) - part(wanted)));
    });
    const std::vector<float> now = layer.weight.grad().to_vector<float>();
    if (gradient.empty()) gradient = now;
    CHECK(now == gradient);
  }
  CHECK(message_of([&] {
          const Tensor foreign = elsewhere([&] { return teacher(x); });
          backward_in_pieces(layer, 2, [&](int64_t) { return mean(layer(x) - foreign); });
        }).find("on another thread without a tape") != std::string::npos);
}

}  // namespace isobar::other_threads_test
