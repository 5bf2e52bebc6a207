// Shards: every element has one owner, and what ranks add up together has the bits of one process.
#include "../../core/ranks/shards.h"

#include "../../autograd/ops.h"
#include "../../core/kernels/sweep.h"
#include "../../core/rng.h"
#include "../../optim/clip.h"
#include "../message_of.h"
#include "../same_tensors.h"
#include "../thread_link.h"

namespace isobar::shards_test {

struct Kind {
  Shape shape;
  Dtype dtype = Dtype::f32;
};
const std::vector<Kind> kinds = {{{7}},      {{100, 200}},         {{}},       {{0}},
                                 {{70, 64}}, {{9000}, Dtype::f64}, {{64, 33}}, {{8192}},
                                 {{1}},      {{3, 9001}},          {{5}}};
constexpr size_t scalar = 2, matrix = 4, second_matrix = 6, rarely = 9, never = 10;

// Parameters of one rank: each has tensors of its own.
std::vector<Tensor> some_parameters() {
  std::vector<Tensor> all;
  for (size_t i = 0; i < kinds.size(); ++i)
    all.push_back(Rng(1).split(i).normal(kinds[i].shape, 0, 1, kinds[i].dtype).set_trainable());
  return all;
}
std::vector<Tensor> whole_of(const std::vector<Tensor>& all) { return {all[matrix], all[second_matrix]}; }

Tensor minus_zero() {
  Tensor x(Shape(7), Dtype::f32);
  std::fill_n(raw::write<float>(x, "the test"), 7, -0.0F);
  return x;
}

// Gradients of a piece: −0 for the first parameter, none where the loss does not depend on one.
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

std::vector<Tensor> sum_of_one_process(int64_t pieces, bool all_there) {
  TreeSum sum;
  for (int64_t piece = 0; piece < pieces; ++piece) sum.add(piece_of(piece, all_there));
  return sum.take();
}

void sum_over_ranks(Shards& shards, int64_t pieces, bool all_there) {
  const IndexRange mine = shards.ranks().share(pieces);
  TreeSum sum(mine.begin);
  for (int64_t piece = mine.begin; piece < mine.end; ++piece) sum.add(piece_of(piece, all_there));
  std::vector<TreeSum::Block> blocks = sum.take_blocks();
  const std::vector<std::string> present = shards.ranks().gather(Shards::presence(blocks));
  shards.sum(std::move(blocks), present, pieces);
}

// Both undefined, or of the same bits.
bool alike(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || same_bits(a, b));
}

double norm_of(std::vector<Tensor> gradients) {
  const std::vector<Tensor> all = some_parameters();
  for (size_t i = 0; i < all.size(); ++i)
    if (gradients[i].defined()) all[i].set_grad(gradients[i]);
  CHECK(grad_norm(Shards(all)) == grad_norm(all));
  return grad_norm(all);
}

TEST_CASE("shards cover every element once, are cut at chunks of a sweep, and leave whole parameters whole") {
  for (const int size : {1, 2, 3, 4, 6, 8, 12}) {
    CAPTURE(size);
    run_ranks(size, [&](Ranks& ranks) {
      const std::vector<Tensor> all = some_parameters();
      const Shards shards(all, ranks, whole_of(all));
      if (size == 1) {
        CHECK(shards.mine()[1].id() == all[1].id());
        const std::vector<Tensor> flat = shards.mine([](const Tensor& p) { return p.shape() == Shape{7}; });
        CHECK((flat.size() == 1 && flat[0].id() == all[0].id()));
        return;
      }
      int64_t position = 0, own = 0, total = 0;
      for (size_t i = 0; i < all.size(); position += all[i++].numel()) {
        const int64_t n = all[i].numel();
        total += n;
        int64_t here = 0;
        for (int64_t element = 0; element < n; ++element) {
          const Shards::Owner owner = shards.owner(i, element);
          here += owner.rank == ranks.rank();
          if (owner.first != element) continue;
          const bool border = (position + element) % kernels::Sweep::grain == 0;
          if (element > 0) CHECK((border && i != matrix && i != second_matrix));
        }
        CHECK(shards.mine()[i].numel() == here);
        if (here == n && n > 0) CHECK(shards.mine()[i].id() == all[i].id());
        if (here > 0) CHECK(alike(shards.mine()[i], here == n ? all[i] : shards.part(i, all[i])));
        own += here;
      }
      int64_t sum = 0, most = 0;
      for (const std::string& of_rank : ranks.gather(std::to_string(own))) {
        sum += std::stoll(of_rank);
        most = std::max<int64_t>(most, std::stoll(of_rank));
      }
      CHECK(sum == total);
      CHECK(most <= total / size + kernels::Sweep::grain);
    });
  }
}

TEST_CASE("a parameter that is listed twice is refused, for any number of ranks") {
  for (const int size : {1, 2})
    run_ranks(size, [&](Ranks& ranks) {
      const std::vector<Tensor> all = some_parameters();
      CHECK_THROWS_WITH_AS(Shards({all[0], all[1], all[0]}, ranks), "shards: parameter 2 [7] is given twice",
                           Error);
    });
}

TEST_CASE("gradients and their norm have the bits of one process, for any number of ranks and pieces") {
  for (const bool all_there : {true, false})
    for (const int64_t pieces : {1, 5, 8, 12}) {
      const std::vector<Tensor> wanted = sum_of_one_process(pieces, all_there);
      CHECK(std::signbit(wanted[0].at({3})));
      const double norm = norm_of(wanted);
      for (const int size : {2, 3, 8, 13}) {  // backward_in_pieces adds up alone (pieces_test.cpp)
        INFO("all_there ", all_there, ", pieces ", pieces, ", size ", size);
        run_ranks(size, [&](Ranks& ranks) {
          const std::vector<Tensor> all = some_parameters();
          Shards shards(all, ranks, whole_of(all));
          sum_over_ranks(shards, pieces, all_there);
          for (size_t i = 0; i < all.size(); ++i) {
            const Tensor own = shards.mine()[i].grad();
            CHECK(alike(own, wanted[i].defined() ? shards.part(i, wanted[i]) : Tensor()));
          }
          const double norm_here = grad_norm(shards);
          CHECK(std::memcmp(&norm_here, &norm, sizeof norm) == 0);
          shards.spread_gradients();
          for (size_t i = 0; i < all.size(); ++i) {
            CAPTURE(i);
            CHECK(alike(all[i].grad(), wanted[i]));
          }
          shards.clear_gradients();
          for (size_t i = 0; i < all.size(); ++i) {
            CHECK(shards.mine()[i].grad().defined() == wanted[i].defined());
            if (all[i].id() != shards.mine()[i].id()) CHECK_FALSE(all[i].grad().defined());
          }
        });
      }
    }
}

TEST_CASE("a norm whose squares overflow is that of one process, for any number of ranks") {
  const auto gradients = [](const std::vector<Tensor>& of) {
    for (size_t i = 0; i < of.size(); ++i)
      of[i].set_grad(Rng(7).split(i).normal(of[i].shape(), 0, 1, Dtype::f64) * (i == 1 ? 1e200 : 1e180));
  };
  const auto made = [] {
    return std::vector{zeros({30000}, Dtype::f64).set_trainable(), zeros({7}, Dtype::f64).set_trainable()};
  };
  const std::vector<Tensor> whole = made();
  gradients(whole);
  const double norm = grad_norm(whole);
  CHECK((norm > 1e200 && norm < 1e201));
  for (const int size : {2, 3})
    run_ranks(size, [&](Ranks& ranks) {
      const std::vector<Tensor> all = made();
      const Shards shards(all, ranks);
      gradients(all);
      for (size_t i = 0; i < all.size(); ++i) {
        const Tensor own = shards.part(i, all[i].grad());
        shards.mine()[i].set_grad(reshape(own, shards.mine()[i].shape()));
      }
      CHECK(grad_norm(shards) == norm);
    });
}

TEST_CASE("weights that each rank writes on its shard reach all, and the first rank collects whole tensors") {
  const std::vector<Tensor> trained = piece_of(0, true);
  for (const int size : {1, 2, 3, 7}) {
    CAPTURE(size);
    run_ranks(size, [&](Ranks& ranks) {
      const std::vector<Tensor> all = some_parameters();
      Shards shards(all, ranks, whole_of(all));
      std::vector<Tensor> parts;
      std::vector<size_t> of;
      for (size_t i = 0; i < all.size(); ++i) {
        of.push_back(i);
        parts.push_back(shards.part(i, trained[i]));
        Tensor mine = shards.mine()[i];
        REQUIRE(parts[i].shape() == mine.shape());
        dispatch_float("test", mine.dtype(), [&]<class T>() {
          std::copy_n(parts[i].data<T>(), mine.numel(), raw::write<T>(mine, "the test"));
        });
      }
      shards.spread();
      for (size_t i = 0; i < all.size(); ++i) CHECK(same_bits(all[i], trained[i]));
      const std::vector<Tensor> whole = shards.collect(parts, of);
      for (size_t i = 0; i < all.size(); ++i) CHECK(alike(whole[i], ranks.first() ? trained[i] : Tensor()));
    });
  }
}

TEST_CASE("a parameter that takes several messages reaches all") {
  run_ranks(2, [](Ranks& ranks) {
    const Tensor weight = zeros(1 << 20).set_trainable();
    Shards shards({weight}, ranks);
    Tensor mine = shards.mine()[0];
    assign(mine, full(mine.shape(), ranks.rank() + 1));
    shards.spread();
    for (int64_t i = 0; i < weight.numel(); i += 8192) CHECK(weight.at({i}) == shards.owner(0, i).rank + 1);
  });
}

TEST_CASE("a parameter that cannot be cut, and a tensor of another shape, are refused") {
  run_ranks(2, [](Ranks& ranks) {
    const Tensor strided = raw::as_strided(zeros({4, 4}), {4, 4}, {1, 4});
    CHECK_THROWS_WITH_AS(Shards({zeros({2}), strided}, ranks),
                         "shards: parameter 1 [4, 4] is not contiguous; train a clone() of it", Error);
    const Shards shards({zeros({2}).set_trainable()}, ranks);
    CHECK(message_of([&] { shards.part(0, zeros({3})); }) == "shards: wanted [2], as parameter 0, got [3]");
  });
}

}  // namespace isobar::shards_test
