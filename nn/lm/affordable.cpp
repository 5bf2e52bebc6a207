#include "affordable.h"

#include <algorithm>

namespace isobar {

// In double, where no product overflows. A block has at least six tensors in every layout: two of norms or
// more of the attention, and four matrices.
void check_affordable(const LanguageModelConfig& config, int64_t tensors, int64_t numbers,
                      std::string_view who) {
  const double width = static_cast<double>(config.n_embd), layers = static_cast<double>(config.n_layer);
  const double places = config.positions == Positions::learned ? static_cast<double>(config.block_size) : 0;
  const bool swiglu = config.ffn == "swiglu";
  const double hidden = config.hidden > 0 ? static_cast<double>(config.hidden)
                        : swiglu          ? std::max(64.0, 8 * width / 3)
                                          : 4 * width;
  const double least = width * (static_cast<double>(config.vocab_size) + places +
                                layers * (2 * width + (swiglu ? 3 : 2) * hidden));
  check(least <= static_cast<double>(numbers) && 6 * layers <= static_cast<double>(tensors),
        "{}: its configuration asks for {} layers and at least {} numbers, its {} tensors have {}", who,
        config.n_layer, least, tensors, numbers);
}

}  // namespace isobar
