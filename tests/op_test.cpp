// Every row of the op table through the same tests.
#include <fstream>
#include <regex>
#include <set>

#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "../core/parallel.h"
#include "holds.h"
#include "op_table.h"
#include "same_tensors.h"

namespace isobar::op_test {

// What a row computes from some inputs: the value, the gradient of Σ dy · y (dy random) by every float input,
// and the number of ops recorded going forward.
struct Derived {
  Tensor y;
  std::vector<Tensor> dx;
  size_t recorded = 0;
};

std::vector<Tensor> trainable(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) {
    leaves.push_back(x.detach());
    if (is_float(x.dtype())) leaves.back().set_trainable();
  }
  return leaves;
}

std::vector<Tensor> floats(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs)
    if (is_float(x.dtype())) result.push_back(x);
  return result;
}

std::vector<Tensor> converted(const std::vector<Tensor>& inputs, Dtype dtype) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs) result.push_back(is_float(x.dtype()) ? raw::cast(x, dtype) : x);
  return result;
}

Tensor upstream(const Tensor& y) { return Rng(2).normal(y.shape(), 0, 1, y.dtype()); }

Derived run(const OpRow& row, const std::vector<Tensor>& inputs, TapeOptions options = {}) {
  const std::vector<Tensor> leaves = trainable(inputs);
  Tape tape(options);
  Derived outcome;
  outcome.y = row.f(leaves);
  outcome.recorded = tape.recorded();
  outcome.dx = tape.gradient(outcome.y, floats(leaves), upstream(outcome.y));
  return outcome;
}

void check_close(const Derived& a, const Derived& b, double tolerance) {
  CHECK(difference(a.y, b.y) <= tolerance);
  REQUIRE(a.dx.size() == b.dx.size());
  for (size_t i = 0; i < a.dx.size(); ++i) {
    CAPTURE(i);
    CHECK(difference(a.dx[i], b.dx[i]) <= tolerance);
  }
}

bool same_bits(const Derived& a, const Derived& b) {
  bool same = same_bits(a.y, b.y) && a.dx.size() == b.dx.size();
  for (size_t i = 0; same && i < a.dx.size(); ++i) same = same_bits(a.dx[i], b.dx[i]);
  return same;
}

// The same numbers under these strides (in elements), with NaN in the gaps: who reads a gap shows it.
Tensor laid_out(const Tensor& x, const Strides& strides, int64_t offset, int64_t extent) {
  return dispatch_any(x.dtype(), [&]<class T>() {
    const std::vector<T> values = x.to_vector<T>();
    Tensor block = full(Shape{extent},
                        std::is_floating_point_v<T> ? NAN
                        : std::is_same_v<T, bool>   ? 1
                                                    : -1,
                        x.dtype());
    T* numbers = raw::write<T>(block);
    for (int64_t i = 0; i < x.numel(); ++i) {
      int64_t rest = i, at = offset;
      for (int d = x.ndim() - 1; d >= 0; --d) {
        at += rest % x.size(d) * strides[d];
        rest /= x.size(d);
      }
      numbers[at] = values[i];
    }
    return raw::as_strided(block, x.shape(), strides, offset);
  });
}

// Every second number of a larger block.
Tensor every_second(const Tensor& x) {
  Strides strides = x.shape().strides();
  for (int64_t& step : strides) step *= 2;
  return laid_out(x, strides, 1, 2 * x.numel() + 2);
}

// Columns stored one after another, as a transpose leaves them.
Tensor columns_first(const Tensor& x) {
  Strides strides{};
  int64_t step = 1;
  for (int d = 0; d < x.ndim(); ++d) {
    strides[d] = step;
    step *= x.size(d);
  }
  return laid_out(x, strides, 0, x.numel());
}

// Other values of the same shape that the op could read as well: indices and targets stay in range.
Tensor other_values(const Tensor& x) {
  const NoTape pause;
  if (x.dtype() == Dtype::boolean) return !x;
  if (is_float(x.dtype())) return x.detach() * 0.5 + 0.25;
  const std::vector<int64_t> before = x.to_vector<int64_t>();
  std::vector<int64_t> values = before;
  std::rotate(values.begin(), values.begin() + 1, values.end());
  if (values == before)
    for (int64_t& value : values) value = value == 0 ? 1 : 0;
  return raw::cast(tensor(x.shape(), values), x.dtype());
}

// The row's gradients, of first order or of second: those of a random sum of the first ones. Calls
// `between(leaves, y)` once forward is done.
std::vector<Tensor> gradients(const OpRow& row, int order, bool higher_order, const auto& between) {
  const std::vector<Tensor> leaves = trainable(inputs_of(row));
  Tape tape({.higher_order = higher_order});
  const Tensor y = row.f(leaves), dy = upstream(y);
  if (order == 1) between(leaves, y);
  std::vector<Tensor> dx = tape.gradient(y, floats(leaves), dy);
  if (order == 1) return dx;
  Tensor total = full({}, 0, Dtype::f64);
  for (const Tensor& d : dx) total = total + sum(d * upstream(d));
  between(leaves, y);
  // Without a float among the inputs there is no gradient.
  return raw::slot(total).tape == 0 ? std::vector<Tensor>() : tape.gradient(total, floats(leaves));
}

// One subcase per row: `-sc='softmax*'` picks those of one op.
void for_each_row(const std::function<void(const OpRow&)>& body) {
  for (const OpRow& row : op_rows()) {
    SUBCASE(row.name.c_str()) { body(row); }
  }
}

std::set<std::string> declared_functions() {
  std::ifstream file(ISOBAR_SOURCE_DIR "/autograd/ops.h");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::regex regex("\n(?:(?:std::vector<)?Tensor>?|Sorted) ([a-z0-9_]+|operator[^(]+)\\(");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

TEST_CASE("every function of ops.h has a row, and every row's function is in ops.h") {
  const std::set<std::string> declared = declared_functions();
  std::set<std::string> in_table, rows;
  for (const OpRow& row : op_rows()) {
    in_table.insert(function_of(row));
    CHECK_MESSAGE(rows.insert(row.name).second, row.name, " is there twice");
  }
  CHECK(declared.size() > 40);
  for (const std::string& name : declared) CHECK_MESSAGE(in_table.contains(name), name, " has no row");
  for (const std::string& name : in_table) CHECK_MESSAGE(declared.contains(name), name, " is not in ops.h");
}

TEST_CASE(
    "the gradient of every op is the slope of its value, and the second derivative that of its gradient") {
  for_each_row([](const OpRow& row) {
    // A second derivative is made of ops whose rows have many elements too.
    const int order = holds(row.name, " of many") ? 1 : 2;
    const GradcheckReport report = gradcheck(row.f, inputs_of(row), {.order = order, .directions = 1});
    INFO(report.text);
    CHECK(report.max_relative_error <= 1e-6);
  });
}

TEST_CASE("an op and its composed form agree, fused takes fewer nodes, and neither touches the inputs") {
  for_each_row([](const OpRow& row) {
    const std::vector<Tensor> inputs = inputs_of(row);
    std::vector<uint64_t> versions;
    for (const Tensor& x : inputs) versions.push_back(raw::storage(x)->version->stamp());
    const Derived plain = run(row, inputs), composed = run(row, inputs, {.higher_order = true});
    // Both forms round a handful of times at 10⁻¹⁶; a row ruled by its eps multiplies that by some
    // hundreds.
    check_close(plain, composed, 1e-12);
    CHECK((row.flags.fused ? plain.recorded < composed.recorded : plain.recorded == composed.recorded));
    for (size_t i = 0; i < inputs.size(); ++i) {
      CAPTURE(i);
      CHECK(raw::storage(inputs[i])->version->stamp() == versions[i]);
      CHECK(same_bits(inputs[i], inputs_of(row)[i]));
    }
    const std::vector<Tensor> singles = converted(inputs, Dtype::f32);
    check_close(run(row, singles), run(row, singles, {.higher_order = true}), row.flags.f32_tolerance);
  });
}

TEST_CASE("an op reads strided input, and a strided gradient from above, as contiguous ones") {
  for_each_row([](const OpRow& row) {
    const std::vector<Tensor> inputs = inputs_of(row), leaves = trainable(inputs);
    std::vector<Tensor> spread, turned;
    for (const Tensor& x : inputs) {
      spread.push_back(every_second(x));
      turned.push_back(columns_first(x));
    }
    const Derived expected = run(row, inputs);
    // A product may read a transposed block without packing it and then sums in another order.
    check_close(run(row, spread), expected, 1e-12);
    check_close(run(row, turned), expected, 1e-12);
    Tape tape;
    const Tensor y = row.f(leaves);
    check_close({y, tape.gradient(y, floats(leaves), every_second(upstream(y)))}, expected, 1e-12);
  });
}

TEST_CASE("second derivatives are the same for a dy of any layout, and reach what dy was computed from") {
  for_each_row([](const OpRow& row) {
    // Of Σ dx · u by the inputs and by `from`, of which dy is a view.
    const auto derivatives = [&](const Tensor& from, const auto& dy_of) {
      const std::vector<Tensor> leaves = trainable(inputs_of(row));
      Tape tape({.higher_order = true});
      const Tensor y = row.f(leaves);
      Tensor total = full({}, 0, Dtype::f64);
      for (const Tensor& d : tape.gradient(y, floats(leaves), dy_of(from)))
        total = total + sum(d * upstream(d));
      std::vector<Tensor> by = floats(leaves);
      by.push_back(from);
      return tape.gradient(total, by);
    };
    const auto same = [](const Tensor& from) { return from; };
    const Tensor dy = upstream(row.f(inputs_of(row)));
    if (dy.numel() == 0) return;
    const std::vector<Tensor> expected = derivatives(dy.detach().set_trainable(), same);
    for (const Tensor& strided : {every_second(dy), columns_first(dy)}) {
      const std::vector<Tensor> got = derivatives(strided.detach().set_trainable(), same);
      for (size_t i = 0; i < got.size(); ++i) CHECK(difference(got[i], expected[i]) <= 1e-12);
    }
    const auto repeated = [&](const Tensor& from) { return broadcast_to(from, dy.shape()); };
    const std::vector<Tensor> of_ones = derivatives(ones(dy.shape(), dy.dtype()).set_trainable(), same),
                              of_one = derivatives(ones({}, dy.dtype()).set_trainable(), repeated);
    for (size_t i = 0; i + 1 < of_one.size(); ++i) CHECK(difference(of_one[i], of_ones[i]) <= 1e-12);
    const double whole = sum(of_ones.back()).item();
    // Sums of up to 2^18 terms in two orders.
    CHECK(of_one.back().item() == doctest::Approx(whole).epsilon(1e-9));
  });
}

TEST_CASE("NaN and infinity make the same elements not finite as in the composed form") {
  const auto finite = [](const Tensor& x) {
    std::vector<bool> elements;
    for (const double element : x.to_vector<double>()) elements.push_back(std::isfinite(element));
    return elements;
  };
  for_each_row([&](const OpRow& row) {
    // What is hidden or ignored is not read by the fused form alone.
    const bool hides =
        function_of(row) == "attention" || holds(row.name, "ignored") || holds(row.name, "entropy of many");
    if (!row.flags.fused || hides) return;
    for (const double odd : {NAN, INFINITY, -INFINITY})
      for (const int64_t part : {0, 1, 2}) {
        std::vector<Tensor> inputs = converted(inputs_of(row), Dtype::f32);
        if (inputs[0].numel() == 0) return;
        raw::write<float>(inputs[0])[(inputs[0].numel() - 1) * part / 2] = static_cast<float>(odd);
        INFO("odd ", odd, ", part ", part);
        const Derived fused = run(row, inputs), composed = run(row, inputs, {.higher_order = true});
        CHECK(finite(fused.y) == finite(composed.y));
        // Of a gradient at infinity one form may give the limit and the other 0 · ∞.
        if (std::isnan(odd)) CHECK(finite(fused.dx[0]) == finite(composed.dx[0]));
      }
  });
}

TEST_CASE("f32 is near f64") {
  for_each_row([](const OpRow& row) {
    const std::vector<Tensor> singles = converted(inputs_of(row), Dtype::f32);
    const Derived single = run(row, singles), exact = run(row, converted(singles, Dtype::f64));
    CHECK(single.y.dtype() == Dtype::f32);
    for (const Tensor& dx : single.dx) CHECK(dx.dtype() == Dtype::f32);
    check_close(single, exact, row.flags.f32_tolerance);
  });
}

TEST_CASE("1, 2, 3 and 8 threads give the same bits") {
  const int before = threads();
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    set_threads(1);
    std::vector<Derived> alone;
    for (const OpRow& row : op_rows()) alone.push_back(run(row, converted(inputs_of(row), dtype)));
    for (int count : {2, 3, 8}) {
      set_threads(count);
      for (size_t i = 0; i < alone.size(); ++i) {
        const OpRow& row = op_rows()[i];
        INFO("name ", row.name, ", count ", count);
        CHECK(same_bits(run(row, converted(inputs_of(row), dtype)), alone[i]));
      }
    }
  }
  set_threads(before);
}

TEST_CASE("without a tape, or without trainable inputs, nothing is recorded") {
  for_each_row([](const OpRow& row) {
    CHECK(!raw::slot(row.f(trainable(inputs_of(row)))).recorded());
    Tape tape;
    CHECK(raw::slot(row.f(inputs_of(row))).tape == 0);
    CHECK(tape.recorded() == 0);
    CHECK(tape.leaves().empty());
    {
      NoTape pause;
      CHECK(raw::slot(row.f(trainable(inputs_of(row)))).tape == 0);
    }
    CHECK(tape.recorded() == 0);
  });
}

TEST_CASE("a tensor that is overwritten after forward changes no gradient, or backward says so") {
  struct Walk {
    int order;
    bool higher_order;
  };
  for_each_row([](const OpRow& row) {
    if (holds(row.name, " of many")) return;  // versions know no sizes
    for (const Walk walk : {Walk{1, false}, Walk{1, true}, Walk{2, true}}) {
      INFO("order ", walk.order, ", higher_order ", walk.higher_order);
      const std::vector<Tensor> expected =
          gradients(row, walk.order, walk.higher_order, [](const auto&, const Tensor&) {});
      const size_t arguments = row.inputs.size() + row.constants.size();
      for (size_t k = 0; k <= arguments; ++k) {  // the last one is the result
        CAPTURE(k);
        Tensor target, before;
        const auto overwrite = [&](const std::vector<Tensor>& leaves, const Tensor& y) {
          target = k < leaves.size() ? leaves[k] : k < arguments ? row.constants[k - leaves.size()] : y;
          before = raw::clone(target);
          if (target.numel() > 0 && target.is_contiguous()) assign(target, other_values(target));
        };
        std::vector<Tensor> got = expected;
        std::string refused;
        try {
          got = gradients(row, walk.order, walk.higher_order, overwrite);
        } catch (const Error& error) {
          refused = error.what();
        }
        if (target.is_contiguous()) assign(target, before);
        CHECK_MESSAGE((refused.empty() || holds(refused, "was overwritten by assign()")), refused);
        REQUIRE(got.size() == expected.size());
        for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
      }
    }
  });
}

TEST_CASE("an op gives the same gradient whether others hold dy or it may write over it, once or twice") {
  for_each_row([](const OpRow& row) {
    const std::vector<Tensor> leaves = trainable(inputs_of(row)), shared = run(row, leaves).dx;
    Tape tape;
    const Tensor y = row.f(leaves), twice = row.f(leaves) + row.f(leaves), dy = upstream(y);
    // The backward of the product makes a dy that nobody else holds; that of the sum gives one to both.
    const std::vector<Tensor> owned = tape.gradient(y * dy, floats(leaves)),
                              doubled = tape.gradient(twice, floats(leaves), dy);
    for (size_t i = 0; i < shared.size(); ++i) {
      CHECK(same_bits(owned[i], shared[i]));
      // Where an input has a single use in the op the sum is dx + dx, which is exact; several uses may round.
      CHECK(difference(doubled[i], shared[i] * 2) <= 1e-14);
    }
  });
}

TEST_CASE("the trainable inputs alone receive a gradient") {
  for_each_row([](const OpRow& row) {
    const std::vector<Tensor> inputs = inputs_of(row);
    const std::vector<Tensor> all = run(row, inputs).dx;
    size_t next = 0;
    for (size_t chosen = 0; chosen < inputs.size(); ++chosen) {
      if (!is_float(inputs[chosen].dtype())) continue;
      std::vector<Tensor> leaves;
      for (const Tensor& x : inputs) leaves.push_back(x.detach());
      leaves[chosen].set_trainable();
      Tape tape;
      const Tensor y = row.f(leaves);
      tape.backward(y, upstream(y));
      for (size_t i = 0; i < leaves.size(); ++i) CHECK(leaves[i].grad().defined() == (i == chosen));
      if (leaves[chosen].grad().defined()) CHECK(same_bits(leaves[chosen].grad(), all[next]));
      ++next;
    }
  });
}

}  // namespace isobar::op_test
