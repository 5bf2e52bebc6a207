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

namespace isobar {

class SerialLoops {
 public:
  SerialLoops();
  ~SerialLoops();
  SerialLoops(const SerialLoops&) = delete;
  SerialLoops& operator=(const SerialLoops&) = delete;

 private:
  const bool before_;
};

}  // namespace isobar
