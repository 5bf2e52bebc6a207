#include "driver.h"

#include <algorithm>
#include <cmath>

#include "a8.h"

extern "C" int64_t gradients_asked();  // counted.cpp

namespace {

const char* const config_words = "vocabulary,layers,heads,width";
const char* const training_words = "steps,batch,length,warmup,lr";

// The shapes of a8.h's parameters, by name.
std::map<std::string, Shape> shapes_of(const Config& config) {
  const int64_t c = config.width;
  std::map<std::string, Shape> shapes{{"embedding", {config.vocabulary, c}}, {"norm", {c}}};
  const std::map<std::string, Shape> of_block{{"norm1", {c}},     {"norm2", {c}},       {"q", {c, c}},
                                              {"k", {c, c}},      {"v", {c, c}},        {"o", {c, c}},
                                              {"up", {2 * c, c}}, {"gate", {2 * c, c}}, {"down", {c, 2 * c}}};
  for (int64_t l = 0; l < config.layers; ++l)
    for (const auto& [name, shape] : of_block) shapes[fmt::format("{}.{}", l, name)] = shape;
  return shapes;
}

// Throws unless these are the parameters that a8.h names, and no others.
void check_parameters(const std::string& function, const Parameters& parameters, const Config& config) {
  const std::map<std::string, Shape> shapes = shapes_of(config);
  for (const auto& [name, tensor] : parameters)
    check(shapes.count(name) > 0,
          "{}: '{}' is no parameter of this model: return those of a8.h and no others", function, name);
  for (const auto& [name, shape] : shapes) {
    check(parameters.count(name) > 0, "{}: the parameter '{}' is missing", function, name);
    check(parameters.at(name).defined() && parameters.at(name).shape() == shape,
          "{}: '{}' must be {}, got {}", function, name, shape, parameters.at(name).shape());
  }
}

// Throws where a weight is larger than the steps can have made it. AdamW moves one in a step by the rate times
// (1 − β1) / √(1 − β2) at most, which is 3.2 for its usual β, and the rates are those of learning_rate().
void check_reach(const Parameters& parameters, const Parameters& start, const Training& training) {
  const double rates =
      training.lr * ((training.warmup + 1) / 2.0 + 0.55 * (training.steps - training.warmup));
  for (const auto& [name, tensor] : parameters) {
    double first = 0, last = 0;
    for (const double w : start.at(name).to_vector<double>()) first = std::max(first, std::abs(w));
    for (const double w : tensor.to_vector<double>()) last = std::max(last, std::abs(w));
    check(!(last > 2 * first + 4 * rates),
          "train: '{}' holds a weight of {:.2g}, and {} steps at these rates reach no more than {:.2g}", name,
          last, training.steps, 2 * first + 4 * rates);
  }
}

// When the last training ended. What is asked for before the first counts as asked in it.
int64_t asked_before = 0;

Parameters trained_parameters(const Request& in, const Config& config) {
  const auto training = in.as<Training>(training_words);
  const Parameters parameters = train(in["tokens"], config, training, Rng(in.integer("seed")));
  const int64_t asked = gradients_asked() - asked_before;
  asked_before += asked;
  check(asked == training.steps,
        "train: wanted one call of the tape's backward in each of the {} steps, got {} calls", training.steps,
        asked);
  check_parameters("train", parameters, config);
  check_reach(parameters, initial(config, Rng(in.integer("seed"))), training);
  return parameters;
}

void trained(const Request& in, Answer& out) {
  const auto config = in.as<Config>(config_words);
  const Parameters parameters = trained_parameters(in, config);
  for (const auto& [name, tensor] : parameters) out("p:" + name, tensor);
  const Tensor logits = forward(parameters, config, in["contexts"]);
  const int64_t length = in["contexts"].size(1);
  // Of the last position of every context.
  const Tensor last =
      isobar::reshape(isobar::slice(logits, 1, length - 1, length), {logits.size(0), logits.size(2)});
  out("best", isobar::argmax(last, -1))("logits", last);
}

// Trains on `tokens`, and lets the model go on after `prompt`: what it says, and its loss on `unseen` text.
void talk(const Request& in, Answer& out) {
  const auto config = in.as<Config>(config_words);
  const auto training = in.as<Training>(training_words);
  const Parameters parameters = trained_parameters(in, config);
  std::vector<int64_t> text = in["prompt"].to_vector<int64_t>();
  const size_t given = text.size();
  const Rng rng = Rng(in.integer("seed")).split("talk");
  for (int64_t i = 0; i < in.integer("count"); ++i) {
    const int64_t seen = std::min<int64_t>(text.size(), training.length);
    const Tensor logits = forward(
        parameters, config, isobar::tensor({1, seen}, std::vector<int64_t>(text.end() - seen, text.end())));
    const Tensor last = isobar::reshape(isobar::slice(logits, 1, seen - 1, seen), {config.vocabulary});
    text.push_back(sample(last, in.number("temperature"), in.integer("top_k"), rng.uniform_at(i)));
  }
  out("said", std::vector<double>(text.begin() + given, text.end()));
  out("loss", evaluate(parameters, config, in["unseen"], training.length));
}

}  // namespace

int main() {
  return serve({
      {"batch", of(batch_of, {"tokens", "starts", "length"}, {"x", "y"})},
      {"initial",
       [](const Request& in, Answer& out) {
         const auto config = in.as<Config>(config_words);
         const Parameters parameters = initial(config, Rng(in.integer("seed")));
         check_parameters("initial", parameters, config);
         for (const auto& [name, tensor] : parameters) {
           out(name, tensor)("trainable:" + name, tensor.trainable());
           double squares = 0;
           for (const double v : tensor.to_vector<double>()) squares += v * v / tensor.numel();
           out("rms:" + name, std::sqrt(squares));
         }
       }},
      {"initial_twice",  // "same": one seed, drawn twice; "alike": a weight of two seeds (norms are ones)
       [](const Request& in, Answer& out) {
         const auto values = [&](const char* seed) {
           std::map<std::string, std::vector<double>> all;
           for (const auto& [name, tensor] : initial(in.as<Config>(config_words), Rng(in.integer(seed))))
             if (name.find("norm") == std::string::npos) all[name] = tensor.to_vector<double>();
           return all;
         };
         const auto one = values("seed"), two = values("other"), again = values("seed");
         double alike = 0;
         for (const auto& [name, weights] : one) alike += two.count(name) == 0 || two.at(name) == weights;
         out("same", one == again && !one.empty())("alike", alike);
       }},
      {"learning_rate",
       [](const Request& in, Answer& out) {
         std::vector<double> rates;
         for (int64_t step = 0; step < in.integer("count"); ++step)
           rates.push_back(learning_rate(step, in.integer("steps"), in.integer("warmup"), in.number("lr")));
         out("rates", rates);
       }},
      {"forward", of(forward, {"p:", config_words, "symbols"}, {"logits"})},
      {"evaluate", of(evaluate, {"p:", config_words, "tokens", "length"}, {"loss"})},
      {"train", trained},
      {"talk", talk},
      {"sample",
       [](const Request& in, Answer& out) {
         std::vector<double> symbols;
         for (const double u : in["u"].to_vector<double>())
           symbols.push_back(sample(in["logits"], in.number("temperature"), in.integer("top_k"), u));
         out("symbols", isobar::tensor(in["u"].shape(), symbols));
       }},
  });
}
