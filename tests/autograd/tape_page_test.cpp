#include "../../autograd/check/tape_page.h"

#include <doctest/doctest.h>

#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../file_size_limit.h"
#include "../message_of.h"
#include "../op_table.h"
#include "../run.h"

namespace isobar::tape_page_test {

// The data that a page holds.
nlohmann::json data_in(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}
nlohmann::json page_data(const TapeTrace& trace, const std::vector<NamedTensor>& parameters = {}) {
  const TemporaryFolder folder;
  tape_page(trace, folder / "tape.html", parameters);
  const std::string page = file_text(folder / "tape.html");
  CHECK(holds(page, "forward     1 "));
  return data_in(page);
}

// A page of a = x², b = x + a, a · b at x = 3, which a browser walks through too.
void write_diamond(const std::string& path, const Tensor& x) {
  const TapeTrace trace;
  Tape tape;
  const Tensor a = multiply(x, x), b = x + a;
  tape.backward(a * b);
  tape_page(trace, path, {{"x", x}});
}

void write_model(const std::string& path) {
  LanguageModel model({.vocab_size = 65, .block_size = 32, .n_layer = 4, .n_head = 4, .n_embd = 64}, Rng(1));
  const Tensor tokens = reshape(arange(64), {2, 32});
  const TapeTrace trace;
  Tape tape;
  tape.backward(model.loss(tokens, tokens));
  tape_page(trace, path, named_parameters(model));
}

// Each parameter's name and the norm of its gradient as the page has it.
void check_gradients(const nlohmann::json& data, const std::vector<NamedTensor>& parameters) {
  size_t found = 0;
  for (const auto& source : data["sources"])
    for (const NamedTensor& parameter : parameters)
      if (source["name"] == parameter.name) {
        CAPTURE(parameter.name);
        ++found;
        const Tensor gradient = parameter.tensor.grad();
        CHECK(source["gradient"]["norm"].get<double>() ==
              doctest::Approx(std::sqrt(sum(square(gradient)).item())));
        if (gradient.numel() <= TapeTrace::most_numbers)
          CHECK(source["gradient"]["numbers"].get<std::vector<float>>() == gradient.to_vector<float>());
      }
  CHECK(found == parameters.size());
}

TEST_CASE("a page holds the values and gradients of a tape, step by step") {
  Linear layer(3, 2, Rng(1));
  const TapeTrace trace;
  Tape tape;
  const Tensor x = reshape(arange(12, Dtype::f32), {4, 3});
  tape.backward(mean(square(layer(x))));
  const nlohmann::json data = page_data(trace, named_parameters(layer));
  check_gradients(data, named_parameters(layer));
  CHECK(data["ops"][0]["name"] == "linear");
  CHECK(data["ops"][0]["inputs"].dump() == R"([["source",0],["source",1],["source",2]])");
  CHECK(data["ops"][0]["value"]["numbers"].get<std::vector<float>>() == layer(x).to_vector<float>());
  CHECK(data["sources"][0]["name"] == "constant");
  CHECK(data["sources"][0]["gradient"].is_null());
  CHECK(data["formulas"]["linear"] ==
        "linear:  y = x Wᵀ + bias       dx = dy · W     dW = dyᵀ · x     dbias = Σ dy over rows\n");
  const size_t ops = data["ops"].size();
  CHECK(data["steps"].size() == 2 * ops);
  CHECK(data["steps"][ops].dump() == "[1,0]");
  CHECK(data["visits"][0]["op"] == ops - 1);
}

TEST_CASE("a gradient of a repeated input is shown as summed") {
  const Tensor bias = zeros({1, 2, 1}).set_trainable();
  const TapeTrace trace;
  Tape tape;
  const auto same = [](const Tensor& dy) { return dy; };
  tape.backward(sum(record("plus", ones({4, 2, 3}) + bias.detach(), {bias}, same)));
  CHECK(page_data(trace)["visits"].back()["dx"][0]["numbers"].dump() == "[12,12]");
}

TEST_CASE("before backward a page has values alone") {
  const Tensor w = ones({TapeTrace::most_numbers}).set_trainable();
  const TapeTrace trace;
  const Tape tape;
  sum(w);
  const nlohmann::json data = page_data(trace);
  CHECK(data["visits"].empty());
  CHECK(data["sources"][0]["gradient"].is_null());
  CHECK(data["sources"][0]["value"]["numbers"].size() == TapeTrace::most_numbers);
  CHECK(data["steps"].size() == data["ops"].size());
}

TEST_CASE("ops that a higher-order backward records are ops too") {
  const Tensor w = full({}, 0.5).set_trainable();
  const TapeTrace trace;
  Tape tape({.higher_order = true});
  const Tensor dw = tape.gradient(w * w * w, {w})[0];
  CHECK(trace.ops().size() == tape.recorded());
  CHECK(trace.visits().size() == 2);
  tape.gradient(dw, {w});
  CHECK(trace.visits().size() > 4);
}

TEST_CASE("a trace has what a backward records on a tape of its own, and the ops of other tapes") {
  const Tensor w = full({}, 0.5).set_trainable();
  const TapeTrace trace;
  Tape tape;
  tape.backward(record("again", full({}, 1.5), {w}, [](const Tensor& dy) {
    Tape inner;
    const Tensor x = full({}, 0.5).set_trainable();
    return inner.gradient(exp(exp(x)), {x})[0] * dy;
  }));
  {
    const Tape other;
    w* w;
  }
  CHECK(page_data(trace)["steps"].dump() == "[[0,0],[0,1],[0,2],[1,1],[1,2],[1,0],[0,3]]");
}

TEST_CASE("values that are not finite, and names with quotes and tags, reach the page") {
  const Tensor w = full({}, -1.0).set_trainable();
  const TapeTrace trace;
  const Tape tape;
  const Scope scope(Scope::intern("a\"</script>"));
  log(w);
  const nlohmann::json data = page_data(trace, {{"\\<b>", w}});
  CHECK(data["ops"][0]["module"] == "a\"</script>");
  CHECK(data["ops"][0]["value"]["numbers"][0] == "nan");
  CHECK(data["sources"][0]["name"] == "\\<b>");
}

TEST_CASE("an empty tape, a long one and a path that cannot be written are told in one sentence") {
  const TapeTrace empty;
  CHECK(
      message_of([&] { tape_page(empty, "tape.html"); }) ==
      "tape_page: no op was recorded; make the TapeTrace before its Tape, and compute from trainable tensors");
  Tensor x = full({}, 1.0).set_trainable();
  const TapeTrace trace;
  const Tape tape;
  x = x * 1.0;
  CHECK(message_of([&] { tape_page(trace, "/no folder/tape.html"); }) ==
        "tape_page: cannot write '/no folder/tape.html': No such file or directory");
  const TemporaryFolder folder;
  {
    const FileSizeLimit limit(1000);
    CHECK(holds(message_of([&] { tape_page(trace, folder / "tape.html"); }), ": File too large"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "tape.html"));
  for (size_t i = 0; i < most_ops_of_page; ++i) x = x * 1.0;
  CHECK(message_of([&] { tape_page(trace, "tape.html"); }) ==
        "tape_page: wanted at most 2000 ops, got 2001; trace one step alone, or a model of fewer layers");
}

TEST_CASE("every op that is recorded has its own formula, out of its file's comment") {
  for (const OpRow& row : op_rows()) {
    const TapeTrace trace;
    const Tape tape;
    std::vector<Tensor> inputs = inputs_of(row);
    for (Tensor& x : inputs)
      if (x.defined() && is_float(x.dtype())) x.set_trainable();
    row.f(inputs);
    for (const TapeTrace::Op& op : trace.ops()) {
      CAPTURE(op.name);
      CHECK_FALSE(formula_of(op.name).empty());
    }
  }
  CHECK(formula_of("exp") == "exp:         y = eˣ                dx = dy · y\n");
  CHECK(formula_of("gather") ==
        "y = gather(x, index)             y[i, j] = x[index[i, j], j]\n"
        "                                 dx = scatter_add(0, index, dy)\n");
  CHECK(formula_of("derf").starts_with("y = t(x) · weight + bias\nderf       t = erf("));
  CHECK(formula_of("no_such_op").empty());
}

TEST_CASE("pages are walked through in a browser; that of four layers takes at most 500 KiB") {
  const TemporaryFolder folder;
  const std::string diamond = folder / "diamond.html", model = folder / "model.html",
                    values = folder / "values.html";
  Tensor x = full({}, 3, Dtype::f64).set_trainable();
  write_diamond(diamond, x);
  CHECK(x.grad().item() == 135);
  write_model(model);
  CHECK(std::filesystem::file_size(model) <= 500 * 1024);
  {
    const TapeTrace trace;
    const Tape tape;
    square(x);
    tape_page(trace, values);
  }
  browse("page/tape_page.py", {diamond, model, values});
}

}  // namespace isobar::tape_page_test
