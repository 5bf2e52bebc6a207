// A tensor as text, in NumPy's layout with precision 4:
//
//   [[1.     2.5   ]
//    [3.1416   -inf]]
//
// The numbers of a tensor share one width. Floats show up to 4 decimals without trailing zeros; where the
// largest is at least 1e8, the smallest below 1e-4, or the largest above 1000 times the smallest, all are
// written with an exponent. Lines end before column 75. Of more than 1000 elements, the first and last 3
// along each dimension are shown, with "..." between them. With a format, each number is written by it.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "tensor.h"

namespace isobar {
namespace {

constexpr int decimals = 4, edge = 3, line_width = 75;
constexpr int64_t longest = 1000;

bool is_cut(const Tensor& x, int dim) { return x.numel() > longest && x.size(dim) > 2 * edge; }

// The values that are shown, in row-major order.
template <class T>
void collect(const Tensor& x, int dim, const T* from, std::vector<T>& values) {
  if (dim == x.ndim()) {
    values.push_back(*from);
    return;
  }
  const int64_t n = x.size(dim);
  for (int64_t i = 0; i < n; ++i) {
    if (i == edge && is_cut(x, dim)) i = n - edge;
    collect(x, dim + 1, from + i * x.strides()[dim], values);
  }
}

// The parts of a number before and after the position at which numbers are aligned.
struct Word {
  std::string left, right;
};

bool wants_exponent(const std::vector<double>& values) {
  double smallest = INFINITY, largest = 0;
  for (const double v : values)
    if (std::isfinite(v) && v != 0) {
      smallest = std::min(smallest, std::abs(v));
      largest = std::max(largest, std::abs(v));
    }
  return largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
}

std::string without_zeros(std::string text) {
  while (text.back() == '0') text.pop_back();
  return text;
}

// Fixed numbers: {"-1", ".25"}; or with an exponent, all with as many decimals as the longest needs: {"-1",
// ".25e+10"}. NaN and infinities have a left part alone.
std::vector<Word> words_of(const std::vector<double>& values, bool exponent) {
  size_t needed = 0;
  for (const double v : values)
    if (std::isfinite(v)) {
      const std::string text = fmt::format("{:.{}e}", v, decimals);
      const std::string digits = without_zeros(text.substr(0, text.find('e')));
      needed = std::max(needed, digits.size() - digits.find('.') - 1);
    }
  std::vector<Word> words;
  for (const double v : values) {
    const std::string text = std::isnan(v)   ? "nan"
                             : std::isinf(v) ? (v > 0 ? "inf" : "-inf")
                             : exponent      ? fmt::format("{:#.{}e}", v, needed)
                                             : without_zeros(fmt::format("{:.{}f}", v, decimals));
    const size_t point = std::min(text.find('.'), text.size());
    words.push_back({text.substr(0, point), text.substr(point)});
  }
  return words;
}

// All words in one width: numbers are aligned at their points, NaN and infinities at the right.
std::vector<std::string> aligned(const std::vector<Word>& words) {
  size_t left = 0, right = 0, whole = 0;
  for (const Word& word : words) {
    right = std::max(right, word.right.size());
    if (word.right.empty()) whole = std::max(whole, word.left.size());
    if (!word.right.empty()) left = std::max(left, word.left.size());
  }
  left = std::max(left, whole > right ? whole - right : 0);
  std::vector<std::string> result;
  for (const Word& word : words)
    result.push_back(word.right.empty() ? fmt::format("{:>{}}", word.left, left + right)
                                        : fmt::format("{:>{}}{:<{}}", word.left, left, word.right, right));
  return result;
}

// The shown elements as words of one width, each by fmt's `format` where one is given.
std::vector<std::string> words_of(const Tensor& x, std::string_view format) {
  return dispatch_any(x.dtype(), [&]<class T>() {
    std::vector<T> values;
    collect(x, 0, x.data<T>(), values);
    if (!format.empty()) {
      std::vector<std::string> words;
      size_t width = 0;
      try {
        const std::string whole = fmt::format("{{:{}}}", format);
        for (const T v : values) {
          words.push_back(fmt::format(fmt::runtime(whole), v));
          width = std::max(width, words.back().size());
        }
      } catch (const fmt::format_error& error) {
        throw_error(fmt::format("print: the format '{}' does not fit an element of {}: {}", format, x.dtype(),
                                error.what()));
      }
      for (std::string& word : words) word.insert(0, width - word.size(), ' ');
      return words;
    }
    if constexpr (std::is_floating_point_v<T>) {
      const std::vector<double> doubles(values.begin(), values.end());
      return aligned(words_of(doubles, wants_exponent(doubles)));
    } else {
      std::vector<Word> words;
      for (const T v : values) words.push_back({fmt::format("{}", v), ""});
      return aligned(words);
    }
  });
}

// Writes brackets around words, from the outermost dimension in.
struct Writer {
  const Tensor& x;
  std::vector<std::string> words;
  size_t next = 0;
  std::string out = {};

  // One row: words with single spaces, broken into lines that leave room for the closing brackets.
  void row() {
    const size_t indent = static_cast<size_t>(x.ndim());
    const int64_t n = x.size(-1);
    size_t column = indent;
    const auto put = [&](const std::string& word, bool first) {
      if (!first && column + 1 + word.size() > line_width - indent) {
        out += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (!first) {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
    };
    for (int64_t i = 0; i < n; ++i) {
      if (i == edge && is_cut(x, x.ndim() - 1)) {
        put("...", false);
        i = n - edge;
      }
      put(words[next++], i == 0);
    }
  }

  void block(int dim) {
    out += '[';
    if (dim == x.ndim() - 1) {
      row();
    } else {
      const std::string gap(static_cast<size_t>(x.ndim() - 1 - dim), '\n'),
          indent(static_cast<size_t>(dim) + 1, ' ');
      for (int64_t i = 0; i < x.size(dim); ++i) {
        if (i > 0) out += gap + indent;
        if (i == edge && is_cut(x, dim)) {
          out += "..." + gap + indent;
          i = x.size(dim) - edge;
        }
        block(dim + 1);
      }
    }
    out += ']';
  }
};

}  // namespace

std::string Tensor::text(std::string_view format) const {
  if (!defined()) return "undefined";
  if (numel() == 0) return "[]";
  Writer writer{*this, words_of(*this, format)};
  if (ndim() == 0) {
    const std::string& word = writer.words[0];
    return format.empty() && word.back() == '.' ? word + '0' : word;
  }
  writer.block(0);
  return writer.out;
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << x.text(); }

}  // namespace isobar
