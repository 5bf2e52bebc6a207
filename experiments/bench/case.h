// Case: one row of a benchmark. A name, a step that is timed, and what the step has to do at least. `isobar bench`
// times some cases, tests/bench all.
//
//   cases.push_back({.name = "relu_fwdbwd_4096x1024",
//                    .work = moved_bytes(5 * n * 4, 4 * n * 4),
//                    .setup = [] { return Step([x = …] { … }); }});
//
// The setup makes the tensors; the step reads and writes them again and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace isobar::bench {

using Step = std::function<void()>;

// What bounds the step on this machine.
enum class Limit {
  none,
  triad,     // moving bytes: a triad of the same footprint
  sgemm,     // multiplying matrices: OpenBLAS on squares of 512
  additions  // the arithmetic of the chain of tiny additions, without a tape
};

// The least that one step must do. `amount` divided by time (or, for ops, time divided by it) is the derived
// figure.
struct Work {
  std::string unit = "1/s";  // "GB/s", "GFLOP/s", "us/op", or steps per second
  double amount = 1;         // bytes, floating-point operations, ops or steps
  Limit limit = Limit::none;
  double footprint = 0;  // bytes of memory touched, where the triad is the limit
};
Work moved_bytes(double bytes, double footprint);
Work product_flops(double flops);
Work ops(double count);
// The derived figure for a step of this many seconds.
double derived(const Work& work, double seconds);
// How much of the limit this derived figure reaches: 1 is all of it.
double share(const Work& work, double figure, double limit);

struct Case {
  std::string name;
  Work work;
  std::function<Step()> setup;
};
using Cases = std::vector<Case>;

// Single ops, forward and backward, and optimizers alone.
void add_norms(Cases& cases);
void add_elementwise(Cases& cases);
void add_convolutions(Cases& cases);
void add_tape(Cases& cases);
void add_optimizers(Cases& cases);
// Training steps of language models.
void add_language_models(Cases& cases);

}  // namespace isobar::bench
