// Profile: its intervals are all of the time, its flops those of the shapes, and its trace one that Chrome
// reads. No test depends on how fast the machine is.
#include "../../autograd/profile.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "../../autograd/check/tape_trace.h"
#include "../../autograd/op_costs.h"
#include "../../core/parallel.h"
#include "../../core/serial_loops.h"
#include "../../nn/nn.h"
#include "../../nn/pieces.h"
#include "../../optim/optim.h"
#include "../thread_counts.h"

namespace isobar::profile_test {

using Part = Activity::Part;
using Kind = Node::Kind;

// A node of this kind, whose inputs want no gradient.
struct Op : Node {
  Op(Kind of, const Shape& y, const std::vector<Shape>& shapes, Dtype numbers = Dtype::f32) {
    name = "attention";
    kind = of;
    shape = y;
    dtype = numbers;
    for (const Shape& x : shapes) inputs.push_back({Input::constant, x, nullptr, 0, nullptr});
  }
  void backward(Tensor, Wants, std::span<Tensor>) override {}
};

// A net of two layers, and steps of its training.
struct Training {
  Sequential net{Linear(16, 32, Rng(1)), ReLU(), Linear(32, 4, Rng(2))};
  Tensor x = Rng(3).normal({8, 16});
  SGD optimizer{parameters(net), {.lr = 0.1}};

  void step() {
    Tape tape;
    tape.backward(mean(square(net(x))));
    optimizer.step();
  }
};

const ProfileRow* find(const ProfileResult& result, const std::string& name, const std::string& module,
                       Part part) {
  for (const ProfileRow& row : result.rows)
    if (row.name == name && row.module == module && row.part == part) return &row;
  return nullptr;
}

double seconds_since(Timeline::Clock::time_point start) {
  return std::chrono::duration<double>(Timeline::Clock::now() - start).count();
}

TEST_CASE("the rows of a profile add up to the time of its steps") {
  Training training;
  training.step();
  const auto begin = Timeline::Clock::now();
  Profile profile;
  for (int i = 0; i < 200; ++i) training.step();
  const double passed = seconds_since(begin);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // after the last step
  const ProfileResult result = profile.result();
  CHECK(result.steps == 200);
  CHECK(result.walks == 200);
  double sum = 0;
  for (const ProfileRow& row : result.rows) sum += row.seconds;
  CHECK(sum == doctest::Approx(result.seconds));
  CHECK(sum == doctest::Approx(passed).epsilon(0.02));
  CHECK(sum <= passed);  // both are below 0.02, which Approx() takes for equal
  CHECK(result.outside >= 0.03);
  CHECK(profile.result().steps == 200);
}

TEST_CASE("an op has a cost whatever its kind and its shapes") {
  const std::vector<Shape> shapes{{}, {3}, {3, 2}, {2, 3, 2}, {2, 3, 2, 5}, {0, 3}};
  for (const Kind kind : {Kind::plain, Kind::product, Kind::product_loss, Kind::convolution, Kind::attention,
                          Kind::view, Kind::lookup})
    for (const Shape& a : shapes)
      for (const Shape& b : shapes)
        for (const Part part : {Part::forward, Part::backward}) {
          CAPTURE(static_cast<int>(kind));
          const Activity cost = cost_of(Op(kind, a, {a, b}), part);
          CHECK(cost.flops >= 0);
          CHECK(cost.bytes >= 0);
        }
}

TEST_CASE("a row counts its calls, and flops and bytes by the shapes") {
  Training training;
  training.step();
  Profile profile;
  for (int i = 0; i < 3; ++i) training.step();
  const ProfileResult result = profile.result();
  const ProfileRow* const first = find(result, "linear", "0", Part::forward);
  REQUIRE(first != nullptr);
  CHECK(first->calls == 3);
  CHECK(first->product);
  CHECK(first->rows == 8);
  CHECK(first->flops == 3 * 2 * 8 * 16 * 32);
  CHECK(first->bytes == 3 * 4 * (8 * 16 + 16 * 32 + 32 + 8 * 32));
  // The first layer's input wants no gradient; the second's does.
  CHECK(find(result, "linear", "0", Part::backward)->flops == 3 * 2 * 8 * 16 * 32);
  CHECK(find(result, "linear", "2", Part::backward)->flops == 2 * 3 * 2 * 8 * 32 * 4);
  const ProfileRow* const relu = find(result, "relu", "1", Part::backward);
  REQUIRE(relu != nullptr);
  CHECK(relu->flops == 0);
  CHECK(relu->bytes == 3 * 4 * 3 * 8 * 32);
  CHECK(find(result, "optimizer", "", Part::other)->calls == 3);
}

TEST_CASE("flops and bytes follow from an op's kind and shapes, not from its name") {
  const Shape q{2, 16, 4, 8}, k{2, 32, 2, 8}, x{3, 5, 64}, w{100, 64};
  const Op attention(Kind::attention, q, {q, k, k}), loss(Kind::product_loss, {}, {x, w});
  CHECK(cost_of(attention, Part::forward).flops == 4.0 * 2 * 16 * 4 * 8 * 32);
  CHECK(cost_of(attention, Part::backward).flops == 8.0 * 2 * 16 * 4 * 8 * 32);
  CHECK(cost_of(attention, Part::forward).product);
  const Op convolution(Kind::convolution, Shape{2, 6, 5, 7}, {Shape{2, 4, 5, 7}, Shape{6, 2, 3, 3}});
  CHECK(cost_of(convolution, Part::forward).flops == 2.0 * 2 * 6 * 5 * 7 * 2 * 9);
  CHECK(cost_of(loss, Part::forward).flops == 3.0 * 2 * 15 * 64 * 100);
  CHECK(cost_of(loss, Part::backward).flops == 0);
  CHECK(cost_of(loss, Part::forward).rows == 15);
  Op nothing(Kind::product, x, {x, w});
  nothing.inputs[0].slot = Node::Input::absent;
  CHECK(cost_of(nothing, Part::forward).flops == 0);
  CHECK(cost_of(Op(Kind::view, x, {x}), Part::forward).bytes == 0);
  CHECK(cost_of(Op(Kind::lookup, x, {w}), Part::forward).bytes == 2 * 4 * 3 * 5 * 64);
  CHECK(cost_of(Op(Kind::plain, x, {x}, Dtype::f64), Part::forward).bytes == 2 * 8 * 3 * 5 * 64);
  // An op of a user that is called like one of ours.
  const Tensor a = Rng(1).normal({3, 2}).set_trainable();
  Profile profile;
  const Tape tape;
  record("attention", (a.detach() * 2).detach(), {a, a}, [](const Tensor& dy) { return std::array{dy, dy}; });
  CHECK(find(profile.result(), "attention", "", Part::forward)->flops == 0);
}

TEST_CASE("without a tape the time belongs to modules") {
  Training training;
  Profile profile;
  training.net(training.x);
  const ProfileResult result = profile.result();
  for (const char* module : {"0", "1", "2"}) {
    CAPTURE(module);
    const ProfileRow* const row = find(result, "ops", module, Part::untaped);
    REQUIRE(row != nullptr);
    CHECK(row->calls == 1);
  }
  CHECK(result.walks == 0);
  CHECK(result.outside == 0);
}

TEST_CASE("phases count what is between ops, and waiting counts nowhere") {
  Profile profile;
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  {
    const Phase outer("evaluation");
    wait();
    {
      const Phase inner("data");
      wait();
    }
    wait();
  }
  {
    const Phase waiting(nullptr);
    wait();
  }
  const ProfileResult result = profile.result();
  CHECK(find(result, "evaluation", "", Part::other)->seconds >= 0.04);
  CHECK(find(result, "data", "", Part::other)->seconds >= 0.02);
  for (const ProfileRow& row : result.rows) CHECK(!row.name.empty());
  CHECK(result.rows.size() == 3);  // and "other"
}

TEST_CASE("another thread's time counts with a timeline of its own") {
  Profile profile;
  std::thread([&profile] {
    const SerialLoops serial;
    const Timeline timeline(profile);
    Training().step();
  }).join();
  std::thread([] { Training().step(); }).join();  // no timeline: not seen
  const ProfileResult result = profile.result();
  CHECK(result.steps == 1);
  const ProfileRow* const row = find(result, "linear", "0", Part::forward);
  REQUIRE(row != nullptr);
  CHECK(row->calls == 1);
  CHECK(row->thread_seconds == doctest::Approx(row->seconds));  // of one thread, whatever threads() is
}

TEST_CASE("a profile sees all pieces of a step, and changes no bit of their gradients") {
  const WithThreads two(2);
  const auto gradient = [] {
    Training training;
    backward_in_pieces(training.net, 4, [&](int64_t piece) {
      return mean(square(training.net(slice(training.x, 0, 2 * piece, 2 * piece + 2))));
    });
    return parameters(training.net)[0].grad().to_vector<float>();
  };
  const std::vector<float> plain = gradient();
  Profile profile;
  CHECK(gradient() == plain);
  const ProfileResult result = profile.result();
  CHECK(result.walks == 4);
  CHECK(find(result, "linear", "0", Part::backward)->calls == 4);
}

TEST_CASE(
    "ops in the backward of a node have rows of their own, and what is left of the time is the node's") {
  const Tensor x = Rng(1).normal({3}).set_trainable();
  Linear layer(3, 3, Rng(2));
  Profile profile;
  Tape tape;
  const Tensor y = record("outer", Tensor((x.detach() * 2).detach()), {x}, [&](const Tensor& dy) {
    {
      const NoTape pause;
      layer(x);  // is no row of a module's time without a tape
    }
    Tape inner;
    const Tensor h = x.detach().set_trainable();
    return inner.gradient(exp(h), {h}, dy).front();
  });
  tape.backward(sum(y));
  const ProfileResult result = profile.result();
  CHECK(result.walks == 1);
  for (const char* name : {"outer", "exp", "sum"})
    for (const Part part : {Part::forward, Part::backward}) {
      CAPTURE(name);
      const ProfileRow* const row = find(result, name, "", part);
      REQUIRE(row != nullptr);
      CHECK(row->calls == 1);
    }
  for (const ProfileRow& row : result.rows) CHECK(row.part != Part::untaped);
}

TEST_CASE("while another listener hides a profile, the time is that of the phase") {
  Training training;
  Profile profile;
  {
    const TapeTrace trace;
    training.step();
  }
  const ProfileResult result = profile.result();
  CHECK(result.rows.size() == 2);
  for (const char* name : {"optimizer", "other"}) CHECK(find(result, name, "", Part::other) != nullptr);
}

TEST_CASE("a thread without a profile marks nothing") {
  CHECK(Timeline::here() == nullptr);
  { const Profile profile; }
  CHECK(Timeline::here() == nullptr);
  Training().step();
}

TEST_CASE("the trace is JSON with an event for each interval") {
  Training training;
  const auto begin = Timeline::Clock::now();
  Profile profile;
  training.step();
  training.step();
  { const Phase named("a \"quoted\" \\ name"); }
  for (size_t i = 0; i < Profile::kept; ++i) const Phase more("more than are kept");
  const nlohmann::json trace = nlohmann::json::parse(profile.trace());
  double start = 0, end = 0;
  size_t ops = 0, intervals = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    CHECK(event.at("pid") == 1);
    CHECK(event.at("tid") == 0);
    if (event.at("ph") == "M") continue;
    CHECK(event.at("ph") == "X");
    const double from = event.at("ts");  // microseconds, with three digits
    if (intervals++ == 0)
      start = from;
    else
      CHECK(std::abs(from - end) < 0.003);  // no gap: the intervals are all of the time
    end = from + event.at("dur").get<double>();
    if (event.at("name") == "linear" && event.at("cat") == "forward") {
      CHECK(event.at("args").at("flops") > 0);
      CHECK(event.at("args").at("module") != "");
      ++ops;
    }
  }
  CHECK(ops == 4);
  CHECK(intervals == Profile::kept);
  CHECK(end > start);
  CHECK(end - start < 1e6 * seconds_since(begin));
}

}  // namespace isobar::profile_test
