// A running sum in a vector, which is copied into a tensor at the end.
#include "a0.h"

Tensor moving_average(const Tensor& x, int64_t width) {
  const std::vector<double> in = x.to_vector<double>();
  std::vector<double> means;
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    sum += in.at(i);
    if (i >= width) sum -= in.at(i - width);
    if (i + 1 >= width) means.push_back(sum / width);
  }
  return isobar::tensor({static_cast<int64_t>(means.size())}, means);
}
