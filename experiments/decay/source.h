// What source 003, a study of why deep networks need normalization, prints about eight layers, and the ranges
// that PyTorch 1.13 gave for the same nets (f32, seeds 0 to 19, sums in f32).
#pragma once

#include <array>
#include <optional>

#include "../harness/stats.h"

namespace isobar::decay {

struct SourceRow {
  double std;                                   // printed
  std::optional<double> weight_gradient_norm;   // printed; the table leaves out layers 4 to 6
  Range torch_std, torch_weight_gradient_norm;  // [min, max] in PyTorch
};

// Sections 2.1 and 2.3: 8 × [Linear(512, 512) → ReLU], x (32, 512), loss = sum.
inline constexpr std::array<SourceRow, 8> blog8_rows = {{
    {0.8932, 0.000012, {0.3323, 0.3465}, {3.25, 4.94}},
    {0.6421, 0.000045, {0.1313, 0.1440}, {6.11, 9.41}},
    {0.4156, 0.000231, {0.0544, 0.0625}, {8.4, 14.0}},
    {0.2387, {}, {0.0261, 0.0300}, {11.9, 18.9}},
    {0.1024, {}, {0.0176, 0.0196}, {17.7, 25.9}},
    {0.0432, {}, {0.0153, 0.0176}, {36.3, 48.8}},
    {0.0198, 0.123456, {0.0151, 0.0170}, {83.7, 111}},
    {0.0163, 0.432156, {0.0148, 0.0167}, {213, 247}},
}};

// Section 3.3: 8 × [Linear → RMSNorm → ReLU]. Its code prints the std after the ReLU; no gradients are
// printed.
inline constexpr std::array<SourceRow, 8> blog8_rmsnorm_rows = {{
    {0.9823, {}, {0.5739, 0.5911}, {2507, 3522}},
    {1.0142, {}, {0.5626, 0.6016}, {3477, 4918}},
    {0.9956, {}, {0.5608, 0.6122}, {4393, 6671}},
    {1.0089, {}, {0.5611, 0.6048}, {5767, 8450}},
    {0.9934, {}, {0.5539, 0.6018}, {7337, 9939}},
    {1.0023, {}, {0.5552, 0.6212}, {8806, 11620}},
    {0.9987, {}, {0.5605, 0.6053}, {10360, 14270}},
    {0.9956, {}, {0.5470, 0.6218}, {12690, 13820}},
}};
// The std of those nets between RMSNorm and ReLU, in PyTorch, rounded to four decimals.
inline constexpr std::array<Range, 8> blog8_rmsnorm_before_relu = {{
    {0.9998, 1.0000},
    {0.9978, 1.0000},
    {0.9970, 1.0000},
    {0.9975, 1.0000},
    {0.9974, 1.0000},
    {0.9957, 1.0000},
    {0.9982, 1.0000},
    {0.9966, 1.0000},
}};
inline constexpr double before_relu_rounding = 0.00005;

// And of 100 layers, whatever their initial weights: "std about 1e-10".
inline constexpr double std_after_100_layers = 1e-10;

}  // namespace isobar::decay
