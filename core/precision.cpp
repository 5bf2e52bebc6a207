#include "precision.h"

#include <utility>

#include "error.h"
#include "log.h"

namespace isobar {
namespace {

// Ops read it on the thread that calls them; kernels on other threads never do.
thread_local Precision current = Precision::f32;

Precision possible(Precision wanted) {
  if (wanted == Precision::f32) return wanted;
  const std::string obstacle = bf16_obstacle();
  if (obstacle.empty()) return wanted;
  log_debug("bf16: {}; products stay in f32", obstacle);
  return Precision::f32;
}

}  // namespace

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

Precision precision_from_name(std::string_view name) {
  for (const Precision precision : {Precision::f32, Precision::bf16})
    if (name == name_of(precision)) return precision;
  throw_error(fmt::format("precision: wanted f32 or bf16, got '{}'", name));
}

WithPrecision::WithPrecision(Precision precision) : before_(std::exchange(current, possible(precision))) {}
WithPrecision::~WithPrecision() { current = before_; }

Precision product_precision() { return current; }

}  // namespace isobar
