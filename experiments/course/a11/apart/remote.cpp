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

// The layer's process, which answers one question at a time.
class Other {
 public:
  static Other& process() {
    static Other other;
    return other;
  }

  // What it answers to a question: ask(wire) puts it, take(wire) reads.
  template <class Put, class Take>
  void ask(const Put& put, const Take& take) {
    const std::lock_guard alone(mutex_);
    put(wire_);
    wire_.send();
    if (wire_.number(1) == 0) isobar::throw_error(wire_.text());
    take(wire_);
  }

 private:
  Other() {
    ask([](Wire& wire) { wire.put(Ask::begin); }, [](Wire&) {});
  }
  std::mutex mutex_;
  Wire wire_;
};

// A call that was recorded: the other process keeps its tape until this node has been used.
struct Recorded final : isobar::Node {
  explicit Recorded(int64_t call) : call(call) {
    name = "mine";
    continues_sums = true;
  }
  ~Recorded() override {
    if (call < 0) return;
    try {
      Other::process().ask([&](Wire& wire) { wire.put(Ask::drop), wire.put(call); }, [](Wire&) {});
    } catch (const isobar::Error&) {  // it has ended, and keeps nothing
    }
  }
  void backward(Tensor dy, isobar::Wants, std::span<Tensor> sums) override {
    Other::process().ask(
        [&](Wire& wire) {
          wire.put(Ask::backward), wire.put(call), wire.put(dy);
          for (const Tensor& sum : sums) wire.put(sum);
        },
        [&](Wire& wire) {
          for (size_t i = 0; i < sums.size(); ++i) {
            sums[i] = wire.tensor();
            isobar::check(sums[i].defined() && sums[i].shape() == inputs[i].shape && sums[i].dtype() == dtype,
                          "mine: wanted a gradient {}, got another", inputs[i].shape);
          }
        });
    call = -1;
  }

  int64_t call;
};

struct Mine : isobar::Module {
  explicit Mine(const isobar::Shape& width) {
    Other::process().ask(
        [&](Wire& wire) {
          wire.put(Ask::make), wire.put(width.ndim());
          for (const int64_t extent : width) wire.put(extent);
        },
        [&](Wire& wire) {
          layer = wire.number();
          state.resize(wire.number(100));
          for (Part& part : state) {
            part.name = wire.text();
            part.trained = wire.number(1) == 1;
            part.tensor = wire.tensor();
            if (part.trained) part.tensor.set_trainable();
          }
        });
  }

  Tensor forward(const Tensor& x) override {
    isobar::Tape* const tape = isobar::Tape::active();
    std::vector<const Tensor*> inputs;
    const auto wanted = [&](const Tensor& each) {
      return tape != nullptr && tape->needs_gradient(each, "mine");
    };
    Tensor y;
    int64_t call = -1;
    Other::process().ask(
        [&](Wire& wire) {
          wire.put(Ask::forward), wire.put(layer), wire.put(int64_t{training()}),
              wire.put(int64_t{isobar::recomputing()});
          const auto put = [&](const Tensor& each) {
            wire.put(each), wire.put(int64_t{wanted(each)});
            if (wanted(each)) inputs.push_back(&each);
          };
          put(x);
          for (const Part& part : state) put(part.tensor);
        },
        [&](Wire& wire) {
          y = wire.tensor();
          isobar::check(y.defined() && y.dtype() == x.dtype(), "mine: wanted y of {}, got another",
                        x.dtype());
          call = wire.number();
          for (Part& part : state)
            if (!part.trained) replace(part.tensor, wire.tensor());
        });
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
