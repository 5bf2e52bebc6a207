#include "precision.h"

#include "error.h"

namespace isobar {

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

Precision precision_from_name(std::string_view name) {
  for (const Precision precision : {Precision::f32, Precision::bf16})
    if (name == name_of(precision)) return precision;
  throw_error(fmt::format("precision: wanted f32 or bf16, got '{}'", name));
}

}  // namespace isobar
