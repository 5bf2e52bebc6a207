// The process of a student's layer: makes layers, runs them forward and backward as remote.cpp asks, and can
// do nothing else that counts.
#include <algorithm>
#include <map>

#include <isobar/autograd/tape.h>
#include <isobar/nn/model.h>

#include "a11.h"
#include "wire.h"

namespace {

struct Layer {
  std::unique_ptr<isobar::Module> module;
  std::vector<isobar::NamedTensor> state;
};

// A call that was recorded. `joined` is y again, and also depends on the inputs that want a gradient: walked
// back first, it begins their sums with what other ops have added so far.
struct Call {
  std::unique_ptr<isobar::Tape> tape = std::make_unique<isobar::Tape>();
  std::vector<Tensor> inputs;
  std::shared_ptr<std::vector<Tensor>> sums = std::make_shared<std::vector<Tensor>>();
  Tensor joined;
};

class Server {
 public:
  void serve() {
    for (;;) {
      const auto ask = static_cast<Ask>(wire_.number());
      Wire out;
      isobar::recording.tape = nullptr;  // each call has a tape of its own, in none of another's
      try {
        out.put(int64_t{1});
        answer(ask, out);
      } catch (const std::exception& e) {
        out = Wire();
        out.put(int64_t{0}), out.put(std::string(e.what()).substr(0, 4000));
      }
      out.send();
    }
  }

 private:
  void answer(Ask ask, Wire& out) {
    if (ask == Ask::begin) calls_.clear(), layers_.clear();
    if (ask == Ask::make) make(out);
    if (ask == Ask::forward) forward(out);
    if (ask == Ask::backward) backward(out);
    if (ask == Ask::drop) calls_.erase(wire_.number());
  }

  void make(Wire& out) {
    std::vector<int64_t> extents(wire_.number(6));
    for (int64_t& extent : extents) extent = wire_.number();
    Layer layer{make_layer(Shape{std::span<const int64_t>(extents)}), {}};
    isobar::check(layer.module != nullptr, "make_layer returned no layer");
    layer.state = isobar::named_state(*layer.module);
    out.put(next_), out.put(static_cast<int64_t>(layer.state.size()));
    for (const isobar::NamedTensor& each : layer.state)
      out.put(each.name), out.put(int64_t{each.tensor.trainable()}), out.put(each.tensor);
    layers_.emplace(next_++, std::move(layer));
  }

  void forward(Wire& out) {
    Layer& layer = layers_.at(wire_.number());
    wire_.number(1) == 1 ? isobar::train(*layer.module) : isobar::eval(*layer.module);
    Tensor x = wire_.tensor();
    const bool wants_x = wire_.number(1) == 1;
    std::vector<bool> wants;
    std::vector<Tensor> now;
    for (size_t i = 0; i < layer.state.size(); ++i) {
      now.push_back(wire_.tensor());
      wants.push_back(wire_.number(1) == 1);
    }
    take_state(layer, now);
    if (!wants_x && std::find(wants.begin(), wants.end(), true) == wants.end()) {
      const isobar::NoTape pause;
      out.put((*layer.module)(x)), out.put(int64_t{-1});
      return put_buffers(layer, out);
    }
    Call call;
    if (wants_x) call.inputs.push_back(x.set_trainable());
    for (size_t i = 0; i < wants.size(); ++i)
      if (wants[i]) call.inputs.push_back(layer.state[i].tensor);
    const Tensor y = (*layer.module)(x);
    std::vector<const Tensor*> joined{&y};
    for (const Tensor& input : call.inputs) joined.push_back(&input);
    call.joined = isobar::record("join", isobar::raw::clone(y), joined, [sums = call.sums](Tensor dy) {
      std::vector<Tensor> all{std::move(dy)};
      all.insert(all.end(), sums->begin(), sums->end());
      return all;
    });
    out.put(call.joined), out.put(next_);
    put_buffers(layer, out);
    calls_.emplace(next_++, std::move(call));
  }

  void backward(Wire& out) {
    const int64_t number = wire_.number();
    const Tensor dy = wire_.tensor();
    Call& call = calls_.at(number);
    for (size_t i = 0; i < call.inputs.size(); ++i) call.sums->push_back(wire_.tensor());
    isobar::recording.tape = call.tape.get();
    for (const Tensor& gradient : call.tape->gradient(call.joined, call.inputs, dy)) out.put(gradient);
    calls_.erase(number);
  }

  // What is not as it was: a tape refuses what has been written since.
  static void take_state(Layer& layer, const std::vector<Tensor>& now) {
    const isobar::NoTape pause;
    for (size_t i = 0; i < now.size(); ++i) {
      if (layer.state[i].tensor.dtype() != now[i].dtype()) {
        isobar::convert(*layer.module, now[i].dtype());
        layer.state = isobar::named_state(*layer.module);
      }
      if (layer.state[i].tensor.to_vector<double>() != now[i].to_vector<double>())
        isobar::assign(layer.state[i].tensor, now[i]);
    }
  }
  static void put_buffers(const Layer& layer, Wire& out) {
    for (const isobar::NamedTensor& each : layer.state)
      if (!each.tensor.trainable()) out.put(each.tensor);
  }

  Wire wire_;
  int64_t next_ = 0;
  std::map<int64_t, Layer> layers_;
  std::map<int64_t, Call> calls_;
};

}  // namespace

int main() {
  try {
    Server().serve();
  } catch (const isobar::Error&) {  // nobody asks any more
  }
}
