// Numbers, texts and tensors through the socket of the environment's LINK, between a program that measures
// (remote.cpp) and the process of the layer (layer.cpp). Neither shares memory, files or a parent's rights
// with the other.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <isobar/core/raw.h>
#include <isobar/core/tensor.h>

enum class Ask : int64_t { begin, make, forward, backward, drop };

class Wire {
 public:
  Wire() {
    const char* number = std::getenv("LINK");
    isobar::check(number != nullptr, "wire: wanted a socket in LINK, got none; the grader brings one");
    socket_ = std::atoi(number);
  }

  void put(int64_t value) { put(&value, sizeof value); }
  void put(Ask ask) { put(static_cast<int64_t>(ask)); }
  void put(const std::string& text) {
    put(static_cast<int64_t>(text.size()));
    put(text.data(), text.size());
  }
  // f32 or f64, or undefined. Numbers go as f64, which has each of f32.
  void put(const isobar::Tensor& x) {
    put(int64_t{x.defined()});
    if (!x.defined()) return;
    isobar::check(is_float(x.dtype()), "wire: wanted f32 or f64, got {}", x.dtype());
    put(int64_t{x.dtype() == isobar::Dtype::f64});
    put(x.ndim());
    for (const int64_t extent : x.shape()) put(extent);
    const isobar::Tensor numbers = isobar::raw::contiguous(isobar::raw::cast(x, isobar::Dtype::f64));
    put(numbers.data<double>(), x.numel() * sizeof(double));
  }
  void send() {
    for (size_t done = 0; done < out_.size();)
      done += moved(write(socket_, out_.data() + done, out_.size() - done));
    out_.clear();
  }

  int64_t number() {
    int64_t value = 0;
    get(&value, sizeof value);
    return value;
  }
  // A number from 0 to `most`.
  int64_t number(int64_t most) {
    const int64_t value = number();
    isobar::check(value >= 0 && value <= most, "wire: wanted 0 to {}, got {}", most, value);
    return value;
  }
  std::string text() {
    std::string text(number(1 << 16), ' ');
    get(text.data(), text.size());
    return text;
  }
  isobar::Tensor tensor() {
    if (number(1) == 0) return {};
    const auto dtype = number(1) == 1 ? isobar::Dtype::f64 : isobar::Dtype::f32;
    std::vector<int64_t> extents(number(6));
    int64_t count = 1;
    for (int64_t& extent : extents) {
      extent = number(most);
      count *= extent;
      isobar::check(count <= most, "wire: wanted at most {} numbers, got more", most);
    }
    isobar::Tensor x(isobar::Shape{std::span<const int64_t>(extents)}, isobar::Dtype::f64);
    get(isobar::raw::write<double>(x), count * sizeof(double));
    return isobar::raw::cast(x, dtype);
  }

 private:
  static constexpr int64_t most = int64_t{1} << 27;  // numbers of a tensor

  static size_t moved(ssize_t bytes) {
    isobar::check(bytes > 0, "wire: the other process has ended");
    return bytes;
  }
  void put(const void* data, size_t size) {
    const char* const bytes = static_cast<const char*>(data);
    out_.insert(out_.end(), bytes, bytes + size);
  }
  void get(void* data, size_t size) {
    for (size_t done = 0; done < size;)
      done += moved(read(socket_, static_cast<char*>(data) + done, size - done));
  }

  int socket_;
  std::vector<char> out_;
};
