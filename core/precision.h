// Precision: the number format of the operands of matrix products.
//
//   WithPrecision scope(Precision::bf16);
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));   // products on bf16 operands, summed in f32
//
// bf16 keeps f32's exponent and 7 of its 23 fraction bits (a relative rounding of at most 2^-8), and the
// matrix units of newer CPUs multiply it several times faster. Under the scope, matmul and linear on f32
// tensors round their operands to bf16 and sum in f32. All else stays f32: weights, gradients, the
// optimizer's moments, norms, attention. The gradient of a product follows the precision that its forward
// had, wherever backward() is called (as in torch.autocast).
#pragma once

#include <string>
#include <string_view>

namespace isobar {

enum class Precision { f32, bf16 };

// "f32", "bf16".
std::string_view name_of(Precision precision);
// The inverse; throws Error for any other text.
Precision precision_from_name(std::string_view name);

// Why products cannot run on bf16 here ("this build has no oneDNN"); empty where they can: oneDNN is part of
// the build and the CPU has AMX-BF16 or AVX512-BF16. For tests, the environment variable ISOBAR_BF16=emulated
// accepts any CPU with AVX-512: oneDNN then widens the operands, which is slow.
std::string bf16_obstacle();

}  // namespace isobar
