// The op table: one row or more for every function of autograd/ops.h. op_test.cpp puts each row through the
// same tests; `isobar_tests -sc='attention*'` runs one op's rows.
//
//   {"tanh", [](In x) { return tanh(x[0]); }, {normal(3, 5)}},
//
// A row's name begins with the function's name; what follows says what is special about the row.
#pragma once

#include "../autograd/check/gradcheck.h"
#include "inputs.h"

namespace isobar {

using In = const std::vector<Tensor>&;

struct OpFlags {
  // The op, or one that it is made of, is one node on a plain tape and its composed form, several nodes, on a
  // higher-order one.
  bool fused = false;
  // Allowed difference between f32 and f64, relative to the largest value: some hundred roundings of 6·10⁻⁸.
  // A row that needs more says why.
  double f32_tolerance = 1e-5;
};

struct OpRow {
  std::string name;
  TensorFunction f;
  // f64, i32 or i64 indices, or masks; the tests convert to f32 where they want it. Every tensor that the op
  // reads is here or, where it is a float without a gradient, in `constants`: a test overwrites them all.
  std::vector<InputMaker> inputs;
  OpFlags flags = {};
  std::vector<Tensor> constants = {};  // f64, that f captures
};

const std::vector<OpRow>& op_rows();
// Parts of the table with files of their own.
std::vector<OpRow> broadcast_rows();        // op_table_broadcast.cpp
std::vector<OpRow> norm_rows();             // op_table_norms.cpp
std::vector<OpRow> saturating_rows();       // op_table_norms.cpp
std::vector<OpRow> layout_and_loss_rows();  // op_table_layout.cpp
std::vector<OpRow> vocabulary_rows();       // op_table_elementwise.cpp
std::vector<OpRow> window_rows();           // op_table_windows.cpp

// The op's name: the row's first word.
std::string function_of(const OpRow& row);

// The row's inputs; the same on every call.
std::vector<Tensor> inputs_of(const OpRow& row);

}  // namespace isobar
