// Makers and layers that throw or crash: check_layer's report, or its program's last line, says which one it was.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <new>

#include "../autograd/tape.h"
#include "../nn/check_layer.h"
#include "holds.h"
#include "program.h"
#include "temporary_folder.h"

using namespace isobar;

namespace {

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

}  // namespace

TEST_CASE("a maker or a layer that fails in any way ends its own report") {
  CHECK(holds(first_line(report_of<TooFew>()), "too_few"));
  CHECK(holds(first_line(check_layer([]() -> std::unique_ptr<Module> { return nullptr; }, ones({2, 3}))),
              "layer on x [2, 3]: WRONG: fields: threw: the maker returned null"));
  CHECK(holds(
      first_line(check_layer([]() -> std::unique_ptr<Module> { throw std::bad_alloc(); }, ones({2, 3}))),
      "WRONG: fields: threw: std::bad_alloc"));
  CHECK(holds(first_line(report_of<NullPart>()), "fields: the part part is null"));
  CHECK(holds(first_line(report_of<OutOfMemory>()), "WRONG: forward: threw: std::bad_alloc"));
  CHECK(holds(first_line(report_of<ThrowsNumber>()),
              "WRONG: forward: threw something that is no std::exception"));
}

TEST_CASE("a layer that crashes or cannot be checked is named, after the reports of those before it") {
  struct Crashes : Module {
    Tensor forward(const Tensor& x) override {
      if (x.dtype() == Dtype::f64) std::raise(SIGSEGV);
      return x * 2;
    }
  };
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  std::fflush(stdout);         // the child would print it again
  const pid_t child = fork();  // a crash ends the process
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // doctest has a handler of its own
    const LayerMaker crashes = [] { return std::make_unique<Crashes>(); };
    std::array<char*, 1> arguments{const_cast<char*>("check_layers")};
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(9);
    const int code = check_layer_main(
        1, arguments.data(), {{"unusable", crashes, ones({1, 5})}, {"Crashes", crashes, ones({4, 5})}});
    _exit(code + 10);  // check_layer_main returned
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::string said = file_text(out);
  INFO(said);
  CHECK(holds(said, "unusable: WRONG: threw: check_layer: wanted an example x with a batch of at least 2"));
  CHECK(holds(said, "\nCrashes: WRONG: forward: crashed; layers after it were not checked\n"));
  CHECK(WEXITSTATUS(status) == 1);
}
