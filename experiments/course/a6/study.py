"""a6's study: signal, gradient and distance of two inputs, predicted and measured; a blog judged."""
import statistics

BLOG = [0.8932, 0.6421, 0.4156, 0.2387, 0.1024, 0.0432, 0.0198, 0.0163]
WIDTH, BATCH, SEEDS = 512, 32, 10
WORDS = {0: "refuted", 0.5: "too few seeds", 1: "confirmed"}


def layers(values):
    return list(enumerate(values, 1))


def charts(ask):
    net = {"depth": 8, "width": WIDTH}
    known = ask("variances", init=0, width=WIDTH)
    weights = {"weight": known["weight"].values[0], "bias": known["bias"].values[0]}
    predicted = ask("predict_std", **net, **weights)["std"].values
    sloped = ask("predict_gradient", **net, **weights, batch=BATCH)["norm"].values
    seeds = [ask("study", **net, batch=BATCH, seed=s, he=0) for s in range(SEEDS)]
    he = ask("study", **net, batch=BATCH, seed=SEEDS, he=1)
    median = lambda name: [statistics.median(seed[name].values[l] for seed in seeds) for l in range(8)]
    yield dict(title="The signal", labels=("layer", "std of h"), log=(False, True), ends=(None, (0.01, 1)),
               dots=("measured", "blog"),
               curves=[("predicted", layers(predicted)), ("measured", layers(median("std"))),
                       ("He, measured", layers(he["std"].values)), ("blog", layers(BLOG))])
    yield dict(title="The gradient", labels=("layer", "‖dW‖"), log=(False, True), dots=("measured",),
               curves=[("predicted", layers(sloped)), ("measured", layers(median("gradient_norm"))),
                       ("He, measured", layers(he["gradient_norm"].values))])
    apart = [ask("apart", depth=8, width=128, batch=16, seed=1,
                 he=kind)["distance"].values for kind in (0, 1)]
    yield dict(title="Two different inputs", labels=("layer", "how far apart"), log=(False, True),
               curves=[("default", layers(apart[0])), ("He", layers(apart[1]))])
    verdicts = ask("judge", printed=BLOG, measured=[list(seed["std"].values) for seed in seeds],
                   rounding=5e-5)["verdicts"]
    table = [f"layer   printed  predicted  measured (median of {SEEDS})  printed/measured  verdict"]
    for l, printed in enumerate(BLOG):
        table.append(f"{l + 1:5}   {printed:7.4f}  {predicted[l]:9.4f}  "
                     f"{median('std')[l]:8.4f}{verdicts[l, 1]:29.2f}  {WORDS.get(verdicts[l, 0], '?')}")
    yield "\n".join(table)
    yield "How far apart two inputs are, layer by layer (default): " + " ".join(f"{d:.3g}" for d in apart[0])
    yield "Is \"signals go to zero\" right? What holds the last std up, and what goes to zero instead?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import math
import chart, oracle

ask = None  # the reference's answers, given by grading/handouts.py
C, DEPTH = 512, 8


variance = lambda init: ask("variances", init=init, width=C)["weight"].values[0]


def of(init):
    found = ask("variances", init=init, width=C)
    return {"width": C, "weight": found["weight"].values[0], "bias": found["bias"].values[0]}


stds = lambda init, count: ask("predict_std", depth=DEPTH, **of(init))["std"].values[:count]
plateau = lambda: ask("plateau", **of(0))["std"].values[0]
norms = lambda: ask("predict_gradient", depth=DEPTH, batch=BATCH, **of(0))["norm"].values


def std1():
    """The std of relu(z) for E z² = 1: one layer of width 1 whose input has mean square 1."""
    return ask("predict_std", depth=1, width=1, weight=1.0, bias=0.0)["std"].values[0]


def m_after(m, width, weight, bias):
    """E h² of the layer after one with m: the input's 1 is taken for m, weights and biases in its units."""
    return m * (ask("predict_std", depth=1, width=width, weight=weight,
                    bias=bias / m)["std"].values[0] / std1()) ** 2 / 2


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
    """‖dW‖ of a layer above one with E h² = m and E dz² = 1/2: of one whose input has E h² = 1."""
    return math.sqrt(m) * ask("predict_gradient", depth=1, width=width, batch=batch, weight=0.1,
                              bias=0.0)["norm"].values[0]


def half_input():
    known = of(0)
    return std1() * math.sqrt(C * known["weight"] / 2 + known["bias"])


def first_too_small():
    """√(E h₀² / E h₁²) at the default."""
    return 1 / math.sqrt(m_after(1, **of(0)))


t = lambda seeds, layers: oracle.student_quantile(1 - 0.005 / layers, seeds - 1)
reach = lambda seeds, layers: t(seeds, layers) * math.sqrt(1 + 1 / seeds)


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


def pictures():
    line = [(m, m_after(m, 4, 0.25, 8)) for m in (0.001, 26)]
    web, m = [(24, 0)], 24
    for following in steps(24, 5, 4, 0.25, 8):
        web += [(m, following), (following, following)]
        m = following
    return {"blog.svg": chart.svg("The std of each layer, as printed", ("layer", "std"),
                                  [("the study", list(enumerate(BLOG, 1)))], log=(False, True),
                                  ends=(None, (0.01, 1)), dots=("the study",)),
            "steps.svg": chart.svg("From layer to layer", ("m of one layer", "m of the next"),
                                   [("the step", line), ("no change", [(0, 0), (26, 26)]), ("from 24", web)],
                                   ends=((0, 26), (0, 26)))}
