// Law: how the numbers of a table scatter together from seed to seed, and how far a printed table lies from it.
//
// Neighbouring layers' stds are almost the same random number, so each number is judged three times: alone,
// given the numbers that the net computes before it, and given all the others. With y = ln(value + unit), value²
// or the value (printed_table.h), N measured nets and k numbers given, the deviation e of a printed number from the
// regression on those k follows
//   t = e / (s √(1 + 1/N + q/(N − 1))),   Student's t with N − 1 − k degrees of freedom,
// s the residual standard deviation and q the squared Mahalanobis distance of the k numbers, if y is normal.
// Where the k numbers are themselves far off, q is large, and they say little about this one. y is not quite
// normal: in nets 128 wide its skewness reaches −0.3. So the bound c of the side with the longer tail is moved to
// c + |γ| (c² − 1)/6 (Cornish and Fisher 1938), γ the skewness of the regression's residuals beyond what N normal
// numbers have by chance.
//
// A printed number is rounded: its error is uniform over one unit of its last digit. The variance unit²/12
// joins the law's, and with it 1e-5 of the value: other libraries sum a std in another order.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "printed_table.h"

namespace isobar::doubt {

// How a number was judged.
enum class Given { nothing, earlier, others };

struct Deviation {
  double t = 0;         // standard deviations from the law
  double critical = 0;  // |t| beyond it, on this side: the number cannot come from this code
  double expected = 0;  // the value that the law gives for the number
  // How far a number of a true table must be moved from its expected value to be beyond it, as a share of it; of a
  // mean, how far itself.
  double notice = 0;

  bool beyond() const { return !(std::abs(t) <= critical); }
};

struct JudgedNumber {
  double median = 0;        // of the measured nets
  double spread = 0;        // standard deviation of y, rounding included
  Deviation deviations[3];  // by Given

  const Deviation& of(Given given) const { return deviations[static_cast<int>(given)]; }
  bool beyond() const;
};

class Law {
 public:
  // `values[i]`: of net i, one for each number. Throws Error for fewer than numbers + 3 nets, and for a number
  // that overflows in one of them.
  Law(std::vector<Number> numbers, const std::vector<std::vector<double>>& values);

  // Judges these values, printed with the digits of the law's numbers, at this error rate for the whole table.
  std::vector<JudgedNumber> judge(std::span<const double> printed, double error_rate) const;

  int64_t nets() const { return nets_; }
  const std::vector<Number>& numbers() const { return numbers_; }
  // What number i is expected to be given all the others, and its standard deviation then, of y.
  struct Expected {
    double y, sd;
  };
  Expected given_others(std::span<const double> printed, size_t i) const;

  // y of a value of number i, and back.
  double to_law(size_t i, double value) const;
  double from_law(size_t i, double y) const;

 private:
  // The deviations of y from its mean, in standard deviations of each number alone.
  std::vector<double> standardized(std::span<const double> printed) const;
  // What is left of each of them by the regression on the numbers before it, and on all others.
  std::vector<double> beside_earlier(std::span<const double> d) const;
  std::vector<double> beside_others(std::span<const double> d) const;

  std::vector<Number> numbers_;
  int64_t nets_;
  std::vector<double> mean_, sd_, medians_;
  std::vector<std::array<double, 3>> skewness_;        // of the residuals, by Given
  std::vector<std::vector<double>> factor_, inverse_;  // of the correlations: L of Cholesky, and the inverse
};

}  // namespace isobar::doubt
