// Everything of data: what a program reads to train on.
#pragma once

#include "bpe.h"
#include "bpe_train.h"
#include "corpus_path.h"
#include "dataset.h"
#include "idx.h"
#include "loader.h"
#include "mnist.h"
#include "permutation.h"
#include "pretokenize.h"
#include "safetensors.h"
#include "safetensors_header.h"
#include "synthetic.h"
#include "text.h"
#include "text_part.h"
#include "tokenizer.h"
#include "utf8.h"
