// How the order of a sum over pieces shows from outside (Basic-FPRev: Xie et al., "FPRev: Revealing the order
// of floating-point summation", 2024). Piece i is M, piece j is −M, all others are 1; M swallows every 1 that
// meets it before its opposite. What is left counts the pieces outside of the smallest subtree that has both
// i and j, and all pairs together give the tree. Each element of the masks is another pair, so that one sum
// tells all.
#pragma once

#include <cmath>

#include "../../nn/model.h"
#include "../../nn/pieces.h"

namespace isobar {

using PairsOfPieces = std::vector<std::pair<int64_t, int64_t>>;

inline PairsOfPieces pairs_of(int64_t pieces) {
  PairsOfPieces pairs;
  for (int64_t i = 0; i < pieces; ++i)
    for (int64_t j = i + 1; j < pieces; ++j) pairs.emplace_back(i, j);
  return pairs;
}

// By piece; the pairs over and over again, so that each of a dozen ranks adds some.
inline std::vector<Tensor> masks_of(int64_t pieces) {
  constexpr float huge = 1 << 30;  // + 64 = 2^30 in f32
  const PairsOfPieces pairs = pairs_of(pieces);
  std::vector<Tensor> masks;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    std::vector<float> mask(12 * 8192);
    for (size_t e = 0; e < mask.size(); ++e) {
      const auto& [i, j] = pairs[e % pairs.size()];
      mask[e] = piece == i ? huge : piece == j ? -huge : 1;
    }
    masks.push_back(tensor(Shape(std::ssize(mask)), mask));
  }
  return masks;
}

// Of the documented tree (core/ranks/tree_sum.h): how many pieces the smallest subtree of begin … end has
// that has both.
inline int64_t smallest_subtree(int64_t begin, int64_t end, int64_t i, int64_t j) {
  int64_t half = 1;
  while (2 * half < end - begin) half *= 2;
  if (j < begin + half) return smallest_subtree(begin, begin + half, i, j);
  if (i >= begin + half) return smallest_subtree(begin + half, end, i, j);
  return end - begin;
}

struct MaskedWeight : Module {
  Tensor weight;
  explicit MaskedWeight(const Shape& shape) : weight(zeros(shape).set_trainable()) {}
  void fields(Fields& f) override { f("weight", weight); }
};

// Elements of a gradient over these ranks that are not what the documented tree leaves. All ranks have the
// same.
inline int64_t other_than_documented(const std::vector<Tensor>& masks, Ranks& ranks) {
  const int64_t pieces = std::ssize(masks);
  MaskedWeight model(masks[0].shape());
  backward_in_pieces(
      model, pieces, [&](int64_t piece) { return sum(model.weight * masks[static_cast<size_t>(piece)]); }, {},
      ranks);
  std::vector<float> wanted;
  for (const auto& [i, j] : pairs_of(pieces))
    wanted.push_back(static_cast<float>(pieces - smallest_subtree(0, pieces, i, j)));
  const float* const left = model.weight.grad().data<float>();
  int64_t wrong = 0;
  size_t pair = 0;
  for (int64_t e = 0; e < model.weight.numel(); ++e) {
    wrong += std::abs(left[e] * static_cast<float>(pieces) - wanted[pair]) > 0.5F;
    if (++pair == wanted.size()) pair = 0;
  }
  return wrong;
}

}  // namespace isobar
