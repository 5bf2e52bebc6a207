// All of autograd: the tape, the functions it records, and the names it gives them.
#pragma once

#include "ops.h"
#include "scope.h"
#include "tape.h"
