// parallel_for: the one way to use several threads.
//
//   parallel_for(rows, 64, [&](int64_t begin, int64_t end) { … });
//
// The range 0 … n − 1 is divided into chunks of `grain` indices; the last chunk may be shorter. Chunks depend
// on n and grain only, never on the number of threads. So a kernel that combines the results of chunks in
// their order gives bit-identical results for any number of threads. Exceptions of the body reach the caller.
// A nested call runs on one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace isobar {

// A reference to a callable `void(begin, end)`, valid during the call that it is passed to.
class RangeBody {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>) RangeBody(const F& body)
      : object_(std::addressof(body)), call_([](const void* object, int64_t begin, int64_t end) {
          (*static_cast<const F*>(object))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int64_t);
};

// Returns true in the body of a parallel_for(), on every thread including the caller's.
inline bool inside_parallel();

// Calls body(begin, end) for each chunk of 0 … n − 1, on several threads. Does nothing for n <= 0. Throws
// Error unless grain > 0.
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& body);

// Returns the number of chunks of parallel_for(n, grain, …).
constexpr int64_t chunk_count(int64_t n, int64_t grain) { return (n + grain - 1) / grain; }

// Calls body(i) for i = 0 … n − 1, in chunks as parallel_for(). For bodies that take much longer than a call,
// such as a row of a tensor.
template <class F>
void parallel_each(int64_t n, int64_t grain, const F& body) {
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}
// Returns the number of rows of `size` elements that have about `elements` elements together, at least one.
constexpr int64_t grain_of_rows(int64_t size, int64_t elements) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(size, 1));
}

// Sets the number of threads of parallel_for(), 1 … 1024. The default is available_threads(). Throws Error
// inside the body of a parallel_for(). No other thread may be in parallel_for() during the call.
//
// This holds for the whole process: a program's own loops of TBB use no more threads either
// (tbb::global_control).
void set_threads(int count);
// Returns the number of threads of parallel_for().
int threads();

// Sets the number of threads in a block of code, and restores it at the end. The destructor throws Error as
// set_threads() does.
class WithThreads {
 public:
  [[nodiscard]] explicit WithThreads(int count) : before_(threads()) { set_threads(count); }
  ~WithThreads() noexcept(false) { set_threads(before_); }
  WithThreads(const WithThreads&) = delete;

 private:
  const int before_;
};

// Returns the number of threads that the process may use: its CPU affinity, bounded by the CPU quota of its
// cgroup.
int available_threads();

// --- implementation
namespace parallel {

extern constinit thread_local bool inside;

// Marks this thread as inside a body while it lives.
class Inside {
 public:
  [[nodiscard]] Inside() : before_(std::exchange(inside, true)) {}
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;

 private:
  const bool before_;
};

void run_chunks(int64_t n, int64_t grain, const RangeBody& body);

}  // namespace parallel

inline bool inside_parallel() { return parallel::inside; }

template <class F>
void parallel_for(int64_t n, int64_t grain, const F& body) {
  if (n > 0 && n <= grain) {  // one chunk: a plain call
    const parallel::Inside guard;
    body(int64_t{0}, n);
  } else {
    parallel::run_chunks(n, grain, body);
  }
}

}  // namespace isobar
