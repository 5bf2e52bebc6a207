"""a6's cases. Predictions are wanted by closed sums instead of recurrences, measurements by plain loops."""
import math, statistics
import oracle
from course import case
from oracle import normal
from tensors import Array, array

ALLOWED = None  # all of the library: it is the instrument here


def predicted(depth, width, weight, bias):
    """Mean squares of h_1 … h_L as a geometric sum: f^l + (b/2)(1 + f + … + f^{l−1}), f = C Var w / 2."""
    f = width * weight / 2
    return [f ** l + bias / 2 * sum(f ** i for i in range(l)) for l in range(1, depth + 1)]


std_of = lambda m: math.sqrt(2 * m) * math.sqrt(0.5 - 0.5 / math.pi)


def gradient_norms(depth, width, batch, weight, bias):
    f = width * weight / 2
    m = [1.0] + predicted(depth, width, weight, bias)
    return [width * math.sqrt(batch * 0.5 * f ** (depth - l) * m[l - 1]) for l in range(1, depth + 1)]


def run(x, weights, biases):
    """h_1 … h_L as lists of rows."""
    depth, width, _ = weights.shape
    h, layers = oracle.rows(x), []
    for l in range(depth):
        z = [[sum(row[k] * weights[l, m, k] for k in range(width)) + biases[l, m] for m in range(width)]
             for row in h]
        h = [[v if oracle.real(v) > 0 else 0.0 for v in row] for row in z]
        layers.append(h)
    return layers


def measured(x, weights, biases, dy):
    stds = [statistics.pstdev([v for row in h for v in row]) for h in run(x, weights, biases)]
    last = lambda weights: Array(x.shape, [v for row in run(x, weights, biases)[-1] for v in row])
    slopes = oracle.gradient(last, {"weights": weights}, "weights", dy).values
    n = len(slopes) // weights.shape[0]
    return stds, [math.sqrt(math.fsum(s * s for s in slopes[i:i + n])) for i in range(0, len(slopes), n)]


def interval(column, layers):
    """Student's prediction interval of the logarithms, and whether the seeds are enough."""
    logs, n, tail = list(map(math.log, column)), len(column), 0.005 / layers
    reach = oracle.student_quantile(1 - tail, n - 1) * math.sqrt(1 + 1 / n)
    half = reach * statistics.stdev(logs)
    return (math.exp(statistics.mean(logs) - half), math.exp(statistics.mean(logs) + half),
            reach <= 2 * statistics.NormalDist().inv_cdf(1 - tail))


def judged(printed, seeds, rounding):
    found = []
    for l, value in enumerate(printed):
        column = [row[l] for row in seeds]
        low, high, enough = interval(column, len(printed))
        inside = low - rounding <= value <= high + rounding
        found.append([(1.0 if enough else 0.5) if inside else 0.0, value / statistics.median(column)])
    return found


def drawn_seeds(name, seeds, layers, spread=0.2):
    """Measurements (S, L) about e^0, e^-1, …, and for each layer its interval."""
    rows = [[math.exp(spread * z - l) for l, z in enumerate(normal(f"{name} {s}", layers).values)]
            for s in range(seeds)]
    return rows, [interval([row[l] for row in rows], layers)[:2] for l in range(layers)]


def nearby(ends, factor):
    """The interval's ends moved in (factor < 1) or out, the lower and the upper by turns."""
    found = []
    for l, (low, high) in enumerate(ends):
        middle, half = math.sqrt(low * high), math.log(high / low) / 2
        found.append(middle * math.exp(half * factor * (-1) ** l))
    return found


def cases():
    # --- task 1
    size = oracle.choose(512, "size", range(65, 1000))
    for init, name, weight, bias, public in [(0, "PyTorch's default", 1 / 3, 1 / 3, True),
                                             (1, "He", 2, 0, True), (2, "Xavier", 1, 0, True),
                                             (3, "LeCun", 1, 0, False)]:
        hint = ["uniform in ±1/√C, the biases too: blank 1", "what keeps the signal's size: blank 8",
                "2 / (in + out), no biases", "1 / in, no biases"][init]
        for what, width in (("64", 64), ("of some hundreds", size),
                            ("10", oracle.choose(10, "small", range(3, 12)))):
            if public or width != 64:
                yield case(1, "variances", f"{name}'s variances at width {what}",
                           {"init": init, "width": width}, {"weight": weight / width, "bias": bias / width},
                           hint, public=public and width == 64)
    # --- tasks 2, 3
    drawn = lambda name, low, high: oracle.draws(name).uniform(low, high)
    wide, narrow = oracle.choose(64, "wide", range(40, 90)), oracle.choose(10, "narrow", range(6, 30))
    for name, depth, width, batch, weight, bias, public in [
            ("PyTorch's default, 8 layers", 8, 512, 32, 1 / 1536, 1 / 1536, True),
            ("He, 5 layers", 5, 100, 16, 0.02, 0.0, True),
            ("Xavier, many layers", oracle.choose(12, "depth", range(9, 16)), wide, 4, 1 / wide, 0.0, False),
            ("one layer", 1, narrow, 3, drawn("one layer's weight", 0.1, 0.6),
             drawn("one layer's bias", 0.1, 0.6), False),
            ("growing", oracle.choose(6, "growing", range(5, 9)), 50, 8,
             drawn("growing's weight", 0.06, 0.15), drawn("growing's bias", 0.2, 0.8), False),
            ("the default, 100 layers", 100, 2 * wide, 32, 1 / (6 * wide), 1 / (6 * wide), False),
            ("drawn variances", oracle.choose(7, "drawn", range(4, 12)), narrow, 5,
             drawn("a weight", 0.2, 1.9) / narrow, drawn("a bias", 0.1, 2), False)]:
        inputs = {"depth": depth, "width": width, "weight": weight, "bias": bias}
        yield case(2, "predict_std", f"predicted std, {name}", inputs,
                   {"std": [std_of(m) for m in predicted(depth, width, weight, bias)]},
                   "blanks 2 to 6; the input is not behind a ReLU; the std of h is about its mean",
                   public=public, atol=0)
        yield case(3, "predict_gradient", f"predicted gradient, {name}", {**inputs, "batch": batch},
                   {"norm": gradient_norms(depth, width, batch, weight, bias)},
                   "blanks 9 to 11, from the last layer down; whose h does dW take?", public=public, atol=0)
        factor = width * weight / 2
        if bias and factor < 0.97 and depth > 1:
            yield case(2, "plateau", f"plateau, {name}", inputs, {"std": std_of(bias / 2 / (1 - factor))},
                       "the E h² that a layer leaves as it is", public=public, atol=0)
    two = {"first_weight": drawn("1st weight", 0.5, 1.5) / wide, "first_bias": drawn("1st bias", 0, 1),
           "second_weight": drawn("2nd weight", 1.6, 2.5) / wide, "second_bias": drawn("2nd bias", 1, 2)}
    variances = [(two[f"{name}_weight"], two[f"{name}_bias"]) for name in ("first", "second")]
    for task, what in ((2, "std"), (3, "norm")):
        found = [[std_of(m) for m in predicted(4, wide, *v)] if what == "std"
                 else gradient_norms(4, wide, 8, *v) for v in variances]
        yield case(task, "predict_two", f"two nets in one program, {what}",
                   {"depth": 4, "width": wide, **two},
                   {f"first_{what}": found[0], f"second_{what}": found[1]},
                   "what is kept from one net must not be used for the next", atol=0)
    weight, bias = drawn("plateau's weight", 0.1, 0.4), drawn("plateau's bias", 1, 5)
    yield case(2, "plateau", "plateau, narrow", {"width": 4, "weight": weight, "bias": bias},
               {"std": std_of(bias / 2 / (1 - 2 * weight))}, "the E h² that a layer leaves as it is", atol=0)
    yield case(2, "plateau", "plateau without biases", {"width": narrow, "weight": 1 / narrow, "bias": 0.0},
               {"std": 0.0}, "nothing holds it up")
    for name, width, weight, public in [
            ("He", 10, 0.2, True), ("larger weights", narrow, drawn("larger", 2.1, 5) / narrow, False),
            ("exactly 1", 2 ** oracle.choose(3, "power", range(1, 8)), None, False)]:
        yield case(2, "plateau", f"plateau, {name}: an error",
                   {"width": width, "weight": weight or 2 / width, "bias": 0.1}, error=[], public=public,
                   hint="\"plateau_std: wanted C · Var w / 2 below 1, got …\"")
    # --- task 4
    for name, depth, width, batch, public in [("two layers", 2, 3, 4, True), ("one layer", 1, 4, 2, True),
                                              ("three layers", 3, 4, 3, False), ("one row", 2, 5, 1, False),
                                              ("five layers", 5, 3, 2, False)]:
        (batch,), (width,) = (oracle.longer(f"{name} {of}", public=public)(extent)
                              for of, extent in (("batch", batch), ("width", width)))
        x, dy = normal(1, batch, width), normal(2, batch, width)
        weights, biases = normal(3, depth, width, width), normal(4, depth, width, scale=0.5)
        stds, norms = measured(x, weights, biases, dy)
        yield case(4, "measure", f"measured, {name}", {"x": x, "weights": weights, "biases": biases,
                                                       "dy": dy}, {"std": stds, "gradient_norm": norms},
                   "h after the ReLU, about its mean, over the number of elements; the loss is Σ dy h_L",
                   public=public)
    away = float(oracle.choose(10 ** 7, "away", range(10 ** 7, 3 * 10 ** 7)))
    far = Array((1, 2), [away, away])
    yield case(4, "measure", "measured far off zero",
               {"x": array([[1.0, 2.0], [2.0, 1.0]]), "weights": [[[1.0, 0.0], [0.0, 1.0]]], "biases": far,
                "dy": array([[1.0, 1.0], [1.0, 1.0]])}, {"std": [0.5], "gradient_norm": [math.sqrt(36.0)]},
               "two passes", rtol=1e-6)
    # What PyTorch 1.13 gave for this net over 20 seeds; another seed may leave the range by a tenth.
    torch = [(0.3323, 0.3465), (0.1313, 0.1440), (0.0544, 0.0625), (0.0261, 0.0300), (0.0176, 0.0196),
             (0.0153, 0.0176), (0.0151, 0.0170), (0.0148, 0.0167)]
    def study(he, depth, width, batch):
        variances = (2 / width, 0.0) if he else (1 / (3 * width),) * 2
        stds = [std_of(m) for m in predicted(depth, width, *variances)]
        norms = gradient_norms(depth, width, batch, *variances)
        def judge(answer):
            own = {name: answer[name].values for name in ("std", "gradient_norm", "std_ratio", "norm_ratio")}
            if any(len(values) != depth for values in own.values()):
                return f"wanted numbers of {depth} layers"
            # By what is predicted here, and by what the student predicts.
            for l, (s, g, by_s, by_g) in enumerate(zip(*own.values())):
                if not all(0.75 <= ratio <= 1.33 for ratio in (s / stds[l], g / norms[l], by_s, by_g)):
                    return f"measured over predicted is {by_s:.3g} (std) and {by_g:.3g} (gradient) at layer {l + 1}"
            if not he and not all(0.9 * a <= v <= 1.1 * b for v, (a, b) in zip(answer["std"].values, torch)):
                return "the std is not PyTorch's"
        return judge
    for he, name, of, depth, width, batch in [
            (0, "eight default layers of 512: PyTorch's std, and as predicted", "net", 8, 512, 32),
            (1, "six He layers of 256: as predicted", "He's net", 6, 256, 64)]:
        yield case(4, "study", name, {"depth": depth, "width": width, "batch": batch,
                                      "seed": oracle.choose(1 + he, of, range(10 ** 6)), "he": he},
                   judge=study(he, depth, width, batch), hint="prediction and measurement agree within 25 %")
    # --- task 5
    blog = [0.8932, 0.6421, 0.4156, 0.2387, 0.1024, 0.0432, 0.0198, 0.0163]  # as printed
    ours = [[(a + b) / 2 + (b - a) / 4 * z for (a, b), z in zip(torch, normal(20 + s, 8).values)]
            for s in range(12)]
    hint = "m and s of logarithms, S − 1; t of S − 1 degrees at 1 − 0.005/L; the median of an even number is the mean of two"
    rows = lambda seeds: Array((len(seeds), len(seeds[0])), [v for row in seeds for v in row])
    data = [("the blog's eight layers", blog, ours[:9], 5e-5, True),
            ("an even number of seeds", blog, ours[:8], 5e-5, True),
            ("five seeds are too few for eight layers", blog, ours[:5], 5e-5, True),
            ("ten seeds", blog, ours[:10], 5e-5, False)]
    for name, count, layers, factor, rounding in [
            ("inside", 8, 4, 0.95, 0.0), ("outside", 8, 4, 1.05, 0.0), ("near the middle", 12, 5, 0.3, 0.0),
            ("a little inside, three layers", 6, 3, 0.985, 0.0),
            ("a little outside, three layers", 6, 3, 1.015, 0.0),
            ("inside, one layer, five seeds", 5, 1, 0.99, 0.0),
            ("outside, one layer, five seeds", 5, 1, 1.01, 0.0),
            ("one layer, four seeds: too few", 4, 1, 0.9, 0.0),
            ("eight layers, six seeds: too few", 6, 8, 0.9, 0.0),
            ("eight layers, seven seeds: enough", 7, 8, 0.97, 0.0), ("too few, and outside", 3, 3, 1.03, 0.0),
            ("two seeds: too few", 2, 2, 0.99, 0.0), ("two seeds, and outside", 2, 2, 1.01, 0.0),
            ("three layers, six seeds: enough", 6, 3, 0.5, 0.0),
            ("six layers, six seeds: too few", 6, 6, 0.9, 0.0), ("many layers", 9, 30, 0.96, 0.0),
            ("twenty seeds", 20, 2, 1.04, 0.0)]:
        seeds, ends = drawn_seeds(name, count, layers)
        data.append((name, nearby(ends, factor), seeds, rounding, False))
    for name, outside in [("outside, but for the rounding", 0.8), ("outside, the rounding too", 1.2)]:
        seeds, ends = drawn_seeds(name, 9, 4)
        printed = [
            high + 0.002 * outside if l % 2 else low - 0.002 * outside for l, (low, high) in enumerate(ends)]
        data.append((name, printed, seeds, 0.002, False))
    skew, ends = drawn_seeds("skew", 7, 3, 1.5)
    data.append(("seeds that are skew", nearby(ends, 0.9), skew, 0.01, False))
    for name, printed, seeds, rounding, public in data:
        yield case(5, "judge", f"judged, {name}",
                   {"printed": printed, "measured": rows(seeds), "rounding": rounding},
                   {"verdicts": judged(printed, seeds, rounding)}, hint, public=public)
    yield case(5, "judge", "judged, a NaN was printed",
               {"printed": [math.nan, math.inf, 0.0], "measured": rows(drawn_seeds("NaN", 9, 3)[0]),
                "rounding": 0.001}, {"verdicts": [[0.0, math.nan], [0.0, math.inf], [0.0, 0.0]]},
               "a NaN is refuted, and compares false with everything")
    for name, p, m, public in [("one seed is none", (2,), (1, 2), True),
                               ("one seed of three layers is none", (3,), (1, 3), False),
                               ("layers differ", (2,), (3, 3), False),
                               ("a list of measurements", (2,), (2,), False)]:
        yield case(5, "judge", f"judged, {name}: an error",
                   {"printed": normal(1, *p), "measured": normal(2, *m), "rounding": 0.0}, error=[p, m],
                   public=public, hint="name both shapes: \"…, got [2] and [1, 2]\"")
