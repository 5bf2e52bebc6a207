// Fields: the one visitor idiom. A struct with named parts lists them once:
//
//   struct Config : HasFields {
//     int64_t depth = 8;
//     std::string norm = "none";
//     void fields(Fields& f) override {
//       f("depth", depth, "number of layers", at_least(1));
//       f("norm", norm, "normalization", {"none", "rmsnorm"});
//     }
//   };
//
// Everything else is a visitor: names, counts, saving, loading, printing and observation of modules; command
// lines, HDF5 attributes and JSON of configurations. A visitor overrides the functions that it needs.
// References are valid during the visit only.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "tensor.h"

namespace isobar {

class Fields;
class Tensor;
struct HasFields;

// What a list in fields() may hold: structs with fields, pointers to them, optional ones, or tensors.
template <class Part>
concept ListedPart = std::derived_from<Part, HasFields> || std::same_as<Part, Tensor> ||
    std::derived_from<typename Part::element_type, HasFields> ||
    std::derived_from<typename Part::value_type, HasFields>;

struct HasFields {
  virtual ~HasFields() = default;
  virtual void fields(Fields&) {}

 protected:
  HasFields() = default;
  HasFields(const HasFields&) = default;
  HasFields(HasFields&&) = default;
  HasFields& operator=(const HasFields&) = default;
  HasFields& operator=(HasFields&&) = default;
};

// A tensor among the fields of a struct, with its full name: "blocks.3.attention.q_proj.weight".
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// The texts that a setting may have.
using Choices = std::vector<std::string>;

// The values that a setting may have: numbers between two bounds, or one of several texts. For a list the
// limits hold for each element. A visitor that takes values from users, such as a command line, checks them.
struct Limits {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool least_is_out = false, most_is_out = false;
  Choices choices = {};      // empty: any text
  bool may_be_none = false;  // a list without elements

  bool operator==(const Limits&) const = default;
};
// Numbers ≥ least.
inline Limits at_least(double least) { return {.least = least}; }
// Numbers in [least, most].
inline Limits between(double least, double most) { return {.least = least, .most = most}; }
// Numbers > least.
inline Limits above(double least) { return {.least = least, .least_is_out = true}; }
// Numbers in [least, most).
inline Limits from_to_below(double least, double most) {
  return {.least = least, .most = most, .most_is_out = true};
}
// One of these texts.
inline Limits one_of(const Choices& choices) { return {.choices = choices}; }
// A list that may be empty.
inline Limits or_none() { return {.may_be_none = true}; }

// A setting: a bool, a number, a text, or a list.
using SettingPointer = std::variant<bool*, int64_t*, double*, std::string*, std::vector<int64_t>*,
                                    std::vector<double>*, std::vector<std::string>*>;

// What fields() cannot list: every type that has no function of its own in Fields converts to this one, and does
// not compile. The compiler's message says what to write instead.
struct NotAField {
  template <class T>
  NotAField(const T&) {
    constexpr bool integer = std::is_integral_v<T> && !std::same_as<T, int64_t> && !std::same_as<T, bool>;
    constexpr bool number = std::is_floating_point_v<T> && !std::same_as<T, double>;
    constexpr bool pointer = std::is_pointer_v<T> || requires(const T& p) { p.use_count(); };
    static_assert(!integer, "fields(): wanted an int64_t or a bool, got another integer");
    static_assert(!number, "fields(): wanted a double, got another floating-point number");
    static_assert(!pointer, "fields(): wanted a part or a std::unique_ptr to it, got another pointer");
    static_assert(integer || number || pointer,
                  "fields(): wanted a Tensor, a struct with fields(), a unique_ptr or optional of one, a "
                  "setting, or a vector of these, and none of them const; got something else");
  }
};

class Fields {
 public:
  virtual ~Fields() = default;

  // A parameter: a tensor that is trained and saved. An undefined tensor is skipped, so that a layer can list
  // a bias that it does not have.
  void operator()(std::string_view name, Tensor& parameter) {
    if (parameter.defined()) on_parameter(name, parameter);
  }
  // A buffer: a tensor that is saved but not trained, such as a running mean. An undefined tensor is skipped.
  void buffer(std::string_view name, Tensor& buffer) {
    if (buffer.defined()) on_buffer(name, buffer);
  }
  // A part with fields of its own. An empty optional is skipped. Throws Error for a null pointer, and for a
  // part that lists itself, at any depth.
  void operator()(std::string_view name, HasFields& part) { visit(name, part); }
  template <std::derived_from<HasFields> Part>
  void operator()(std::string_view name, const std::unique_ptr<Part>& part) {
    check(part != nullptr, "fields: the part {} is null; give it a module, or leave it out of fields()",
          name);
    visit(name, *part);
  }
  template <std::derived_from<HasFields> Part>
  void operator()(std::string_view name, std::optional<Part>& part) {
    if (part.has_value()) visit(name, *part);
  }
  // A list of parts or of parameters, as PyTorch's ModuleList and ParameterList: f("blocks", blocks) visits
  // "blocks.0", "blocks.1", … in this order.
  template <class Part>
  requires ListedPart<Part>
  void operator()(std::string_view name, std::vector<Part>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) (*this)(fmt::format("{}.{}", name, i), parts[i]);
  }
  // A setting. `help` is one line with the unit.
  template <class T>
  requires std::constructible_from<SettingPointer, T*>
  void operator()(std::string_view name, T& value, std::string_view help = "", const Limits& limits = {}) {
    on_setting(name, &value, help, limits);
  }
  void operator()(std::string_view name, std::string& value, std::string_view help, const Choices& choices) {
    on_setting(name, &value, help, one_of(choices));
  }
  void operator()(std::string_view, const NotAField&, std::string_view = "", const Limits& = {}) {}
  void operator()(std::string_view, const NotAField&, std::string_view, const Choices&) {}

 protected:
  virtual void on_parameter(std::string_view, Tensor&) {}
  virtual void on_buffer(std::string_view, Tensor&) {}
  virtual void on_part(std::string_view, HasFields&) {}
  virtual void on_setting(std::string_view, const SettingPointer&, std::string_view, const Limits&) {}

 private:
  // The parts around the one that is visited.
  struct Within {
    Within(std::vector<const HasFields*>& all, const HasFields& part) : parts(all) { parts.push_back(&part); }
    ~Within() { parts.pop_back(); }
    std::vector<const HasFields*>& parts;
  };
  void visit(std::string_view name, HasFields& part) {
    check(std::find(within_.begin(), within_.end(), &part) == within_.end(),
          "fields: the part {} lists itself among its parts; leave it out of fields()", name);
    const Within here(within_, part);
    on_part(name, part);
  }

  std::vector<const HasFields*> within_;
};

}  // namespace isobar
