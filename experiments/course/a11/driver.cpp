#include "driver.h"

#include <isobar/autograd/tape.h>
#include <isobar/core/rng.h>
#include <isobar/nn/check/check_layer.h>
#include <isobar/nn/model.h>

#include "a11.h"

namespace {

void name(const Request&, Answer& out) {
  std::vector<double> letters;
  for (const char letter : chosen()) letters.push_back(static_cast<unsigned char>(letter));
  out("name", letters);
}

// The layer in f64, and its parameters by name, moved by the numbers of `noise` in the order of their names.
struct Made {
  std::unique_ptr<isobar::Module> layer;
  std::map<std::string, Tensor> parameters;

  explicit Made(const Request& in) : layer(make_layer({in["x"].size(-1)})) {
    isobar::check(layer != nullptr, "make_layer returned no layer");
    isobar::convert(*layer, isobar::Dtype::f64);
    for (const isobar::NamedTensor& each : isobar::named_parameters(*layer))
      parameters.emplace(each.name, each.tensor);
    const std::vector<double> noise = in["noise"].to_vector<double>();
    size_t next = 0;
    for (auto& [which, parameter] : parameters) {
      std::vector<double> values = parameter.to_vector<double>();
      for (double& value : values) value += noise.at(next++ % noise.size());
      isobar::assign(parameter, isobar::tensor(parameter.shape(), values));
    }
  }
};

void layer(const Request& in, Answer& out) {
  name(in, out);
  Made made(in);
  const Tensor x = isobar::raw::clone(in["x"]).set_trainable();
  isobar::Tape tape;
  const Tensor y = (*made.layer)(x);
  out("y", y);
  tape.backward(y, in["dy"]);
  out("dx", x.grad());
  for (const auto& [which, parameter] : made.parameters) out("d" + which, parameter.grad());
}

void forward(const Request& in, Answer& out) {
  name(in, out);
  out("y", (*Made(in).layer)(in["x"]));
}

void evaluation(const Request& in, Answer& out) {
  name(in, out);
  Made made(in);
  (*made.layer)(in["before"]);
  isobar::eval(*made.layer);
  out("y", (*made.layer)(in["x"]));
}

void check_layer(const Request& in, Answer& out) {
  const isobar::LayerReport report =
      isobar::check_layer([channels = in["x"].size(-1)] { return make_layer({channels}); },
                          isobar::raw::cast(in["x"], isobar::Dtype::f32));
  const std::string text = report.text();
  isobar::check(report.passed(), "{}", text.substr(0, text.find('\n')));
  out("right", 1);
}

}  // namespace

int main() {
  return serve({{"name", name},
                {"layer", layer},
                {"forward", forward},
                {"evaluation", evaluation},
                {"check_layer", check_layer}});
}
