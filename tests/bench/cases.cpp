#include "cases.h"

namespace isobar::bench {

Cases all_cases() {
  Cases cases;
  add_limits(cases);
  add_norms(cases);
  add_elementwise(cases);
  add_convolutions(cases);
  add_tape(cases);
  add_optimizers(cases);
  add_training(cases);
  add_language_models(cases);
  add_process(cases);
  return cases;
}

}  // namespace isobar::bench
