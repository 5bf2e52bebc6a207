// Sums of products by letters, over permute, sum and matmul; the gradient is theirs.
//
//   y[output letters] = Σ over all other letters of a[letters of a] · b[letters of b]
//
// The letters of two operands fall into four kinds: batch (in a, b and y), contracted (in a and b only), and
// those of a or of b alone, which y either keeps or sums. The product is one matmul
//
//   (batch, kept of a, contracted) · (batch, contracted, kept of b)
//
// whose result is cut into the letters' extents and permuted.
#include <algorithm>
#include <string>

#include "../ops.h"

namespace isobar {
namespace {

// An operand, one letter for each dimension.
struct Lettered {
  Tensor x;
  std::string letters;

  bool has(char letter) const { return letters.find(letter) != std::string::npos; }
  int64_t size(char letter) const { return x.size(static_cast<int>(letters.find(letter))); }
};

[[noreturn]] void refuse(std::string_view equation, const std::string& why) {
  throw_error(fmt::format(
      "einsum: cannot read \"{}\"{}; wanted one or two operands of distinct letters, as in \"bij,bjk->bik\"",
      equation, why));
}

// Throws unless every character is a letter and occurs once.
std::string distinct_letters(std::string_view equation, std::string letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      refuse(equation, fmt::format(": '{}' is not a letter", c));
    if (letters.find(c) != i) refuse(equation, fmt::format(": '{}' occurs twice in \"{}\"", c, letters));
  }
  return letters;
}

// Letters that occur once in all operands, in alphabetical order, capitals first.
std::string implied_output(const std::string& inputs) {
  std::string output;
  for (const char c : inputs)
    if (c != ',' && std::count(inputs.begin(), inputs.end(), c) == 1) output += c;
  std::sort(output.begin(), output.end());
  return output;
}

// The operands with their letters, and those of the output.
struct Equation {
  std::vector<Lettered> operands;
  std::string output;

  Equation(std::string_view text, const std::vector<Tensor>& xs) {
    std::string plain;
    std::copy_if(text.begin(), text.end(), std::back_inserter(plain), [](char c) { return c != ' '; });
    const size_t arrow = plain.find("->");
    const std::string inputs = plain.substr(0, arrow);
    output =
        distinct_letters(text, arrow == std::string::npos ? implied_output(inputs) : plain.substr(arrow + 2));
    const size_t names = 1 + std::count(inputs.begin(), inputs.end(), ',');
    if (names > 2) refuse(text, fmt::format(" with {} operands", names));
    check(names == xs.size(), "einsum: \"{}\" names {} operands, got {} tensors", text, names, xs.size());
    for (size_t i = 0, begin = 0; i < names; ++i) {
      const size_t end = std::min(inputs.find(',', begin), inputs.size());
      operands.push_back({xs[i], distinct_letters(text, inputs.substr(begin, end - begin))});
      check(static_cast<size_t>(xs[i].ndim()) == operands[i].letters.size(),
            "einsum: \"{}\" of \"{}\" needs {} dimensions, got {}", operands[i].letters, text,
            operands[i].letters.size(), xs[i].shape());
      begin = end + 1;
    }
    for (const char c : output)
      check(std::any_of(operands.begin(), operands.end(), [c](const Lettered& a) { return a.has(c); }),
            "einsum: the output of \"{}\" has the letter '{}', which no operand has", text, c);
  }
};

// Sums over the letters for which `unwanted` holds.
template <class Unwanted>
Lettered without(const Lettered& a, const Unwanted& unwanted) {
  std::vector<int> axes;
  std::string kept;
  for (size_t d = 0; d < a.letters.size(); ++d)
    if (unwanted(a.letters[d]))
      axes.push_back(static_cast<int>(d));
    else
      kept += a.letters[d];
  return {axes.empty() ? a.x : sum(a.x, axes), kept};
}

// The dimensions in the order of these letters, all of which a has.
Tensor ordered(const Lettered& a, const std::string& letters) {
  if (letters == a.letters) return a.x;
  std::vector<int> order;
  for (const char c : letters) order.push_back(static_cast<int>(a.letters.find(c)));
  return permute(a.x, order);
}

Tensor reshaped(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

// a with extents of one repeated where b has more under the same letter.
Lettered widened(const Lettered& a, const Lettered& b) {
  Shape wanted = a.x.shape();
  for (size_t d = 0; d < a.letters.size(); ++d) {
    const char c = a.letters[d];
    if (!b.has(c)) continue;
    const int64_t here = a.x.size(static_cast<int>(d)), there = b.size(c);
    check(here == there || here == 1 || there == 1, "einsum: '{}' is {} in \"{}\" {} and {} in \"{}\" {}", c,
          here, a.letters, a.x.shape(), there, b.letters, b.x.shape());
    if (here == 1) wanted = wanted.with(static_cast<int>(d), there);
  }
  return {broadcast_to(a.x, wanted), a.letters};
}

// The product of two operands, neither of which has a letter that is summed in it alone.
Tensor product(const Lettered& a, const Lettered& b, const std::string& output) {
  std::string batch, contracted, of_a, of_b;
  for (const char c : a.letters)
    (!b.has(c) ? of_a : output.find(c) != std::string::npos ? batch : contracted) += c;
  for (const char c : b.letters)
    if (!a.has(c)) of_b += c;
  std::vector<int64_t> extents;
  const auto extent_of = [&](const std::string& letters, const Lettered& from) {
    int64_t extent = 1;
    for (const char c : letters) extent *= from.size(c);
    return extent;
  };
  for (const char c : batch + of_a) extents.push_back(a.size(c));
  for (const char c : of_b) extents.push_back(b.size(c));
  const int64_t m = extent_of(of_a, a), k = extent_of(contracted, a), n = extent_of(of_b, b);
  const auto shape_of = [&](int64_t rows, int64_t columns) {
    return batch.empty() ? Shape{rows, columns} : Shape{extent_of(batch, a), rows, columns};
  };
  const Tensor y = matmul(reshaped(ordered(a, batch + of_a + contracted), shape_of(m, k)),
                          reshaped(ordered(b, batch + contracted + of_b), shape_of(k, n)));
  return ordered({reshaped(y, Shape(extents)), batch + of_a + of_b}, output);
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& xs) {
  const Equation read(equation, xs);
  const auto& operands = read.operands;
  const auto missing = [&](char c) { return read.output.find(c) == std::string::npos; };
  if (operands.size() == 1) return ordered(without(operands[0], missing), read.output);
  const Lettered a = widened(operands[0], operands[1]), b = widened(operands[1], operands[0]);
  return product(without(a, [&](char c) { return missing(c) && !b.has(c); }),
                 without(b, [&](char c) { return missing(c) && !a.has(c); }), read.output);
}

}  // namespace isobar
