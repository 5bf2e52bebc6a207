#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "../../../core/parallel.h"

namespace isobar {
namespace {

constexpr int octaves = 32;             // of each sign
constexpr int zeros_bin = 2 * octaves;  // after the bins of negative and positive values
constexpr int nan_bin = 2 * octaves + 1;
using OctaveCounts = std::array<int64_t, 2 * octaves + 2>;

// Bin 32 + k holds 2^(lowest + k) <= x < 2^(lowest + k + 1), bin 31 − k the same of −x. Smaller |x| count in
// the innermost bins, k = 0, larger ones and infinities in the outermost, k = 31.
template <class T>
uint8_t octave_bin(T x, int lowest) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Number = std::make_signed_t<Bits>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52;
  constexpr Number bias = sizeof(T) == 4 ? 127 : 1023;
  constexpr Bits infinity = (Bits{2 * bias + 1}) << mantissa;
  const auto bits = std::bit_cast<Bits>(x);
  const Bits size = bits << 1 >> 1;  // of |x|
  const Number octave = static_cast<Number>(size >> mantissa) - bias - lowest;
  const Number k = std::clamp<Number>(octave, 0, octaves - 1);
  const Number bin = size != bits ? octaves - 1 - k : octaves + k;
  return static_cast<uint8_t>(size == 0 ? zeros_bin : size > infinity ? nan_bin : bin);
}

template <class T>
OctaveCounts count_octaves(int64_t n, const T* x, int lowest) {
  constexpr int64_t grain = 1 << 15, block = 1 << 10, tables = 4;
  std::vector<OctaveCounts> parts(static_cast<size_t>(chunk_count(n, grain)));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    // First each value's bin, many at a time; then the counts, in tables by turns: neighbours often share a
    // bin, and would wait for each other.
    std::array<uint8_t, block> bins;
    std::array<OctaveCounts, tables> counts{};
    for (int64_t i = begin; i < end; i += block) {
      const int64_t length = std::min(block, end - i);
      for (int64_t j = 0; j < length; ++j) bins[static_cast<size_t>(j)] = octave_bin(x[i + j], lowest);
      for (int64_t j = 0; j < length; ++j)
        ++counts[static_cast<size_t>(j % tables)][bins[static_cast<size_t>(j)]];
    }
    OctaveCounts& sum = parts[static_cast<size_t>(begin / grain)];
    for (const OctaveCounts& table : counts)
      for (size_t bin = 0; bin < sum.size(); ++bin) sum[bin] += table[bin];
  });
  OctaveCounts counts{};
  for (const OctaveCounts& part : parts)
    for (size_t bin = 0; bin < counts.size(); ++bin) counts[bin] += part[bin];
  return counts;
}

}  // namespace

void Histogram::add(const Tensor& x) {
  const Tensor whole = contiguous(x.detach());
  const OctaveCounts counts = dispatch_float("histogram", x.dtype(), [&]<class T>() {
    return count_octaves(whole.numel(), whole.data<T>(), lowest);
  });
  for (size_t i = 0; i < bins.size(); ++i) bins[i] += counts[i];
  zeros += counts[zeros_bin];
  total += x.numel();
}

std::vector<double> Histogram::edges() const {
  constexpr int middle = octaves;
  std::vector<double> edges(2 * middle + 1, 0.0);
  for (int k = 1; k <= middle; ++k) {
    edges[static_cast<size_t>(middle + k)] = std::ldexp(1.0, lowest + k);
    edges[static_cast<size_t>(middle - k)] = -std::ldexp(1.0, lowest + k);
  }
  return edges;
}

void HistogramProbe::on_output(const Module& module, const Tensor& y) {
  if (is_float(y.dtype())) signals_[module.path()].output.add(y);
}

void HistogramProbe::on_output_gradient(const Module& module, const Tensor& dy) {
  signals_[module.path()].gradient.add(dy);
}

std::string HistogramProbe::counts() const {
  std::string all;
  for (const auto& [path, signal] : signals_)
    all.append(reinterpret_cast<const char*>(&signal), sizeof signal);
  return all;
}

void HistogramProbe::add(const std::string& counts) {
  check(counts.size() == signals_.size() * sizeof(Signal),
        "histograms: wanted counts of the {} modules seen here, got {} bytes", signals_.size(),
        counts.size());
  const auto add_to = [](Histogram& to, const Histogram& more) {
    for (size_t i = 0; i < to.bins.size(); ++i) to.bins[i] += more.bins[i];
    to.zeros += more.zeros;
    to.total += more.total;
  };
  size_t place = 0;
  for (auto& [path, signal] : signals_) {
    Signal more;
    std::memcpy(&more, &counts[place], sizeof more);
    place += sizeof more;
    add_to(signal.output, more.output);
    add_to(signal.gradient, more.gradient);
  }
}

const HistogramProbe::Signal* HistogramProbe::find(const std::string& path) const {
  const auto signal = signals_.find(path);
  return signal != signals_.end() ? &signal->second : nullptr;
}

}  // namespace isobar
