// The driver: requests on stdin, an answer to each on file descriptor 3. It calls your functions and hands on
// what they return; what is right is decided elsewhere.
//
//   int main() { return serve({{"relu", of(relu, {"x"}, {"y"})}}); }
//
// A request is text: "call NAME", then tensors: "tensor NAME DTYPE NDIM EXTENT…" and a line of numbers, then
// "end". An answer is tensors in the same form, or "error TEXT", then "end".
#pragma once

#include <unistd.h>

#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include <isobar/core/parallel.h>
#include <isobar/core/raw.h>
#include <isobar/core/rng.h>
#include <isobar/core/tensor.h>

// AddressSanitizer's settings: wide borders between blocks of memory, NaN in fresh ones, reports of aborts
// too, and of who allocated and freed through code that keeps no frame pointers.
extern "C" [[gnu::used]] const char* __asan_default_options() {
  return "redzone=1024:malloc_fill_byte=255:max_malloc_fill_size=1073741824:handle_abort=1:"
         "allocator_may_return_null=1:fast_unwind_on_malloc=0";
}

// Nothing below has a name that the linker sees: an Answer of yours and the driver's are two.
namespace {

class Request {
 public:
  // Reads on after the word "call"; throws isobar::Error when that is no request.
  Request() {
    std::string word;
    std::cin >> call_;
    while (std::cin >> word && word == "tensor") read_tensor();
    isobar::check(word == "end", "driver: wanted 'tensor' or 'end', got '{}'", word);
    for (const auto& [name, tensor] : tensors_) before_[name] = isobar::raw::clone(tensor);
  }

  // The same call with other numbers: a call before this one, of which nothing may be left.
  Request other() const {
    Request other = *this;
    for (auto& [name, tensor] : other.tensors_) {
      std::vector<double> values = tensor.to_vector<double>();
      for (double& value : values)
        value = name == "seed" ? value + 1 : tensor.ndim() > 0 ? -value / 2 : value;
      tensor = isobar::raw::cast(isobar::tensor(tensor.shape(), values), tensor.dtype());
    }
    return other;
  }

  // Throws where an input has changed, or `made` is an input under another name: functions return new
  // tensors.
  void check_kept(const std::map<std::string, isobar::Tensor>& made) const {
    for (const auto& [name, tensor] : tensors_) {
      const std::vector<double> now = tensor.to_vector<double>(), then = before_.at(name).to_vector<double>();
      for (size_t i = 0; i < now.size(); ++i)
        isobar::check(now[i] == then[i] || std::isnan(then[i]), "{}: the input {} has changed", call_, name);
      for (const auto& [result, y] : made)
        isobar::check(result == name || !same_memory(y, tensor), "{}: {} is the memory of the input {}",
                      call_, result, name);
    }
  }

  const std::string& call() const { return call_; }
  bool has(const std::string& name) const { return tensors_.count(name) > 0; }
  const isobar::Tensor& operator[](const std::string& name) const {
    isobar::check(has(name), "driver: {} needs a tensor '{}'", call_, name);
    return tensors_.at(name);
  }
  double number(const std::string& name) const { return (*this)[name].item(); }
  int64_t integer(const std::string& name) const { return static_cast<int64_t>(number(name)); }

  // What a parameter of type T is given: the request's "x"; for "x=1" 1 where the request has no x, for "x="
  // no tensor; for "a,b" a struct whose first fields they are; for "p:" all tensors whose names begin so.
  template <class T>
  T as(const std::string& word) const {
    const size_t end = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, end);
    const bool given = end == word.size() || has(name);
    if constexpr (std::is_same_v<T, isobar::Tensor>)
      return given ? (*this)[name] : isobar::Tensor();
    else if constexpr (std::is_same_v<T, isobar::Rng>)
      return isobar::Rng(integer(name));
    else if constexpr (std::is_same_v<T, std::map<std::string, isobar::Tensor>>)
      return with_prefix(word);
    else if constexpr (std::is_aggregate_v<T>)
      return filled<T>(std::istringstream(word));
    else if constexpr (std::is_class_v<T>)
      return T();
    else
      return static_cast<T>(given ? number(name) : std::stod(word.substr(end + 1)));
  }
  template <class... T>
  std::tuple<T...> all(const std::array<const char*, sizeof...(T)>& words) const {
    auto word = [next = words.data()]() mutable { return *next++; };
    return {as<T>(word())...};
  }

 private:
  // Becomes whatever a field of a struct is.
  struct Field {
    const Request* in;
    std::string word;
    template <class T>
    operator T() const {
      return word.empty() ? T() : in->as<T>(word);
    }
  };
  template <class T, class... F>
  T filled(std::istringstream words, const F&... fields) const {
    if constexpr (requires { T{fields..., Field{}}; }) {
      std::string word;
      std::getline(words, word, ',');
      return filled<T>(std::move(words), fields..., Field{this, word});
    } else {
      return T{fields...};
    }
  }

  std::map<std::string, isobar::Tensor> with_prefix(const std::string& prefix) const {
    std::map<std::string, isobar::Tensor> found;
    for (const auto& [name, tensor] : tensors_)
      if (name.starts_with(prefix)) found[name.substr(prefix.size())] = tensor;
    return found;
  }
  static bool same_memory(const isobar::Tensor& a, const isobar::Tensor& b) {
    const auto f64 = isobar::Dtype::f64;
    return a.dtype() == f64 && b.dtype() == f64 && a.numel() > 0 && a.data<double>() == b.data<double>();
  }

  void read_tensor() {
    std::string name, dtype;
    int ndim = 0;
    std::cin >> name >> dtype >> ndim;
    std::vector<int64_t> extents(ndim);
    for (int64_t& extent : extents) std::cin >> extent;
    const isobar::Shape shape{std::span<const int64_t>(extents)};
    std::vector<double> values(shape.numel());
    std::string number;  // std::cin >> double knows neither inf nor nan
    for (double& value : values) std::cin >> number, value = std::stod(number);
    tensors_[name] = isobar::raw::cast(isobar::tensor(shape, values), isobar::dtype_from_name(dtype));
  }

  std::string call_;
  std::map<std::string, isobar::Tensor> tensors_, before_;
};

class Answer {
 public:
  // An undefined tensor is left out.
  Answer& operator()(const std::string& name, const isobar::Tensor& tensor) {
    if (!tensor.defined()) return *this;
    made_[name] = tensor;
    text_ += fmt::format("tensor {} {} {}", name, tensor.dtype(), tensor.ndim());
    for (const int64_t extent : tensor.shape()) text_ += fmt::format(" {}", extent);
    text_ += '\n';
    for (const double value : tensor.to_vector<double>()) text_ += fmt::format("{:.17g} ", value);
    text_ += '\n';
    return *this;
  }
  Answer& operator()(const std::string& name, double value) {
    return (*this)(name, isobar::full({}, value, isobar::Dtype::f64));
  }
  Answer& operator()(const std::string& name, const std::vector<double>& list) {
    return (*this)(name, isobar::tensor({static_cast<int64_t>(list.size())}, list));
  }
  void error(std::string text) {
    for (char& c : text) c = c == '\n' ? ' ' : c;
    text_ = "error " + text + "\n";
  }
  const std::map<std::string, isobar::Tensor>& made() const { return made_; }
  void send() const {
    const std::string text = text_ + "end\n";
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t count = write(3, text.data() + sent, text.size() - sent);
      if (count <= 0) return;  // nobody listens
      sent += count;
    }
  }

 private:
  std::string text_;
  std::map<std::string, isobar::Tensor> made_;
};

using Call = std::function<void(const Request&, Answer&)>;
using Calls = std::map<std::string, Call>;

// The call of a function: what of the request it takes, and the name of what it returns, or of a struct's
// fields.
template <class R, class... A, size_t N>
Call of(R (*f)(A...), const std::array<const char*, sizeof...(A)>& takes, const char* const (&gives)[N]) {
  return [f, takes, names = std::to_array(gives)](const Request& in, Answer& out) {
    const R made = std::apply(f, in.all<std::decay_t<A>...>(takes));
    if constexpr (N == 1) {
      out(names[0], made);
    } else if constexpr (N == 2) {
      const auto& [a, b] = made;
      out(names[0], a)(names[1], b);
    } else if constexpr (N == 3) {
      const auto& [a, b, c] = made;
      out(names[0], a)(names[1], b)(names[2], c);
    } else if constexpr (N == 4) {
      const auto& [a, b, c, d] = made;
      out(names[0], a)(names[1], b)(names[2], c)(names[3], d);
    } else {
      const auto& [a, b, c, d, e] = made;
      out(names[0], a)(names[1], b)(names[2], c)(names[3], d)(names[4], e);
    }
  };
}

// Answers until stdin ends.
int serve(const Calls& calls) {
  for (std::string word; std::cin >> word && word == "call";) {
    Answer answer;
    try {
      const Request request;
      isobar::check(calls.count(request.call()) > 0, "driver: no call '{}'", request.call());
      if (request.has("threads")) isobar::set_threads(request.integer("threads"));
      if (request.has("warm")) {
        Answer ignored;
        calls.at(request.call())(request.other(), ignored);
      }
      calls.at(request.call())(request, answer);
      request.check_kept(answer.made());
    } catch (const isobar::Error& e) {
      answer.error(e.what());
    } catch (const std::exception& e) {
      answer.error(fmt::format("no isobar::Error, but {}", e.what()));
    }
    answer.send();
  }
  return 0;
}

}  // namespace
