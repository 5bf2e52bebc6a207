#include "../autograd/inspect.h"

#include <doctest/doctest.h>

#include "../autograd/ops.h"
#include "../autograd/recording.h"

namespace isobar {
namespace {

// loss = Σ relu(x wᵀ) on a fresh tape, the product made in the module "fc1".
Tensor small_loss(const Tensor& x, const Tensor& w) {
  Tensor h;
  {
    const Scope scope(Scope::intern("fc1"));
    h = linear(x, w);
  }
  return sum(relu(h));
}

}  // namespace

TEST_CASE("a tape prints one line per node") {
  const Tensor x = ones({32, 784}), w = ones({256, 784}).set_trainable();
  Tape tape;
  const Tensor loss = small_loss(x, w);
  const std::string text = tape_text(tape);
  CHECK(text.substr(0, text.rfind("   %3")) ==
        "   %1  linear  (constant [32, 784], %0 [256, 784], none) -> [32, 256] f32, 32.0 KiB, in fc1\n"
        "   %2  relu    (%1) -> [32, 256] f32, 32.0 KiB\n");
}

TEST_CASE("a used-up tape prints nothing") {
  const Tensor w = ones({2, 3}).set_trainable();
  Tape tape;
  tape.backward(small_loss(ones({4, 3}), w));
  CHECK(tape_text(tape).empty());
  CHECK(tape_bytes(tape).empty());
}

TEST_CASE("bytes are counted per op, largest first") {
  const Tensor w = ones({100, 3}).set_trainable();
  Tape tape;
  const Tensor y = concat({tanh(linear(ones({4, 3}), w)), tanh(linear(ones({2, 3}), w))}, 0);
  const std::vector<OpBytes> bytes = tape_bytes(tape);
  REQUIRE(bytes.size() == 3);
  for (const OpBytes& op : bytes) CHECK(op.bytes == 6 * 100 * 4);
  CHECK(bytes[0].count + bytes[1].count + bytes[2].count == 5);
  const Tensor z = sum(y);
  CHECK(tape_bytes(tape).back().bytes == 4);
}

TEST_CASE("the drawing clusters nodes by module and has an edge per recorded input") {
  const Tensor w = ones({2, 3}).set_trainable();
  Tape tape;
  const Tensor loss = small_loss(ones({4, 3}), w);
  const std::string dot = tape_dot(tape);
  for (const char* part :
       {"digraph tape {", "n0 [shape=ellipse, label=\"%0 [2, 3]\"];",
        "subgraph cluster_0 {\n    label=\"fc1\";\n    n1 [label=\"linear [4, 2] 32 B\"];\n  }",
        "n2 [label=\"relu [4, 2] 32 B\"];", "n0 -> n1;", "n1 -> n2;", "n2 -> n3;"}) {
    CAPTURE(part);
    CHECK(dot.find(part) != std::string::npos);
  }
}

}  // namespace isobar
