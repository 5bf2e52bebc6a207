// A layer whose call() returns a struct of tensors: observers would see none of them. It does not compile.
#include "../../nn/module.h"

struct State {
  isobar::Tensor hidden, cell;
};

struct Layer : isobar::Module {
  State operator()(const isobar::Tensor& x) {
    return call([&] { return State{x * 2, x * 3}; });
  }
};

int main() { Layer()(isobar::ones({2})); }
