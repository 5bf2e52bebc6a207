// The command line of check_layer_main().
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../autograd/check/tape_text.h"
#include "../../core/rng.h"
#include "../model.h"
#include "layer_runner.h"

namespace isobar {
namespace {

// How the line begins that a crash prints, "" while no layer runs: a signal handler may neither format nor
// allocate.
std::array<char, 300> crash_line{};

[[noreturn]] void end_with(const char* what, const char* signal = "") {
  bool written = true;
  for (const char* part :
       {static_cast<const char*>(crash_line.data()), what, signal, "; layers after it were not checked\n"})
    written = write(STDOUT_FILENO, part, std::strlen(part)) >= 0 && written;
  _exit(written ? 1 : 2);
}

void print_crash(int number) { end_with("crashed with SIG", sigabbrev_np(number)); }

// A layer that ends the program must not end it with 0 and no report.
void print_exit() {
  if (crash_line[0] == '\0') return;
  std::fflush(stdout);
  end_with("called exit()");
}

// Lets a crash say which check of which layer was running. It ends the program: locks may be held, and a
// process for each layer would be forked without the threads of TBB and OpenBLAS. A sanitizer's handlers
// stay.
void report_crashes() {
  static std::array<char, 1 << 16> stack;  // for the handler: the program's own may have overflowed
  const stack_t own{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&own, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction before {
    }, crash{};
    crash.sa_handler = print_crash;
    crash.sa_flags = SA_ONSTACK;
    sigaction(number, &crash, &before);
    if (before.sa_handler != SIG_DFL) sigaction(number, &before, nullptr);
  }
  std::atexit(print_exit);
  std::at_quick_exit(print_exit);
}

using Names = std::vector<std::string>;

bool holds(const Names& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

// The tape of one step, forward and backward with a random dy: as text, or as a Graphviz drawing.
std::string tape_of(const CheckedLayer& layer, bool drawing) {
  const std::unique_ptr<Module> module = layer.make();
  std::vector<Tensor> inputs;
  std::vector<std::string> shapes;
  for (const Tensor& example : layer.x) {
    inputs.push_back(is_float(example.dtype()) ? cast(example, Dtype::f32).detach().set_trainable()
                                               : example);
    shapes.push_back(example.shape().text());
  }
  const TapeTrace trace;
  Tape tape({.rng = Rng(3)});
  const Tensor y = layer.options.call != nullptr ? layer.options.call(*module, inputs) : (*module)(inputs[0]);
  if (drawing) return tape_dot(trace);
  if (tape.needs_gradient(y)) tape.backward(y, Rng(4).normal(y.shape(), 0, 1, y.dtype()));
  std::vector<NamedTensor> parameters;
  for (const NamedTensor& parameter : named_state(*module))
    if (is_float(parameter.tensor.dtype())) parameters.push_back(parameter);
  return fmt::format("{} on x {}\n{}{}", layer.name, fmt::join(shapes, ", "), tape_text(trace),
                     missing_gradients(trace, parameters));
}

constexpr const char* usage =
    "wanted: [--list | --tape | --dot] [NAME...]\n\n"
    "Checks the named layers, or all: first the verdict with its likely cause, then a line for each check.\n"
    "  --list   prints the names of the layers instead\n"
    "  --tape   prints one step: each op, with the norm of its result and of its gradient\n"
    "  --dot    prints the tape of that step as a drawing for Graphviz\n\n"
    "Exits with 0 if all checks pass, with 1 if one fails, with 2 for a wrong command line.\n";

// Prints the report of a layer, or its tape. Returns false where a check fails, or the layer throws.
bool print_layer(const CheckedLayer& layer, const std::string& option) {
  CheckLayerOptions options = layer.options;
  options.progress = [&](const std::string& check) {
    crash_line.fill('\0');
    fmt::format_to_n(crash_line.data(), crash_line.size() - 1, "{}: WRONG: {}: ", layer.name, check);
  };
  options.progress(option);
  bool passed = true;
  const std::string error = thrown([&] {
    if (!option.empty()) return fmt::print("{}", tape_of(layer, option == "--dot"));
    const LayerReport report = check_layer(layer.make, layer.x, options);
    fmt::print("{}", report.text());
    passed = report.passed();
  });
  crash_line[0] = '\0';
  if (!error.empty()) fmt::print("{}: WRONG: {}\n", layer.name, error);
  std::fflush(stdout);  // a crash of the next layer loses what is not written
  return passed && error.empty();
}

// What is wrong with the command line, or "".
std::string misuse(const std::string& option, const Names& wanted, const std::vector<CheckedLayer>& layers) {
  if (!holds({"", "--list", "--tape", "--dot"}, option))
    return fmt::format("wanted --list, --tape, --dot, --help or names of layers, got {}", option);
  Names names;
  for (const CheckedLayer& layer : layers) names.push_back(layer.name);
  for (const std::string& name : wanted)
    if (!holds(names, name))
      return fmt::format("no layer is called '{}'; there are: {}", name, fmt::join(names, ", "));
  return "";
}

}  // namespace

int check_layer_main(int argc, char** argv, const std::vector<CheckedLayer>& layers) {
  Names wanted(argv + std::min(argc, 1), argv + argc);
  std::string option;
  const auto first =
      std::find_if(wanted.begin(), wanted.end(), [](auto& word) { return word.starts_with("-"); });
  if (first != wanted.end()) {
    option = *first;
    wanted.erase(first);
  }
  if (option == "--help" || option == "-h") {
    fmt::print("{}", usage);
    return 0;
  }
  if (const std::string wrong = misuse(option, wanted, layers); !wrong.empty()) {
    fmt::print(stderr, "check_layer: {}\n", wrong);
    return 2;
  }
  report_crashes();
  bool passed = true;
  for (const CheckedLayer& layer : layers) {
    if (!wanted.empty() && !holds(wanted, layer.name)) continue;
    if (option == "--list")
      fmt::print("{}\n", layer.name);
    else
      passed = print_layer(layer, option) && passed;
  }
  return passed ? 0 : 1;
}

}  // namespace isobar
