#include "../autograd/inspect.h"

#include <doctest/doctest.h>

#include "../autograd/ops.h"
#include "../autograd/recording.h"

namespace isobar::inspect_test {
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

}  // namespace isobar::inspect_test
