// The tape, the ops and recomputation. (What checks gradients and shows a tape: <isobar/check.h>.)
#pragma once

#include "ops.h"
#include "recording.h"
#include "tape.h"
