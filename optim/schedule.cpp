#include "schedule.h"

#include "../core/kernels/functions.h"

namespace isobar {

double WarmupCosine::cos_of(double x) { return kernels::cos(x); }

}  // namespace isobar
