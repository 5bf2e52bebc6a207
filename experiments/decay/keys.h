// The values that decide claims: measured over the seeds, each with the closed form beside it.
#pragma once

#include <string>

#include "../harness/run.h"
#include "result.h"

namespace isobar::decay {

// Of one layer, 0 the first; "<prefix>layer8" and
//   .std  .grad_norm  .std_norm      of its output, of its weight, after its norm (where it has one)
//   .ratio                           std over the std of the layer below
//   .output_mean_over_std  .linear_mean_over_std    |mean| / std of its output, and after W1
//   .along_one  .linear_along_one                   share of the rows along (1, …, 1) of the same two
void measured_layer(Run& run, const std::string& prefix, const Result& result, size_t layer);

// Of the whole net; "<prefix>" and
//   grad_norm.last_over_first  grad_norm.first_over_last  std.last_over_first
//   grad_norm.squared_growth         of the squared gradient norm at the layers' outputs, per layer going down: the
//                                    geometric mean over the middle half of the layers
//   ratio.last_over_second           .ratio of the last layer over that of layer 2: 1 where it is constant
//   output_mean.lowest  .highest  linear_mean.lowest  .highest    signed, over all layers of a seed's net
void measured_net(Run& run, const std::string& prefix, const Result& result);

}  // namespace isobar::decay
