// SerialLoops: while it lives, every parallel_for of this thread runs on this thread alone, and
// threads() is 1.
//
//   std::thread worker([&] {
//     const SerialLoops serial;
//     train(model);                 // ops, tapes, optimizers, as anywhere
//   });
//
// For a program that keeps the cores busy with threads of its own, each with a training of its own. The bits
// are those of any other number of threads. Unlike the body of a parallel_for, such a thread may call ops.
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
// A task runs on one thread: every parallel_for inside it is serial, with the same chunks and so the same
// bits, and threads() is 1 there. Unlike the body of a parallel_for, a task may call ops and record on a tape
// of its own. It finds the recording (autograd/recording.h) of its thread, which is the caller's for some
// tasks and an empty one for others.
//
// task(i) for i = 0 … n − 1; all of them end. Rethrows what the task of the lowest number threw. Throws Error
// inside parallel_for.
void parallel_tasks(int64_t n, const std::function<void(int64_t)>& task);

}  // namespace isobar
