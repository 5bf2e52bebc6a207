#include "examples.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "../../autograd/tape.h"
#include "../../nn/model.h"

namespace isobar {
namespace {

using Inputs = std::vector<Tensor>;

Tensor called(const LayerCall& call, Module& module, const Inputs& x) {
  return call != nullptr ? call(module, x) : module(x[0]);
}

// A layer around another one, which is its part `inner`.
struct Around : Module {
  using Body = std::function<Tensor(Module& inner, const Inputs& x)>;
  std::unique_ptr<Module> inner;

  Tensor of(const Body& body, const Inputs& x) {
    return call([&] { return body(*inner, x); });
  }
  void fields(Fields& f) override { f("inner", inner); }
};

// The row with `around(call)` in place of its call.
template <class Change>
JuryLayer around(const JuryLayer& layer, const Change& change) {
  JuryLayer result = layer;
  result.make = [make = layer.make](const Rng& rng) -> LayerMaker {
    return [maker = make(rng)] {
      auto made = std::make_unique<Around>();
      made->inner = maker();
      return made;
    };
  };
  const auto changed = [&](const LayerCall& call) -> LayerCall {
    const Around::Body body =
        change([call](Module& inner, const Inputs& x) { return called(call, inner, x); });
    return [body](Module& module, const Inputs& x) { return dynamic_cast<Around&>(module).of(body, x); };
  };
  result.options.call = changed(layer.options.call);
  if (layer.options.expected != nullptr) result.options.expected = changed(layer.options.expected);
  result.options.output_shape = std::nullopt;
  return result;
}

Shape widened(const Shape& shape) {
  std::vector<int64_t> extents{shape[0], 1};
  for (int d = 1; d < shape.ndim(); ++d) extents.push_back(shape[d]);
  return Shape(extents);
}
Shape narrowed(const Shape& shape) {
  std::vector<int64_t> extents{shape[0]};
  for (int d = 2; d < shape.ndim(); ++d) extents.push_back(shape[d]);
  return Shape(extents);
}

// Which inputs have the batch.
std::vector<bool> batched(const Inputs& x) {
  std::vector<bool> result;
  for (const Tensor& one : x) result.push_back(one.ndim() > 0 && one.size(0) == x[0].size(0));
  return result;
}

// Every tensor that a module lists, to be replaced.
struct EachTensor : Fields {
  std::function<void(Tensor&, bool parameter)> visit;
  EachTensor(HasFields& module, std::function<void(Tensor&, bool)> f) : visit(std::move(f)) {
    module.fields(*this);
  }

 protected:
  void on_parameter(std::string_view, Tensor& tensor) override { visit(tensor, true); }
  void on_buffer(std::string_view, Tensor& tensor) override { visit(tensor, false); }
  void on_part(std::string_view, HasFields& part) override { part.fields(*this); }
};

// Puts f32 copies in place of a module's state while it lives, and writes back what the call did to buffers.
class StateInF32 {
 public:
  explicit StateInF32(HasFields& module) : module_(module) {
    std::map<const void*, Tensor> copies;  // a tied tensor has one
    EachTensor(module_, [&](Tensor& tensor, bool) {
      before_.push_back(tensor);
      if (is_float(tensor.dtype()))
        tensor = copies.try_emplace(tensor.id(), cast(tensor, Dtype::f32)).first->second;
    });
  }
  ~StateInF32() {
    size_t next = 0;
    EachTensor(module_, [&](Tensor& tensor, bool parameter) {
      Tensor& old = before_[next++];
      if (!parameter && is_float(old.dtype()) && old.dtype() != tensor.dtype())
        assign(old, cast(tensor.detach(), old.dtype()));
      tensor = old;
    });
  }
  StateInF32(const StateInF32&) = delete;
  StateInF32& operator=(const StateInF32&) = delete;

 private:
  HasFields& module_;
  std::vector<Tensor> before_;
};

// Whether body() neither throws nor crashes, as a layer may do that counts on the shape of its own example.
template <class Body>
bool survives(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const rlimit bytes{rlim_t{1} << 32, rlim_t{1} << 32};
    setrlimit(RLIMIT_AS, &bytes);
    try {
      body();
      _exit(0);
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  int status = 1;
  waitpid(child, &status, 0);
  return child > 0 && status == 0;
}

// A module in f64 with noise on its parameters, and an example.
struct Point {
  std::unique_ptr<Module> module;
  Inputs x;
  std::vector<Tensor> leaves;  // float inputs, then parameters

  Point(const JuryLayer& layer, const Rng& rng) : module(layer.make(rng)()) {
    convert(*module, Dtype::f64);
    for (const Tensor& one : layer.x(rng)) {
      x.push_back(clone(is_float(one.dtype()) ? cast(one, Dtype::f64) : one));
      if (is_float(one.dtype())) leaves.push_back(x.back().set_trainable());
    }
    for (Tensor& p : parameters(*module)) {
      const Tensor noise = rng.split("noise").split(leaves.size()).normal(p.shape(), 0, 0.2, Dtype::f64);
      assign(p, p.detach() + noise);
      leaves.push_back(p);
    }
  }
};

// Σ dy · y with one element of one leaf moved; dy is drawn by the shape of y.
double value_of(const JuryLayer& layer, const Rng& rng, size_t leaf, int64_t element, double step) {
  Point point(layer, rng);
  std::vector<double> values = point.leaves[leaf].to_vector<double>();
  values[element] += step;
  assign(point.leaves[leaf], tensor(point.leaves[leaf].shape(), values));
  const Tape tape({.rng = Rng(3)});
  const Tensor y = called(layer.options.call, *point.module, point.x).detach();
  return sum(y * rng.split("dy").normal(y.shape(), 0, 1, Dtype::f64)).item();
}

}  // namespace

std::vector<JuryLayer> with_extent_one(const JuryLayer& layer, const Rng& rng) {
  const std::vector<bool> wide = batched(layer.x(rng));
  JuryLayer shaped = around(layer, [&](const Around::Body& body) -> Around::Body {
    return [=](Module& inner, const Inputs& x) {
      Inputs flat = x;
      for (size_t i = 0; i < x.size(); ++i)
        if (wide[i]) flat[i] = reshape(x[i], narrowed(x[i].shape()));
      const Tensor y = body(inner, flat);
      return y.ndim() == 0 ? y : reshape(y, widened(y.shape()));
    };
  });
  const auto widen = [wide](const LayerInputs& all) {
    LayerInputs x = all;
    for (size_t i = 0; i < x.size(); ++i)
      if (wide[i]) x[i] = reshape(x[i], widened(x[i].shape()));
    return x;
  };
  shaped.x = [x = layer.x, widen](const Rng& of) { return widen(x(of)); };
  std::vector<JuryLayer> result{shaped};
  JuryLayer itself = layer;
  itself.x = shaped.x;
  itself.options.output_shape = std::nullopt;
  if (!layer.right.empty() && survives([&] {
        const Point point(itself, rng);
        const Tape tape({.rng = Rng(3)});
        check(called(itself.options.call, *point.module, point.x).dtype() == Dtype::f64, "y is rounded");
      }))
    result.push_back(itself);
  return result;
}

JuryLayer in_f32(const JuryLayer& layer) {
  return around(layer, [](const Around::Body& body) -> Around::Body {
    return [=](Module& inner, const Inputs& x) {
      Dtype dtype = Dtype::f32;
      Inputs narrow;
      for (const Tensor& one : x) {
        if (is_float(one.dtype())) dtype = one.dtype();
        narrow.push_back(is_float(one.dtype()) ? cast(one, Dtype::f32) : one);
      }
      EachTensor(inner, [&](Tensor& tensor, bool) {
        if (is_float(tensor.dtype())) dtype = tensor.dtype();
      });
      const StateInF32 guard(inner);
      return cast(body(inner, narrow), dtype);
    };
  });
}

bool has_wrong_gradient(const JuryLayer& layer, const JuryLayer& smooth, const Rng& rng, double tolerance) {
  Point point(layer, rng);
  const double h = 1e-5;
  int64_t smooth_ones = 0, rough = 0;
  bool wrong = false;
  try {
    value_of(smooth, rng, 0, 0, 0);
  } catch (const std::exception&) {
    return false;  // no gradient, but forward is wrong
  }
  try {
    Tape tape({.rng = Rng(3)});
    const Tensor y = called(layer.options.call, *point.module, point.x);
    if (tape.needs_gradient(y)) tape.backward(y, rng.split("dy").normal(y.shape(), 0, 1, Dtype::f64));
  } catch (const std::exception&) {
    return true;
  }
  for (size_t l = 0; l < point.leaves.size(); ++l) {
    const Tensor& leaf = point.leaves[l];
    const std::vector<double> tape =
        leaf.grad().defined() ? leaf.grad().to_vector<double>() : std::vector<double>(leaf.numel(), 0.0);
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < leaf.numel(); ++i) {
      const auto at = [&](double step) { return value_of(smooth, rng, l, i, step); };
      const double here = at(0), right = (at(h) - here) / h, left = (here - at(-h)) / h,
                   slope = (left + right) / 2, wide = (at(4 * h) - at(-4 * h)) / (8 * h);
      // Near a kink, and where what should be smooth rounds.
      if (std::abs(right - left) > 1e-2 * std::max(std::abs(left), std::abs(right)) + 1e-3) continue;
      const bool rounds = std::abs(slope - wide) > 0.1 * tolerance * std::max(1.0, std::abs(slope));
      ++(rounds ? rough : smooth_ones);
      if (rounds) continue;
      largest = std::max({largest, std::abs(slope), std::abs(tape[i])});
      apart = std::max(apart, std::isfinite(tape[i]) ? std::abs(tape[i] - slope) : INFINITY);
    }
    wrong = wrong || apart > std::max(tolerance * largest, 1e-7);
  }
  return wrong && rough <= smooth_ones;  // else differences say nothing
}

}  // namespace isobar
