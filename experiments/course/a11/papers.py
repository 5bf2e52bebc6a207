"""The ten layers: parameters with their first values, and the formula in plain Python, as the grader computes
it. `rows` are those of x, `p` the parameters, lists of numbers."""
import math
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


ONE, ZERO = (lambda channels: [1.0] * channels), (lambda channels: [0.0] * channels)


always = lambda value: lambda channels: [value]


# name: ({parameter: its first value for C channels}, formula)
LAYERS = {
    "scalenorm": ({"g": lambda channels: [math.sqrt(channels)]},
                  lambda rows, p: each(divided(rows, lambda row: sum(v * v for v in row) + EPS),
                                       lambda v, c: p["g"][0] * v)),
    "pixelnorm": ({}, lambda rows, p: divided(rows, lambda row: mean([v * v for v in row]) + 1e-8)),
    "crmsnorm": ({"weight": ONE},
                 lambda rows, p: weighted(divided(rows, lambda row: (sum(v * v for v in row)
                                                                     + sum(row) ** 2) / (len(row) + 1) + EPS),
                                          p)), "powernorm": ({"weight": ONE, "bias": ZERO}, powernorm),
    "frn": ({"weight": ONE, "bias": ZERO, "eps": always(0.1), "tau": ZERO}, frn),
    "evonorm_s0": ({"weight": ONE, "bias": ZERO, "v": ONE}, evonorm_s0),
    "rezero": ({"alpha": always(0.0)}, lambda rows, p: each(rows, lambda v, c: p["alpha"][0] * v)),
    "layerscale": ({"weight": lambda channels: [0.1] * channels}, weighted),
    "dyhardtanh": ({"weight": ONE, "bias": ZERO, "alpha": always(0.5)}, dyhardtanh),
    "scaled_relu": ({}, lambda rows, p: each(rows,
                                             lambda v, c: math.sqrt(2 / (1 - 1 / math.pi)) * larger(v, 0))),}
LATER = {"powernorm": powernorm_later}  # of layers that compute something else in evaluation
