// The norm `mine` of decay_study and train_lm as the grader runs them: the layer is a process of its own
// (layer.cpp), and here is nothing of the student's. So what is measured and written is this program's,
// whatever the layer's process does. Numbers have the bits that they have in one process: gradients are
// added in the same order.
#include <mutex>

#include <isobar/autograd/tape.h>
#include <isobar/nn/activation.h>
#include <isobar/nn/norm.h>

#include "wire.h"

namespace {

using isobar::Tensor;

// A question to the layer's process, which answers one at a time: what is put, asked, and then read.
struct Question {
  explicit Question(Ask what) { wire.put(what); }
  void ask() {
    wire.send();
    if (wire.number(1) == 0) isobar::throw_error(wire.text());
  }

  static std::mutex mutex;
  std::lock_guard<std::mutex> alone{mutex};
  Wire& wire = link();

 private:
  static Wire& link() {
    static Wire wire = [] {
      Wire first;
      first.put(Ask::begin);
      first.send();
      first.number(1);
      return first;
    }();
    return wire;
  }
};
std::mutex Question::mutex;

// A call that was recorded: the other process keeps its tape until this node has been used.
struct Recorded final : isobar::Node {
  explicit Recorded(int64_t call) : call(call) {
    name = "mine";
    continues_sums = true;
  }
  ~Recorded() override {
    if (call < 0) return;
    try {
      Question to(Ask::drop);
      to.wire.put(call);
      to.ask();
    } catch (const isobar::Error&) {  // it has ended, and keeps nothing
    }
  }
  void backward(Tensor dy, isobar::Wants, std::span<Tensor> sums) override {
    Question to(Ask::backward);
    to.wire.put(call), to.wire.put(dy);
    for (const Tensor& sum : sums) to.wire.put(sum);
    to.ask();
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = to.wire.tensor();
      isobar::check(sums[i].defined() && sums[i].shape() == inputs[i].shape && sums[i].dtype() == dtype,
                    "mine: wanted a gradient {}, got another", inputs[i].shape);
    }
    call = -1;
  }

  int64_t call;
};

struct Mine : isobar::Module {
  explicit Mine(const isobar::Shape& width) {
    Question to(Ask::make);
    to.wire.put(width.ndim());
    for (const int64_t extent : width) to.wire.put(extent);
    to.ask();
    layer = to.wire.number();
    state.resize(to.wire.number(100));
    for (Part& part : state) {
      part.name = to.wire.text();
      part.trained = to.wire.number(1) == 1;
      part.tensor = to.wire.tensor();
      if (part.trained) part.tensor.set_trainable();
    }
  }

  Tensor forward(const Tensor& x) override {
    isobar::Tape* const tape = isobar::Tape::active();
    std::vector<const Tensor*> inputs;
    Tensor y;
    int64_t call = -1;
    {
      Question to(Ask::forward);
      to.wire.put(layer), to.wire.put(int64_t{training()});
      const auto put = [&](const Tensor& each) {
        const bool wanted = tape != nullptr && tape->needs_gradient(each, "mine");
        to.wire.put(each), to.wire.put(int64_t{wanted});
        if (wanted) inputs.push_back(&each);
      };
      put(x);
      for (const Part& part : state) put(part.tensor);
      to.ask();
      y = to.wire.tensor();
      isobar::check(y.defined() && y.dtype() == x.dtype(), "mine: wanted y of {}, got another", x.dtype());
      call = to.wire.number();
      for (Part& part : state)
        if (!part.trained) replace(part.tensor, to.wire.tensor());
    }
    if (!inputs.empty()) tape->append(std::make_unique<Recorded>(call), y, inputs);
    return y;
  }

  void fields(isobar::Fields& f) override {
    for (Part& part : state)
      if (part.trained)
        f(part.name, part.tensor);
      else
        f.buffer(part.name, part.tensor);
  }

 private:
  struct Part {
    std::string name;
    bool trained = false;
    Tensor tensor;
  };

  static void replace(Tensor& buffer, const Tensor& now) {
    const isobar::NoTape pause;
    if (buffer.to_vector<double>() != now.to_vector<double>()) isobar::assign(buffer, now);
  }

  int64_t layer = 0;
  std::vector<Part> state;
};

}  // namespace

const bool registered = isobar::register_norm(
    "mine",
    [](const isobar::Shape& width, const isobar::NormOptions&) { return std::make_unique<Mine>(width); });
const bool compared = isobar::register_norm("nothing", [](const isobar::Shape&, const isobar::NormOptions&) {
  return std::make_unique<isobar::Identity>();
});
