// What every assignment about tensors offers.
#pragma once

#include <isobar/core/raw.h>
#include <isobar/core/tensor.h>

#include "todo.h"

using isobar::check;
using isobar::Dtype;
using isobar::Shape;
using isobar::Tensor;
namespace raw = isobar::raw;  // writing, and other things that no tape sees
