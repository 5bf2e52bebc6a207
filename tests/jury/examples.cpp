#include "examples.h"

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

}  // namespace

JuryLayer with_extent_one(const JuryLayer& layer, const Rng& rng) {
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
  return shaped;
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

}  // namespace isobar
