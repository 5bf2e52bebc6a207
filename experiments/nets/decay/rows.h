// Rows: what the width does to a gradient on its way down through layers with norms.
//
// One row, in a plain chain. The layers above a norm do not see lengths, so dx · x = 0 (Euler). Given the way
// up, Wᵀ dz is therefore a new normal vector in the n − 1 directions across x. The ReLU keeps the m active
// features, and x lies in them: m − 1 directions are left. The norm's projection takes nothing, as
// y · relu'(y) dx = x · dx = 0. Its division is by r² = v q χ²_n / n, q = χ²_m / χ²_n of the layer below. So a
// layer adds ln χ²_(m−1) − ln χ²_m to ln |dz|², m = n/2:
//   mean −ν/n, variance 4ν/n, ν = 2, half of it from the new part of W, half from the way up.
// The order relu_norm gives the same. LayerNorm's mean takes 2/n (1/2 − 1/π) more, and across 1 the number of
// active features and q scatter less: together −1/πn.
//
// The blocks have the same law. With s = x + W2 relu(W1 x) and a = v²/2, the squared share of the branch,
//   post: |dx|² is |g − x (x·g)/n + W̃1ᵀ D W2ᵀ g|² / r², W̃1 the part of W1 across x. The variances of both are
//         (4a + 7a²)/n, so their means cancel but for what the directions x and h = relu(W1 x) take:
//         ν = (2a + 3a²) / (1 + a)²;
//   pre:  the same with a/q in the place of a, and no division (theory.cpp).
//
// All rows. The new part of W is the same for all rows. With G_ab = dz_a · dz_b,
//   Cov(dG_ab, dG_cd) = ν/n (G_ac G_bd + G_ad G_bc)
// per layer, a stochastic differential equation in depth over width (Li, Nica and Roy 2022, The neural
// covariance SDE, have it for the way up); and two rows' masks differ, so G_ab, a ≠ b, loses the factor
// f = E φ'_a φ'_b / E φ'². The squared norm of a weight's gradient is Q = n q tr(G C), C the cosines of its
// inputs. Seen from a layer above, the mean of Q is tr(G C'), C' = C with the f of the layers between off the
// diagonal. This mean is a martingale, so
//   E ln Q = ln (Q at infinite width) − Σ ν/n P,   P = tr(G C' G C') / tr(G C')²,
// the sum over the layers above, and the variance of ln Q is twice the sum and that of the way up. Where rows
// are collinear, P = 1 and this is the law of one row. Rows that differ average, and P is small: 1/batch for
// the loss random at the top. Below, noise makes rows collinear in n/ν layers, and masks, whose angles are
// θ_l = 3π/l, keep them apart in the lowest n/ν layers. The rows' ways up differ there too, and their mean
// gains ν/n (1 − their correlation).
//
// G has a distribution of its own, of which two numbers are followed: D = Σ G_aa² / (tr G)² and O =
// Σ_(a≠b) G_ab² / (tr G)². By Ito's formula d(D + O) = ν/n (1 + P + 6 P² − 8 T), P = D + O and T = tr G³ /
// (tr G)³. The equations of T and of higher moments do not end. So the two growths below are not derived: they
// are exact for P = 0 and P = 1, and fitted between to a simulation of the equation with 32 rows, from which
// the sum of P differs by a tenth at most up to 6 n/ν layers.
#pragma once

#include <cmath>
#include <cstdint>

namespace isobar::decay {

class Rows {
 public:
  // `alike`: the cosine between two rows at the top.
  Rows(int64_t batch, double alike) : rows_(static_cast<double>(batch)) {
    apart_ = 1 / rows_;
    shared_ = (1 - apart_) * alike * alike;
  }

  // A layer's noise ν/n; `alike` is E G_ab over E G_aa, `way_up` how rows' noise on the way up correlates.
  void noise(double step, double alike, double way_up) {
    const double p = apart_ + shared_, free = 1 - apart_;
    own_ += step * (p - free * (1 - way_up));
    way_up_ += 2 * step;
    if (rows_ == 1) return;
    // G's eigenvalue along (1, …, 1) is x times the mean one; `even` is P where all others are equal.
    const double x = 1 + (rows_ - 1) * alike;
    const double along = x * x / rows_,
                 even = (x * x + (rows_ - x) * (rows_ - x) / (rows_ - 1)) / (rows_ * rows_);
    once_ += step * (along - even);
    twice_ += step * (x * x - p - 2 * (along - even));
    const double grown = step * (1 - p) * (1 - p) * (1 + 2 * p);
    const double grown_apart = step * std::fmax(1 - shared_ / free, 0) * 2 * apart_ * std::pow(free, 6);
    apart_ += grown_apart;
    shared_ = std::fmax(shared_ + grown - grown_apart, 0);
  }

  // A layer's masks: f.
  void mask(double overlap) {
    once_ *= overlap;
    twice_ *= overlap * overlap;
    shared_ *= overlap * overlap;
  }

  // −E ln(Q / Q at infinite width), for inputs of cosine c.
  double shrinks(double c, double alike) const {
    const double whole = 1 + (rows_ - 1) * c * alike;
    return (own_ + 2 * c * once_ + c * c * twice_) / (whole * whole);
  }
  // The variance of ln Q.
  double variance(double c, double alike) const { return 2 * shrinks(c, alike) + way_up_; }

 private:
  double rows_, apart_, shared_;                        // the batch, D, O
  double own_ = 0, once_ = 0, twice_ = 0, way_up_ = 0;  // Σ ν/n P as own + 2 c once + c² twice
};

}  // namespace isobar::decay
