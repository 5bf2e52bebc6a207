"""What the numbers of a6's handout are computed with: the reference's predictions, and its study."""
import math
import chart, course, oracle
from handouts import ask

curves = course.module_of("a6", "curves.py")
BLOG, C, DEPTH, BATCH = curves.BLOG, 512, 8, 32


def variance(init):
    return ask("variances", init=init, width=C)["weight"].values[0]


def of(init):
    found = ask("variances", init=init, width=C)
    return {"width": C, "weight": found["weight"].values[0], "bias": found["bias"].values[0]}


def stds(init, count):
    return ask("predict_std", depth=DEPTH, **of(init))["std"].values[:count]


def plateau():
    return ask("plateau", **of(0))["std"].values[0]


def norms():
    return ask("predict_gradient", depth=DEPTH, batch=BATCH, **of(0))["norm"].values


def std1():
    """The std of relu(z) for E z² = 1: one layer of width 1 whose input has mean square 1."""
    return ask("predict_std", depth=1, width=1, weight=1.0, bias=0.0)["std"].values[0]


def m_after(m, width, weight, bias):
    """E h² of the layer after one with m: the input's 1 is taken for m, weights and biases in its units."""
    return m * (ask("predict_std", depth=1, width=width, weight=weight, bias=bias / m)["std"].values[0] / std1()) ** 2 / 2


def steps(m, count, width, weight, bias):
    found = []
    for _ in range(count):
        m = m_after(m, width, weight, bias)
        found.append(m)
    return found


def plateau_m(width, weight, bias):
    return (ask("plateau", width=width, weight=weight, bias=bias)["std"].values[0] / std1()) ** 2 / 2


def mean_after(square):
    """E h of relu(z): what is left of E h² = E z²/2 beside the variance."""
    return math.sqrt(square / 2 - square * std1() ** 2)


def gradient_norm(batch, width, m):
    """‖dW‖ of a layer above one with E h² = m and E dz² = 1/2: of one layer, whose input has mean square 1."""
    return math.sqrt(m) * ask("predict_gradient", depth=1, width=width, batch=batch, weight=0.1, bias=0.0)["norm"].values[0]


def half_input():
    known = of(0)
    return std1() * math.sqrt(C * known["weight"] / 2 + known["bias"])


def first_too_small():
    """√(E h₀² / E h₁²) at the default."""
    return 1 / math.sqrt(m_after(1, **of(0)))


def t(seeds, layers):
    return oracle.student_quantile(1 - 0.005 / layers, seeds - 1)


def reach(seeds, layers):
    return t(seeds, layers) * math.sqrt(1 + 1 / seeds)


def seeds_needed(layers):
    """The fewest for which the reference's judge confirms what lies in the middle."""
    def verdict(seeds):
        measured = [[math.exp(0.1 * (s - (seeds - 1) / 2))] * layers for s in range(seeds)]
        return ask("judge", printed=[1.0] * layers, measured=measured, rounding=0.0)["verdicts"].values[0]
    return next(seeds for seeds in range(2, 20) if verdict(seeds) == 1)


def refuted_of_two():
    """How often a number of the same kind lies over three standard deviations from the mean of two."""
    limit = 3 / math.sqrt(1.5)  # of t with one degree of freedom
    return 1 - 2 * math.atan(limit) / math.pi


def half():
    """A normal density, its right half filled."""
    area = chart.Scale([-3.2, 3.2], 120, 520, False), chart.Scale([0, 0.42], 150, 14, False)
    at = lambda z: f"{area[0](z):.1f} {area[1](math.exp(-z * z / 2) / math.sqrt(2 * math.pi)):.1f}"
    left, right = [" L".join(at(0.1 * i) for i in range(*ends)) for ends in ((-32, 1), (0, 33))]
    ground = area[1](0)
    return "\n".join([chart.HEAD.format(640, 180), f'<path d="M{area[0](0)} {ground} L{right} L{area[0](3.2)} {ground}Z" fill="#c3d8f3"/>',
                      f'<path d="M{left}" fill="none" stroke="#9aa3ad" stroke-width="2"/><path d="M{right}" fill="none" stroke="#0b5fc0" stroke-width="2"/>',
                      f'<path d="M110 {ground}H530M{area[0](0)} {ground}V10" stroke="#5b636d"/>', chart.word(536, ground + 5, "z"),
                      chart.word(200, 172, "becomes 0", "s", "middle"), chart.word(400, 172, "stays: h = z", "s", "middle"), "</svg>\n"])


def pictures():
    line = [(m, m_after(m, 4, 0.25, 8)) for m in (0.001, 26)]
    web, m = [(24, 0)], 24
    for following in steps(24, 5, 4, 0.25, 8):
        web += [(m, following), (following, following)]
        m = following
    return {"blog.svg": chart.svg("The std of each layer, as printed", ("layer", "std"), [("the study", list(enumerate(BLOG, 1)))],
                                  log=(False, True), ends=(None, (0.01, 1)), dots=("the study",)),
            "steps.svg": chart.svg("From layer to layer", ("m of one layer", "m of the next"), [("the step", line), ("no change", [(0, 0), (26, 26)]), ("from 24", web)],
                                   ends=((0, 26), (0, 26))),
            "half.svg": half()}
