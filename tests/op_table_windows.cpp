// Rows of the op table: convolutions and pools.
#include "../autograd/ops.h"
#include "op_table.h"

namespace isobar {
namespace {

constexpr OpFlags fused{.fused = true};

TensorFunction conv1d_with(const ConvOptions& options) {
  return [=](In x) { return conv1d(x[0], x[1], x.size() > 2 ? x[2] : Tensor(), options); };
}
TensorFunction conv2d_with(const ConvOptions& options) {
  return [=](In x) { return conv2d(x[0], x[1], x.size() > 2 ? x[2] : Tensor(), options); };
}

}  // namespace

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<OpRow> window_rows() {
  return {
      {"unfold", [](In x) { return unfold(x[0], 3); }, {normal(2, 3, 5, 4)}},
      {"unfold over time", [](In x) { return unfold(x[0], 2, {.stride = 2, .padding = 1, .dilation = 3}); },
       {normal(2, 3, 9)}},
      {"unfold with everything", [](In x) {
         return unfold(x[0], {2, 3}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}});
       }, {normal(2, 2, 5, 4)}},
      {"unfold of nothing", [](In x) { return unfold(x[0], 3); }, {normal(0, 3, 5, 4)}},
      {"unfold of many", [](In x) { return unfold(x[0], 3, {.padding = 1}); }, {normal(4, 9, 30, 21)}},
      {"fold", [](In x) { return fold(x[0], {4, 5}, 2); }, {normal(2, 12, 12)}},
      {"fold over time", [](In x) { return fold(x[0], 9, 2, {.stride = 2, .padding = 1, .dilation = 3}); },
       {normal(2, 6, 4)}},
      {"fold with everything", [](In x) {
         return fold(x[0], {5, 4}, {2, 3}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}});
       }, {normal(2, 12, 12)}},
      {"fold of nothing", [](In x) { return fold(x[0], {4, 5}, 2); }, {normal(0, 12, 12)}},
      {"fold of many", [](In x) { return fold(x[0], {30, 21}, 3, {.padding = 1}); }, {normal(4, 81, 630)}},
      {"max_pool1d", [](In x) { return max_pool1d(x[0], 2); }, {distinct(2, 3, 7)}, fused},
      {"max_pool1d with everything", [](In x) {
         return max_pool1d(x[0], 3, {.stride = 2, .padding = 2, .dilation = 2, .ceil_mode = true});
       }, {distinct(2, 3, 8)}, fused},
      {"max_pool1d of no samples", [](In x) { return max_pool1d(x[0], 2); }, {distinct(0, 3, 7)}, fused},
      {"max_pool2d", [](In x) { return max_pool2d(x[0], 2); }, {distinct(2, 3, 4, 6)}, fused},
      {"max_pool2d with everything", [](In x) {
         return max_pool2d(x[0], {2, 3}, {.stride = {1, 2}, .padding = {1, 2}, .dilation = {1, 2}, .ceil_mode = true});
       }, {distinct(2, 2, 5, 6)}, fused},
      {"max_pool2d of many", [](In x) { return max_pool2d(x[0], 3, {.stride = 2, .padding = 1}); },
       {distinct(20, 9, 15, 14)}, fused},
      {"avg_pool1d", [](In x) { return avg_pool1d(x[0], 2); }, {normal(2, 3, 7)}, fused},
      {"avg_pool1d with everything", [](In x) {
         return avg_pool1d(x[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
       }, {normal(2, 3, 8)}, fused},
      {"avg_pool1d of no samples", [](In x) { return avg_pool1d(x[0], 2); }, {normal(0, 3, 7)}, fused},
      {"avg_pool2d", [](In x) { return avg_pool2d(x[0], 2); }, {normal(2, 3, 4, 6)}, fused},
      {"avg_pool2d with everything", [](In x) {
         return avg_pool2d(x[0], {2, 3}, {.stride = {1, 2}, .padding = {1, 1}, .ceil_mode = true});
       }, {normal(2, 2, 5, 6)}, fused},
      {"avg_pool2d by a divisor", [](In x) { return avg_pool2d(x[0], 3, {.stride = 1, .divisor_override = 5}); },
       {normal(2, 2, 5, 4)}, fused},
      {"avg_pool2d of many", [](In x) { return avg_pool2d(x[0], 3, {.stride = 2, .padding = 1}); },
       {normal(20, 9, 15, 14)}, fused},
      {"adaptive_avg_pool1d", [](In x) { return adaptive_avg_pool1d(x[0], 3); }, {normal(2, 3, 7)}, fused},
      {"adaptive_avg_pool1d to more", [](In x) { return adaptive_avg_pool1d(x[0], 5); }, {normal(2, 3, 3)}, fused},
      {"adaptive_avg_pool2d", [](In x) { return adaptive_avg_pool2d(x[0], 1); }, {normal(2, 3, 4, 6)}, fused},
      {"adaptive_avg_pool2d to two sizes", [](In x) { return adaptive_avg_pool2d(x[0], {2, 3}); },
       {normal(2, 2, 5, 4)}, fused},
      {"adaptive_avg_pool2d of no samples", [](In x) { return adaptive_avg_pool2d(x[0], 1); },
       {normal(0, 3, 4, 6)}, fused},
      {"conv1d", conv1d_with({}), {normal(2, 3, 7), normal(4, 3, 3), normal(4)}, fused},
      {"conv1d without bias", conv1d_with({.padding = 1}), {normal(2, 3, 7), normal(4, 3, 3)}, fused},
      {"conv1d with everything", conv1d_with({.stride = 2, .padding = 3, .dilation = 2, .groups = 2}),
       {normal(3, 4, 9), normal(6, 2, 3), normal(6)}, fused},
      {"conv1d depthwise", conv1d_with({.padding = 1, .groups = 5}),
       {normal(2, 5, 9), normal(5, 1, 3), normal(5)}, fused},
      {"conv1d of one window", conv1d_with({}), {normal(2, 3, 5), normal(2, 3, 5), normal(2)}, fused},
      {"conv1d of no samples", conv1d_with({}), {normal(0, 3, 7), normal(4, 3, 3), normal(4)}, fused},
      {"conv1d of many", conv1d_with({.padding = 2}), {normal(2, 9, 1300), normal(50, 9, 5), normal(50)}, fused},
      {"conv2d", conv2d_with({}), {normal(2, 3, 5, 4), normal(4, 3, 3, 3), normal(4)}, fused},
      {"conv2d without bias", conv2d_with({.padding = 1}), {normal(2, 3, 5, 4), normal(4, 3, 3, 3)}, fused},
      {"conv2d with everything",
       conv2d_with({.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}),
       {normal(3, 4, 6, 5), normal(6, 2, 2, 3), normal(6)}, fused},
      {"conv2d depthwise", conv2d_with({.padding = 1, .groups = 3}),
       {normal(2, 3, 5, 4), normal(6, 1, 3, 3), normal(6)}, fused},
      {"conv2d of one by one", conv2d_with({}), {normal(2, 3, 4, 5), normal(4, 3, 1, 1), normal(4)}, fused},
      {"conv2d of one window", conv2d_with({}), {normal(2, 3, 4, 5), normal(2, 3, 4, 5), normal(2)}, fused},
      {"conv2d that skips pixels", conv2d_with({.stride = 3}), {normal(2, 2, 8, 7), normal(3, 2, 2, 1), normal(3)}, fused},
      {"conv2d of no samples", conv2d_with({}), {normal(0, 3, 5, 4), normal(4, 3, 3, 3), normal(4)}, fused},
      {"conv2d of many", conv2d_with({.padding = 1}),
       {normal(18, 9, 14, 17), normal(70, 9, 3, 3), normal(70)}, fused},
      {"conv2d of many entries", conv2d_with({}), {normal(1, 70, 9, 8), normal(30, 70, 3, 3), normal(30)}, fused},
  };
}
// clang-format on

}  // namespace isobar
