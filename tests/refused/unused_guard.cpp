// A guard without a name ends at once, so that the block would record after all. The compiler says so.
#include "../../core/parallel.h"
#include "../../nn/model.h"

struct Model : isobar::Module {
  void fields(isobar::Fields&) override {}
};

int main() {
  Model model;
  isobar::NoTape();
  isobar::WithThreads(2);
  isobar::Evaluation{model};
  isobar::Scope("block");
}
