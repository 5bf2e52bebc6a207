// The memory of small objects.
#include "../../core/object_memory.h"

#include <doctest/doctest.h>

#include <barrier>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "../../core/version.h"
#include "../sanitizers.h"

namespace isobar::object_memory_test {

TEST_CASE("blocks of any size are apart, aligned to 16 bytes and usable to their last byte") {
  std::vector<unsigned char*> blocks;
  const std::vector<size_t> sizes{0, 1, 16, 31, 32, 33, 500, 1023, 1024, 1025, 100'000};
  for (int round = 0; round < 50; ++round)
    for (size_t bytes : sizes) {
      auto* block = static_cast<unsigned char*>(object_memory::allocate(bytes));
      CHECK(reinterpret_cast<uintptr_t>(block) % 16 == 0);
      std::memset(block, static_cast<int>(blocks.size() % 251), bytes);
      blocks.push_back(block);
    }
  int broken = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t b = 0; b < sizes[i % sizes.size()]; ++b) broken += blocks[i][b] != i % 251;
  CHECK(broken == 0);
  for (size_t i = 0; i < blocks.size(); ++i) object_memory::release(blocks[i], sizes[i % sizes.size()]);
}

#ifndef WITH_ASAN  // under which nothing is kept here
TEST_CASE("what a thread leaves behind serves the next one") {
  const auto turnover = [] {
    std::vector<void*> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(object_memory::allocate(96));
    for (void* block : blocks) object_memory::release(block, 96);
    return std::set<void*>(blocks.begin(), blocks.end());
  };
  std::set<void*> all;
  for (int i = 0; i < 10; ++i) {
    std::set<void*> taken;
    std::thread([&] { taken = turnover(); }).join();
    CHECK(taken.size() == 5000);
    all.merge(taken);
  }
  CHECK(all.size() < 2 * 5000);  // a slab that is cut holds a few more than one thread takes
}

TEST_CASE("blocks that a thread does nothing but give back serve the next one") {
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(object_memory::allocate(608));
  std::thread([&] {
    for (void* block : blocks) object_memory::release(block, 608);
  }).join();
  std::set<void*> again;
  std::thread([&] {
    std::vector<void*> taken;
    for (int i = 0; i < 100; ++i) taken.push_back(object_memory::allocate(608));
    for (void* block : taken) object_memory::release(block, 608);
    again.insert(taken.begin(), taken.end());
  }).join();
  CHECK(again == std::set<void*>(blocks.begin(), blocks.end()));
}

TEST_CASE("a thread that frees what another allocates, step by step, gives blocks and versions back to it") {
  constexpr int steps = 1000, a_step = 100;
  std::vector<void*> blocks(a_step);
  std::vector<Version*> versions(a_step);
  std::set<const void*> all_blocks, all_versions;
  std::barrier turn(2);
  std::thread allocates([&] {
    for (int step = 0; step < steps; ++step) {
      for (void*& block : blocks) block = object_memory::allocate(736);
      for (Version*& version : versions) version = Version::take();
      turn.arrive_and_wait();
      turn.arrive_and_wait();
    }
  });
  for (int step = 0; step < steps; ++step) {
    turn.arrive_and_wait();
    all_blocks.insert(blocks.begin(), blocks.end());
    all_versions.insert(versions.begin(), versions.end());
    for (void* block : blocks) object_memory::release(block, 736);
    for (Version* version : versions) Version::give_back(version);
    turn.arrive_and_wait();
  }
  allocates.join();
  CHECK(all_blocks.size() < 10'000);  // of 100,000
  CHECK(all_versions.size() < 10'000);
}
#endif

}  // namespace isobar::object_memory_test
