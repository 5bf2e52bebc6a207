// How far an nGPT's vectors are from length 1 (Loshchilov et al. 2024), as they are kept in training.
//
//   CHECK(length_errors(model, tokens).outputs < 1e-5);
#pragma once

#include "../../nn/lm/ngpt.h"

namespace isobar {

// The largest | |v| − 1 | over vectors v of length n_embd; lengths are summed in double.
struct LengthErrors {
  double outputs;  // v: a row of the output of any block
  double weights;  // v: a row of any matrix; a column of o_proj and down_proj, whose outputs are added to h
};

// `tokens` is (B, T), as for the model, which is in evaluation meanwhile (nn/model.h).
LengthErrors length_errors(NGPT& model, const Tensor& tokens);

}  // namespace isobar
