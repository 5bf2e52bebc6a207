// NumPy's files: one array in one file, as numpy.save() writes it (NEP 1; versions 1.0, 2.0 and 3.0).
//
//   numpy.save("x.npy", x)                            # Python
//   const Tensor x = read_npy("x.npy");               // C++
//
// The header and the number of bytes are checked before anything is allocated for the elements.
#pragma once

#include <string>

#include "../core/tensor.h"

namespace isobar {

// Reads f4, f8, i4, i8 and bool as f32, f64, i32, i64 and bool. i1, u1, i2 and u2 become i32, which holds all their
// values. Columns first (fortran_order) is put in order. Throws Error that starts with the path for another type or
// byte order (with the repair), an array of more than six dimensions, a file that is not of this format, and one
// that has fewer or more bytes than its header declares.
Tensor read_npy(const std::string& path);

}  // namespace isobar
