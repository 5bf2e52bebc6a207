// Tensors as text, against what NumPy 1.24 prints with set_printoptions(precision=4).
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "../../autograd/ops.h"
#include "../../core/raw.h"
#include "../message_of.h"

namespace isobar::print_test {

using Doubles = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();

std::string text(const Shape& shape, const Doubles& values) { return tensor(shape, values).text(); }

TEST_CASE("a tensor prints as NumPy prints it") {
  CHECK(text({2, 2}, {1, 2.5, 3.14159265, -inf}) == "[[1.     2.5   ]\n [3.1416   -inf]]");
  CHECK(text({4}, {std::nan(""), -0.0, 1, 100.25}) == "[   nan  -0.     1.   100.25]");
  CHECK(text({2}, {-inf, 1}) == "[-inf   1.]");
  CHECK(zeros({2, 2, 2}).text() == "[[[0. 0.]\n  [0. 0.]]\n\n [[0. 0.]\n  [0. 0.]]]");
  CHECK(tensor({2}, std::vector<float>{0.1f, 0.2f}).text() == "[0.1 0.2]");
  CHECK(raw::cast(tensor({3}, Doubles{1, -20, 300}), Dtype::i64).text() == "[  1 -20 300]");
  CHECK(full({}, 2).text() == "2.0");
  CHECK(full({}, 2, Dtype::i32).text() == "2");
}

TEST_CASE("very large, very small and very different numbers print with an exponent") {
  CHECK(text({2}, {1e10, 1.5}) == "[1.0e+10 1.5e+00]");
  CHECK(text({3}, {1e-5, 1, 0}) == "[1.e-05 1.e+00 0.e+00]");
  CHECK(text({3}, {1e9, std::nan(""), -2.5e-9}) == "[ 1.0e+09      nan -2.5e-09]");
}

TEST_CASE("a sign makes no exponent; 10^8 does, and so does a ratio above 1000") {
  CHECK(text({2}, {-1, 2}) == "[-1.  2.]");
  CHECK(text({2}, {1e8, 2e8}) == "[1.e+08 2.e+08]");
  CHECK(text({1}, {1e8}) == "[1.e+08]");
  CHECK(text({2}, {-1e8, 1e6}) == "[-1.e+08  1.e+06]");
  CHECK(text({2}, {9e7, 1e7}) == "[90000000. 10000000.]");
  CHECK(text({2}, {1, 1000}) == "[   1. 1000.]");
  CHECK(text({2}, {1, 1001}) == "[1.000e+00 1.001e+03]");
}

TEST_CASE("a format holds for each element") {
  const Tensor x = tensor({2, 2}, Doubles{1, -2.5, 3.14159, 100});
  CHECK(fmt::format("{:.3f}", x) == "[[  1.000  -2.500]\n [  3.142 100.000]]");
  CHECK(fmt::format("{:+.1e}", select(x, 0, 0)) == "[+1.0e+00 -2.5e+00]");
  CHECK(fmt::format("{:.2f}", full({}, 0.125)) == "0.12");
  CHECK(fmt::format("{:03d}", arange(3)) == "[000 001 002]");
  CHECK(fmt::format("{}", x) == x.text());
  CHECK(fmt::format("{:.3f}", Tensor()) == "undefined");
  CHECK(message_of([&] {
          (void)fmt::format("{:.3f}", arange(3));
        }).starts_with("print: the format '.3f' does not fit"));
}

TEST_CASE("a mask prints true and false") { CHECK((arange(2) < 1).text() == "[ true false]"); }

TEST_CASE("nothing prints as nothing") {
  CHECK(Tensor().text() == "undefined");
  CHECK(zeros({0, 3}).text() == "[]");
}

TEST_CASE("a long tensor prints its edges, a long row several lines") {
  CHECK(arange(2000, Dtype::f64).text() ==
        "[0.000e+00 1.000e+00 2.000e+00 ... 1.997e+03 1.998e+03 1.999e+03]");
  CHECK(reshape(arange(1100), {10, 110}).text() ==
        "[[   0    1    2 ...  107  108  109]\n"
        " [ 110  111  112 ...  217  218  219]\n"
        " [ 220  221  222 ...  327  328  329]\n"
        " ...\n"
        " [ 770  771  772 ...  877  878  879]\n"
        " [ 880  881  882 ...  987  988  989]\n"
        " [ 990  991  992 ... 1097 1098 1099]]");
  // Six rows, or six columns, are not cut.
  CHECK(reshape(arange(1200), {6, 200}).text() ==
        "[[   0    1    2 ...  197  198  199]\n"
        " [ 200  201  202 ...  397  398  399]\n"
        " [ 400  401  402 ...  597  598  599]\n"
        " [ 600  601  602 ...  797  798  799]\n"
        " [ 800  801  802 ...  997  998  999]\n"
        " [1000 1001 1002 ... 1197 1198 1199]]");
  CHECK(reshape(arange(1200), {200, 6}).text().starts_with("[[   0    1    2    3    4    5]\n"));
  CHECK((arange(30, Dtype::f64) + 100).text() ==
        "[100. 101. 102. 103. 104. 105. 106. 107. 108. 109. 110. 111. 112. 113.\n"
        " 114. 115. 116. 117. 118. 119. 120. 121. 122. 123. 124. 125. 126. 127.\n"
        " 128. 129.]");
}

TEST_CASE("a strided tensor prints in its own order, by fmt and by streams") {
  const Tensor x = transpose(reshape(arange(4), {2, 2}));
  std::ostringstream out;
  out << x;
  CHECK(out.str() == "[[0 2]\n [1 3]]");
  CHECK(fmt::format("{}", x) == out.str());
}

}  // namespace isobar::print_test
