// The module table: one row or more for every module of nn/. module_test.cpp puts each row through the same
// tests; `isobar_tests -sc='RMSNorm*'` runs one module's rows.
//
//   {"RMSNorm", [] { return std::make_unique<RMSNorm>(5); }, normal(3, 5)},
#pragma once

#include "../nn/module.h"
#include "inputs.h"

namespace isobar {

struct ModuleRow {
  std::string name;  // begins with the type's name; what follows says what is special about the row
  std::function<std::unique_ptr<Module>()> make;  // f32, the same weights on every call
  InputMaker input;     // f64 or indices; the tests convert to f32 where they want it
  bool random = false;  // training draws from the tape's rng
};

const std::vector<ModuleRow>& module_rows();

// The row's module in this dtype. Each parameter is moved a little, by name: fresh norms (ones and zeros) and
// fresh SkipInit branches (times zero) would hide mistakes.
std::unique_ptr<Module> module_of(const ModuleRow& row, Dtype dtype = Dtype::f64);
// The row's input; floats in this dtype.
Tensor input_of(const ModuleRow& row, Dtype dtype = Dtype::f64);

}  // namespace isobar
