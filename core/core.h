// The headers of core/ that users need: tensors, random numbers, threads, and memory.
#pragma once

#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "rng.h"
#include "tensor.h"
