"""The ten layers: parameters with their first values, and the formula in plain Python, as the grader computes
it. `rows` are those of x, `p` the parameters, lists of numbers."""
import math, typing
import oracle

EPS = 1e-5


mean = lambda values: sum(values) / len(values)
larger = lambda a, b: a if oracle.real(a) >= oracle.real(b) else b
smaller = lambda a, b: a if oracle.real(a) <= oracle.real(b) else b
sigmoid = lambda v: 1 / (1 + oracle.exp(-v))
each = lambda rows, f: [[f(v, c) for c, v in enumerate(row)] for row in rows]


def divided(rows, root_of):
    """Each row by a number of its own."""
    return [[v / root for v in row] for row in rows for root in [oracle.sqrt(root_of(row))]]


weighted = lambda rows, p: each(rows, lambda v, c: v * p["weight"][c] + (p["bias"][c] if "bias" in p else 0))
variance = lambda row: mean([(v - mean(row)) ** 2 for v in row])


def powernorm(rows, p):
    roots = [oracle.sqrt(mean([v * v for v in column]) + EPS) for column in zip(*rows)]
    return weighted(each(rows, lambda v, c: v / roots[c]), p)


def powernorm_later(rows, p, before):
    """In evaluation, after one call in training: the running mean square began at 1 and moved by a tenth."""
    roots = [oracle.sqrt(0.9 + 0.1 * mean([v * v for v in column]) + EPS) for column in zip(*before)]
    return weighted(each(rows, lambda v, c: v / roots[c]), p)


def frn(rows, p):
    eps = p["eps"][0] if oracle.real(p["eps"][0]) >= 0 else -p["eps"][0]
    return each(weighted(each(rows, lambda v, c: v / oracle.sqrt(v * v + eps)), p),
                lambda v, c: larger(v, p["tau"][c]))


def evonorm_s0(rows, p):
    gated = [[v * sigmoid(p["v"][c] * v) / oracle.sqrt(variance(row) + EPS) for c, v in enumerate(row)]
             for row in rows]
    return weighted(gated, p)


dyhardtanh = lambda rows, p: weighted(each(rows, lambda v, c: smaller(larger(p["alpha"][0] * v, -1), 1)), p)


class First(typing.NamedTuple):
    """A parameter's first values: in C++, and for C channels."""
    cpp: str
    of: typing.Callable


each_channel = lambda value: First(f"full(width, {value})", lambda channels: [value] * channels)
always = lambda value: First(f"isobar::full({{1}}, {value})", lambda channels: [value])
ONE, ZERO = each_channel(1.0), each_channel(0.0)
AFFINE = {"weight": ONE, "bias": ZERO}

# name: ({parameter: its first values}, formula, the same in C++)
LAYERS = {
    "scalenorm": ({"g": First("isobar::full({1}, std::sqrt(double(width.numel())))",
                              lambda channels: [math.sqrt(channels)])},
                  lambda rows, p: each(divided(rows, lambda row: sum(v * v for v in row) + EPS),
                                       lambda v, c: p["g"][0] * v),
                  """x * p["g"] * rsqrt(sum(square(x), {-1}, true) + 1e-5)"""),
    "pixelnorm": ({}, lambda rows, p: divided(rows, lambda row: mean([v * v for v in row]) + 1e-8),
                  "x * rsqrt(mean(square(x), {-1}, true) + 1e-8)"),
    "crmsnorm": ({"weight": ONE},
                 lambda rows, p: weighted(divided(rows, lambda row: (
                     sum(v * v for v in row) + sum(row) ** 2) / (len(row) + 1) + EPS), p),
                 """x * rsqrt((sum(square(x), {-1}, true) + square(sum(x, {-1}, true))) / (x.size(-1) + 1.0) +
                    1e-5) * p["weight"]"""),
    "powernorm": (AFFINE, powernorm, None),  # the reference
    "frn": (AFFINE | {"eps": always(0.1), "tau": ZERO}, frn,
            """maximum(x * rsqrt(square(x) + abs(p["eps"])) * p["weight"] + p["bias"], p["tau"])"""),
    "evonorm_s0": (AFFINE | {"v": ONE}, evonorm_s0,
                   """x * sigmoid(p["v"] * x) * rsqrt(mean(square(x - mean(x, {-1}, true)), {-1}, true) + 1e-5)
                      * p["weight"] + p["bias"]"""),
    "rezero": ({"alpha": always(0.0)}, lambda rows, p: each(rows, lambda v, c: p["alpha"][0] * v),
               """x * p["alpha"]"""),
    "layerscale": ({"weight": each_channel(0.1)}, weighted, """x * p["weight"]"""),
    "dyhardtanh": (AFFINE | {"alpha": always(0.5)}, dyhardtanh,
                   """clamp(p["alpha"] * x, -1, 1) * p["weight"] + p["bias"]"""),
    "scaled_relu": ({}, lambda rows, p: each(rows,
                                             lambda v, c: math.sqrt(2 / (1 - 1 / math.pi)) * larger(v, 0)),
                    "relu(x) * std::sqrt(2 / (1 - 1 / std::numbers::pi))"),}
LATER = {"powernorm": powernorm_later}  # of layers that compute something else in evaluation
SOLUTION = """#include <map>

#include "a11.h"

struct Formula : isobar::Module {
  std::map<std::string, Tensor> p;

  explicit Formula(const Shape& width) : p{PARAMETERS} {
    for (auto& [name, parameter] : p) parameter.set_trainable();
  }
  Tensor forward(const Tensor& x) override { return FORMULA; }
  void fields(isobar::Fields& f) override {
    for (auto& [name, parameter] : p) f(name, parameter);
  }
};

std::string chosen() { return "NAME"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<Formula>(width); }
"""


def alternatives():
    """{name: a solution} of all but the reference."""
    parameters = lambda first: ", ".join(f'{{"{which}", {value.cpp}}}' for which, value in first.items())
    made = lambda name, first, cpp: SOLUTION.replace("NAME", name).replace(
        "PARAMETERS", parameters(first)).replace("FORMULA", cpp)
    return {name: made(name, first, cpp) for name, (first, _, cpp) in LAYERS.items() if cpp}
