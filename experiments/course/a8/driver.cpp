#include "driver.h"

#include <algorithm>
#include <cmath>

#include "a8.h"

namespace {

const char* const config_words = "vocabulary,layers,heads,width";
const char* const training_words = "steps,batch,length,warmup,lr";

void trained(const Request& in, Answer& out) {
  const auto config = in.as<Config>(config_words);
  const auto training = in.as<Training>(training_words);
  const Parameters parameters = train(in["tokens"], config, training, Rng(in.integer("seed")));
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
  const Parameters parameters = train(in["tokens"], config, training, Rng(in.integer("seed")));
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
         for (const auto& [name, tensor] : initial(in.as<Config>(config_words), Rng(in.integer("seed")))) {
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
