"""Wrong forms of a5.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
SGD climbs | «-→+»= lr * (dw
SGD: the decay grows; SGD: no decay | ]« + decay * to[i]→ - decay * to[i]→»)
SGD: the decay without lr | «-=→= to[i] * (1 - decay) -» lr * «(→»dw.data<double>()[i]« + decay * to[i]);→;»
SGD: decay after the update | «→to[i] = (»to[i] -«=→» lr * «(→»dw.data<double>()[i]« + decay * to[i]);→) * (1
    - lr * decay);»
SGD writes a copy | «→Tensor other = raw::clone(w); »double* const to = raw::write<double>(«w→other»
SGD: shapes not checked; SGD: only sizes are compared | «w.shape() == dw.shape()→true→w.numel() == dw.numel()»
SGD: writes before it checks | «→for (int64_t i = 0; i < std::min(w.numel(), dw.numel()); ++i)
    raw::write<double>(w)[i] -= lr * dw.data<double>()[i]; »check
SGD: a shorter gradient passes | «w.shape→dw.numel() <= w.numel() && w.numel() % dw.numel() == 0 && w.ndim»()
    == dw.«shape→ndim»
momentum: a velocity that all share | «const bool first = !velocity.defined()→static Tensor shared»; if
    («first) velocity→!shared.defined() || !(shared.shape() == w.shape())) shared» = isobar::zeros(w.shape(),
    Dtype::f64);«→ velocity = shared;»
momentum: a velocity that only the first optimizer makes | «const bool first = !velocity.defined(); if
    (first)→static std::vector<double> all(64, 0.0);» velocity = isobar::«zeros→tensor»(w.shape(),
    «Dtype::f64);→std::vector<double>(all.begin(), all.begin() + w.numel())); for (int64_t i = 0; i <
    w.numel(); ++i) all[i] = momentum * all[i] + dw.data<double>()[i] + decay * w.data<double>()[i];»
momentum: in float; momentum: forgotten | «momentum * speed[i] + g→float(momentum * speed[i] + g)→g»
momentum: dampened | «→(1 - momentum) * »g;
momentum: never fades | =« momentum *→»
momentum: starts at every step | «!velocity.defined()→true»
momentum: the velocity is subtracted | «momentum * speed[i] + g→g - momentum * speed[i]»
momentum: without decay | ]« + decay * to[i]→»;
momentum: lr within the velocity | «→lr * »(nesterov
momentum: Nesterov always | «nesterov ? g + momentum * speed[i] :→g + momentum *»
momentum: Nesterov never | «(nesterov ? g + momentum * speed[i] : speed[i])→speed[i]»
momentum: Nesterov from the old velocity | «→const double old = speed[i]; »speed[i] = momentum * speed[i] + g;
    to[i] -= lr * (nesterov ? g + momentum * «speed[i]→old»
momentum: Nesterov without g | «g + →»momentum
momentum: the gradient is the velocity | «→{ »velocity = «isobar::zeros(w.shape(), Dtype::f64);→dw; for
    (int64_t i = 0; i < w.numel(); ++i) raw::write<double>(velocity)[i] = 0; }»
AdamW: steps that all optimizers share | «→; static int64_t all = 0; ++all»; const double correction1 = 1 -
    std::pow(beta1, «steps→all»), correction2 = 1 - std::pow(beta2, «steps);→all);»
AdamW: m of the first optimizer for all | «m→static Tensor shared» = isobar::zeros(«w.shape()→{64}»,
    Dtype::f64)«→; m = shared»
AdamW: no correction of m | «(mean[i] / correction1)→mean[i]»
AdamW: no correction of v; AdamW: eps under the root | ]« / correction2) + eps→) + eps→ / correction2 + eps)»
AdamW: corrections exchanged | «correction1→correction2» = 1 - std::pow(beta1, steps),
    «correction2→correction1»
AdamW: counts from 0 | «steps→std::max<int64_t>(1, steps - 1)»),
AdamW: eps before the correction; AdamW: no eps | «std::sqrt(square[i] / correction2) +
    eps→(std::sqrt(square[i]) + eps) / std::sqrt(correction2)→std::sqrt(square[i] / correction2)»
AdamW: no root | ) / («std::sqrt→»
AdamW: decay after the update | ; « to[i] *= 1 - lr * decay;→» to[i] -= lr * (mean[i] / correction1) /
    (std::sqrt(square[i] / correction2) + eps);«→ to[i] *= 1 - lr * decay;»
AdamW: the decay grows; AdamW: the decay without lr | «- lr * →+ lr * →- »decay
AdamW: no decay; AdamW: climbs | «*= 1 - lr * decay; to[i] -→-→*= 1 - lr * decay; to[i] +»
AdamW: Adam with L2 | «→ + decay * to[i]»; mean
AdamW: m without (1 - beta1) | «(1 - beta1) * →»d
AdamW: v without (1 - beta2); AdamW: v of |d| | «(1 - beta2) * d * d→d * d→(1 - beta2) * std::abs(d)»
AdamW: betas exchanged in m | «beta1 * mean[i] + (1 - beta1→beta2 * mean[i] + (1 - beta2»
AdamW: m and v are one tensor | v = «isobar::zeros(w.shape(), Dtype::f64)→m»
AdamW: starts anew | «if (steps == 0) →»{
clip: each by itself | dw);«→ double own = 0; for (int64_t i = 0; i < dw.numel(); ++i) own += to[i] * to[i];
    const double norm = std::max(most, std::sqrt(own));»
clip: the last norm | gradients) «→if (squares = 0; true) »for
clip: by the square | «std::sqrt(squares)→squares»
clip: always | «(norm > most) || !→»
clip: returns the norm after; clip: only the first | «} return norm→} return most→break; } return norm»
clip: a NaN goes through | «!(norm > most) || !std::isfinite→norm <= most || std::isinf»
clip: infinity goes through | )« || !std::isfinite(norm)→»
RMSprop: the planted bug | «) for (const Tensor& w : weights→») squares.«push_back(→assign(weights.size(),
    »isobar::zeros(«w→weights[0]»
RMSprop: squares that all optimizers share | «→static std::vector<Tensor> shared; if (shared.size() !=
    squares.size() || !(shared[0].shape() == squares[0].shape())) shared = squares; squares = shared; »for (size_t
RMSprop: one for all | «k→0»]);
RMSprop: starts at the weights | «isobar::zeros(w.shape(), Dtype::f64)→w»)
RMSprop: starts at one | (isobar::«zeros→ones»
RMSprop: the gradient is the state | «w : weights→d : gradients») squares.push_back(«isobar::zeros(w.shape(),
    Dtype::f64))→d)»
RMSprop: the step before | «→to[i] -= lr * d / (std::sqrt(square[i]) + eps); »square[i] = rho * square[i] + (1
    - rho) * d * d;« to[i] -= lr * d / (std::sqrt(square[i]) + eps);→»
RMSprop: eps under the root | ]«) + eps→ + eps)»
"""

EQUIVALENT = [("momentum: the first velocity set to g instead of 0 · momentum + g", "the same number"),
              ("AdamW: the decay as w − lr · decay · w", "the same up to rounding")]
