// The headers of core/ that users need: tensors, random numbers, threads, memory and precision.
#pragma once

#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "precision.h"
#include "rng.h"
#include "tensor.h"
