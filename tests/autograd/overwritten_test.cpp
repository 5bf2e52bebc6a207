// Values and indices that are overwritten between forward and backward.
#include <doctest/doctest.h>

#include <functional>

#include "../../autograd/tape.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::overwritten_test {

TEST_CASE("a value that is overwritten between forward and backward is refused, and the op is named") {
  const Tensor w = leaf(full({1}, 3));
  for (const bool by_assign : {false, true}) {
    Tape tape;
    const Tensor loss = sum(w * w * w);
    Tensor target = w;
    if (by_assign)
      assign(target, full({1}, 2));
    else
      raw::write<float>(target)[0] = 5;
    CHECK(message_of([&] { tape.backward(loss); }) ==
          std::string("backward: input 1 [1] of multiply was overwritten ") +
              (by_assign ? "by assign() " : "") + "after it was recorded; call backward before step()");
    CHECK(!w.grad().defined());
  }
}

TEST_CASE("indices that were overwritten before backward are refused by the name of their op") {
  struct Case {
    const char *op, *input;
    Shape indices;
    std::function<Tensor(const Tensor& x, const Tensor& at)> f;
  };
  for (const Case& one : std::vector<Case>{
           {"index_select", "input 1 [2]", {2}, [](auto x, auto at) { return index_select(x, 0, at); }},
           {"embedding", "input 1 [2]", {2, 1}, [](auto x, auto at) { return embedding(at, x); }},
           {"index_add",
            "input 1 [2]",
            {2},
            [](auto x, auto at) {
              return index_add(zeros({4, 3}), 0, at, x);
            }},
           {"gather", "input 1 [2, 3]", {2, 3}, [](auto x, auto at) { return gather(x, 0, at); }},
           {"scatter_add", "input 2 [2, 3]", {2, 3}, [](auto x, auto at) {
              return scatter_add(zeros({4, 3}), 0, at, x);
            }}}) {
    CAPTURE(one.op);
    const Tensor x = ones({2, 3}).set_trainable();
    Tensor at = zeros(one.indices, Dtype::i64);
    Tape tape;
    const Tensor loss = sum(one.f(x, at));
    assign(at, ones(one.indices, Dtype::i64));
    CHECK(message_of([&] { tape.backward(loss); }) ==
          std::string("backward: ") + one.input + " of " + one.op +
              " was overwritten by assign() after it was recorded; call backward before step()");
  }
}

}  // namespace isobar::overwritten_test
