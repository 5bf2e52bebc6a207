// SerialLoops: in a block of code, makes every parallel_for() of this thread run on this thread only;
// threads() is 1.
//
//   std::thread worker([&] {
//     const SerialLoops serial;
//     train(model);                 // ops, tapes, optimizers, as anywhere
//   });
//
// It is for a program that uses all cores with its own threads, each with its own training. Results are
// bit-identical to those of any other number of threads. Unlike the body of a parallel_for(), such a thread
// may call ops.
#pragma once

#include <cstdint>
#include <functional>

namespace isobar {

class SerialLoops {
 public:
  [[nodiscard]] SerialLoops();
  ~SerialLoops();
  SerialLoops(const SerialLoops&) = delete;

 private:
  const bool before_;
};

// parallel_tasks: whole tasks on the threads of parallel_for, with ops in them.
//
//   parallel_tasks(pieces, [&](int64_t i) { losses[i] = forward_and_back(i); });
//
// Calls task(i) for i = 0 … n − 1. A task runs on one thread: every parallel_for() in it is serial, with the
// same chunks and so with bit-identical results, and threads() is 1 there. Unlike the body of a
// parallel_for(), a task may call ops and record on its own tape. It has the recording state
// (autograd/recording.h) of its thread: that of the caller for some tasks, and an empty one for others.
//
// All tasks finish. Then the exception of the task with the lowest number is thrown, if there is one. Throws
// Error inside parallel_for().
void parallel_tasks(int64_t n, const std::function<void(int64_t)>& task);

}  // namespace isobar
