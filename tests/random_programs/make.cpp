// From a seed to a program: leaves of a few shapes, and instructions whose values stay tame.
#include <algorithm>
#include <cmath>

#include "program.h"

namespace isobar::random_programs {

constexpr double tame = 3;  // larger values are squashed
constexpr int64_t most_elements = 48;

// Programs of several losses are made of parts that share leaves alone, since a plain tape walks a node once.
class Maker {
 public:
  Maker(uint64_t seed, bool planted) : rng_(Rng(seed).split("program")), planted_(planted) {
    program_.seed = seed;
    program_.higher_order = draw(4) == 0;
  }

  Program made() {
    make_leaves();
    const int64_t parts = program_.higher_order ? 1 : 1 + draw(3) / 2 + draw(4) / 3;
    for (int64_t part = 0; part < parts; ++part) {
      std::vector<int> pool;
      for (size_t i = 0; i < program_.leaves.size(); ++i) pool.push_back(static_cast<int>(i));
      const size_t leaves = pool.size();
      add_instructions(program_.code, pool, 3 + draw(38) / parts, 0);
      if (pool.size() > leaves) program_.losses.insert(program_.losses.begin() + draw(part + 1), pool.back());
    }
    program_.values = static_cast<int>(values_.size());
    return program_;
  }

 private:
  int64_t draw(int64_t bound) { return static_cast<int64_t>(rng_.below(bound, draws_++)); }

  void make_leaves() {
    static const std::vector<Shape> shapes{{}, {4}, {3, 4}, {4, 3}, {4, 4}, {3, 1}, {2, 3, 4}, {1, 4}, {3}};
    for (int64_t count = 2 + draw(4); count > 0; --count) {
      program_.leaves.push_back({shapes[draw(shapes.size())], draw(5) != 0});
      values_.push_back(leaf_value(program_, program_.leaves.size() - 1));
    }
    program_.leaves[0].trainable = true;
  }

  // Later values are drawn more often, else most of a program would lead nowhere.
  int pick(const std::vector<int>& pool) {
    const auto size = static_cast<int64_t>(pool.size());
    return pool[draw(2) == 0 ? draw(size) : std::max(draw(size), size - 1 - draw(3))];
  }

  void add_instructions(std::vector<Instruction>& code, std::vector<int>& pool, int64_t count, int depth) {
    for (int64_t tries = 0; count > 0 && tries < 400; ++tries) {
      Instruction next = draw(8) == 0 && depth < 2 ? piece(pool, depth) : op(pool);
      if (!accepted(next)) continue;
      code.push_back(next);
      pool.push_back(next.value);
      --count;
      if (largest(values_[next.value]) > tame) squash(code, pool);
    }
  }

  Instruction op(const std::vector<int>& pool) {
    return call(planted_ && draw(12) == 0 ? wrong_op() : ops()[draw(ops().size())], pool);
  }

  Instruction call(const Op& op, const std::vector<int>& pool) {
    Instruction next{.value = new_value(), .op = &op};
    std::vector<Tensor> in;
    for (size_t i = 0; i < next.op->arguments; ++i) {
      next.arguments.push_back(pick(pool));
      in.push_back(values_[next.arguments.back()]);
    }
    if (next.op->choose && !next.op->choose(
                               in, [this](int64_t bound) { return draw(bound); }, next.numbers))
      next.op = nullptr;
    return next;
  }

  Instruction piece(const std::vector<int>& pool, int depth) {
    static constexpr Kind kinds[] = {Kind::paused, Kind::nested};
    Instruction next{.value = new_value(), .kind = kinds[draw(program_.higher_order ? 1 : 2)]};
    next.arguments = {pick(pool)};
    next.inner = new_value();
    values_[next.inner] = values_[next.arguments[0]];
    std::vector<int> inside = pool;
    inside.push_back(next.inner);
    add_instructions(next.body, inside, 1 + draw(4), depth + 1);
    return next;
  }

  int new_value() {
    values_.emplace_back();
    return static_cast<int>(values_.size()) - 1;
  }
  static double largest(const Tensor& x) {
    double most = 0;
    for (double v : x.to_vector<double>()) most = std::isfinite(v) ? std::max(most, std::abs(v)) : INFINITY;
    return most;
  }

  // Computes it. What the library refuses, such as shapes that do not fit, is not taken.
  bool accepted(const Instruction& next) {
    if (next.kind == Kind::op ? next.op == nullptr : next.body.empty()) return false;
    try {
      std::map<int, Tensor> constants;
      execute(next, values_, {program_, constants});
    } catch (const Error&) {
      return false;
    }
    const Tensor& y = values_[next.value];
    if (y.numel() == 0 || y.numel() > most_elements || y.ndim() > 4) return false;
    return largest(y) < 100;
  }

  void squash(std::vector<Instruction>& code, std::vector<int>& pool) {
    Instruction next{.value = new_value(), .op = &op_named("tanh")};
    next.arguments = {pool.back()};
    accepted(next);
    code.push_back(next);
    pool.back() = next.value;
  }

  Rng rng_;
  uint64_t draws_ = 0;
  const bool planted_;
  Program program_;
  std::vector<Tensor> values_;
};

bool holds_op(const std::vector<Instruction>& code, const Op& op) {
  return std::any_of(code.begin(), code.end(), [&](const Instruction& instruction) {
    return instruction.op == &op || holds_op(instruction.body, op);
  });
}

Program make_program(uint64_t seed, bool planted) { return Maker(seed, planted).made(); }

}  // namespace isobar::random_programs
