"""Published norms as a reader types them into the live chapter, each function of formulas in one of them, and what they
are by Python's own arithmetic.

A row has the source, the formula, and the normalized row that its w and b, where it has them, scale and shift."""
import math
import re
import statistics


def over(divisor):
    """x / divisor(x)."""
    return lambda x: [v / divisor(x) for v in x]


def centered(divisor):
    """(x − mean) / divisor(x)."""
    return lambda x: [(v - statistics.fmean(x)) / divisor(x) for v in x]


def each(function):
    return lambda x: [function(v) for v in x]


def power_mean(p, eps=0.0):
    return lambda x: (sum(abs(v) ** p for v in x) / len(x) + eps) ** (1 / p)


def softmax(x):
    return [math.exp(v) / math.fsum(map(math.exp, x)) for v in x]


NORMS = [
    ("LayerNorm, Ba 2016", "w*(x-mean(x))/sqrt(mean((x-mean(x))^2)+0.00001)+b",
     centered(lambda x: math.sqrt(statistics.pvariance(x) + 1e-5))),
    ("LayerNorm, Annotated Transformer 2018", "w*(x-mean(x))/(sqrt(sum((x-mean(x))^2)/4)+0.000001)+b",
     centered(lambda x: statistics.stdev(x) + 1e-6)),
    ("RMSNorm without eps", "w*x/mean(x^2)^0.5", over(power_mean(2))),
    ("RMSNorm, Gemma 2024", "(1+w)*x/sqrt(mean(x^2)+0.000001)", over(power_mean(2, 1e-6))),
    ("QKNorm, Henry 2020", "x/(sqrt(sum(x^2))+0.000001)", over(lambda x: math.hypot(*x) + 1e-6)),
    ("L1 norm, Hoffer 2018", "w*(x-mean(x))/mean(abs(x-mean(x)))+b",
     centered(lambda x: power_mean(1)([v - statistics.fmean(x) for v in x]))),
    ("norm by p = 4", "w*x/sqrt(sqrt(mean(x^4)+0.00001))", over(power_mean(4, 1e-5))),
    ("DyT of √d", "w*2.2360679774997896*tanh(x/2.2360679774997896)+b", each(lambda v: 5**.5 * math.tanh(v / 5**.5))),
    ("Derf, Chen 2025", "w*erf(0.5*x)+b", each(lambda v: math.erf(v / 2))),
    ("symlog, Hafner 2023", "x/abs(x)*log(1+abs(x))", each(lambda v: math.copysign(math.log1p(abs(v)), v))),
    ("a shifted sigmoid", "w*(2*sigmoid(x)-1)+b", each(lambda v: math.tanh(v / 2))),
    ("softmax, Bridle 1990", "exp(x)/sum(exp(x))", softmax),
    ("squash, Sabour 2017", "x*sqrt(sum(x^2))/(1+sum(x^2))", over(lambda x: math.hypot(*x) + 1 / math.hypot(*x))),
    ("divisive normalization, Heeger 1992", "w*relu(x)^2/(1+sum(relu(x)^2))",
     lambda x: [max(v, 0) ** 2 / (1 + sum(u * u for u in x if u > 0)) for v in x]),
]


def values(formula, normalized, x, w, b):
    scale, shift = ({letter: re.search(rf"\b{letter}\b", formula) for letter in "wb"}).values()
    own = formula.startswith("(1+w)")  # Gemma's weight is kept less 1
    y, width = [], len(w)
    for begin in range(0, len(x), width):
        row = normalized(x[begin:begin + width])
        y += [v * (w[i] + own if scale else 1) + (b[i] if shift else 0) for i, v in enumerate(row)]
    return y


def error_of(sample, formula, normalized):
    """The largest difference of the sample's y, dx, dw and db from these, its gradients by central differences,
    over the largest element of each."""
    of = [sample[name] for name in "xwb"]
    wanted = {"y": values(formula, normalized, *of)}

    def loss(which, i, away):
        moved = [list(one) for one in of]
        moved[which][i] += away
        return math.fsum(a * b for a, b in zip(sample["dy"], values(formula, normalized, *moved)))

    for which, name in enumerate("xwb"):
        slopes = [(loss(which, i, 1e-5) - loss(which, i, -1e-5)) / 2e-5 for i in range(len(of[which]))]
        wanted["d" + name] = slopes if any(slopes) else []  # of a parameter that the formula has not
    assert all(len(wanted[name]) == len(sample[name]) for name in wanted), formula
    return max(max(abs(a - b) for a, b in zip(wanted[name], sample[name])) / max(map(abs, wanted[name]))
               for name in wanted if wanted[name])
