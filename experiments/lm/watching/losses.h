// Losses over the steps of one training: when they reached a target, and their curve.
#pragma once

#include "../../page/charts/plot.h"

namespace isobar {

// The steps until the mean loss of twenty batches was at most `target`; infinite where it never was. And that mean
// at the end, of fewer batches where there are no twenty; NaN of none.
double steps_until(const std::vector<double>& losses, double target);
double last_mean(const std::vector<double>& losses);
// Adds a point over the trainings for every tenth step: the mean of ten steps.
void add_training(PlotCurve& curve, const std::vector<std::vector<double>>& losses);

}  // namespace isobar
