// All headers of isobar::data, and those of data/ that belong to isobar::isobar (dataset.h and
// loader.h).
#pragma once

#include "bpe.h"
#include "checked_file.h"
#include "dataset.h"
#include "file.h"
#include "hdf5_file.h"
#include "json_text.h"
#include "loader.h"
#include "metrics_file.h"
#include "mnist.h"
#include "safetensors.h"
#include "shipped.h"
#include "synthetic.h"
#include "text.h"
#include "text_input.h"
#include "token_store.h"
#include "tokenizer.h"
#include "utf8.h"
#include "utf8_stream.h"
