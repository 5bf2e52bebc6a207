#include "case.h"

namespace isobar::bench {

Work moved_bytes(double bytes, double footprint) {
  return {.unit = "GB/s", .amount = bytes, .limit = Limit::triad, .footprint = footprint};
}

Work product_flops(double flops) { return {.unit = "GFLOP/s", .amount = flops, .limit = Limit::sgemm}; }

Work ops(double count) { return {.unit = "us/op", .amount = count, .limit = Limit::additions}; }

double derived(const Work& work, double seconds) {
  if (work.unit == "us/op") return seconds / work.amount * 1e6;
  const double rate = work.amount / seconds;
  return work.unit == "1/s" ? rate : rate / 1e9;
}

double share(const Work& work, double figure, double limit) {
  return work.unit == "us/op" ? limit / figure : figure / limit;
}

}  // namespace isobar::bench
