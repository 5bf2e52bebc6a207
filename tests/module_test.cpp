// What every module promises, tried on every row of the module table.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "../autograd/gradcheck.h"
#include "../autograd/tape.h"
#include "../core/parallel.h"
#include "../core/raw.h"
#include "../nn/nn.h"
#include "module_table.h"

using namespace isobar;

namespace {

// Runs `test` on every row, each in a subcase of the row's name.
template <class Test>
void for_each_row(const Test& test) {
  for (const ModuleRow& row : module_rows()) {
    SUBCASE(row.name.c_str()) {
      CAPTURE(row.name);
      test(row);
    }
  }
}

// Puts other handles in the place of a model's parameters, tied ones included.
class Replace : public Fields {
 public:
  Replace(const std::vector<Tensor>& from, const std::vector<Tensor>& to) : from_(from), to_(to) {}

 protected:
  void on_parameter(std::string_view, Tensor& tensor) override {
    for (size_t i = 0; i < from_.size(); ++i)
      if (from_[i].id() == tensor.id()) {
        tensor = to_[i];
        return;
      }
  }
  void on_part(std::string_view, HasFields& part) override { part.fields(*this); }

 private:
  std::vector<Tensor> from_, to_;
};

// What one training step computes: the output, then the gradients of the input (if it has one) and of every
// parameter. Dropout takes its masks from a fixed Rng.
std::vector<std::vector<double>> step(Module& module, const Tensor& input) {
  Tensor x = raw::clone(input);
  if (is_float(x.dtype())) x.set_trainable();
  Tape tape({.rng = Rng(3)});
  const Tensor y = module(x);
  std::vector<std::vector<double>> result{y.to_vector<double>()};
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
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("every module of nn/ has a row, named after its type") {
  std::set<std::string> declared;
  // A struct at a line's beginning: those in comments are examples. CachingAttention is an interface.
  const std::regex heading(R"((?:^|\n)struct (\w+) : (?:Module|CachingAttention|BatchNorm1d|GroupNorm) \{)");
  for (const auto& file : std::filesystem::directory_iterator(ISOBAR_SOURCE_DIR "/nn")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = source_of(file.path());
    for (std::sregex_iterator match(text.begin(), text.end(), heading), end; match != end; ++match)
      declared.insert((*match)[1]);
  }
  declared.erase("CachingAttention");
  std::set<std::string> rows;
  for (const ModuleRow& row : module_rows()) {
    const std::string type = row.make()->type_name();
    CHECK_MESSAGE(row.name.starts_with(type), row.name, " makes a ", type);
    rows.insert(type);
  }
  CHECK(declared.size() > 20);
  for (const std::string& type : declared) CHECK_MESSAGE(rows.contains(type), type, " has no row");
  for (const std::string& type : rows) CHECK_MESSAGE(declared.contains(type), type, " is not in nn/*.h");
}

TEST_CASE("the code that nn/README.md shows is in the sources") {
  const std::string readme = source_of(ISOBAR_SOURCE_DIR "/nn/README.md");
  const std::string sources =
      source_of(ISOBAR_SOURCE_DIR "/nn/rms_norm.h") + source_of(ISOBAR_SOURCE_DIR "/tests/module_table.cpp");
  const std::string opening = "```cpp\n", closing = "```\n";
  int blocks = 0;
  for (size_t begin = readme.find(opening); begin != std::string::npos; begin = readme.find(opening, begin)) {
    const bool of_the_walk = readme.compare(begin - 4, 4, "-->\n") == 0;  // readme/walk.sh does it
    begin += opening.size();
    if (of_the_walk) continue;
    const std::string block = readme.substr(begin, readme.find(closing, begin) - begin);
    CHECK_MESSAGE(sources.find(block) != std::string::npos, block);
    ++blocks;
  }
  CHECK(blocks == 2);
}

TEST_CASE("gradients of input and parameters agree with finite differences") {
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> module = module_of(row);
    // A mask drawn anew at every call has no derivative: in evaluation the same code runs without it.
    if (row.random) eval(*module);
    std::vector<Tensor> inputs{input_of(row)};
    for (const Tensor& parameter : parameters(*module)) inputs.push_back(raw::clone(parameter.detach()));
    std::vector<Tensor> current = parameters(*module);
    const auto f = [&](const std::vector<Tensor>& in) {
      const std::vector<Tensor> given(in.begin() + 1, in.end());
      Replace visitor(current, given);
      module->fields(visitor);
      current = given;
      return (*module)(in[0]);
    };
    const GradcheckReport report = gradcheck(f, inputs);
    CHECK_MESSAGE(report.max_relative_error <= 1e-6, report.text);
  });
}

TEST_CASE("a tape's leaves are the module's parameters and its input: fields() forgot none") {
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> module = module_of(row);
    Tape tape({.rng = Rng(3)});
    (*module)(input_of(row));
    std::set<const void*> listed, used;
    for (const Tensor& parameter : parameters(*module)) listed.insert(parameter.id());
    for (const Tensor& leaf : tape.leaves()) used.insert(leaf.id());
    CHECK(used == listed);
  });
}

TEST_CASE("f32 stays near f64, values and gradients") {
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> narrow = module_of(row, Dtype::f32), wide = module_of(row, Dtype::f64);
    const auto a = step(*narrow, input_of(row, Dtype::f32)), b = step(*wide, input_of(row));
    REQUIRE(a.size() == b.size());
    for (size_t part = 0; part < a.size(); ++part) {
      double size = 0, difference = 0;
      for (size_t i = 0; i < b[part].size(); ++i) {
        size = std::max(size, std::abs(b[part][i]));
        difference = std::max(difference, std::abs(a[part][i] - b[part][i]));
      }
      CAPTURE(part);
      // Some hundred roundings of 6e-8, relative to the largest element.
      CHECK(difference <= 2e-5 * size + 1e-6);
    }
  });
}

TEST_CASE("a second call, and a step on one thread or three, give the same bits") {
  for_each_row([](const ModuleRow& row) {
    const int threads_before = threads();
    std::vector<std::vector<std::vector<double>>> results;
    const std::unique_ptr<Module> repeated = module_of(row, Dtype::f32);
    for (int count : {1, 1, 2, 3}) {
      set_threads(count);
      results.push_back(step(*repeated, input_of(row, Dtype::f32)));
    }
    set_threads(threads_before);
    for (const auto& result : results) CHECK(result == results[0]);
  });
}

TEST_CASE("observation changes neither values nor gradients") {
  struct Count : Observer {
    int outputs = 0, gradients = 0;
    void on_output(const Module&, const Tensor&) override { ++outputs; }
    void on_output_gradient(const Module&, const Tensor&) override { ++gradients; }
  };
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> free = module_of(row, Dtype::f32), watched = module_of(row, Dtype::f32);
    Count count;
    const auto expected = step(*free, input_of(row, Dtype::f32));
    {
      const Watch guard(*watched, count);
      CHECK(step(*watched, input_of(row, Dtype::f32)) == expected);
      CHECK(count.outputs >= static_cast<int>(named_modules(*watched).size()));
      CHECK(count.gradients == count.outputs);
    }
    const int seen = count.outputs;
    step(*watched, input_of(row, Dtype::f32));
    CHECK(count.outputs == seen);
  });
}

TEST_CASE("state round-trips by name into a fresh module, which then computes the same") {
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> original = module_of(row, Dtype::f32), fresh = row.make();
    step(*original, input_of(row, Dtype::f32));  // moves running statistics, where there are any
    std::set<std::string> names;
    for (const NamedTensor& entry : named_state(*original)) CHECK(names.insert(entry.name).second);
    load_state(*fresh, named_state(*original));
    eval(*original);
    eval(*fresh);
    CHECK(step(*fresh, input_of(row, Dtype::f32)) == step(*original, input_of(row, Dtype::f32)));
    if (names.empty()) return;
    std::vector<NamedTensor> state = named_state(*original);
    state.pop_back();
    CHECK_THROWS_WITH_AS(load_state(*fresh, state), doctest::Contains("the given state does not"), Error);
    state = named_state(*original);
    state.push_back({"stray", zeros(2)});
    CHECK_THROWS_WITH_AS(load_state(*fresh, state),
                         "load_state: the given state has stray, the model does not", Error);
    state = named_state(*original);
    state[0].tensor = zeros({1, 2, 3, 4});
    CHECK_THROWS_WITH_AS(load_state(*fresh, state), doctest::Contains("[1, 2, 3, 4] f32 in the given state"),
                         Error);
  });
}

TEST_CASE("train and eval reach every module, and evaluation changes no state") {
  for_each_row([](const ModuleRow& row) {
    const std::unique_ptr<Module> module = module_of(row, Dtype::f32);
    eval(*module);
    for (const NamedModule& part : named_modules(*module)) CHECK_FALSE(part.module->training());
    std::vector<std::vector<double>> before, after;
    for (const NamedTensor& entry : named_state(*module)) before.push_back(entry.tensor.to_vector<double>());
    const Tensor y = (*module)(input_of(row, Dtype::f32));  // without a tape: dropout would throw
    CHECK((*module)(input_of(row, Dtype::f32)).to_vector<double>() == y.to_vector<double>());
    for (const NamedTensor& entry : named_state(*module)) after.push_back(entry.tensor.to_vector<double>());
    CHECK(before == after);
    train(*module);
    for (const NamedModule& part : named_modules(*module)) CHECK(part.module->training());
  });
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

TEST_CASE("a description is an indented tree") {
  Sequential model(Linear(4, 2, Rng(1), {.bias = false}), BatchNorm1d(2), ReLU());
  CHECK(describe(model) ==
        "Sequential  (12 parameters)\n"
        "  0: Linear  weight [2, 4]  (8 parameters)\n"
        "  1: BatchNorm1d  weight [2]  bias [2]  running_mean [2] buffer  running_var [2] buffer  "
        "num_batches_tracked [] buffer  (4 parameters)\n"
        "  2: ReLU\n");
}

TEST_CASE("an error says in which module it happened") {
  LanguageModel model({.vocab_size = 5, .block_size = 4, .n_layer = 2, .n_head = 2, .n_embd = 8}, Rng(1));
  const Tensor symbols = Rng(2).integers({1, 4}, 5);
  auto& mlp = dynamic_cast<SwiGLU&>(*model.blocks[1].mlp);
  mlp.down_proj.weight = zeros({8, 3}).set_trainable();
  CHECK_THROWS_WITH_AS(model(symbols), doctest::Contains("in blocks.1.mlp.down_proj: linear: "), Error);
  CHECK_THROWS_WITH_AS(model(zeros({1, 5}, Dtype::i64)),
                       "language_model: wanted tokens (B, T) with T up to 4, got [1, 5]", Error);
}

TEST_CASE("the first call of a model gives its modules their paths") {
  Sequential model(Linear(2, 2, Rng(1)), ReLU());
  CHECK(model.parts[1]->path().empty());
  model(zeros({1, 2}));
  CHECK(model.path().empty());
  CHECK(model.parts[0]->path() == "0");
  Residual outer(std::make_unique<Sequential>(std::move(model)));
  assign_paths(outer);
  CHECK(dynamic_cast<Sequential&>(*outer.body).parts[0]->path() == "body.0");
}

TEST_CASE("tied tensors are one parameter, and stay tied through convert, load and a move") {
  const LanguageModelConfig config{.vocab_size = 5, .block_size = 4, .n_layer = 1, .n_head = 1, .n_embd = 4};
  LanguageModel original(config, Rng(1));
  LanguageModel model(std::move(original));
  convert(model, Dtype::f64);
  CHECK(model.lm_head.weight.id() == model.embed_tokens.weight.id());
  CHECK(model.lm_head.weight.dtype() == Dtype::f64);
  CHECK(model.lm_head.weight.trainable());
  for (const NamedTensor& entry : named_state(model)) CHECK(entry.name != "lm_head.weight");
  LanguageModel other(config, Rng(2));
  convert(other, Dtype::f64);
  copy_state(model, other);
  CHECK(other.lm_head.weight.to_vector<double>() == model.embed_tokens.weight.to_vector<double>());
}

TEST_CASE("frozen tensors are state but not parameters") {
  Linear layer(3, 2, Rng(1));
  layer.weight.set_trainable(false);
  CHECK(parameters(layer).size() == 1);
  CHECK(named_state(layer).size() == 2);
  CHECK(parameter_count(layer) == 2);
}

TEST_CASE("a state of another dtype is refused and nothing is copied") {
  Linear narrow(3, 2, Rng(1)), wide(3, 2, Rng(2));
  convert(wide, Dtype::f64);
  const std::vector<double> before = narrow.weight.to_vector<double>();
  CHECK_THROWS_WITH_AS(copy_state(wide, narrow),
                       "load_state: weight is [2, 3] f32 in the model, but [2, 3] f64 in the given state",
                       Error);
  CHECK(narrow.weight.to_vector<double>() == before);
}

TEST_CASE("dropout draws a new mask at each call, the same on a replay, and none in evaluation") {
  Dropout layer(0.25);
  const Tensor x = ones({1000});
  const auto two_calls = [&](uint64_t seed) {
    Tape tape({.rng = Rng(seed)});
    return std::pair(layer(x).to_vector<float>(), layer(x).to_vector<float>());
  };
  const auto [first, second] = two_calls(1);
  CHECK(first != second);
  CHECK(two_calls(1).first == first);
  CHECK(two_calls(1).second == second);
  CHECK(two_calls(2).first != first);
  const auto zeroed = std::count(first.begin(), first.end(), 0.0f);
  CHECK(std::abs(zeroed - 250) < 5 * std::sqrt(1000 * 0.25 * 0.75));  // five standard deviations
  CHECK_THROWS_WITH_AS(layer(x), doctest::Contains("call eval(model) or open a Tape"), Error);
  eval(layer);
  CHECK(layer(x).to_vector<float>() == x.to_vector<float>());
  CHECK_THROWS_WITH_AS(Dropout(1.0), "dropout: wanted a probability in [0, 1), got 1", Error);
}

TEST_CASE("batch norm refuses a single value per channel in training") {
  BatchNorm1d layer(3);
  CHECK_THROWS_WITH_AS(layer(ones({1, 3})),
                       doctest::Contains("wanted more than one value per channel in training, got [1, 3]"),
                       Error);
  eval(layer);
  CHECK(layer(ones({1, 3})).shape() == Shape{1, 3});
  CHECK_THROWS_WITH_AS(layer(ones({3})), "batch_norm: wanted x (N, C) or (N, C, L), got [3]", Error);
}

TEST_CASE("the running variance of batch norm keeps its digits far from zero") {
  BatchNorm1d layer(1, {.momentum = 1.0});
  // No rounding in f32; Σ (x − mean)² / 3 = 5/192.
  layer(tensor({4, 1}, std::vector<float>{1e6f, 1e6f + 0.125f, 1e6f + 0.25f, 1e6f + 0.375f}));
  CHECK(layer.running_var.item() == static_cast<double>(5.0f / 192));
}

TEST_CASE("the ISRU clip is x near 0, cap/√2 at its cap and the cap far out") {
  ISRUClip clip(2);
  const Tensor y = clip(tensor({5}, std::vector<double>{1e-6, 2, -2, 4, -1e12}));
  const std::vector<double> wanted{1e-6, std::sqrt(2.0), -std::sqrt(2.0), 4 / std::sqrt(5.0), -2};
  for (int64_t i = 0; i < 5; ++i)
    CHECK(y.at({i}) == doctest::Approx(wanted[static_cast<size_t>(i)]).epsilon(1e-12));
}

TEST_CASE("constructors refuse settings that cannot work, and say why") {
  const Rng rng(1);
  CHECK_THROWS_WITH_AS(MultiheadAttention(6, 4, rng), "attention: a width of 6 does not divide into 4 heads",
                       Error);
  CHECK_THROWS_WITH_AS(GroupedQueryAttention(8, 4, rng, {.n_kv_head = 3}),
                       "attention: 4 query heads do not divide among 3 key/value heads", Error);
  CHECK_THROWS_WITH_AS(GroupedQueryAttention(6, 2, rng),
                       doctest::Contains("wanted an even number of channels per head, got 3"), Error);
  CHECK_THROWS_WITH_AS(GroupNorm(2, 5), "group_norm: 5 channels do not divide into 2 groups", Error);
  CHECK_THROWS_WITH_AS(DyISRU(4, {.c = -1}), "dyisru: wanted an initial C above 0, got -1", Error);
  CHECK_THROWS_WITH_AS(Softcap(0), "softcap: wanted a cap above 0, got 0", Error);
  CHECK_THROWS_WITH_AS(ISRUClip(-1), "isru_clip: wanted a cap above 0, got -1", Error);
  CHECK_THROWS_WITH_AS(PRMSNorm(8), doctest::Contains("p = 0.0625 of 8 elements leaves 0 to measure"), Error);
  CHECK_THROWS_WITH_AS(make_norm("instancenorm", 4),
                       "norm: wanted one of none, layernorm, rmsnorm, prmsnorm, batchnorm, groupnorm, "
                       "centernorm, stdnorm, dyt, dyt_sqrtd, dyisru, derf, got instancenorm",
                       Error);
  CHECK_THROWS_WITH_AS(make_norm("groupnorm", 6, {.groups = 4}),
                       "group_norm: 6 channels do not divide into 4 groups", Error);
  CHECK_THROWS_WITH_AS(make_norm("batchnorm", 0), "batch_norm: wanted at least one channel, got [0]", Error);
  CHECK_THROWS_WITH_AS(make_norm("groupnorm", 0), "group_norm: wanted at least one channel, got [0]", Error);
  CHECK_THROWS_WITH_AS(
      placement_from_name("middle"),
      "placement: wanted none, pre, post, peri, residual_free, skipinit, rezero or fixup, got middle", Error);
  CHECK_THROWS_WITH_AS(Residual(std::make_unique<ReLU>(), Placement::rezero),
                       "residual: wanted placement none, pre or post, got rezero", Error);
  CHECK_THROWS_WITH_AS(Residual(std::make_unique<ReLU>(), Placement::pre),
                       doctest::Contains("wanted a norm with placement pre or post"), Error);
}

TEST_CASE("SkipInit, ReZero and Fixup start as the identity") {
  const Tensor x = Rng(1).normal({3, 8});
  const auto branch = [] { return std::make_unique<Linear>(8, 8, Rng(2)); };
  SkipInit skip_init(branch());
  ReZero re_zero(branch());
  Fixup fixup(8, 100, Rng(3));
  CHECK(skip_init(x).to_vector<float>() == x.to_vector<float>());
  CHECK(re_zero(x).to_vector<float>() == x.to_vector<float>());
  CHECK(fixup(x).to_vector<float>() == x.to_vector<float>());
}

TEST_CASE("every norm takes its normalized shape alone, as the last dimensions of its input") {
  for (const std::string& name : norm_names()) {
    CAPTURE(name);
    for (const Shape& shape : {Shape{6}, Shape{2, 3}}) {
      const auto norm = make_norm(name, shape);
      const Tensor x = Rng(1).normal(shape.ndim() == 1 ? Shape{4, 6} : Shape{4, 2, 3});
      CHECK((*norm)(x).shape() == x.shape());
      if (name == "none") continue;
      CHECK_THROWS_AS((*norm)(Rng(1).normal({4, 1})), Error);  // would broadcast
      CHECK_THROWS_AS((*norm)(Rng(1).normal({4, 5})), Error);
    }
    const auto norm = make_norm(name, 6);  // leading dimensions only count rows
    const Tensor x = Rng(1).normal({4, 6});
    CHECK((*norm)(reshape(x, {2, 2, 6})).to_vector<float>() == (*norm)(x).to_vector<float>());
  }
}

TEST_CASE("make_norm makes what its name says, with the initial value that was asked for") {
  for (const std::string& name : norm_names()) {
    const auto norm = make_norm(name, 4, {.alpha = 3});
    for (const auto& [parameter, tensor] : named_parameters(*norm)) {
      if (parameter == "alpha" || parameter == "inv_rho") CHECK(tensor.item() == 3);
      if (parameter == "log_c") CHECK(tensor.item() == doctest::Approx(std::log(3.0)));
    }
  }
  CHECK(make_norm("none", 4)->type_name() == "Identity");
  CHECK(make_norm("batchnorm", 4)->type_name() == "RowBatchNorm");
  CHECK(parameter_count(*make_norm("batchnorm", 4, {.bias = false})) == 4);
  CHECK(parameter_count(*make_norm("groupnorm", 4, {.bias = false})) == 4);
  CHECK(dynamic_cast<RowGroupNorm&>(*make_norm("groupnorm", 64)).num_groups == 4);
  CHECK(dynamic_cast<RowGroupNorm&>(*make_norm("groupnorm", 6)).num_groups == 2);
  CHECK(dynamic_cast<RowGroupNorm&>(*make_norm("groupnorm", 6, {.groups = 3})).num_groups == 3);
  CHECK(dynamic_cast<PRMSNorm&>(*make_norm("prmsnorm", 64)).measured == 4);
  CHECK(dynamic_cast<PRMSNorm&>(*make_norm("prmsnorm", 6)).measured == 1);  // a sixteenth of 6 is none
  CHECK(dynamic_cast<PRMSNorm&>(*make_norm("prmsnorm", 8, {.p = 0.5})).measured == 4);
  CHECK(make_norm("layernorm", 4, {.bias = false})->type_name() == "LayerNorm");
  CHECK(parameter_count(*make_norm("layernorm", 4, {.bias = false})) == 4);
  CHECK(dynamic_cast<DyISRU&>(*make_norm("dyisru", 4)).log_c.item() == doctest::Approx(std::log(4.0)));
  CHECK(dynamic_cast<RMSNorm&>(*make_norm("rmsnorm", 4, {.eps = 0.5})).eps == 0.5);
}
