// What ranks add up together has the bits of one process.
#include "../../core/ranks/sum_over_ranks.h"

#include "../../core/rng.h"
#include "../same_tensors.h"
#include "../thread_link.h"

namespace isobar::sum_over_ranks_test {

struct Kind {
  Shape shape;
  Dtype dtype = Dtype::f32;
};
const std::vector<Kind> kinds = {{{7}},      {{100, 200}},         {{}},       {{0}},
                                 {{70, 64}}, {{9000}, Dtype::f64}, {{64, 33}}, {{8192}},
                                 {{1}},      {{3, 9001}},          {{5}}};
constexpr size_t scalar = 2, rarely = 9, never = 10;

std::vector<Tensor> tensors_of_kinds() {
  std::vector<Tensor> all;
  for (const Kind& kind : kinds) all.push_back(Tensor(kind.shape, kind.dtype));
  return all;
}

Tensor minus_zero() {
  Tensor x(Shape(7), Dtype::f32);
  std::fill_n(raw::write<float>(x, "the test"), 7, -0.0F);
  return x;
}

// Gradients of a piece: −0 for the first tensor, none where the loss does not depend on one.
std::vector<Tensor> piece_of(int64_t piece, bool all_there) {
  std::vector<Tensor> all{minus_zero()};
  for (size_t i = 1; i < kinds.size(); ++i) {
    const bool there =
        all_there || (i != never && (i != scalar || piece % 3 == 0) && (i != rarely || piece == 1));
    const Rng rng = Rng(2).split(i).split(static_cast<uint64_t>(piece));
    all.push_back(there ? rng.normal(kinds[i].shape, 0, 1, kinds[i].dtype) : Tensor());
  }
  return all;
}

// The sum of so many pieces, of which each rank makes its share.
std::vector<Tensor> summed(Ranks& ranks, int64_t pieces, const std::vector<Tensor>& like,
                           const std::function<std::vector<Tensor>(int64_t piece)>& gradients_of) {
  const IndexRange mine = ranks.share(pieces);
  TreeSum sum(mine.begin);
  for (int64_t piece = mine.begin; piece < mine.end; ++piece) sum.add(gradients_of(piece));
  std::vector<TreeSum::Block> blocks = sum.take_blocks();
  const std::vector<std::string> present = ranks.gather(presence(blocks));
  return sum_over_ranks(ranks, std::move(blocks), present, pieces, like);
}

// Both undefined, or of the same bits.
bool alike(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || same_bits(a, b));
}

TEST_CASE("every rank has the sum, with the bits of one process, for any number of ranks and pieces") {
  for (const bool all_there : {true, false})
    for (const int64_t pieces : {1, 5, 8, 12}) {
      const auto gradients_of = [&](int64_t piece) { return piece_of(piece, all_there); };
      TreeSum alone;
      for (int64_t piece = 0; piece < pieces; ++piece) alone.add(gradients_of(piece));
      const std::vector<Tensor> wanted = alone.take();
      CHECK(std::signbit(wanted[0].at({3})));
      CHECK(wanted[never].defined() == all_there);
      for (const int size : {1, 2, 3, 4, 8, 13}) {
        INFO("all_there ", all_there, ", pieces ", pieces, ", size ", size);
        run_ranks(size, [&](Ranks& ranks) {
          const std::vector<Tensor> sums = summed(ranks, pieces, tensors_of_kinds(), gradients_of);
          REQUIRE(sums.size() == wanted.size());
          for (size_t i = 0; i < sums.size(); ++i) {
            CAPTURE(i);
            CHECK(alike(sums[i], wanted[i]));
          }
        });
      }
    }
}

TEST_CASE("a sum that takes more messages than are posted ahead is whole, whichever message is late") {
  constexpr int64_t elements = 4'500'000, pieces = 3;
  const auto value = [](int64_t e, int64_t piece) { return static_cast<float>(e % 65521 + piece); };
  const auto gradients_of = [&](int64_t piece) {
    Tensor x(Shape(elements), Dtype::f32);
    float* const numbers = raw::write<float>(x, "the test");
    for (int64_t e = 0; e < elements; ++e) numbers[e] = value(e, piece);
    return std::vector{x};
  };
  const auto wrong_elements = [&](Ranks& ranks) {
    const Tensor sum = summed(ranks, pieces, {Tensor(Shape(elements), Dtype::f32)}, gradients_of)[0];
    int64_t wrong = 0;
    for (int64_t e = 0; e < elements; ++e)
      wrong += sum.data<float>()[e] != value(e, 0) + value(e, 1) + value(e, 2);
    return wrong;
  };
  for (const int size : {2, 3})
    run_ranks(size, [&](Ranks& ranks) { CHECK(wrong_elements(ranks) == 0); },
              {.delay = std::chrono::microseconds(200)});
}

TEST_CASE("no tensors, and no pieces on a rank, are no fault") {
  run_ranks(3, [](Ranks& ranks) {
    CHECK(summed(ranks, 2, {}, [](int64_t) { return std::vector<Tensor>(); }).empty());
    const std::vector<Tensor> nowhere =
        summed(ranks, 2, tensors_of_kinds(), [](int64_t) { return std::vector<Tensor>(kinds.size()); });
    for (const Tensor& sum : nowhere) CHECK_FALSE(sum.defined());
  });
}

}  // namespace isobar::sum_over_ranks_test
