#include "model.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <set>
#include <typeinfo>
#include <unordered_map>

#include "../autograd/tape.h"
#include "../core/raw.h"

namespace isobar {
namespace {

// Visits the whole tree, parents before children, and calls back with full names, which hold until the next.
class Walk : public Fields {
 public:
  std::function<void(const std::string& name, Tensor&, bool is_buffer)> on_tensor = [](const std::string&,
                                                                                       Tensor&, bool) {};
  std::function<void(const std::string& path, HasFields&)> on_struct = [](const std::string&, HasFields&) {};

  void run(HasFields& part) {
    HasFields* const outer = std::exchange(part_, &part);
    on_struct(path_, part);
    part.fields(*this);
    part_ = outer;
    if (auto* const module = dynamic_cast<Module*>(&part)) module->note_listed();
  }

 protected:
  void on_parameter(std::string_view name, Tensor& tensor) override {
    raw::mark_listed(tensor);
    within(name, [&] { on_tensor(path_, tensor, false); });
  }
  void on_buffer(std::string_view name, Tensor& tensor) override {
    raw::mark_listed(tensor);
    within(name, [&] {
      if (tensor.trainable())
        throw_error(fmt::format(
            "fields: {} {} of {} is listed as a buffer and is trainable; wanted a buffer that is not trained; "
            "list it with f(\"{}\", …) to train it, or make it without set_trainable()",
            path_, tensor.shape(), type_name_of(*part_), name));
      on_tensor(path_, tensor, true);
    });
  }
  void on_part(std::string_view name, HasFields& part) override {
    within(name, [&] { run(part); });
  }

 private:
  HasFields* part_ = nullptr;  // whose fields() runs

  // The path grows and shrinks in place: a name costs a step no allocation.
  template <class F>
  void within(std::string_view name, const F& f) {
    const size_t outer = path_.size();
    if (outer > 0) path_ += '.';
    path_ += name;
    f();
    path_.resize(outer);
  }

  std::string path_;
};

template <class F>
void each_module(HasFields& model, const F& f) {
  Walk walk;
  walk.on_struct = [&](const std::string& path, HasFields& part) {
    if (auto* module = dynamic_cast<Module*>(&part)) f(path, *module);
  };
  walk.run(model);
}

// The path of a part in what stands at the path `above`.
std::string joined(const std::string& above, const std::string& path) {
  return above.empty() || path.empty() ? above + path : above + '.' + path;
}

// Throws Error where two tensors have one name: a file, and load_state(), could hold only one of them.
class UniqueNames {
 public:
  void add(const std::string& name, const Tensor& tensor) {
    const auto [entry, fresh] = first_.try_emplace(name, First{&tensor, tensor.id(), tensor.shape()});
    const First& first = entry->second;
    check(fresh || first.member == &tensor || first.id == tensor.id(),
          "fields: {} names two tensors, {} and {}; wanted one tensor for each name; rename one of them in "
          "fields(), or the part that it is in",
          name, first.shape, tensor.shape());
  }

 private:
  struct First {
    const Tensor* member;
    const void* id;
    Shape shape;
  };
  std::unordered_map<std::string, First> first_;
};

// Each tensor once, under its first name.
template <class F>
void each_tensor(HasFields& model, const F& f) {
  std::set<const void*> seen;
  visit_tensors(model, [&](const std::string& name, Tensor& tensor, bool is_buffer) {
    if (seen.insert(tensor.id()).second) f(name, tensor, is_buffer);
  });
}

template <class F>
void each_parameter(HasFields& model, const F& f) {
  each_tensor(model, [&](const std::string& name, Tensor& tensor, bool) {
    if (tensor.trainable()) f(name, tensor);
  });
}

// Throws for two parameters that are draws 0, 1, … of one key: the smaller one repeats the first numbers of
// the larger one.
void check_keys(const std::vector<NamedTensor>& parameters) {
  std::unordered_map<uint64_t, const NamedTensor*> drawn;  // by key
  for (const NamedTensor& one : parameters) {
    const Storage& storage = *raw::storage(one.tensor);
    if (!storage.key() || one.tensor.numel() == 0) continue;
    const auto [entry, fresh] = drawn.try_emplace(*storage.key(), &one);
    if (fresh) continue;
    const NamedTensor& other = *entry->second;
    if (raw::storage(other.tensor).get() == &storage) continue;  // tied
    const int64_t common = std::min(other.tensor.numel(), one.tensor.numel());
    throw_error(fmt::format(
        "parameters: {} {} and {} {} are draws of one key, so {}; give each layer a key of its own, such as "
        "rng.split(\"{}\"), or assign() one to the other if that is wanted",
        other.name, other.tensor.shape(), one.name, one.tensor.shape(),
        other.tensor.numel() == one.tensor.numel()
            ? "they start equal"
            : fmt::format("their first {} elements come from the same numbers", common),
        one.name));
  }
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return raw::storage(a) == raw::storage(b) && raw::address(a) == raw::address(b) &&
         a.strides() == b.strides();
}

// Throws where every value is its target itself.
void check_not_itself(const std::vector<std::pair<Tensor, Tensor>>& pairs) {
  const auto same = [](const auto& pair) { return same_elements(pair.first, pair.second); };
  check(
      pairs.empty() || !std::all_of(pairs.begin(), pairs.end(), same),
      "load_state: the given state is the model's own tensors, so nothing would change: named_state() does not "
      "copy; clone() each tensor at the time to which the model is to return");
}

// "a, b, c, d, e and 3 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t most = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

// Throws where a strict load has a difference of names, or another one has no name in common.
void check_names(const StateDifference& difference, const std::vector<std::string>& missing,
                 bool nothing_in_common, bool strict) {
  if (difference.missing.empty() && difference.unexpected.empty()) return;
  std::string text;
  if (!missing.empty()) text = fmt::format("the model has {}, the given state does not", listed(missing));
  if (!difference.unexpected.empty())
    text += fmt::format("{}the given state has {}, the model does not", missing.empty() ? "" : "; ",
                        listed(difference.unexpected));
  check(!nothing_in_common, "load_state: no name is in both: {}", text);
  check(!strict, "load_state: {}; {{.strict = false}} loads what both have", text);
}

// A value that shares its storage with any target gets a copy: assigning another target may overwrite it, as
// where the names of two blocks are exchanged.
void separate(std::vector<std::pair<Tensor, Tensor>>& pairs) {
  std::set<const Storage*> targets;
  for (const auto& [target, value] : pairs) targets.insert(raw::storage(target).get());
  for (auto& [target, value] : pairs)
    if (targets.contains(raw::storage(value).get())) value = raw::clone(value);
}

void set_trainable(HasFields& model, bool trainable) {
  each_tensor(model, [&](const std::string&, Tensor& tensor, bool is_buffer) {
    if (!is_buffer && is_float(tensor.dtype())) tensor.set_trainable(trainable);
  });
}

// "isobar::Wrapped<isobar::RMSNorm>" → "Wrapped<RMSNorm>": of each name what follows the last "::".
std::string without_namespaces(std::string_view full) {
  std::string name;
  std::vector<size_t> begins{0};  // of the name that is read, after those of the names around it
  for (size_t i = 0; i < full.size(); ++i) {
    if (full.substr(i, 2) == "::") {
      name.resize(begins.back());
      ++i;
      continue;
    }
    name += full[i];
    const bool nested = begins.size() > 1;
    if (full[i] == '<' || full[i] == '(')
      begins.push_back(name.size());
    else if (nested && (full[i] == '>' || full[i] == ')'))
      begins.pop_back();
    else if (nested && (full[i] == ',' || full[i] == ' '))
      begins.back() = name.size();
  }
  return name;
}

// What describe() prints: one line for a struct, then its parts, indented.
class Description : public Fields {
 public:
  std::string of(HasFields& part, const std::string& name, int depth) {
    tensors_.clear();
    children_.clear();
    part.fields(*this);
    const auto* module = dynamic_cast<Module*>(&part);
    std::string line(2 * depth, ' ');
    if (!name.empty()) line += name + ": ";
    line += module != nullptr ? module->type_name() : type_name_of(part);
    line += tensors_;
    const int64_t count = parameter_count(part);
    if (count > 0) line += fmt::format("  ({} parameters)", count);
    line += '\n';
    // The recursion overwrites tensors_ and children_.
    for (const auto& [child_name, child] : std::exchange(children_, {}))
      line += of(*child, child_name, depth + 1);
    return line;
  }

 protected:
  void on_parameter(std::string_view name, Tensor& tensor) override {
    const bool tied = !seen_.insert(tensor.id()).second;
    tensors_ += fmt::format("  {} {}{}", name, tensor.shape(),
                            tied                 ? " tied"
                            : tensor.trainable() ? ""
                                                 : " frozen");
  }
  void on_buffer(std::string_view name, Tensor& tensor) override {
    tensors_ += fmt::format("  {} {} buffer", name, tensor.shape());
  }
  void on_part(std::string_view name, HasFields& part) override {
    children_.emplace_back(std::string(name), &part);
  }

 private:
  std::string tensors_;
  std::vector<std::pair<std::string, HasFields*>> children_;
  std::set<const void*> seen_;
};

}  // namespace

std::string type_name_of(const HasFields& part) {
  const std::type_info& type = typeid(part);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return without_namespaces(status == 0 ? text.get() : type.name());
}

void visit_tensors(HasFields& model, const std::function<void(const std::string&, Tensor&, bool)>& visit) {
  Walk walk;
  UniqueNames names;
  walk.on_tensor = [&](const std::string& name, Tensor& tensor, bool is_buffer) {
    names.add(name, tensor);
    visit(name, tensor, is_buffer);
  };
  walk.run(model);
}

std::vector<NamedTensor> named_parameters(HasFields& model) {
  std::vector<NamedTensor> result;
  each_parameter(model, [&](const std::string& name, Tensor& tensor) { result.push_back({name, tensor}); });
  check_keys(result);
  return result;
}

std::vector<Tensor> parameters(HasFields& model) {
  std::vector<Tensor> result;
  for (NamedTensor& parameter : named_parameters(model)) result.push_back(std::move(parameter.tensor));
  return result;
}

std::vector<NamedTensor> named_state(HasFields& model) {
  std::vector<NamedTensor> result;
  each_tensor(model, [&](const std::string& name, Tensor& tensor, bool) {
    result.push_back({name, tensor});
  });
  return result;
}

std::vector<NamedModule> named_modules(HasFields& model) {
  std::vector<NamedModule> result;
  each_module(model, [&](const std::string& path, Module& module) { result.push_back({path, &module}); });
  return result;
}

int64_t parameter_count(HasFields& model) {
  int64_t count = 0;
  each_parameter(model, [&](const std::string&, const Tensor& parameter) { count += parameter.numel(); });
  return count;
}

void freeze(HasFields& model) { set_trainable(model, false); }
void thaw(HasFields& model) { set_trainable(model, true); }

void assign_paths(HasFields& model) {
  const auto* const part = dynamic_cast<const Module*>(&model);
  const std::string above = part != nullptr ? part->path() : "";
  each_module(model, [&](const std::string& path, Module& module) {
    module.set_path(joined(above, path), Module::Naming::lasting);
  });
}

void assign_missing_paths(HasFields& model, const std::string& above, Module::Naming naming) {
  const auto wanted = [naming](const Module& module) {
    return !module.has_path() || (naming == Module::Naming::lasting && module.naming() != naming);
  };
  // The whole comes last: where two threads call it at once, the one that finds it named finds its parts named.
  const std::vector<NamedModule> modules = named_modules(model);
  for (auto part = modules.rbegin(); part != modules.rend(); ++part)
    if (wanted(*part->module)) part->module->set_path(joined(above, part->path), naming);
}

void train(HasFields& model) {
  each_module(model, [](const std::string&, Module& module) { module.set_training(true); });
}

void eval(HasFields& model) {
  each_module(model, [](const std::string&, Module& module) { module.set_training(false); });
}

void clear_gradients(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) parameter.clear_grad();
}

void convert(HasFields& model, Dtype dtype) {
  check(is_float(dtype), "convert: wanted f32 or f64, got {}", dtype);
  // The map keeps the old tensors alive: a freed tensor's id could be reused while it is a key.
  std::map<const void*, std::pair<Tensor, Tensor>> replaced;
  visit_tensors(model, [&](const std::string&, Tensor& tensor, bool) {
    if (!is_float(tensor.dtype()) || tensor.dtype() == dtype) return;
    const auto [entry, fresh] = replaced.try_emplace(tensor.id(), tensor, Tensor());
    Tensor& converted = entry->second.second;
    if (fresh) {
      converted = cast(tensor.detach(), dtype).set_trainable(tensor.trainable());
      raw::mark_listed(converted);
      if (const auto key = raw::storage(tensor)->key()) raw::storage(converted)->drawn_with(*key);
      raw::mark_replaced(tensor);
    }
    tensor = converted;
  });
}

void copy_state(HasFields& from, HasFields& to) { load_state(to, named_state(from)); }

StateDifference load_state(HasFields& to, const std::vector<NamedTensor>& state,
                           const LoadStateOptions& options) {
  std::map<std::string, Tensor> given;
  for (const NamedTensor& entry : state) {
    const bool fresh = given.emplace(entry.name, entry.tensor).second;
    check(fresh, "load_state: {} is given twice", entry.name);
  }
  StateDifference difference;
  std::vector<std::string> missing;  // with their shapes
  std::vector<std::pair<Tensor, Tensor>> pairs;
  for (NamedTensor& wanted : named_state(to)) {
    const auto entry = given.find(wanted.name);
    if (entry == given.end()) {
      missing.push_back(fmt::format("{} {}", wanted.name, wanted.tensor.shape()));
      difference.missing.push_back(std::move(wanted.name));
      continue;
    }
    const Tensor& value = entry->second;
    check(value.shape() == wanted.tensor.shape() && value.dtype() == wanted.tensor.dtype(),
          "load_state: {} is {} {} in the model, but {} {} in the given state", wanted.name,
          wanted.tensor.shape(), wanted.tensor.dtype(), value.shape(), value.dtype());
    pairs.emplace_back(std::move(wanted.tensor), value);
    given.erase(entry);
  }
  for (const auto& [name, tensor] : given) difference.unexpected.push_back(name);
  check_names(difference, missing, pairs.empty(), options.strict);
  check_not_itself(pairs);
  separate(pairs);
  for (auto& [target, value] : pairs) {
    raw::assign(target, value);
    forget_draws(target);  // steps may be repeated from here on
  }
  return difference;
}

std::vector<std::pair<const Version*, uint64_t>> stamps_of(HasFields& model) {
  // Not by visit_tensors: names would cost every step an allocation for each tensor.
  struct Stamps : Fields {
    std::vector<std::pair<const Version*, uint64_t>> all;
    void add(const Tensor& tensor) {
      const Version* const version = raw::storage(tensor)->version;
      all.emplace_back(version, version->stamp());
    }
    void on_parameter(std::string_view, Tensor& tensor) override { add(tensor); }
    void on_buffer(std::string_view, Tensor& tensor) override { add(tensor); }
    void on_part(std::string_view, HasFields& part) override { part.fields(*this); }
  } stamps;
  model.fields(stamps);
  return std::move(stamps.all);
}

std::string describe(HasFields& model) { return Description().of(model, "", 0); }

}  // namespace isobar
