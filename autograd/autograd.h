// The tape and the ops. (What checks gradients and shows a tape: <isobar/check.h>.)
#pragma once

#include "ops.h"
#include "recording.h"
#include "tape.h"
