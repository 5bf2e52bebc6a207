// One number for what a run measured, to the last bit: whoever gets the same one got the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

namespace isobar::decay {

// FNV-1a over the bytes of doubles, the lowest first. All NaN count as one.
//
//   Bits bits;               // of each seed in order, each layer from the input to the output:
//   bits.add(output_std);    // the std of its output,
//   bits.add(gradient);      // the gradient norm of its weight
//   bits.text();             // "8c1f00a2b4e66d01"
class Bits {
 public:
  void add(double value) {
    const auto bits = std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) hash_ = (hash_ ^ (bits >> 8 * byte & 0xff)) * 0x100000001b3;
  }
  std::string text() const {
    std::string digits;
    for (int digit = 15; digit >= 0; --digit) digits += "0123456789abcdef"[hash_ >> 4 * digit & 15];
    return digits;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace isobar::decay
