// parallel_for: the one way to use several threads.
//
//   parallel_for(rows, 64, [&](int64_t begin, int64_t end) { … });
//
// The range 0 … n is cut into chunks of `grain` (the last may be shorter). Chunk borders depend on n and
// grain alone, never on the number of threads, so a kernel that combines per-chunk results in chunk order
// gives the same bits for any number of threads. Exceptions of the body reach the caller. A nested call runs
// serially.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace isobar {

// A reference to a callable `void(begin, end)`; lives as long as the call it is passed to.
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

// True in the body of a parallel_for, on every thread including the caller's.
inline bool inside_parallel();

// Throws Error unless grain > 0; does nothing for n <= 0.
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& body);

// Number of chunks that parallel_for(n, grain, …) makes.
constexpr int64_t chunk_count(int64_t n, int64_t grain) { return (n + grain - 1) / grain; }

// The same for body(i), i = 0 … n − 1, each of which takes long enough for a call, as a row does.
template <class F>
void parallel_each(int64_t n, int64_t grain, const F& body) {
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}
// The grain for rows of `size` elements where a chunk should hold about so many.
constexpr int64_t grain_of_rows(int64_t size, int64_t elements) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(size, 1));
}

// Threads used by parallel_for from now on, 1 … 1024. Default: available_threads(). Throws Error inside a
// body. No other thread may be in parallel_for during the call.
//
// This binds the whole process: a program's own loops of TBB use no more threads either
// (tbb::global_control).
void set_threads(int count);
int threads();

// Sets the number of threads while it lives. Its end throws as set_threads() does.
class WithThreads {
 public:
  [[nodiscard]] explicit WithThreads(int count) : before_(threads()) { set_threads(count); }
  ~WithThreads() noexcept(false) { set_threads(before_); }
  WithThreads(const WithThreads&) = delete;

 private:
  const int before_;
};

// Threads that the process may use: its CPU affinity, bounded by its cgroup's CPU quota.
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
