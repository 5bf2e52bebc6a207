// Layers that crash or end the program: its last line says which one it was.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>

#include "../../autograd/tape.h"
#include "../../nn/check/check_layer.h"
#include "../child_process.h"
#include "../holds.h"
#include "../temporary_folder.h"

namespace isobar::failing_layers_test {

// What check_layer_main prints in a process of its own, with its exit code.
std::string said_of(const LayerMaker& ends, int wanted_code) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  std::fflush(stdout);                    // the child would print it again
  CHECK(in_child([&] {                    // a crash ends the process
          std::signal(SIGSEGV, SIG_DFL);  // doctest has a handler of its own
          std::array<char*, 1> arguments{const_cast<char*>("check_layers")};
          if (std::freopen(out.c_str(), "w", stdout) == nullptr) return 9;
          const int code = check_layer_main(1, arguments.data(),
                                            {{"unusable", ends, ones({1, 5})}, {"Ends", ends, ones({4, 5})}});
          return code + 10;  // check_layer_main returned
        }) == wanted_code);
  return file_text(out);
}

template <class End>
struct Ends : Module {
  Tensor forward(const Tensor& x) override {
    if (x.dtype() == Dtype::f64) End()();
    return x * 2;
  }
};

TEST_CASE("a layer that crashes, exits or cannot be checked is named, after the reports before it") {
  const auto crash = [] { std::raise(SIGSEGV); };
  const auto end = [] { std::exit(0); };
  const auto quick = [] { std::quick_exit(0); };
  const std::string crashes = said_of([] { return std::make_unique<Ends<decltype(crash)>>(); }, 1),
                    ends = said_of([] { return std::make_unique<Ends<decltype(end)>>(); }, 1),
                    ends_quickly = said_of([] { return std::make_unique<Ends<decltype(quick)>>(); }, 1);
  INFO(crashes, ends, ends_quickly);
  CHECK(
      holds(crashes, "unusable: WRONG: threw: check_layer: wanted an example x with a batch of at least 2"));
  CHECK(holds(crashes, "\nEnds: WRONG: forward: crashed with SIGSEGV; layers after it were not checked\n"));
  for (const std::string& said : {ends, ends_quickly})
    CHECK(holds(said, "\nEnds: WRONG: forward: called exit(); layers after it were not checked\n"));
}

}  // namespace isobar::failing_layers_test
