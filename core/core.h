// All of the ground floor that users need: tensors, random keys, threads and memory.
#pragma once

#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "precision.h"
#include "rng.h"
#include "tensor.h"
