// All headers of isobar::data, and those of data/ that belong to isobar::isobar (dataset.h,
// loader.h and tensor_dataset.h).
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
#include "npy_file.h"
#include "safetensors.h"
#include "shipped.h"
#include "synthetic.h"
#include "tensor_dataset.h"
#include "text.h"
#include "text_input.h"
#include "token_store.h"
#include "tokenizer.h"
#include "utf8.h"
#include "utf8_stream.h"
