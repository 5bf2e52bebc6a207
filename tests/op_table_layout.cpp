// Rows of the op table: layout, indexing, einsum, and losses between an input and a target.
#include "../autograd/ops.h"
#include "op_table.h"

namespace isobar {
namespace {

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<OpRow> layout_rows() {
  return {
      {"expand", [](In x) { return expand(x[0], {3, 4, 5}); }, {normal(4, 1)}},
      {"expand keeping an extent", [](In x) { return expand(x[0], {2, -1, 5, -1}); }, {normal(3, 1, 2)}},
      {"expand to nothing", [](In x) { return expand(x[0], {0, -1}); }, {normal(1, 5)}},
      {"expand a single number", [](In x) { return expand(x[0], {2, 3}); }, {normal()}},
      {"pad", [](In x) { return pad(x[0], {1, 2}); }, {normal(3, 4)}},
      {"pad two dimensions", [](In x) { return pad(x[0], {1, 0, 2, 3}, 7); }, {normal(2, 3, 4)}},
      {"pad the first of three", [](In x) { return pad(x[0], {0, 0, 0, 0, 2, 1}); }, {normal(2, 3, 4)}},
      {"pad and crop", [](In x) { return pad(x[0], {-1, 2, 3, -2}, 0.5); }, {normal(3, 4)}},
      {"pad cropping all", [](In x) { return pad(x[0], {-3, -1, 1, 1}, 2); }, {normal(3, 4)}},
      {"pad by nothing", [](In x) { return pad(x[0], {}); }, {normal(3, 4)}},
      {"pad around nothing", [](In x) { return pad(x[0], {2, 1}, 3); }, {normal(3, 0)}},
      {"pad of many", [](In x) { return pad(x[0], {3, 4, 5, 6}); }, {normal(30, 65, 33)}},
      {"stack", [](In x) { return stack({x[0], x[1], x[0]}); }, {normal(3, 5), normal(3, 5)}},
      {"stack along the last", [](In x) { return stack({x[0], x[1]}, -1); }, {normal(3, 5), normal(3, 5)}},
      {"stack in the middle", [](In x) { return stack({x[0], x[1]}, 1); }, {normal(3, 5), normal(3, 5)}},
      {"stack single numbers", [](In x) { return stack({x[0], x[1]}); }, {normal(), normal()}},
      {"stack nothing", [](In x) { return stack({x[0], x[0]}, 1); }, {normal(3, 0)}},
      {"split by a size", [](In x) { return split(x[0], 2)[2] * split(x[0], 2)[0]; }, {normal(5, 3)}},
      {"split by sizes", [](In x) {
         const std::vector<Tensor> y = split(x[0], {2, 0, 3}, -1);
         return concat({y[2], y[1], y[0] * y[0]}, 1);
       }, {normal(4, 5)}},
      {"flip", [](In x) { return flip(x[0], {0}); }, {normal(3, 5)}},
      {"flip two dimensions", [](In x) { return flip(x[0], {-1, 1}); }, {normal(2, 3, 5)}},
      {"repeat", [](In x) { return repeat(x[0], {2, 3}); }, {normal(3, 5)}},
      {"repeat along new dimensions", [](In x) { return repeat(x[0], {2, 1, 3, 1}); }, {normal(2, 3)}},
      {"repeat no times", [](In x) { return repeat(x[0], {2, 0}); }, {normal(3, 5)}},
      {"repeat of a single number", [](In x) { return repeat(x[0], {4}); }, {normal()}},
      {"repeat of six dimensions", [](In x) { return repeat(x[0], {2, 1, 1, 2, 1, 3}); }, {normal(1, 2, 1, 2, 1, 2)}},
      {"roll", [](In x) { return roll(x[0], 2, 1); }, {normal(3, 5)}},
      {"roll backwards", [](In x) { return roll(x[0], -8, 0); }, {normal(3, 5)}},
      {"roll by nothing", [](In x) { return roll(x[0], 10, -1); }, {normal(3, 5)}},
      {"flip none", [](In x) { return flip(x[0], {}); }, {normal(3, 5)}},
      {"flip nothing", [](In x) { return flip(x[0], {0, 1}); }, {normal(0, 5)}},
      {"reshape with an open size", [](In x) { return reshape(x[0], {2, -1, 3}); }, {normal(4, 9)}},
      {"unsqueeze", [](In x) { return unsqueeze(x[0], -1) * unsqueeze(x[0], 0); }, {normal(4)}},
      {"squeeze", [](In x) { return squeeze(x[0]) * squeeze(squeeze(x[0], 0), -2); }, {normal(1, 3, 1, 5)}},
      {"select", [](In x) { return select(x[0], 1, -2) * select(x[0], -1, 0); }, {normal(5, 5)}},
      {"slice from the back", [](In x) { return slice(x[0], -1, -4, -1); }, {normal(3, 5)}},
      {"tril", [](In x) { return tril(x[0]); }, {normal(4, 4)}},
      {"tril above the diagonal", [](In x) { return tril(x[0], 1); }, {normal(2, 3, 5)}},
      {"tril far below", [](In x) { return tril(x[0], -9); }, {normal(3, 5)}},
      {"tril of many", [](In x) { return tril(x[0], 3); }, {normal(5, 65, 70)}},
      {"triu", [](In x) { return triu(x[0]); }, {normal(4, 4)}},
      {"triu below the diagonal", [](In x) { return triu(x[0], -1); }, {normal(2, 5, 3)}},
      {"triu of nothing", [](In x) { return triu(x[0]); }, {normal(2, 0, 3)}},
      {"cumsum", [](In x) { return cumsum(x[0], 0); }, {normal(4, 5)}},
      {"cumsum of rows", [](In x) { return cumsum(x[0], -1); }, {normal(3, 17)}},
      {"cumsum in the middle", [](In x) { return cumsum(x[0], 1); }, {normal(2, 4, 3)}},
      {"cumsum of nothing", [](In x) { return cumsum(x[0], 0); }, {normal(0, 5)}},
      {"cumsum of many", [](In x) { return cumsum(x[0], 1); }, {normal(30, 129, 20)}},
  };
}

std::vector<OpRow> indexing_rows() {
  return {
      {"index_add", [](In x) { return index_add(x[0], 0, x[1], x[2]); }, {normal(4, 5), indices(4, 7), normal(7, 5)}},
      {"index_add columns", [](In x) { return index_add(x[0], 1, x[1], x[2]); },
       {normal(3, 6), indices_i32(6, 4), normal(3, 4)}},
      {"index_add no rows", [](In x) { return index_add(x[0], 0, x[1], x[2]); }, {normal(4, 5), indices(4, 0), normal(0, 5)}},
      {"index_add of many", [](In x) { return index_add(x[0], 0, x[1], x[2]); },
       {normal(50, 129), indices(50, 400), normal(400, 129)}},
      {"gather", [](In x) { return gather(x[0], 0, x[1]); }, {normal(4, 5), indices(4, 7, 5)}},
      {"gather columns", [](In x) { return gather(x[0], -1, x[1]); }, {normal(4, 5), indices_i32(5, 4, 2)}},
      {"gather from a part", [](In x) { return gather(x[0], 1, x[1]); }, {normal(3, 4, 5), indices(4, 2, 6, 3)}},
      {"gather nothing", [](In x) { return gather(x[0], 0, x[1]); }, {normal(4, 5), indices(4, 0, 5)}},
      {"gather of many", [](In x) { return gather(x[0], 1, x[1]); }, {normal(60, 129), indices(129, 50, 300)}},
      {"scatter_add", [](In x) { return scatter_add(x[0], 0, x[1], x[2]); },
       {normal(4, 5), indices(4, 7, 5), normal(7, 5)}},
      {"scatter_add columns", [](In x) { return scatter_add(x[0], 1, x[1], x[2]); },
       {normal(4, 5), indices_i32(5, 4, 2), normal(4, 2)}},
      {"scatter_add of a part", [](In x) { return scatter_add(x[0], 1, x[1], x[2]); },
       {normal(3, 4, 5), indices(4, 2, 6, 3), normal(4, 7, 3)}},
      {"scatter_add nothing", [](In x) { return scatter_add(x[0], 0, x[1], x[2]); },
       {normal(4, 5), indices(4, 0, 5), normal(0, 5)}},
      {"scatter_add of many", [](In x) { return scatter_add(x[0], 1, x[1], x[2]); },
       {normal(60, 129), indices(129, 50, 300), normal(50, 300)}},
  };
}

std::vector<OpRow> sorted_rows() {
  return {
      {"sort", [](In x) { return sort(x[0]).values; }, {normal(4, 9)}},
      {"sort descending along the first", [](In x) { return sort(x[0], 0, true).values; }, {normal(7, 3, 2)}},
      {"topk", [](In x) { return topk(x[0], 3).values; }, {normal(4, 9)}},
      {"topk of the smallest", [](In x) { return topk(x[0], 2, 1, false).values; }, {normal(3, 5, 2)}},
      {"max_with_indices", [](In x) { return max_with_indices(x[0], -1).values; }, {normal(4, 9)}},
      {"min_with_indices keeping dim", [](In x) { return min_with_indices(x[0], 0, true).values; }, {normal(4, 9)}},
      {"nonzero", [](In x) { return index_select(x[0], 0, reshape(nonzero(x[1]), {-1})); }, {normal(7, 2), mask(7)}},
      {"one_hot", [](In x) { return x[0] * one_hot(x[1], 5, x[0].dtype()); }, {normal(3, 5), indices(5, 3)}},
      {"softmax of columns", [](In x) { return softmax(x[0], 0); }, {normal(5, 3)}, {.fused = true}},
      {"log_softmax in the middle", [](In x) { return log_softmax(x[0], 1); }, {normal(2, 4, 3)}, {.fused = true}},
      {"cross_entropy over channels", [](In x) { return cross_entropy(x[0], x[1], {.dim = 1}); },
       {normal(3, 5, 4), indices(5, 3, 4)}, {.fused = true}},
  };
}

OpRow einsum_row(const std::string& what, const std::string& equation, std::vector<InputMaker> inputs) {
  return {"einsum " + what, [equation](In x) { return einsum(equation, x); }, std::move(inputs)};
}

std::vector<OpRow> einsum_rows() {
  return {
      einsum_row("matmul", "ij,jk->ik", {normal(3, 5), normal(5, 4)}),
      einsum_row("batched", "bij,bjk->bik", {normal(2, 3, 5), normal(2, 5, 4)}),
      einsum_row("batch in the middle", "bthd,bshd->bhts", {normal(2, 3, 2, 5), normal(2, 4, 2, 5)}),
      einsum_row("outer product", "i,j->ij", {normal(3), normal(5)}),
      einsum_row("inner product", "i,i->", {normal(5), normal(5)}),
      einsum_row("by a number", "ij,->ji", {normal(3, 5), normal()}),
      einsum_row("two contracted", "ijk,jkl->il", {normal(2, 3, 4), normal(3, 4, 5)}),
      einsum_row("letters summed first", "ija,jkb->ik", {normal(2, 3, 4), normal(3, 5, 2)}),
      einsum_row("an extent of one", "ij,jk->ik", {normal(3, 1), normal(5, 4)}),
      einsum_row("over nothing", "ij,jk->ik", {normal(3, 0), normal(0, 4)}),
      einsum_row("sum", " i j -> i ", {normal(3, 5)}),
  };
}

std::vector<OpRow> loss_rows() {
  const std::vector<InputMaker> pair{normal(3, 5), normal(3, 5)};
  return {
      {"mse_loss", [](In x) { return mse_loss(x[0], x[1]); }, pair},
      {"mse_loss summed", [](In x) { return mse_loss(x[0], x[1], Reduction::sum); }, pair},
      {"mse_loss of each", [](In x) { return mse_loss(x[0], x[1], Reduction::none); }, pair},
      {"mse_loss of many", [](In x) { return mse_loss(x[0], x[1]); }, {normal(300, 129), normal(300, 129)}},
      {"l1_loss", [](In x) { return l1_loss(x[0], x[1]); }, pair},
      {"l1_loss summed", [](In x) { return l1_loss(x[0], x[1], Reduction::sum); }, pair},
      {"huber_loss", [](In x) { return huber_loss(x[0], x[1]); }, pair, {.fused = true}},
      {"huber_loss of each", [](In x) { return huber_loss(x[0], x[1], 0.3, Reduction::none); }, pair, {.fused = true}},
      {"huber_loss of one", [](In x) { return huber_loss(x[0], x[1], 2); }, {normal(), normal()}, {.fused = true}},
      {"binary_cross_entropy_with_logits", [](In x) { return binary_cross_entropy_with_logits(x[0], x[1]); },
       {normal(3, 5), uniform(0, 1, 3, 5)}},
      {"binary_cross_entropy_with_logits far out",
       [](In x) { return binary_cross_entropy_with_logits(x[0], x[1], Reduction::none); },
       {scaled(20, 3, 5), uniform(0, 1, 3, 5)}},
      {"binary_cross_entropy_with_logits of nothing",
       [](In x) { return binary_cross_entropy_with_logits(x[0], x[1], Reduction::sum); },
       {normal(0, 5), normal(0, 5)}},
  };
}
// clang-format on

}  // namespace

std::vector<OpRow> layout_and_loss_rows() {
  std::vector<OpRow> all;
  for (auto part : {layout_rows, indexing_rows, sorted_rows, einsum_rows, loss_rows})
    for (OpRow& row : part()) all.push_back(std::move(row));
  return all;
}

}  // namespace isobar
