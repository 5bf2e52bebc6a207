// All of autograd/: the tape, the ops, recomputation, and the tools that check and diagnose gradients and
// print a tape.
#pragma once

#include "bad_op.h"
#include "gradcheck.h"
#include "gradient_diagnosis.h"
#include "jacobian.h"
#include "ops.h"
#include "recompute.h"
#include "recording.h"
#include "tape.h"
#include "tape_listener.h"
#include "tape_page.h"
#include "tape_text.h"
#include "tape_trace.h"
