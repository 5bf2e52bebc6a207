// The functions of the plugin for OpenBLAS (openblas_plugin.cpp).
#pragma once

#include "blas.h"

namespace isobar {

struct BlasPlugin {
  // On the calling thread. Dimensions and steps are below 2^31.
  void (*multiply_f32)(const Gemm<float>&);
  void (*multiply_f64)(const Gemm<double>&);
  // Maps so many buffers, which OpenBLAS keeps. Does nothing where a build of OpenBLAS hides the functions for it.
  void (*map_buffers)(int64_t count);
  const char* (*config)();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const char* (*core)();    // "SkylakeX"
};

// The plugin's only function.
extern "C" const BlasPlugin* isobar_blas_plugin();

}  // namespace isobar
