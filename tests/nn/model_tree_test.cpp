// A model as a tree of modules: how it is described, the paths of its parts, tied and frozen tensors, its
// state.
#include <doctest/doctest.h>

#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../nn/pieces.h"
#include "../../optim/adam.h"
#include "../message_of.h"

namespace isobar::model_tree_test {

template <class T>
struct Wrapped : Module {};
template <class T>
struct Outer {
  struct Inner : Module {};
};

std::vector<NamedTensor> cloned_state(HasFields& model) {
  std::vector<NamedTensor> state = named_state(model);
  for (NamedTensor& entry : state) entry.tensor = clone(entry.tensor.detach());
  return state;
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

TEST_CASE("a description has the names that types give themselves, and those of parts that are no modules") {
  struct Named : Module {
    std::string type_name() const override { return "RMSNorm of 4"; }
  };
  struct Pair : HasFields {
    Named first;
    Tensor gain = ones(3);
    void fields(Fields& f) override {
      f("first", first);
      f("gain", gain);
    }
  };
  Pair pair;
  CHECK(describe(pair) == "Pair  gain [3] frozen\n  first: RMSNorm of 4\n");
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

TEST_CASE("a part added after the first call has a path at once, and keeps the path that the whole gave it") {
  Sequential model{Sequential{ReLU()}, ReLU()};
  model(zeros({1, 2}));
  auto& inner = dynamic_cast<Sequential&>(*model.parts[0]);
  inner.add(std::make_unique<Dropout>(0.5));
  CHECK(inner.parts[1]->path() == "0.1");
  inner.parts.push_back(std::make_unique<ReLU>());  // past add()
  assign_paths(inner);
  CHECK(inner.path() == "0");
  CHECK(inner.parts[0]->path() == "0.0");
  CHECK(inner.parts[2]->path() == "0.2");
}

TEST_CASE("a type's name is without namespaces, in template arguments too") {
  CHECK(Wrapped<RMSNorm>().type_name() == "Wrapped<RMSNorm>");
  CHECK(Wrapped<Wrapped<GroupNorm>>().type_name() == "Wrapped<Wrapped<GroupNorm> >");
  CHECK(Outer<RMSNorm>::Inner().type_name() == "Inner");
  CHECK(Wrapped<std::pair<Linear, unsigned long>>().type_name() == "Wrapped<pair<Linear, unsigned long> >");
  struct Local : Module {};
  CHECK(Local().type_name() == "Local");
  CHECK(Wrapped<Local>().type_name() == "Wrapped<Local>");
}

TEST_CASE("a module that lists itself, or what is around it, is refused by every walk") {
  struct Snake : Module {
    Snake* tail = this;
    Tensor weight = ones(2);
    void fields(Fields& f) override {
      f("weight", weight);
      f("tail", *tail);
    }
  };
  const auto refused = [](Snake& snake, const std::string& name) {
    const std::string wanted =
        "fields: the part " + name + " lists itself among its parts; leave it out of fields()";
    CHECK(message_of([&] { named_parameters(snake); }) == wanted);
    CHECK(message_of([&] { named_modules(snake); }) == wanted);
    CHECK(message_of([&] { snake(ones(2)); }) == wanted);
    CHECK(message_of([&] { stamps_of(snake); }) == wanted);
    CHECK(message_of([&] { describe(snake); }) == wanted);
    CHECK(message_of([&] { backward_in_pieces(snake, 2, [](int64_t) { return ones({}); }); }) == wanted);
  };
  Snake own, head, body;
  refused(own, "tail");
  head.tail = &body;
  body.tail = &head;
  refused(head, "tail");
}

struct Lists : Module {
  std::vector<Linear> layers;
  std::vector<std::unique_ptr<Module>> others;
  std::vector<Tensor> scales;
  std::vector<int64_t> sizes{1, 2};  // a setting

  Lists() {
    for (int64_t i = 0; i < 3; ++i) layers.emplace_back(2, 2, Rng(i), LinearOptions{.bias = i == 1});
    others.push_back(std::make_unique<ReLU>());
    others.push_back(std::make_unique<Linear>(2, 2, Rng(5), LinearOptions{.bias = false}));
    scales = {ones({2}).set_trainable(), ones({1}).set_trainable()};
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (Linear& layer : layers) y = layer(y);
    for (const auto& other : others) y = (*other)(y);
    for (const Tensor& scale : scales) y = y * scale;
    return y;
  }
  void fields(Fields& f) override {
    f("layers", layers);
    f("others", others);
    f("scales", scales);
    f("sizes", sizes);
  }
};

TEST_CASE("a list of modules or tensors is listed by one name and a number for each") {
  Lists model;
  std::vector<std::string> names;
  for (const NamedTensor& p : named_parameters(model)) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"layers.0.weight", "layers.1.weight", "layers.1.bias",
                                          "layers.2.weight", "others.1.weight", "scales.0", "scales.1"});
  CHECK(model(ones({3, 2})).shape() == Shape{3, 2});
  CHECK(model.layers[2].path() == "layers.2");
  CHECK(model.others[0]->path() == "others.0");
}

TEST_CASE("two parameters that are draws of one key are refused with both names, until one is written") {
  const Rng rng(1);
  Sequential model(Linear(3, 4, rng), ReLU(), Linear(4, 3, rng, {.bias = false}), Linear(3, 3, Rng(2)));
  const std::string refusal =
      "parameters: 0.weight [4, 3] and 2.weight [3, 4] are draws of one key, so they start equal; give each layer a key of its "
      "own, such as rng.split(\"2.weight\"), or assign() one to the other if that is wanted";
  CHECK(message_of([&] { parameters(model); }) == refusal);
  CHECK(message_of([&] { named_parameters(model); }) == refusal);
  convert(model, Dtype::f64);
  CHECK(message_of([&] { parameters(model); }) == refusal);
  CHECK(parameter_count(model) == 16 + 12 + 12);
  CHECK(describe(model).starts_with("Sequential  (40 parameters)"));

  Linear &first = dynamic_cast<Linear&>(*model.parts[0]), &second = dynamic_cast<Linear&>(*model.parts[2]);
  second.weight.set_trainable(false);
  CHECK(parameters(model).size() == 4);  // a frozen copy is no second start
  second.weight.set_trainable();
  assign(second.weight, reshape(first.weight.detach(), {3, 4}));  // equal on purpose: written
  CHECK(parameters(model).size() == 5);
  Sequential orthogonal(Linear(init::orthogonal({4, 3}, rng)), Linear(init::orthogonal({3, 4}, rng)));
  CHECK(message_of([&] { parameters(orthogonal); }).find("are draws of one key") != std::string::npos);

  // Loaded values are no repetition.
  Sequential loaded(Linear(3, 3, rng), Linear(3, 3, rng));
  load_state(loaded, cloned_state(loaded));
  CHECK(parameters(loaded).size() == 4);
}

TEST_CASE("a state that is the model's own tensors is refused, and a copy brings the weights back") {
  Linear model(3, 2, Rng(1));
  const std::vector<NamedTensor> live = named_state(model), best = cloned_state(model);
  const std::vector<double> then = model.weight.to_vector<double>();
  assign(model.weight, ones({2, 3}));
  const std::string refusal =
      "load_state: the given state is the model's own tensors, so nothing would change: named_state() does not "
      "copy; clone() each tensor at the time to which the model is to return";
  CHECK(message_of([&] { load_state(model, live); }) == refusal);
  CHECK(message_of([&] { copy_state(model, model); }) == refusal);
  AdamW optimizer(parameters(model));
  CHECK(message_of([&] { load_state(optimizer, named_state(optimizer)); }) == refusal);
  CHECK(model.weight.to_vector<double>() == std::vector<double>(6, 1.0));
  load_state(model, best);
  CHECK(model.weight.to_vector<double>() == then);
  // A part of it may be the model's own.
  std::vector<NamedTensor> mixed = named_state(model);
  mixed[0].tensor = ones({2, 3});
  load_state(model, mixed);
  CHECK(model.weight.to_vector<double>() == std::vector<double>(6, 1.0));
  ReLU nothing;
  copy_state(nothing, nothing);
}

TEST_CASE("a state may have the model's own tensors under other names, whole or as views") {
  Sequential model(Linear(2, 2, Rng(1)), Linear(2, 2, Rng(2)), Linear(2, 2, Rng(3)));
  const auto weight = [&](size_t i) { return dynamic_cast<Linear&>(*model.parts[i]).weight; };
  const auto values = [&](size_t i) { return weight(i).to_vector<double>(); };
  const std::vector<double> first = values(0), second = values(1), third = values(2);
  std::vector<NamedTensor> state = named_state(model);
  for (NamedTensor& entry : state) {  // in a circle
    entry.name[0] = entry.name[0] == '2' ? '0' : static_cast<char>(entry.name[0] + 1);
    if (entry.name == "0.weight") entry.tensor = transpose(entry.tensor.detach());
  }
  load_state(model, state);
  CHECK(values(0) == std::vector<double>{third[0], third[2], third[1], third[3]});
  CHECK(values(1) == first);
  CHECK(values(2) == second);
}

TEST_CASE("layers of one Rng are refused whatever their sizes, with what they have in common") {
  const Rng rng(1);
  const auto message = [](HasFields& model) { return message_of([&] { parameters(model); }); };
  const std::string repair =
      "come from the same numbers; give each layer a key of its own, such as rng.split(\"1.weight\"), or assign() one "
      "to the other if that is wanted";
  for (const int64_t width : {1, 2, 7, 9}) {
    Sequential model(Linear(8, 8, rng, {.bias = false}), Linear(8, width, rng, {.bias = false}));
    CHECK(message(model) ==
          fmt::format("parameters: 0.weight [8, 8] and 1.weight [{}, 8] are draws of one key, so their "
                      "first {} elements {}",
                      width, 8 * std::min<int64_t>(width, 8), repair));
    Sequential split(Linear(8, 8, rng.split("0")), Linear(8, width, rng.split("1")));
    CHECK(message(split).empty());
  }
  Sequential with_bias(Linear(3, 5, rng), ReLU(), LayerNorm(5), Linear(5, 2, rng));
  CHECK(message(with_bias).find("0.weight [5, 3] and 3.weight [2, 5]") != std::string::npos);
  LanguageModel language_model({.vocab_size = 5, .block_size = 4, .n_layer = 3, .n_head = 2, .n_embd = 4},
                               rng);
  CHECK(message(language_model).empty());  // tied and of many sizes
  Sequential twins(Linear(3, 3, rng));
  CHECK(message(twins).empty());  // a model of its own may have the key
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

TEST_CASE("an Evaluation has every part in evaluation, and brings back the mode of each") {
  Sequential model(Dropout(0.5), ReLU());
  eval(*model.parts[1]);
  {
    const Evaluation here(model);
    CHECK_FALSE(model.parts[0]->training());
  }
  CHECK((model.training() && model.parts[0]->training() && !model.parts[1]->training()));
}

TEST_CASE("freeze takes a part's parameters out of training, thaw into it; buffers and integers stay as is") {
  struct Table : Module {
    Tensor order = arange(3), gain = ones(3);
    void fields(Fields& f) override {
      f("order", order);
      f("gain", gain);
    }
  };
  Sequential model(Linear(3, 2, Rng(1)), BatchNorm1d(2), Table());
  const std::vector<Tensor> all = parameters(model);
  CHECK(all.size() == 4);
  freeze(model);
  CHECK(parameters(model).empty());
  CHECK(parameter_count(model) == 0);
  {
    Tape tape;
    model.parts[0]->operator()(ones({2, 3}));
    CHECK(tape.recorded() == 0);
  }
  thaw(*model.parts[0]);
  CHECK(parameters(model).size() == 2);
  thaw(model);
  CHECK(parameters(model).size() == 5);  // the gain too: it is listed as a parameter
  for (const NamedTensor& entry : named_state(model))
    CHECK(entry.tensor.trainable() ==
          (entry.name.ends_with("weight") || entry.name.ends_with("bias") || entry.name.ends_with("gain")));
}

}  // namespace isobar::model_tree_test
