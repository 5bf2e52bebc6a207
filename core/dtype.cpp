#include "dtype.h"

namespace isobar {

Dtype dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < dtype_names.size(); ++i)
    if (dtype_names[i] == name) return static_cast<Dtype>(i);
  throw_error(fmt::format("dtype: wanted f32, f64, i32, i64 or bool, got '{}'", name));
}

}  // namespace isobar
