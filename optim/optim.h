// All of optim/.
#pragma once

#include "adam.h"
#include "clip.h"
#include "muon.h"
#include "optimizer.h"
#include "rmsprop.h"
#include "schedule.h"
#include "sgd.h"
