// The two charts of the study: std and gradient norm of each layer, beside theory and what a source printed.
#pragma once

#include "../../page/charts/plot.h"
#include "../../run/stats.h"
#include "theory.h"

namespace isobar::decay {

// `measured`: of each layer over the seeds. `printed`: of each layer, NaN where nothing is printed; or empty.
Plot std_plot(const Config& config, const std::vector<Spread>& measured,
              const std::vector<LayerTheory>& theory, const std::vector<double>& printed);
Plot gradient_plot(const Config& config, const std::vector<Spread>& measured,
                   const std::vector<LayerTheory>& theory, const std::vector<double>& printed);

}  // namespace isobar::decay
