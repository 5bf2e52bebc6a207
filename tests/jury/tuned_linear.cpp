// Wrong and tricky linear layers.
#include "layers.h"

namespace isobar {
namespace {

const bool listed = list_tuned({
    by_hand(
        {"linear", "dw is xᵀ dy for y = x wᵀ, square", {"transposed"}}, {{4, 5}}, {{5, 5}},
        [](In x, In w) { return matmul(x, transpose(w)); },
        [](In dy, In, In x, In w) {
          return std::vector{matmul(dy, w), matmul(transpose(x), dy)};
        }),
});

}  // namespace
}  // namespace isobar
