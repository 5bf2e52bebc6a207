// Ranks: who has which part of a run, and how they agree. Here ranks are threads (thread_link.h).
#include "../core/ranks.h"

#include <doctest/doctest.h>

#include "thread_link.h"

using namespace isobar;

TEST_CASE("shares are consecutive, cover everything once, and the last one is the first rank's") {
  for (int size = 1; size <= 12; ++size)
    run_ranks(size, [&](Ranks& ranks) {
      for (int64_t n = 0; n <= 40; ++n) {
        int64_t next = 0;
        for (int rank = size - 1; rank >= 0; --rank) {
          const Share share = ranks.share(n, rank);
          if (share.size() == 0) continue;
          CHECK(share.begin == next);
          CHECK(share.size() <= (n + size - 1) / size);
          next = share.end;
        }
        CHECK(next == n);
        CHECK((n == 0 || ranks.share(n, 0).end == n));
        CHECK(ranks.share(n).begin == ranks.share(n, ranks.rank()).begin);
      }
    });
}

TEST_CASE("gather gives every rank all texts and numbers, in order, on any number of ranks") {
  for (int size = 1; size <= 9; ++size)
    run_ranks(
        size,
        [&](Ranks& ranks) {
          for (int round = 0; round < 3; ++round) {
            std::vector<std::string> wanted;
            for (int rank = 0; rank < size; ++rank) wanted.push_back(std::string(100 * rank + round, 'x'));
            CHECK(ranks.gather(wanted[static_cast<size_t>(ranks.rank())]) == wanted);
          }
          const Share mine = ranks.share(10);
          std::vector<double> numbers;
          for (int64_t i = mine.begin; i < mine.end; ++i) numbers.push_back(0.5 * static_cast<double>(i));
          CHECK(ranks.gather(numbers, 10) == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5});
          CHECK(ranks.gather({}, 0).empty());
        },
        {.delay = std::chrono::microseconds(300)});
}
