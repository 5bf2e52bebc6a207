// All of isobar::lm: language models and their blocks, text from them, and Hugging Face's format.
#pragma once

#include "feed_forward.h"
#include "generate.h"
#include "grouped_query_attention.h"
#include "hugging_face.h"
#include "key_value_cache.h"
#include "language_model.h"
#include "ngpt.h"
#include "text_loss.h"
#include "transformer_block.h"
