// The memory of small objects.
#include "../core/object_memory.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace isobar;

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

TEST_CASE("the block freed last is taken next, and a steady turnover asks the system for nothing") {
  void* block = object_memory::allocate(200);
  object_memory::release(block, 200);
  const size_t before = object_memory::slabs();
  for (int i = 0; i < 1000; ++i) {
    void* again = object_memory::allocate(200);
    CHECK(again == block);
    object_memory::release(again, 200);
  }
  CHECK(object_memory::slabs() == before);
}

TEST_CASE("what a thread leaves behind serves the next one") {
  const auto turnover = [] {
    std::vector<void*> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(object_memory::allocate(96));
    CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == blocks.size());
    for (void* block : blocks) object_memory::release(block, 96);
  };
  std::thread(turnover).join();
  const size_t before = object_memory::slabs();
  for (int i = 0; i < 10; ++i) std::thread(turnover).join();
  CHECK(object_memory::slabs() == before);
}

TEST_CASE("an object may be freed on another thread than it was made on") {
  std::shared_ptr<int> number;
  std::thread([&] { number = std::allocate_shared<int>(ObjectAllocator<int>(), 7); }).join();
  CHECK(*number == 7);
  number.reset();
  CHECK(*std::allocate_shared<int>(ObjectAllocator<int>(), 8) == 8);
}
