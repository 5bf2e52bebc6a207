// Softmax followed by RMSNorm, in rows of floats: predicted, right, then four times faster than the plain
// form.
//
// This file is given and stays as it is. There are no tensors here: x, y, dy and dx are arrays of N rows of C
// floats, one row after the other, at any address that floats may have (not a multiple of 32); weight and
// dweight are (C). Results do not overlap inputs. Nothing outside of these arrays is read or written, and no
// results are remembered between calls.
#pragma once

#include <cstdint>

#include "todo.h"

// --- task 1: what the time must be at least, before a line is written
struct Work {
  int64_t rows, width;  // N and C
  int reads, writes;    // how often the code goes through a row of the input, and of the result
  double flops;         // additions, multiplications and comparisons for each element
};
struct Machine {
  double cache;               // bytes
  double gigabytes_a_second;  // between memory and cache; 1 GB = 10⁹ bytes
  double gigaflops;           // 10⁹ flops a second
};
struct Prediction {
  double bytes;  // that move between memory and cache; section 1 (Predict) of the handout
  double flops;
  double milliseconds;  // the larger of the two times
};
Prediction predict(const Work& work, const Machine& machine);

// --- task 2: y = exp(x) for n numbers x ≤ 0. At most 2 ulp off, down to the smallest denormal; exactly 1 for
// 0, 0 for −∞; NaN stays NaN. Nothing of the C library's exponentials is called,
// nor what gives them, such as its logarithms.
void expf_lanes(const float* x, float* y, int64_t n);

// --- task 3: the softmax of each row; x is read twice, and y gone through once. A row has a finite number, or
// a NaN, and then its result is all NaN.
void softmax(const float* x, float* y, int64_t rows, int64_t width);

// --- tasks 4 and 6: with p = softmax(x):  y = p · r · weight,  r = 1 / √(mean p² + eps)
struct Row {
  float largest;  // max x
  float sum;      // Σ exp(x − largest)
  float rrms;     // r
};
void softmax_rms_norm(const float* x, const float* weight, float* y, Row* saved, int64_t rows, int64_t width,
                      float eps);

// --- task 5: dx (N, C) and dweight (C), summed over the rows; x and dy are read twice.
void softmax_rms_norm_backward(const float* dy, const float* x, const float* weight, const Row* saved,
                               float* dx, float* dweight, int64_t rows, int64_t width, float eps);
