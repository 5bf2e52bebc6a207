// All of autograd: the tape, the functions it records and the names it gives them, and the tools that check
// gradients, find what is wrong with one, and print a tape.
#pragma once

#include "gradcheck.h"
#include "gradient_diagnosis.h"
#include "inspect.h"
#include "jacobian.h"
#include "ops.h"
#include "recompute.h"
#include "recording.h"
#include "tape.h"
#include "tape_log.h"
