// Timing: how long a step takes, by the wall clock, and what it asks of the system meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

#include "cases.h"

namespace isobar::bench {

struct TimingOptions {
  double min_seconds = 0.2;  // a repetition runs the step until this much time is over
  int64_t repetitions = 5;
  int64_t steps = 0;  // if not 0: one repetition of exactly this many steps
};

struct Timing {
  double median_seconds = 0, min_seconds = 0;  // of a step, over the repetitions' means
  int64_t steps = 0;                           // all that were timed
  int64_t page_faults = 0;                     // minor and major, in these steps, child processes included
  int64_t storage_allocations = 0;             // blocks that tensor storage asked from the system
};

// What one step asks for, once it has settled.
struct Counts {
  // The most bytes of tensor storage that it holds at a time, beyond those at its beginning.
  int64_t step_bytes = 0;
  double page_faults = 0, storage_allocations = 0, heap_allocations = 0;  // means of four steps
};

// Runs some steps to warm up, then times. Google Benchmark chooses how many steps a repetition has.
Timing time_step(const Step& step, const TimingOptions& options);
// Runs some steps to warm up, then counts.
Counts count_step(const Step& step);
// What this machine can do, with the threads in use: the limit of this work in the unit of its derived figure, or 0
// where there is none.
double limit_of(const Work& work, const TimingOptions& options);

// While `counting_heap` is set, `heap_allocations` counts the calls of operator new (heap.cpp).
extern std::atomic<bool> counting_heap;
extern std::atomic<int64_t> heap_allocations;

}  // namespace isobar::bench
