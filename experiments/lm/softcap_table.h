// softcap and its gradient at a few numbers: the table of claim F11.
#pragma once

#include "../harness/run.h"

namespace isobar {

// At 10, 50, 100, 200 and 500 with Gemma 2's cap of 50: the op and its gradient in f64 against t tanh(x/t)
// and 1/cosh²(x/t), the gradient in f32, and the distance from clipping. Measures, expects, prints;
// softcap.csv.
void softcap_table(Run& run);

}  // namespace isobar
