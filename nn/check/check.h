// All of isobar::check: gradients held against differences, wrong ones explained, layers checked, and what looks
// at a recorded tape.
#pragma once

#include "../../autograd/check/bad_op.h"
#include "../../autograd/check/gradcheck.h"
#include "../../autograd/check/gradient_diagnosis.h"
#include "../../autograd/check/jacobian.h"
#include "../../autograd/check/tape_page.h"
#include "../../autograd/check/tape_text.h"
#include "../../autograd/check/tape_trace.h"
#include "check_layer.h"
