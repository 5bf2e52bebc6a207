// A pre-norm model's LayerNorms without their centring (Jiang et al. 2023, "Pre-RMSNorm and Pre-CRMSNorm
// Transformers").
#pragma once

#include "../../nn/lm/language_model.h"

namespace isobar {

// A copy with x / √(mean(x²) + eps) · γ + β, RMSNorm and a bias, in place of each LayerNorm. Throws Error for
// other norms, and for post-norm.
LanguageModel without_centring(LanguageModel& trained);

// Takes the mean over the channels from all that is added to the residual stream: the rows of the embeddings,
// and weight and bias of every o_proj, down_proj and linear2. The stream then has mean 0, where LayerNorm
// needs no centring: so folded, without_centring(model) gives the outputs of `model`. Throws Error for
// post-norm and for tied embeddings.
void fold_centring(LanguageModel& model);

}  // namespace isobar
