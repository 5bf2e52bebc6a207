// Models and optimizers in a file: what save_safetensors() writes of named_state(), load_state() takes back.
#include <doctest/doctest.h>

#include "../../data/safetensors.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "../message_of.h"
#include "../temporary_folder.h"
#include "../values_of.h"

namespace isobar::model_file_test {

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& entry : tensors) names.push_back(entry.name);
  return names;
}

// The only tensor of a file that `tensor` was written to.
Tensor round_trip(const Tensor& tensor) {
  const TemporaryFolder folder;
  save_safetensors(folder / "x.safetensors", {{"x", tensor}});
  const std::vector<NamedTensor> back = load_safetensors(folder / "x.safetensors");
  REQUIRE(back.size() == 1);
  CHECK(back[0].name == "x");
  CHECK(back[0].tensor.dtype() == tensor.dtype());
  CHECK(back[0].tensor.shape() == tensor.shape());
  return back[0].tensor;
}

// Two matrices, the input's and the output's tied.
struct Tied : Module {
  Tensor weight;
  Linear first;
  Tensor head;

  explicit Tied(uint64_t seed)
      : weight(Rng(seed).normal({4, 4}).set_trainable()), first(4, 4, Rng(seed + 1)), head(weight) {}
  Tensor forward(const Tensor& x) override { return matmul(first(matmul(x, weight)), head); }
  void fields(Fields& f) override {
    f("weight", weight);
    f("first", first);
    f("head", head);
  }
};

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>;

TEST_CASE("every dtype is read back as it was written") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<double> doubles{1.0 / 3, tiny, -0.0, std::numeric_limits<double>::infinity()};
  CHECK(round_trip(tensor<double>({4}, doubles)).to_vector<double>() == doubles);
  const std::vector<int64_t> longs{std::numeric_limits<int64_t>::min(), -1,
                                   std::numeric_limits<int64_t>::max()};
  CHECK(round_trip(tensor<int64_t>({3}, longs)).to_vector<int64_t>() == longs);
  const std::vector<int32_t> ints{std::numeric_limits<int32_t>::min(), 7};
  CHECK(round_trip(tensor<int32_t>({2}, ints)).to_vector<int32_t>() == ints);
  CHECK(round_trip(full({}, 2.5)).item() == 2.5);
  CHECK(round_trip(zeros({3, 0, 2}, Dtype::f64)).numel() == 0);
}

TEST_CASE("a strided tensor is written in the order of its indices") {
  const Tensor x = tensor<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(round_trip(transpose(x)).to_vector<float>() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(round_trip(raw::as_strided(x, {2, 2}, {0, 1}, 1)).to_vector<float>() ==
        std::vector<float>{2, 3, 2, 3});
}

TEST_CASE("several dtypes are in one file, with texts about them") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  save_safetensors(path, {{"b", ones({3})}, {"a", arange(5)}, {"c", ones({1}, Dtype::f64)}},
                   {{"step", "12"}});
  CHECK(names_of(load_safetensors(path)) == std::vector<std::string>{"a", "b", "c"});
  CHECK(load_safetensors(path)[0].tensor.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 2, 3, 4});
  CHECK(read_safetensors(path).metadata == std::map<std::string, std::string>{{"step", "12"}});
}

TEST_CASE("a model with tied tensors and buffers goes through a file") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  Tied model(1), other(5);
  save_safetensors(path, named_state(model));
  CHECK(names_of(load_safetensors(path)) == std::vector<std::string>{"first.bias", "first.weight", "weight"});
  load_state(other, load_safetensors(path));
  CHECK(values_of(other) == values_of(model));
  CHECK(other.head.id() == other.weight.id());
  const Tensor x = Rng(3).normal({2, 4});
  CHECK(other(x).to_vector<float>() == model(x).to_vector<float>());

  BatchNorm1d norm(3), fresh(3);
  norm(Rng(1).normal({16, 3}, 2, 3));
  save_safetensors(path, named_state(norm));
  load_state(fresh, load_safetensors(path));
  CHECK(values_of(fresh) == values_of(norm));
}

TEST_CASE("training resumes from files to the bit, whatever the optimizer") {
  const std::map<std::string, MakeOptimizer> optimizers = {
      {"AdamW", [](const auto& p) { return std::make_unique<AdamW>(p, AdamWOptions{.lr = 1e-2}); }},
      {"SGD",
       [](const auto& p) { return std::make_unique<SGD>(p, SGDOptions{.lr = 1e-2, .momentum = 0.9}); }},
      {"Muon", [](const auto& p) { return std::make_unique<Muon>(p); }}};
  for (const auto& entry : optimizers)
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const std::string& name = entry.first;
      const MakeOptimizer& make = entry.second;
      INFO("name ", name, ", dtype ", name_of(dtype));
      const TemporaryFolder folder;
      const auto model_of = [&, muon = name == "Muon"](int seed) {
        auto linear = std::make_unique<Linear>(4, 4, Rng(static_cast<uint64_t>(seed)),
                                               LinearOptions{.bias = !muon});  // Muon takes matrices alone
        convert(*linear, dtype);
        return linear;
      };
      const auto steps = [&](Module& model, Optimizer& optimizer, int begin, int end) {
        for (int t = begin; t < end; ++t) {
          Tape tape;
          tape.backward(
              mean(square(model(Rng(9).split(static_cast<uint64_t>(t)).normal({8, 4}, 0, 1, dtype)))));
          optimizer.step();
        }
      };
      const auto straight = model_of(1), resumed = model_of(2);
      const auto first = make(parameters(*straight)), second = make(parameters(*resumed));
      steps(*straight, *first, 0, 3);
      save_safetensors(folder / "model", named_state(*straight));
      save_safetensors(folder / "optimizer", named_state(*first));
      load_state(*resumed, load_safetensors(folder / "model"));
      load_state(*second, load_safetensors(folder / "optimizer"));
      steps(*straight, *first, 3, 6);
      steps(*resumed, *second, 3, 6);
      CHECK(values_of(*resumed) == values_of(*straight));
      CHECK(values_of(*second) == values_of(*first));
    }
}

TEST_CASE("hostile names are written and read, or refused by name") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  std::vector<NamedTensor> tensors;
  const std::vector<std::string> names = {"",     "\"", "\\",      "a\nb", std::string("nul\0byte", 8),
                                          "../x", "{}", "ünïcødé", "\x7f", std::string(5000, 'n')};
  for (size_t i = 0; i < names.size(); ++i) tensors.push_back({names[i], full({1}, static_cast<double>(i))});
  save_safetensors(path, tensors);
  const Safetensors back = read_safetensors(path);
  for (size_t i = 0; i < names.size(); ++i) CHECK(back.tensors.at(names[i]).item() == static_cast<double>(i));

  const auto refusal = [&](const std::vector<NamedTensor>& wrong,
                           const std::map<std::string, std::string>& about) {
    const TemporaryFolder empty;
    const std::string message = message_of([&] { save_safetensors(empty / "x", wrong, about); });
    CHECK(empty.names().empty());
    return message;
  };
  CHECK(refusal({{"a\xff", ones({1})}}, {}) == "safetensors: the name 'a\\xff' is not valid UTF-8");
  CHECK(refusal({}, {{"a", "\xc3"}}) == "safetensors: the metadata '\\xc3' is not valid UTF-8");
  CHECK(refusal({{"__metadata__", ones({1})}}, {}) ==
        "safetensors: the format keeps the name '__metadata__' for itself; rename the tensor");
  CHECK(refusal({{"w", Tensor()}}, {}) == "safetensors: tensor 'w' is undefined");
  CHECK(refusal({{"w", ones({1})}, {"w", ones({2})}}, {}) == "save_safetensors: w is given twice");
}

TEST_CASE("a load that is not strict copies what both have, and says what is missing and what is left over") {
  Sequential body(Linear(3, 4, Rng(1)), ReLU(), Linear(4, 2, Rng(2))), with_head(Linear(3, 4, Rng(3)));
  with_head.add(std::make_unique<ReLU>());
  with_head.add(std::make_unique<Identity>());
  with_head.add(std::make_unique<Linear>(4, 7, Rng(4)));
  const auto head = values_of(*with_head.parts[3]);
  const StateDifference difference = load_state(with_head, named_state(body), {.strict = false});
  CHECK(difference.missing == std::vector<std::string>{"3.weight", "3.bias"});
  CHECK(difference.unexpected == std::vector<std::string>{"2.bias", "2.weight"});
  CHECK(values_of(*with_head.parts[0]) == values_of(*body.parts[0]));
  CHECK(values_of(*with_head.parts[3]) == head);
  CHECK(
      message_of([&] { load_state(with_head, named_state(body)); }) ==
      "load_state: the model has 3.weight [7, 4], 3.bias [7], the given state does not; the given state has 2.bias, "
      "2.weight, the model does not; {.strict = false} loads what both have");
  // Another shape, and no name in common, are errors still.
  Sequential wider(Linear(5, 4, Rng(1)));
  CHECK(message_of([&] { load_state(wider, named_state(body), {.strict = false}); }) ==
        "load_state: 0.weight is [4, 5] f32 in the model, but [4, 3] f32 in the given state");
  Linear alone(3, 4, Rng(1));
  CHECK(message_of([&] {
          load_state(alone, named_state(body), {.strict = false});
        }).starts_with("load_state: no name is in both: the model has weight [4, 3], bias [4], the given"));
  Sequential other(Linear(3, 4, Rng(5)), ReLU(), Linear(4, 2, Rng(6)));
  CHECK(load_state(body, named_state(other)).missing.empty());
}

TEST_CASE("a file of another model is refused with what is missing, or both shapes and dtypes") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  Linear model(3, 2, Rng(1));
  const auto refusal = [&](HasFields& other) {
    save_safetensors(path, named_state(other));
    const auto before = values_of(model);
    const std::string message = message_of([&] { load_state(model, load_safetensors(path)); });
    CHECK(values_of(model) == before);
    return message;
  };
  Linear exact(3, 2, Rng(1)), bare(3, 2, Rng(1), {.bias = false});
  convert(exact, Dtype::f64);
  CHECK(refusal(exact) == "load_state: weight is [2, 3] f32 in the model, but [2, 3] f64 in the given state");
  CHECK(
      refusal(bare) ==
      "load_state: the model has bias [2], the given state does not; {.strict = false} loads what both have");
}

}  // namespace isobar::model_file_test
