#include "dtype.h"

namespace isobar {

std::string_view name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "f32";
    case Dtype::f64:
      return "f64";
    case Dtype::i32:
      return "i32";
    case Dtype::i64:
      return "i64";
    case Dtype::boolean:
      return "bool";
  }
  return "?";
}

Dtype dtype_from_name(std::string_view name) {
  for (Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::boolean})
    if (name_of(dtype) == name) return dtype;
  throw_error(fmt::format("dtype: wanted f32, f64, i32, i64 or bool, got '{}'", name));
}

}  // namespace isobar
