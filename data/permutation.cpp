#include "permutation.h"

#include <bit>

namespace isobar {
namespace {

// Four rounds are pseudorandom for wide halves (Luby and Rackoff 1988). Halves of one or two bits mix little
// per round, so there are more rounds.
constexpr int rounds = 10;

}  // namespace

Permutation::Permutation(int64_t size, const Rng& rng) : size_(size), rng_(rng) {
  check(size >= 0, "permutation: wanted a size of at least 0, got {}", size);
  const int bits = size > 1 ? std::bit_width(static_cast<uint64_t>(size - 1)) : 0;
  high_bits_ = bits / 2;
  low_bits_ = bits - high_bits_;
}

int64_t Permutation::operator()(int64_t index) const {
  check(index >= 0 && index < size_, "permutation: index {} is outside of 0 … {}", index, size_ - 1);
  uint64_t number = static_cast<uint64_t>(index);
  do number = shuffle(number);
  while (number >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(number);
}

// One pass through the network. Each round XORs random bits chosen by one half onto the other half; the same
// XOR undoes it, so a round, and with it the whole pass, is a bijection.
uint64_t Permutation::shuffle(uint64_t number) const {
  const uint64_t low_mask = (uint64_t{1} << low_bits_) - 1, high_mask = (uint64_t{1} << high_bits_) - 1;
  uint64_t low = number & low_mask, high = number >> low_bits_;
  for (uint64_t round = 0; round < rounds; ++round) {
    if (round % 2 == 0)
      low ^= rng_.bits(round << 32 | high) & low_mask;
    else
      high ^= rng_.bits(round << 32 | low) & high_mask;
  }
  return high << low_bits_ | low;
}

}  // namespace isobar
