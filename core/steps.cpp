#include "steps.h"

#include <atomic>

namespace isobar::steps {
namespace {

std::atomic<uint64_t> all{0};
thread_local uint64_t last = 0;

}  // namespace

uint64_t taken() { return all.load(std::memory_order_relaxed); }
uint64_t last_here() { return last; }
void count() { last = all.fetch_add(1, std::memory_order_relaxed) + 1; }

}  // namespace isobar::steps
