// Verdicts on what source 003 prints, and expectations on what we measure, for its two tables of eight
// layers.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "measure.h"
#include "source.h"
#include "theory.h"

namespace isobar::decay {

// The rule for every printed figure: it comes from one run, so it is confirmed when it could be one more of
// our seeds, and refuted otherwise. As one more seed counts whatever lies in the range that our seeds
// covered, made longer by half of its length at either end; lengths are ratios, since stds and norms multiply
// from layer to layer. With 20 seeds that range reaches about 1.9 standard deviations to either side (the
// mean range of 20 normal numbers is 3.7), so the longer one about 3.7: a true figure is refuted once in five
// thousand, whatever the row. A range that begins at 0 is left as it is.
Range one_more_seed(const Spread& seeds);
Judgement judge(double printed, const Spread& seeds);
// A verdict by that rule; a NaN theory means none.
void judge_figure(Run& run, const std::string& id, const std::string& claim, double printed,
                  const Spread& seeds, double theory);

// One verdict per printed figure of 003's two tables.
void judge_blog8(Run& run, const std::vector<Signals>& runs, const std::vector<LayerTheory>& theory);
void judge_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs, const std::vector<LayerTheory>& theory);

// Our medians lie in the ranges that PyTorch gave.
void expect_blog8(Run& run, const std::vector<Signals>& runs);
void expect_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs);

}  // namespace isobar::decay
