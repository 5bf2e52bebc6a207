// Makers and layers that throw or crash: check_layer's report, or its program's last line, says which one it
// was.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "../autograd/tape.h"
#include "../nn/check_layer.h"
#include "run.h"

namespace isobar::failing_layers_test {

std::string first_line(const LayerReport& report) {
  const std::string text = report.text();
  return text.substr(0, text.find('\n'));
}

template <class M>
LayerReport report_of() {
  return check_layer([] { return std::make_unique<M>(); }, Rng(1).normal({4, 5}));
}

struct TooFew : Module {
  Tensor weight = ones(5).set_trainable();
  Tensor forward(const Tensor& x) override {
    return record("too_few", x.detach() * weight.detach(), {x, weight},
                  [w = weight.detach()](const Tensor& dy) { return std::vector{dy * w}; });
  }
  void fields(Fields& f) override { f("weight", weight); }
};
struct NullPart : Module {
  std::unique_ptr<Module> part;
  Tensor forward(const Tensor& x) override { return x * 2; }
  void fields(Fields& f) override { f("part", part); }
};
struct OutOfMemory : Module {
  Tensor forward(const Tensor&) override { throw std::bad_alloc(); }
};
struct ThrowsNumber : Module {
  Tensor forward(const Tensor&) override { throw 3; }
};

TEST_CASE("a maker or a layer that fails in any way ends its own report") {
  CHECK(holds(first_line(report_of<TooFew>()), "too_few"));
  CHECK(holds(first_line(check_layer([]() -> std::unique_ptr<Module> { return nullptr; }, ones({2, 3}))),
              "layer on x [2, 3]: WRONG: fields: threw: the maker returned null"));
  CHECK(holds(
      first_line(check_layer([]() -> std::unique_ptr<Module> { throw std::bad_alloc(); }, ones({2, 3}))),
      "WRONG: fields: threw: there is not enough memory (std::bad_alloc); does a broadcast of (N) with"));
  CHECK(holds(first_line(report_of<NullPart>()), "fields: the part part is null"));
  CHECK(holds(first_line(report_of<OutOfMemory>()),
              "WRONG: forward: threw: there is not enough memory (std::bad_alloc)"));
  CHECK(holds(first_line(report_of<ThrowsNumber>()),
              "WRONG: forward: threw something that is no std::exception"));
}

// What check_layer_main prints in a process of its own, with its exit code.
std::string said_of(const LayerMaker& ends, int wanted_code) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  std::fflush(stdout);         // the child would print it again
  const pid_t child = fork();  // a crash ends the process
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // doctest has a handler of its own
    std::array<char*, 1> arguments{const_cast<char*>("check_layers")};
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(9);
    const int code = check_layer_main(1, arguments.data(),
                                      {{"unusable", ends, ones({1, 5})}, {"Ends", ends, ones({4, 5})}});
    _exit(code + 10);  // check_layer_main returned
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == wanted_code);
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
