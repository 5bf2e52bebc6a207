// Verdicts on what source 003 prints, and expectations on what we measure, for its two tables of eight
// layers.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "measure.h"
#include "report.h"
#include "source.h"
#include "theory.h"

namespace isobar::decay {

// The rule for every printed figure: it comes from one run, so it is confirmed when it could be one more of
// our seeds (harness/stats.h), and refuted otherwise.
Judgement judge(double printed, const Spread& seeds);
// A verdict by that rule; a NaN theory means none.
void judge_figure(Run& run, const std::string& id, const std::string& claim, double printed,
                  const Spread& seeds, double theory);

// What 003 prints for the net of this preset.
PrintedColumns printed_columns(const std::string& preset);

// One verdict per printed figure of 003's two tables.
void judge_blog8(Run& run, const std::vector<Signals>& runs, const std::vector<LayerTheory>& theory);
void judge_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs, const std::vector<LayerTheory>& theory);

// Our medians lie in the ranges that PyTorch gave.
void expect_blog8(Run& run, const std::vector<Signals>& runs);
void expect_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs);

}  // namespace isobar::decay
