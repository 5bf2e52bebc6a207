// The tape: what ops record so that gradients can be computed.
//
//   const auto times5 = [](const Tensor& v) { return isobar::full({}, 5 * v.item(), Dtype::f64); };
//   Tape tape;
//   const Var x = tape.leaf(isobar::full({}, 3, Dtype::f64));
//   const Var y = tape.record(times5(x.value), {x}, [=](const Tensor& dy) { return std::vector{times5(dy)}; });
//   tape.backward(y);
//   return tape.gradient(x).item();  // dy/dx = 5
//
// This file is given and stays as it is. Tensors hold doubles (Dtype::f64).
#pragma once

#include <functional>
#include <vector>

#include "tensors.h"

// A value and its slot: its place on the tape, or −1 for a constant, which no gradient reaches.
struct Var {
  Tensor value;
  int64_t slot = -1;
};

// Maps the gradient of an op's output to those of its inputs, in their order. An undefined Tensor means none.
using Backward = std::function<std::vector<Tensor>(const Tensor& dy)>;

struct Slot {
  std::vector<int64_t> inputs;  // slots of the op's inputs, −1 for constants; empty for a leaf
  Backward backward;            // empty for a leaf
  Tensor gradient;              // of a leaf, after backward(); else undefined
};

struct Tape {
  std::vector<Slot> slots;

  // A new slot for a tensor whose gradient is wanted.
  Var leaf(const Tensor& value);
  // A new slot for an op's result, or a constant (slot −1, nothing recorded) when every input is a constant.
  Var record(const Tensor& value, const std::vector<Var>& inputs, const Backward& backward);
  // Adds d loss / d leaf to the gradient of every leaf that loss depends on. Throws isobar::Error unless loss
  // is on this tape and a single number, and names its shape where it is not.
  void backward(const Var& loss);
  // A leaf's gradient, undefined where none has arrived. What was handed out keeps its values: backward()
  // makes a new tensor for a sum. Throws isobar::Error for a constant, and for a value that is not on this
  // tape.
  Tensor gradient(const Var& leaf) const;
  // Forgets all gradients.
  void clear_gradients();
};

// The slots that `start` depends on, itself included, each once, every one before its inputs: the order in
// which backward visits them.
std::vector<int64_t> walk(const std::vector<Slot>& slots, int64_t start);

// adjoint += dx. An undefined adjoint counts as zero, an undefined dx changes nothing. The tensor that stood
// in adjoint, and dx, keep their values: others may hold them. Throws isobar::Error naming both shapes when
// they differ.
void accumulate(Tensor& adjoint, const Tensor& dx);
