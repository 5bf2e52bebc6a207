// What every module promises, tried on every row of the module table. (Gradients, precision, threads, saving,
// train and eval: nn/check_layer_test.cpp, which runs check_layer on each row.)
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "../nn/nn.h"
#include "module_table.h"

namespace isobar::module_test {

// Runs `test` on every row, each in a subcase of the row's name.
template <class Test>
void for_each_row(const Test& test) {
  for (const ModuleRow& row : module_rows()) {
    SUBCASE(row.name.c_str()) { test(row); }
  }
}

// What one training step computes: the output, then the gradients of the input (if it has one) and of every
// parameter. Dropout takes its masks from a fixed Rng.
// `between` is called with x once forward is done.
std::vector<std::vector<double>> step(
    Module& module, const Tensor& input, const std::function<void(Tensor)>& between = [](const Tensor&) {}) {
  Tensor x = raw::clone(input);
  if (is_float(x.dtype())) x.set_trainable();
  Tape tape({.rng = Rng(3), .again = true});
  const Tensor y = module(x);
  std::vector<std::vector<double>> result{y.to_vector<double>()};
  between(x);
  tape.backward(sum(y * Rng(4).normal(y.shape(), 0, 1, y.dtype())));
  if (x.trainable()) result.push_back(x.grad().to_vector<double>());
  for (const Tensor& parameter : parameters(module)) {
    result.push_back(parameter.grad().to_vector<double>());
    parameter.clear_grad();
  }
  return result;
}

std::string source_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("every module of nn/ has a row, named after its type") {
  std::set<std::string> declared;
  // A struct at a line's beginning: those in comments are examples. CachingAttention is an interface, and
  // ElementwiseNorm, ConvLayer, RecurrentLayer and BatchNormLayer are what several layers share.
  const std::regex heading(
      R"((?:^|\n)struct (\w+) : (?:Module|CachingAttention|ConvLayer|RecurrentLayer|BatchNormLayer|BatchNorm1d|LayerNorm|GroupNorm|ElementwiseNorm|Dropout) \{)");
  for (const auto& file : std::filesystem::recursive_directory_iterator(ISOBAR_SOURCE_DIR "/nn")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = source_of(file.path());
    for (std::sregex_iterator match(text.begin(), text.end(), heading), end; match != end; ++match)
      declared.insert((*match)[1]);
  }
  declared.erase("CachingAttention");
  declared.erase("ElementwiseNorm");
  declared.erase("ConvLayer");
  declared.erase("RecurrentLayer");
  declared.erase("BatchNormLayer");
  std::set<std::string> rows;
  for (const ModuleRow& row : module_rows()) {
    const std::string type = row.make()->type_name();
    CHECK_MESSAGE(row.name.starts_with(type), row.name, " makes a ", type);
    rows.insert(type);
  }
  CHECK(declared.size() > 20);
  for (const std::string& type : declared) CHECK_MESSAGE(rows.contains(type), type, " has no row");
  for (const std::string& type : rows) CHECK_MESSAGE(declared.contains(type), type, " is not in nn/");
}

TEST_CASE("a module's tensor that is overwritten after forward changes no gradient, or backward says so") {
  for_each_row([](const ModuleRow& row) {
    const std::vector<std::vector<double>> expected = step(*module_of(row), input_of(row));
    const size_t tensors = named_state(*module_of(row)).size();
    for (size_t k = 0; k <= tensors; ++k) {  // the last one is the input
      CAPTURE(k);
      const std::unique_ptr<Module> module = module_of(row);
      std::vector<std::vector<double>> got = expected;
      std::string refused;
      try {
        got = step(*module, input_of(row), [&](Tensor x) {
          Tensor target = k < tensors ? named_state(*module)[k].tensor : x;
          assign(target, is_float(target.dtype()) ? target.detach() * 0.5 + 0.25
                                                  : zeros(target.shape(), target.dtype()));
        });
      } catch (const Error& error) {
        refused = error.what();
      }
      CHECK_MESSAGE((refused.empty() || refused.find("was overwritten by assign()") != std::string::npos),
                    refused);
      CHECK(got == expected);
    }
  });
}

TEST_CASE(
    "a look at any part, before a model's first call or later, changes no bit, no mask and no path, and sees all") {
  struct Count : Observer {
    size_t outputs = 0, gradients = 0;
    void on_output(const Module&, const Tensor&) override { ++outputs; }
    void on_output_gradient(const Module&, const Tensor&) override { ++gradients; }
  };
  using Steps = std::vector<std::vector<std::vector<double>>>;
  for_each_row([](const ModuleRow& row) {
    // Three steps of the row's module and dropouts after it, of which one is added after the first step.
    const auto run = [&](std::optional<size_t> part) {
      Sequential whole;
      whole.add(module_of(row, Dtype::f32));
      whole.add(std::make_unique<Dropout>(0.3));
      Count seen;
      std::optional<Watch> watch;
      const auto look = [&] {
        if (part) watch.emplace(*named_modules(whole)[*part].module, seen);
      };
      Steps steps;
      look();
      watch.reset();
      steps.push_back(step(whole, input_of(row, Dtype::f32)));
      whole.add(std::make_unique<Dropout>(0.2));
      look();
      steps.push_back(step(whole, input_of(row, Dtype::f32)));
      watch.reset();
      const size_t outputs = seen.outputs;
      CHECK(seen.gradients == outputs);
      if (part == 0) CHECK(outputs >= named_modules(whole).size());
      if (part) assign_paths(*named_modules(whole)[*part].module);
      steps.push_back(step(whole, input_of(row, Dtype::f32)));
      CHECK(seen.outputs == outputs);
      for (const NamedModule& one : named_modules(whole)) CHECK(one.module->path() == one.path);
      return steps;
    };
    const Steps wanted = run(std::nullopt);
    const size_t parts = named_modules(*row.make()).size() + 2;  // the whole and the first dropout too
    for (size_t part = 0; part < parts; ++part) {
      CAPTURE(part);
      CHECK((run(part) == wanted));
    }
  });
}

TEST_CASE("a state that has a tensor more than the model is refused") {
  Linear model(3, 2, Rng(1));
  std::vector<NamedTensor> state = named_state(model);
  state.push_back({"stray", zeros(2)});
  CHECK_THROWS_WITH_AS(
      load_state(model, state),
      "load_state: the given state has stray, the model does not; {.strict = false} loads what both have",
      Error);
}

TEST_CASE("a description names every module, every tensor and the number of parameters") {
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> module = row.make();
    const std::string text = describe(*module);
    CHECK(text.starts_with(module->type_name()));
    CHECK(std::count(text.begin(), text.end(), '\n') ==
          static_cast<std::ptrdiff_t>(named_modules(*module).size()));
    if (const int64_t count = parameter_count(*module); count > 0)
      CHECK(text.substr(0, text.find('\n')).ends_with(fmt::format("({} parameters)", count)));
    for (const NamedTensor& entry : named_state(*module)) {
      const std::string last = entry.name.substr(entry.name.rfind('.') + 1);
      CHECK(text.find(fmt::format("  {} {}", last, entry.tensor.shape())) != std::string::npos);
    }
  });
}

}  // namespace isobar::module_test
