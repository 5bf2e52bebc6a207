// TreeSum: what it takes and holds, and sums of shares. (The order of its tree: spec/same_as_spec.cpp.)
#include "../../core/ranks/tree_sum.h"

#include "../../core/rng.h"
#include "../message_of.h"
#include "../same_tensors.h"

namespace isobar::tree_sum_test {

std::vector<Tensor> sum_of(std::vector<std::vector<Tensor>> pieces) {
  TreeSum sum;
  for (std::vector<Tensor>& piece : pieces) sum.add(std::move(piece));
  return sum.take();
}

TEST_CASE("a tensor that others hold, or that is no block of its own, is read and not overwritten") {
  const Tensor held = ones({2, 2}), wide = arange(4, Dtype::f64);
  std::vector<std::vector<Tensor>> pieces{{held, raw::as_strided(wide, {2}, {2})},
                                          {held, raw::as_strided(wide, {2}, {0})}};
  const std::vector<Tensor> sums = sum_of(pieces);
  CHECK(sums[0].to_vector<double>() == std::vector<double>{2, 2, 2, 2});
  CHECK(sums[1].to_vector<double>() == std::vector<double>{0, 2});
  CHECK(held.to_vector<double>() == std::vector<double>{1, 1, 1, 1});
  CHECK(wide.to_vector<double>() == std::vector<double>{0, 1, 2, 3});
}

TEST_CASE("a piece without a tensor adds nothing, and what no piece has stays undefined") {
  const std::vector<Tensor> sums =
      sum_of({{{}, {}, ones({2})}, {{}, ones({3}), ones({2})}, {{}, {}, ones({2})}});
  CHECK_FALSE(sums[0].defined());
  CHECK(sums[1].to_vector<double>() == std::vector<double>{1, 1, 1});
  CHECK(sums[2].to_vector<double>() == std::vector<double>{3, 3});
  CHECK(TreeSum().take().empty());
}

TEST_CASE("eight pieces hold at most four partial sums at a time, and a sum that is taken leaves none") {
  constexpr int64_t numel = 1 << 16;
  const size_t before = memory::stats().bytes_in_use;
  TreeSum sum;
  for (int round = 0; round < 2; ++round) {
    for (int64_t p = 0; p < 8; ++p) {
      memory::reset_peak();
      sum.add({ones({numel})});
      CHECK(memory::stats().peak_bytes - before <= 4 * numel * sizeof(float) + 4096);
    }
    CHECK(sum.take()[0].at({5}) == 8);
    CHECK(memory::stats().bytes_in_use == before);
  }
}

TEST_CASE("pieces that do not fit each other are refused") {
  TreeSum sum;
  sum.add({ones({2})});
  CHECK(message_of([&] { sum.add({}); }) == "tree_sum: wanted 1 tensors, as in the pieces before, got 0");
  CHECK(message_of([&] { sum.add({ones({3})}); }) == "tree_sum: [2] f32 and [3] f32 do not add");
  TreeSum integers;
  CHECK(message_of([&] { integers.add({arange(2)}); }) == "tree_sum: tensor 0 must be f32 or f64, got i64");
}

TEST_CASE("blocks of any consecutive shares add up to the bits of one process") {
  for (int64_t count = 1; count <= 40; ++count) {
    std::vector<std::vector<Tensor>> pieces;
    for (int64_t p = 0; p < count; ++p)
      pieces.push_back({Rng(8).split(static_cast<uint64_t>(p)).normal({16})});
    const Tensor wanted = sum_of(pieces)[0];
    for (int64_t shares = 1; shares <= 12; ++shares) {
      INFO("count ", count, ", shares ", shares);
      const Rng rng = Rng(9).split(static_cast<uint64_t>(100 * count + shares));
      std::vector<int64_t> borders{0, count};
      for (uint64_t i = 1; i < static_cast<uint64_t>(shares); ++i)
        borders.push_back(static_cast<int64_t>(rng.below(static_cast<uint64_t>(count) + 1, i)));
      std::sort(borders.begin(), borders.end());
      TreeSum all;
      for (size_t s = 0; s + 1 < borders.size(); ++s) {
        TreeSum mine(borders[s]);
        for (int64_t p = borders[s]; p < borders[s + 1]; ++p) mine.add(pieces[static_cast<size_t>(p)]);
        const std::vector<TreeSum::Block> wanted_blocks = TreeSum::blocks_of(borders[s], borders[s + 1]);
        size_t number = 0;
        for (TreeSum::Block& block : mine.take_blocks()) {
          REQUIRE(number < wanted_blocks.size());
          CHECK(block.first == wanted_blocks[number].first);
          CHECK(block.pieces == wanted_blocks[number++].pieces);
          all.add(std::move(block.sums), block.pieces);
        }
        CHECK(number == wanted_blocks.size());
      }
      CHECK(same_bits(all.take()[0], wanted));
    }
  }
}

}  // namespace isobar::tree_sum_test
