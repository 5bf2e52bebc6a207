// Ranks: who has which part of a run, and how they agree. Here ranks are threads (thread_link.h).
#include "../../core/ranks/ranks.h"

#include <doctest/doctest.h>
#include <sys/utsname.h>

#include <atomic>
#include <latch>
#include <set>

#include "../message_of.h"
#include "../scoped_variable.h"
#include "../thread_link.h"

namespace isobar::ranks_test {

TEST_CASE("shares are consecutive, cover everything once, and the last one is the first rank's") {
  for (int size = 1; size <= 12; ++size)
    run_ranks(size, [&](Ranks& ranks) {
      for (int64_t n = 0; n <= 40; ++n) {
        int64_t next = 0;
        for (int rank = size - 1; rank >= 0; --rank) {
          const IndexRange share = ranks.share(n, rank);
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
          const IndexRange mine = ranks.share(10);
          std::vector<double> numbers;
          for (int64_t i = mine.begin; i < mine.end; ++i) numbers.push_back(0.5 * static_cast<double>(i));
          CHECK(ranks.gather(numbers, 10) == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5});
          CHECK(ranks.gather({}, 0).empty());
        },
        {.delay = std::chrono::microseconds(300)});
}

TEST_CASE("whoever has another text, and whoever asks to stop, is known to all") {
  run_ranks(3, [](Ranks& ranks) {
    CHECK_NOTHROW(ranks.check_same("a corpus", "a", "give every rank the same text"));
    CHECK(message_of([&] {
            ranks.check_same("a corpus", ranks.rank() == 2 ? "b" : "a", "give every rank a");
          }) == fmt::format("{} has a corpus 'b', {} has 'a': give every rank a", ranks.name_of(2),
                            ranks.name_of(0)));
    CHECK_FALSE(ranks.stop_asked());
    ranks.ask_to_stop(ranks.rank() == 1);
    ranks.gather("");
    CHECK(ranks.stop_asked());
    ranks.ask_to_stop(false);
    ranks.gather("");
    CHECK_FALSE(ranks.stop_asked());
  });
  Ranks& alone = Ranks::alone();
  CHECK(alone.gather("text") == std::vector<std::string>{"text"});
  CHECK(alone.gather({1, 2}, 2) == std::vector<double>{1, 2});
  CHECK_NOTHROW(alone.check_same("a corpus", "a", ""));
  alone.ask_to_stop(true);
  CHECK(alone.stop_asked());
  alone.ask_to_stop(false);
}

TEST_CASE("numbers that are not of this rank's share, and other calls on other ranks, are refused") {
  run_ranks(2, [](Ranks& ranks) {
    CHECK(message_of([&] { ranks.gather(std::vector<double>(3), 4); }) ==
          "gather: wanted the 2 numbers of this rank's share of 4, got 3");
    const int64_t n = ranks.first() ? 4 : 8;
    const std::string message =
        message_of([&] { ranks.gather(std::vector<double>(static_cast<size_t>(ranks.share(n).size())), n); });
    CHECK(message.find("went different ways") != std::string::npos);
  });
}

TEST_CASE("a rank that fails alone ends the others, and one that all meet leaves together") {
  std::atomic<int> through = 0;
  CHECK(message_of([&] {
          run_ranks(4, [&](Ranks& ranks) {
            check(ranks.rank() != 2, "{}: no memory", ranks.rank());
            ranks.gather("");
            ++through;
          });
        }) == "2: no memory");
  CHECK(through == 0);
  run_ranks(5, [](Ranks& ranks) { CHECK(ranks.end_together()); });
  run_ranks(2, [](Ranks& ranks) {
    ranks.set_timeout(0.4);
    if (ranks.first()) CHECK_FALSE(ranks.end_together());
  });
}

TEST_CASE("a launcher's variables tell the rank, and that a process was started alone") {
  const ScopedVariable rank("PMI_RANK", "3"), size("PMI_SIZE", "4");
  CHECK((Ranks::launched() && Ranks::launched_rank() == 3));
  const ScopedVariable alone("PMI_SIZE", "1");
  CHECK((!Ranks::launched() && Ranks::launched_rank() == 0));
}

TEST_CASE("a process without others is named by its machine, and hears of a loss before it is thrown") {
  utsname machine;
  REQUIRE(::uname(&machine) == 0);
  Ranks one(nullptr, 1);
  CHECK(one.name() == fmt::format("rank 0 of 1 ({})", machine.nodename));
  std::string heard;
  one.on_lost([&](const RankLost& error) { heard = error.what(); });
  CHECK(message_of([&] { one.fail_lost(RankLost("gone")); }) == "gone");
  CHECK(heard == "gone");
}

TEST_CASE("silent ranks are named by the others after the time-out, and what they were doing") {
  constexpr int size = 4;
  for (const std::set<int>& silent : {std::set{2}, std::set{0, 2}}) {
    std::latch others(size - std::ssize(silent));
    std::vector<std::string> said(size);
    run_ranks(size, [&](Ranks& ranks) {
      ranks.set_timeout(0.4);
      ranks.set_location("step 12");
      const auto me = static_cast<size_t>(ranks.rank());
      if (silent.contains(ranks.rank())) return others.wait();
      said[me] = message_of([&] { ranks.gather(""); });
      others.count_down();
    });
    for (size_t rank = 0; rank < size; ++rank) {
      if (silent.contains(static_cast<int>(rank))) continue;
      CAPTURE(said[rank]);
      CHECK(said[rank].starts_with(silent.size() == 1 ? "rank 2 of 4 (" : "rank 0 of 4 ("));
      CHECK(said[rank].ends_with(silent.size() == 1 ? ") has not answered for 0.4 s, in step 12"
                                                    : ") have not answered for 0.4 s, in step 12"));
    }
  }
}

}  // namespace isobar::ranks_test
