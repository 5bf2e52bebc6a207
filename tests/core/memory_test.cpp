// The caching allocator.
#include "../../core/memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "../../core/control_groups.h"
#include "../../core/error.h"
#include "../sanitizers.h"
#include "../skip.h"
#include "control_groups.h"

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace isobar::memory_test {

TEST_CASE("blocks are aligned to 64 bytes and usable to their last byte") {
  for (size_t bytes : {0, 1, 63, 64, 255, 256, 257, 1000, 4097, 1 << 20, 1 << 21}) {
    CAPTURE(bytes);
    void* block = memory::allocate(bytes);
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    std::memset(block, 0xAB, bytes);
    memory::release(block, bytes);
  }
  memory::trim();
}

#ifndef WITH_ASAN  // it takes the place of the blocks that are kept
TEST_CASE("large blocks in a row start at sixteen different places of their pages of 2 MiB") {
  constexpr size_t page = size_t{2} << 20, size = 3 * page;
  memory::trim();
  std::vector<void*> blocks;
  std::set<uintptr_t> places;
  for (int i = 0; i < 16; ++i) {
    blocks.push_back(memory::allocate(size));
    places.insert(reinterpret_cast<uintptr_t>(blocks.back()) % page);
  }
  CHECK(places.size() == 16);
  for (void* block : blocks) memory::release(block, size);
  memory::trim();
}
#endif

TEST_CASE("rounding up to a size class costs at most a quarter") {
  for (size_t bytes = 256; bytes < (size_t{1} << 24); bytes += bytes / 7 + 1) {
    CAPTURE(bytes);
    const size_t before = memory::stats().bytes_in_use;
    void* block = memory::allocate(bytes);
    const size_t taken = memory::stats().bytes_in_use - before;
    CHECK(taken >= bytes);
    CHECK(taken * 4 <= bytes * 5);
    memory::release(block, bytes);
    CHECK(memory::stats().bytes_in_use == before);
  }
}

#ifndef WITH_ASAN
TEST_CASE("a freed block serves the next request of its size class without the system") {
  memory::trim();
  void* first = memory::allocate(100'000);
  memory::release(first, 100'000);
  const memory::Stats before = memory::stats();
  void* second = memory::allocate(100'001);  // the same class
  CHECK(second == first);
  CHECK(memory::stats().system_blocks == before.system_blocks);
  CHECK(memory::stats().cached_bytes < before.cached_bytes);
  void* third = memory::allocate(100'000);  // the cache has no other
  CHECK(third != second);
  CHECK(memory::stats().system_blocks == before.system_blocks + 1);
  memory::release(second, 100'001);
  memory::release(third, 100'000);
  for (int i = 0; i < 300; ++i)  // and whichever thread asks
    std::thread([] { memory::release(memory::allocate(100'000), 100'000); }).join();
  CHECK(memory::stats().system_blocks == before.system_blocks + 1);
}
#endif

#ifndef WITH_ASAN
#endif

// Sanitizers keep notes about every byte, and do not live under a limit.
#if !defined(WITH_ASAN) && !defined(WITH_TSAN)
TEST_CASE("no block is kept beyond the limit, and a lower limit gives blocks back") {
  memory::trim();
  const size_t before = memory::limit(), size = size_t{16} << 20, in_use = memory::stats().bytes_in_use;
  memory::set_limit(in_use + 4 * size);
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(memory::allocate(size));
  for (void* block : blocks) memory::release(block, size);
  CHECK(memory::stats().cached_bytes == 4 * size);
  void* const other = memory::allocate(3 * size);  // the system's blocks of one class make room for another's
  CHECK(memory::stats().cached_bytes == size);
  memory::release(other, 3 * size);
  CHECK(memory::stats().cached_bytes == 4 * size);
  memory::set_limit(in_use + size);
  CHECK(memory::stats().cached_bytes <= size);
  memory::set_limit(0);
  memory::release(memory::allocate(size), size);
  CHECK(memory::stats().cached_bytes == 0);
  memory::set_limit(before);
  memory::trim();
}

TEST_CASE("shapes that grow step by step do not keep the peak of every size class") {
  memory::trim();
  constexpr size_t mib = size_t{1} << 20;
  size_t most = 0;
  for (double size = mib; size <= 32.0 * mib; size *= 1.19) {
    const auto bytes = static_cast<size_t>(size);
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(memory::allocate(bytes));
    for (void* block : blocks) memory::release(block, bytes);
    most = std::max(most, memory::stats().cached_bytes);
  }
  CHECK(most <= 3 * 4 * 32 * mib);  // 805 MB where all were kept; no step holds more than 134 MB
  memory::trim();
}

TEST_CASE("the limit is three quarters of the machine's memory, its control groups and address space") {
  const TemporaryFolder none;
  const auto megabytes = [] { return memory::default_limit() >> 20; };
  const auto within_machine = [&] {
    return megabytes() * 4 <=
           static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * 3 * static_cast<size_t>(sysconf(_SC_PAGESIZE)) >>
           20;
  };
  CHECK(within_machine());
  if (emulated()) return skip(no_limit_here);
  CHECK(in_child([&] {
          const rlimit space{200 << 20, 200 << 20};
          ::setrlimit(RLIMIT_AS, &space);
          return static_cast<int>(megabytes());
        }) == 150);
  if (answer_under(none, megabytes) == 255) return skip("this system lets no test replace /sys/fs/cgroup");
  CHECK(answer_under(none, [&] {
          rlimit space{};
          ::getrlimit(RLIMIT_AS, &space);
          space.rlim_cur = space.rlim_max;
          return ::setrlimit(RLIMIT_AS, &space) == 0 && within_machine();
        }) == 1);
  for (const char* file : {"memory.max", "memory.high", "memory/memory.limit_in_bytes"}) {
    CAPTURE(file);
    const TemporaryFolder limited, unlimited;
    limited.write(file, std::to_string(80 << 20));
    CHECK(answer_under(limited, megabytes) == 60);
    unlimited.write(file, "max");
    CHECK(answer_under(unlimited, [&] { return megabytes() >= 60; }) == 1);
  }
}

TEST_CASE("giving blocks back takes no memory, so it cannot fail where there is none") {
  if (emulated()) return skip(no_limit_here);
  CHECK(in_child([] {
          std::vector<void*> blocks(5000);
          for (void*& block : blocks) block = memory::allocate(7000);
          take_all_memory();
          for (void* block : blocks) memory::release(block, 7000);
          return 0;
        }) == 0);
}
#endif

TEST_CASE("absurd sizes are refused with the number of bytes") {
  CHECK_THROWS_WITH_AS(memory::allocate((size_t{1} << 60) + 1),
                       "memory: a block of 1152921504606846977 bytes is more than any machine has", Error);
#if !defined(WITH_ASAN) && !defined(WITH_TSAN)  // they end the program where the system would return null
  const memory::Stats before = memory::stats();
  CHECK_THROWS_AS(memory::allocate(size_t{1} << 59), Error);
  CHECK(memory::stats().bytes_in_use == before.bytes_in_use);
  CHECK(memory::stats().system_blocks == before.system_blocks);
#endif
}

TEST_CASE("threads never share a block") {
  const size_t base = memory::stats().bytes_in_use;
  std::vector<int> broken(4, 0);
  std::vector<std::thread> workers;
  for (int id = 0; id < 4; ++id)
    workers.emplace_back([id, &broken] {
      for (int round = 0; round < 2000; ++round) {
        const size_t bytes = 300 + static_cast<size_t>(round % 5) * 100;
        auto* block = static_cast<unsigned char*>(memory::allocate(bytes));
        std::memset(block, id + 1, bytes);
        std::this_thread::yield();
        for (size_t i = 0; i < bytes; ++i) broken[id] += block[i] != id + 1;
        memory::release(block, bytes);
      }
    });
  for (std::thread& worker : workers) worker.join();
  CHECK(broken == std::vector<int>(4, 0));
  CHECK(memory::stats().bytes_in_use == base);
}

TEST_CASE("the control groups of this process are those that the kernel lists") {
  const std::vector<std::string> folders = control_groups("memory");
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::string path = line.substr(line.find(":/") + 1), own = path == "/" ? "" : path;
    if (line.starts_with("0::")) CHECK(folders[0] == "/sys/fs/cgroup" + own);
    const std::string first = "/sys/fs/cgroup/memory" + own;
    if (line.find(":memory:") != line.npos) CHECK(std::count(folders.begin(), folders.end(), first) == 1);
  }
}

#ifdef WITH_ASAN
TEST_CASE("under AddressSanitizer a block is touchable up to its size, holds NaN, and is not kept") {
  for (size_t bytes : {8, 1000, 1 << 22}) {
    CAPTURE(bytes);
    auto* block = static_cast<char*>(memory::allocate(bytes));
    CHECK(std::isnan(reinterpret_cast<double*>(block)[bytes / 8 - 1]));
    CHECK_FALSE(__asan_address_is_poisoned(block + bytes - 1));
    CHECK(__asan_address_is_poisoned(block + bytes));
    memory::release(block, bytes);
    CHECK(__asan_address_is_poisoned(block));
    void* const next = memory::allocate(bytes);
    CHECK(next != block);
    memory::release(next, bytes);
    CHECK(memory::stats().cached_bytes == 0);
  }
}
#endif

}  // namespace isobar::memory_test
