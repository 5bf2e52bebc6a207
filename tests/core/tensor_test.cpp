// Tensors: handles, views, copies, the write door, gradients, and what is refused.
#include "../../core/tensor.h"

#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "../../autograd/tape.h"
#include "../message_of.h"
#include "../small_tensors.h"
#include "../thread_counts.h"

namespace isobar::tensor_test {

using Floats = std::vector<float>;

Tensor two_by_three() { return tensor({2, 3}, Floats{1, 2, 3, 4, 5, 6}); }
Tensor transposed(const Tensor& x) {
  return raw::as_strided(x, {x.size(1), x.size(0)}, {x.strides()[1], x.strides()[0]});
}

TEST_CASE("a tensor holds the values it was made from") {
  const Tensor x = two_by_three();
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.dtype() == Dtype::f32);
  CHECK(x.numel() == 6);
  CHECK(x.is_contiguous());
  CHECK(x.at({1, 2}) == 6);
  CHECK(x.to_vector<float>() == Floats{1, 2, 3, 4, 5, 6});
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  CHECK(x.data<float>()[4] == 5);
  CHECK(reinterpret_cast<uintptr_t>(x.data<float>()) % 64 == 0);
}

TEST_CASE("single numbers and empty tensors are tensors") {
  const Tensor number = full({}, 2.5, Dtype::f64);
  CHECK(number.ndim() == 0);
  CHECK(number.item() == 2.5);
  CHECK(number.at({}) == 2.5);
  CHECK(full({1, 1}, 3).item() == 3);
  const Tensor empty = zeros({3, 0, 2});
  CHECK(empty.numel() == 0);
  CHECK(empty.is_contiguous());
  CHECK(empty.to_vector<float>().empty());
  CHECK(raw::clone(empty).shape() == Shape{3, 0, 2});
  CHECK(raw::cast(empty, Dtype::i32).numel() == 0);
  CHECK(tensor({0}, Floats{}).numel() == 0);
}

TEST_CASE("full, zeros, ones and arange fill every dtype") {
  for (Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64}) {
    CAPTURE(name_of(dtype));
    CHECK(zeros({2}, dtype).to_vector<double>() == Doubles{0, 0});
    CHECK(ones({2}, dtype).to_vector<double>() == Doubles{1, 1});
    CHECK(full({2}, -3, dtype).to_vector<double>() == Doubles{-3, -3});
    CHECK(arange(4, dtype).to_vector<double>() == Doubles{0, 1, 2, 3});
    CHECK(arange(0, dtype).numel() == 0);
    CHECK(ones({2}, dtype).dtype() == dtype);
  }
}

TEST_CASE("copies of a handle share the numbers; clone() and cast() do not") {
  Tensor x = two_by_three();
  const Tensor handle = x, copy = raw::clone(x), wide = raw::cast(x, Dtype::f64),
               same_dtype = raw::cast(x, Dtype::f32);
  raw::write<float>(x)[0] = 9;
  CHECK(handle.at({0, 0}) == 9);
  CHECK(handle.id() == x.id());
  CHECK(copy.at({0, 0}) == 1);
  CHECK(wide.at({0, 0}) == 1);
  CHECK(same_dtype.at({0, 0}) == 1);
}

TEST_CASE("conversions round to nearest and keep what is not finite") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = raw::cast(row({1.0 / 3, 1e-46, -inf, std::nan("")}), Dtype::f32);
  CHECK(x.at({0}) == static_cast<double>(1.0f / 3.0f));
  CHECK(x.at({1}) == 0);
  CHECK(x.at({2}) == -inf);
  CHECK(std::isnan(x.at({3})));
  CHECK(raw::cast(row({2.9, -2.9}), Dtype::i64).to_vector<int64_t>() == std::vector<int64_t>{2, -2});
  CHECK(full({}, 1e-40).item() > 0);  // denormals are kept
}

TEST_CASE("a number that an integer cannot hold is refused, with its place") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  struct Case {
    double number;
    std::string text;
  };
  const Case cases[] = {{nan, "nan"},      {inf, "inf"},        {-inf, "-inf"},       {1e30, "1e+30"},
                        {-1e30, "-1e+30"}, {3e9, "3000000000"}, {-3e9, "-3000000000"}};
  for (const Case& one : cases) {
    const double number = one.number;
    const std::string& text = one.text;
    CAPTURE(text);
    const Tensor x = transpose(tensor({2, 3}, Doubles{1, 2, 3, 4, number, 6}), 0, 1);
    const std::string at = ", the element at [1, 1] is " + text;
    CHECK(message_of([&] { cast(x, Dtype::i32); }) ==
          "cast: i32 holds integers in [-2147483648, 2147483647]" + at);
    CHECK(message_of([&] { (void)x.to_vector<int32_t>(); }) ==
          "cast: i32 holds integers in [-2147483648, 2147483647]" + at);
    if (std::abs(number) == 3e9) {
      CHECK(cast(x, Dtype::i64).at({1, 1}) == number);
      CHECK_THROWS_AS(cast(cast(x, Dtype::i64), Dtype::i32), Error);
    } else {
      CHECK(message_of([&] { cast(x, Dtype::i64); }) ==
            "cast: i64 holds integers in [-9223372036854775808, 9223372036854775807]" + at);
      CHECK_THROWS_AS(cast(cast(x, Dtype::f32), Dtype::i64), Error);
    }
  }
  CHECK(cast(row({2147483647.9, -2147483648.9}), Dtype::i32).to_vector<int64_t>() ==
        std::vector<int64_t>{2147483647, -2147483648});
  CHECK_THROWS_AS(cast(row({2147483648}), Dtype::i32), Error);
  CHECK_THROWS_AS(cast(tensor({1}, Floats{2147483648.0f}), Dtype::i32), Error);
  CHECK_THROWS_AS(cast(row({9223372036854775808.0}), Dtype::i64), Error);
  CHECK(cast(row({-9223372036854775808.0}), Dtype::i64).to_vector<int64_t>()[0] ==
        std::numeric_limits<int64_t>::min());
}

TEST_CASE("a number for integers must be one of them: nothing is rounded away") {
  for (const double number : {0.5, -1e-9, 1e30, std::nan(""), std::numeric_limits<double>::infinity()})
    for (const Dtype dtype : {Dtype::i32, Dtype::i64, Dtype::boolean}) {
      INFO("number ", number, ", dtype ", name_of(dtype));
      CHECK_THROWS_AS(full({1}, number, dtype), Error);
      CHECK_THROWS_AS(where(tensor({1}, std::vector<bool>{true}), zeros({1}, dtype), number), Error);
      CHECK_THROWS_AS(where(tensor({1}, std::vector<bool>{true}), number, zeros({1}, dtype)), Error);
      CHECK_THROWS_AS(pad(zeros({1}, dtype), {1, 1}, number), Error);
    }
  CHECK_THROWS_AS(full({1}, 3e9, Dtype::i32), Error);
  CHECK(full({1}, 3e9, Dtype::i64).item() == 3e9);
  CHECK_THROWS_AS(arange(3, Dtype::boolean), Error);
}

TEST_CASE("an i64 that no double is equal to is given exactly or not at all") {
  const int64_t odd = (int64_t{1} << 53) + 1;
  const Tensor x = tensor({2}, std::vector<int64_t>{odd, odd - 1}),
               one = tensor({}, std::vector<int64_t>{-odd});
  CHECK(message_of([&] { (void)one.item(); }) ==
        "item: no double is -9007199254740993; to_vector<int64_t>() gives it");
  CHECK(message_of([&] { (void)x.at({0}); }) ==
        "at: no double is 9007199254740993; to_vector<int64_t>() gives it");
  CHECK(x.at({1}) == 9007199254740992.0);
  CHECK(x.to_vector<int64_t>()[0] == odd);
  CHECK(tensor({}, std::vector<int64_t>{int64_t{3} << 60}).item() == 0x3p60);
  CHECK(tensor({}, std::vector<int64_t>{std::numeric_limits<int64_t>::min()}).item() ==
        -9223372036854775808.0);
  CHECK_THROWS_AS(tensor({}, std::vector<int64_t>{std::numeric_limits<int64_t>::max()}).item(), Error);
  // Beyond 2^53 an i64 and a double cannot be compared as doubles.
  CHECK_THROWS_AS((void)(x == 9007199254740992.0), Error);
  CHECK(all(x > 9007199254740991.0).item() == 1);
  CHECK(all(x < std::numeric_limits<double>::infinity()).item() == 1);
}

TEST_CASE("views read the same storage through their strides and offset") {
  Tensor x = two_by_three();
  const Tensor t = transposed(x);
  CHECK_FALSE(t.is_contiguous());
  CHECK(t.to_vector<float>() == Floats{1, 4, 2, 5, 3, 6});
  CHECK(t.at({2, 1}) == 6);
  const Tensor column = raw::as_strided(x, {2}, {3}, 1);
  CHECK(column.to_vector<float>() == Floats{2, 5});
  const Tensor row_of_t = raw::as_strided(t, {2}, {3}, 2);  // offsets add up from the view's own origin
  CHECK(row_of_t.to_vector<float>() == Floats{3, 6});
  CHECK(raw::as_strided(row_of_t, {1}, {1}, 3).item() == 6);
  const Tensor repeated = raw::as_strided(column, {2, 2}, {3, 0});
  CHECK(repeated.to_vector<float>() == Floats{2, 2, 5, 5});
  raw::write<float>(x)[4] = 50;
  CHECK(column.at({1}) == 50);
  CHECK(repeated.at({1, 1}) == 50);
}

TEST_CASE("contiguity ignores the strides of extents of one, and of empty tensors") {
  const Tensor x = two_by_three();
  CHECK(raw::as_strided(x, {1, 6}, {99, 1}).is_contiguous());
  CHECK(raw::as_strided(x, {6, 1}, {1, 99}).is_contiguous());
  CHECK(raw::as_strided(x, {0, 3}, {1, 7}).is_contiguous());
  CHECK(raw::as_strided(x, {}, {}).is_contiguous());
  CHECK_FALSE(raw::as_strided(x, {2, 2}, {3, 1}).is_contiguous());
  CHECK_FALSE(raw::as_strided(x, {3}, {2}).is_contiguous());
  CHECK_FALSE(raw::as_strided(x, {3}, {0}).is_contiguous());
}

TEST_CASE("raw::contiguous is the tensor itself where it can be, else a contiguous copy") {
  const Tensor x = two_by_three(), t = transposed(x);
  CHECK(raw::contiguous(x).id() == x.id());
  CHECK(raw::contiguous(t).is_contiguous());
  CHECK(raw::storage(raw::contiguous(t)) != raw::storage(x));
  CHECK(raw::contiguous(t).to_vector<float>() == t.to_vector<float>());
}

TEST_CASE("strided copies of six dimensions agree with element access, for any number of threads") {
  const Shape shape{3, 4, 5, 2, 3, 7};
  const Tensor x = Rng(1).normal(shape, 0, 1, Dtype::f64);
  const Strides s = x.strides();
  // Dimensions in the order 4 0 5 2 1 3.
  const Tensor y = raw::as_strided(x, {3, 3, 7, 5, 4, 2}, {s[4], s[0], s[5], s[2], s[1], s[3]});
  Doubles wanted;
  for (int64_t e = 0; e < 3; ++e)
    for (int64_t a = 0; a < 3; ++a)
      for (int64_t f = 0; f < 7; ++f)
        for (int64_t c = 0; c < 5; ++c)
          for (int64_t b = 0; b < 4; ++b)
            for (int64_t d = 0; d < 2; ++d) wanted.push_back(x.at({a, b, c, d, e, f}));
  CHECK(raw::clone(y).to_vector<double>() == wanted);
  const Tensor large = transposed(Rng(2).normal({300, 500}));
  const Floats once = large.to_vector<float>();
  CHECK(once[2 * 300 + 1] == large.at({2, 1}));
  for_thread_counts([&] { CHECK(raw::clone(large).to_vector<float>() == once); });
}

TEST_CASE("every write bumps the storage's version, through any handle or view") {
  Tensor x = two_by_three(), view = transposed(x);
  const uint64_t before = raw::storage(x)->version->stamp();
  raw::write<float>(x);
  raw::write<float>(view);
  CHECK(raw::storage(x)->version->stamp() == before + 2);
  x.to_vector<float>();
  CHECK(raw::storage(x)->version->stamp() == before + 2);
}

TEST_CASE("assign overwrites in place and reads any layout") {
  Tensor x = zeros({3, 2});
  const Tensor alias = x;
  assign(x, transposed(two_by_three()));
  CHECK(alias.to_vector<float>() == Floats{1, 4, 2, 5, 3, 6});
  Tensor w = tensor({2, 2}, Floats{1, 2, 3, 4});  // of which the source is a view
  assign(w, transpose(w));
  CHECK(w.to_vector<float>() == Floats{1, 3, 2, 4});
}

TEST_CASE("sole_owner sees other handles, views and detached tensors") {
  Tensor x = zeros({2});
  CHECK(raw::sole_owner(x));
  {
    const Tensor handle = x;
    CHECK_FALSE(raw::sole_owner(x));
  }
  CHECK(raw::sole_owner(x));
  {
    const Tensor view = raw::as_strided(x, {1}, {1});
    CHECK_FALSE(raw::sole_owner(x));
  }
  const Tensor detached = x.detach();
  CHECK_FALSE(raw::sole_owner(x));
  CHECK_FALSE(raw::sole_owner(Tensor()));
}

TEST_CASE("detach keeps the numbers and drops the trainable mark and the gradient") {
  Tensor w = two_by_three().set_trainable();
  w.set_grad(ones({2, 3}));
  const Tensor x = transposed(w).detach();
  CHECK(raw::storage(x) == raw::storage(w));
  CHECK(x.to_vector<float>() == Floats{1, 4, 2, 5, 3, 6});
  CHECK_FALSE(w.detach().trainable());
  CHECK_FALSE(w.detach().grad().defined());
  CHECK(w.trainable());
}

TEST_CASE("a gradient is set, seen through every handle, and cleared") {
  Tensor w = zeros({2}).set_trainable();
  const Tensor handle = w;
  CHECK_FALSE(w.grad().defined());
  handle.set_grad(ones({2}));
  CHECK(w.grad().to_vector<float>() == Floats{1, 1});
  w.clear_grad();
  CHECK_FALSE(handle.grad().defined());
}

TEST_CASE("dtypes have names, sizes and element types that belong together") {
  for (Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::boolean}) {
    CHECK(dtype_from_name(name_of(dtype)) == dtype);
    dispatch_any(dtype, [&]<class T>() {
      CHECK(dtype_of<T>() == dtype);
      CHECK(sizeof(T) == size_of(dtype));
      CHECK(std::is_floating_point_v<T> == is_float(dtype));
    });
  }
}

TEST_CASE("views outside of their storage are refused") {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const Tensor x = ones({2});
  for (const int64_t stride : {huge, -huge, huge / 2 + 1, int64_t{-1}}) {
    CAPTURE(stride);
    CHECK_THROWS_AS(raw::as_strided(x, {3}, {stride}), Error);
    CHECK_THROWS_AS(raw::as_strided(x, {2, 3}, {stride, stride}), Error);
  }
  for (const int64_t offset : {huge, int64_t{-1}})
    CHECK_THROWS_AS(raw::as_strided(x, {1}, {1}, offset), Error);
}

TEST_CASE("a trainable temporary lives as long as its name") {
  const Tensor& w = ones({3}).set_trainable();
  Tape tape;
  tape.backward(sum(w * 2.0));
  CHECK(w.grad().to_vector<double>() == Doubles(3, 2));
}

TEST_CASE("a thread that only frees tensors passes their versions on") {
  // Takes of one thread find what the other one, which has ended, gave back: sooner or later a round sees
  // known addresses alone. Before that it takes what earlier tests left free, some thousand versions.
  std::set<const Version*> seen;
  bool repeated = false;
  for (int round = 0; round < 2000 && !repeated; ++round) {
    const size_t before = seen.size();
    auto tensors = std::make_unique<std::vector<Tensor>>();
    for (int i = 0; i < 100; ++i) {
      tensors->push_back(ones({1}));
      seen.insert(raw::storage(tensors->back())->version);
    }
    std::thread([moved = std::move(tensors)]() mutable { moved.reset(); }).join();
    repeated = seen.size() == before;
  }
  CHECK(repeated);
}

}  // namespace isobar::tensor_test
