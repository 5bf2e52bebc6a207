"""a4's cases."""
import math
from functools import partial
import oracle
from course import case
from derived import HUGE, TINY, beyond, one_row, sized
from layers import rms_norm, scaled
from oracle import gradients, normal
from tensors import Array, array

# Of the library beside its tensors: the ops that task 1 composes. No tape: gradients are derived by hand.
ALLOWED = ["add", "subtract", "multiply", "divide", "affine", "reciprocal", "square", "sqrt", "pow", "sum",
           "mean", "var", "reshape", "expand", "broadcast_to"]
LOOSE = dict(rtol=1e-7, atol=1e-8)  # the statistics' cancellation, at small x


def layer_norm(x, weight, bias, eps):
    found = []
    for row in oracle.rows(x):
        mean = sum(row) / len(row)
        var = sum((v - mean) ** 2 for v in row) / len(row)
        found.append(scaled([(v - mean) / oracle.sqrt(var + eps) for v in row], weight, bias))
    return oracle.flat(found, x.shape)


def dyt(x, alpha, weight, bias):
    return oracle.flat([scaled([oracle.tanh(alpha.values[0] * v) for v in row], weight, bias)
                        for row in oracle.rows(x)], x.shape)


def statistics(x, eps):
    means = [math.fsum(row) / len(row) for row in oracle.rows(x)]
    rstds = [1 / math.sqrt(math.fsum((v - m) ** 2 for v in row) / len(row) + eps)
             for row, m in zip(oracle.rows(x), means)]
    rrms = [1 / math.sqrt(math.fsum(v * v for v in row) / len(row) + eps) for row in oracle.rows(x)]
    return {"mean": means, "rstd": rstds}, {"rrms": rrms}


norm = lambda x: math.sqrt(math.fsum(v * v for v in x.values))


def drawn(name, x, eps):
    """Numbers of the same kind, a shape that may be larger."""
    kind = {"small numbers, where eps rules": dict(scale=1e-3), "one row": dict(scale=3.0),
            "wide": dict(shift=-2.0)}
    return normal(f"x {name}", *oracle.longer(name)(*x.shape), **kind.get(name, {}))


def in_order(found, names=("dalpha", "dbias", "dweight", "dx")):
    """What needs least first: a student is told the first that is off."""
    return {name: found[name] for name in names if name in found}


def means(dy, weight, z):
    """Of each row, the means of dz and of dz z: they may be answered."""
    dz = [scaled(row, weight) for row in oracle.rows(dy)]
    return {
        "mean_dz?": [sum(row) / len(row) for row in dz],
        "mean_dz_z?": [sum(d * v for d, v in zip(*rows)) / len(rows[0]) for rows in zip(dz, oracle.rows(z))]}


def beyond_differences():
    """Gradients that no difference quotient has."""
    vary = lambda name: sized(name, *[1] * 4)
    dy, weight, r = vary("dy"), vary("weight"), 1e90  # eps 1e-180, and r³, which the handout derives, is finite
    dz = [d * w for d, w in zip(dy, weight)]
    yield case(2, "layer_norm_backward", "LayerNorm's gradient of a constant row, eps of 1e-180",
               {"dy": one_row(dy), "x": one_row([3.0] * 4), "weight": weight, "mean": [3.0], "rstd": [r]},
               {"dbias": dy, "dweight": [0.0] * 4, "dx": one_row([r * (d - sum(dz) / 4) for d in dz])},
               "z is 0, and r large", rtol=1e-7, atol=0)
    # dz is 0 but for two numbers that cancel, and so are the numbers of x: the mean is exactly 0 in any order.
    x = [v * s for v in sized("pairs", 1, TINY, 1e-90) for s in (1, -1)]
    (d, w), r = sized("outer", 1, 1), oracle.draws("outer").uniform(1, 1.3) / abs(x[0])
    z, dz = [v * r for v in x], [d * w, -d * w, 0.0, 0.0, 0.0, 0.0]
    share = dz[0] * (z[0] - z[1]) / 6
    yield beyond(2, "layer_norm_backward", "LayerNorm's gradient, almost 0",
                 {"dy": one_row([d, -d, 0.0, 0.0, 0.0, 0.0]), "x": one_row(x), "weight": [w, w, *sized("others", *[1] * 4)],
                  "mean": [0.0], "rstd": [r]}, {"dx": one_row([r * (a - b * share) for a, b in zip(dz, z)])},
                 derives=["compare"])
    for name, sizes, out, r in [("of which some are almost 0", [1.0, TINY, 1.0, 1e-90], [1.0, 0.0, 1.0, 0.0],
                                 0.7), ("of 1e-90", [1e-90] * 4, [1.0] * 4, 1e90),
                                ("of 1e90", [1e90] * 4, [1.0] * 4, 5e-91)]:
        x, dy, weight = sized(f"x {name}", *sizes), sized(f"dy {name}", *out), vary(f"weight {name}")
        z, dz = [v * r for v in x], [d * w for d, w in zip(dy, weight)]
        share = math.fsum(d * v for d, v in zip(dz, z)) / 4
        inputs = {"dy": one_row(dy), "x": one_row(x), "weight": weight, "rrms": [r]}
        dx = one_row([r * (d - v * share) for d, v in zip(dz, z)])
        if sizes[1] < sizes[0]:
            yield beyond(3, "rms_norm_backward", f"RMSNorm's gradient of numbers {name}", inputs, {"dx": dx},
                         derives=["compare"])
        else:
            yield case(3, "rms_norm_backward", f"RMSNorm's gradient of numbers {name}", inputs,
                       {"dweight": [d * v for d, v in zip(dy, z)], "dx": dx},
                       "z = x · r, as saved; a small dx is to be as exact as a large one", rtol=1e-7, atol=0)
    alpha, x, dy, weight = 1e-160 * oracle.draws("alpha").uniform(0.5, 1), sized("large", *[1e160] * 4), vary(
        "dy of DyT"), vary("weight of DyT")
    t = [math.tanh(alpha * v) for v in x]
    slope = [d * w * (1 - v * v) for d, w, v in zip(dy, weight, t)]
    yield case(4, "dyt_backward", "DyT's gradient with alpha of 1e-160",
               {"dy": one_row(dy), "x": one_row(x), "alpha": alpha, "weight": weight},
               {"dalpha": Array((), [math.fsum(s * v for s, v in zip(slope, x))]), "dbias": dy,
                "dweight": [d * v for d, v in zip(dy, t)], "dx": one_row([alpha * s for s in slope])},
               "alpha · x is of the usual size", rtol=1e-7, atol=0)
    # tanh is exactly 1 at its first number, whose slope is below 1e-160: its dy fills the loss, and no gradient.
    alpha, x, dy, weight = oracle.draws("far alpha").uniform(0.7, 1.4), sized("far x", 200, 1, 1, 1), sized(
        "far dy", HUGE, 1, 1, 1), vary("far weight")
    slope = [0.0, *(d * w / math.cosh(alpha * v) ** 2 for d, w, v in zip(dy[1:], weight[1:], x[1:]))]
    inputs = {"dy": one_row(dy), "x": one_row(x), "alpha": alpha, "weight": weight}
    yield beyond(4, "dyt_backward", "DyT's dx where one number is far out", inputs,
                 {"dx": one_row([alpha * s for s in slope])}, derives=["compare"], atol=1e-20)
    yield beyond(4, "dyt_backward", "DyT's dalpha where one number is far out", inputs,
                 {"dalpha": Array((), [math.fsum(s * v for s, v in zip(slope, x))])}, atol=1e-20)


def layers(x, weight, bias, dy, eps):
    """(name, task, call, inputs, wanted, hint, tolerance) of LayerNorm and RMSNorm: composed, forward, back."""
    layer, rms = partial(layer_norm, eps=eps), partial(rms_norm, eps=eps)
    full, part = {"x": x, "weight": weight, "bias": bias}, {"x": x, "weight": weight}
    of_layer, of_rms = statistics(x, eps)
    grads, rms_grads = (in_order(gradients(f, given, given, dy)) for f, given in ((layer, full), (rms, part)))
    ones, zeros = (Array(weight.shape, [v] * len(weight.values)) for v in (1.0, 0.0))
    of_rows = means(dy, weight, layer(x, ones, zeros))
    of_rms_rows = {"mean_dz_z?": means(dy, weight, rms(x, ones))["mean_dz_z?"]}
    yield ("LayerNorm composed", 1, "layer_norm_composed", {**full, "eps": eps, "dy": dy},
           {"y": layer(**full), **grads},
           "the population's variance; eps under the root; statistics of each row, kept as (N, 1)", LOOSE)
    yield ("RMSNorm composed", 1, "rms_norm_composed", {**part, "eps": eps, "dy": dy},
           {"y": rms(**part), **rms_grads}, "no mean is taken off; eps under the root", LOOSE)
    yield ("LayerNorm", 2, "layer_norm", {**full, "eps": eps}, {**of_layer, "y": layer(**full)},
           "the population's variance; eps beside it, under the root", {})
    yield ("LayerNorm's gradient", 2, "layer_norm_backward", {**part, "dy": dy, **of_layer},
           {**in_order(grads, ("dbias", "dweight")), **of_rows, "dx": grads["dx"]}, "all rows use "
           "dweight and dbias; dx: three roads, two means of the row as in section 3 (The gradient)", LOOSE)
    yield ("RMSNorm", 3, "rms_norm", {**part, "eps": eps}, {**of_rms, "y": rms(**part)},
           "no mean is taken off; eps under the root", {})
    yield ("RMSNorm's gradient", 3, "rms_norm_backward", {**part, "dy": dy, **of_rms},
           {"dweight": rms_grads["dweight"], **of_rms_rows, "dx": rms_grads["dx"]},
           "as LayerNorm's, with one road fewer: no mean of the row is taken off", LOOSE)


def of_dyt(numbers, dy):
    """DyT's gradients; alpha is a single number."""
    found = gradients(dyt, numbers, numbers, dy)
    return in_order({**found, "dalpha": Array((), found["dalpha"].values)})


def cases():
    for name, x, eps, public in [
            ("rows", normal(1, 3, 4), 1e-5, True), ("off centre", normal(2, 2, 6, shift=5.0), 1e-5, True),
            ("a large eps", normal(3, 3, 3), 0.5, True),
            ("small numbers, where eps rules", normal(4, 2, 5, scale=1e-3), 1e-5, False),
            ("one row", normal(5, 1, 7, scale=3.0), 1e-3, False), ("many rows", normal(6, 9, 2), 0.1, False),
            ("wide", normal(7, 2, 16, shift=-2.0), 0.25, False), ("one column", normal(8, 3, 1), 0.1, False)]:
        if not public:
            x = drawn(name, x, eps)
        n, c = x.shape
        weight, bias, dy = normal(9, c, shift=1.0), normal(10, c), normal(11, n, c)
        for what, task, call, inputs, wanted, hint, how in layers(x, weight, bias, dy, eps):
            yield case(task, call, f"{what}, {name}", inputs, wanted, hint, public=public, **how)
        for alpha in (0.5, -1.25):
            if (alpha == 0.5) != public and name != "many rows":
                continue
            alpha = alpha if public else alpha * oracle.draws(f"alpha {name}").uniform(0.8, 1.2)
            numbers = {"x": x, "weight": weight, "bias": bias, "alpha": Array((1,), [alpha])}
            side = f"with alpha {'below' if alpha < 0 else 'above'} 0, {name}"
            yield case(4, "dyt", f"DyT {side}", numbers, {"y": dyt(**numbers)},
                       "each element by itself; weight and bias are of its channel", public=public)
            yield case(4, "dyt_backward", f"DyT's gradient {side}",
                       {"dy": dy, "x": x, "alpha": alpha, "weight": weight}, of_dyt(numbers, dy),
                       "the slope of tanh; alpha is used by every element, weight and bias by every row",
                       public=public, **LOOSE)
        one, zero = Array((c,), [1.0] * c), Array((c,), [0.0] * c)
        ones = [(lambda x: layer_norm(x, one, zero, 1e-5)), (lambda x: rms_norm(x, one, 1e-5)),
                (lambda x: dyt(x, array([0.5]), one, zero))]
        yield case(5, "compare", f"compared, {name}", {"x": x, "dy": dy},
                   {"ratios": [[norm(f(x)) / norm(x),
                                norm(oracle.gradient(f, {"x": x}, "x", dy)) / norm(dy)] for f in ones]},
                   "norms over all elements; weight 1, bias 0, eps 1e-5, alpha 0.5", public=public, rtol=1e-6,
                   atol=1e-7)
    away = 1e7 * oracle.draws("away").uniform(1, 1.5)
    far = Array((2, 4), [v + s for s in (away, -away) for v in (1.0, -0.5, 2.0, 0.25)])
    one, zero = Array((4,), [1.0] * 4), Array((4,), [0.0] * 4)
    wanted = statistics(far, 1e-5)[0]
    yield case(2, "layer_norm", "LayerNorm far off centre",
               {"x": far, "weight": one, "bias": zero, "eps": 1e-5},
               {"y": layer_norm(far, one, zero, 1e-5), **wanted},
               "two passes: E[x²] − E[x]² loses every digit here", rtol=1e-7)
    yield case(2, "layer_norm", "LayerNorm of a constant row",
               {"x": [[3.0] * 4], "weight": one, "bias": [1.0, 2.0, 3.0, 4.0], "eps": 1e-5},
               {"y": [[1.0, 2.0, 3.0, 4.0]], "rstd": [1 / math.sqrt(1e-5)]}, "the bias is what is left")
    yield case(3, "rms_norm", "RMSNorm of zeros", {"x": [[0.0] * 4], "weight": one, "eps": 1e-6},
               {"y": [[0.0] * 4], "rrms": [1e3]}, "eps keeps it finite")
    x, weight, bias = normal("second", 3, 4), normal("second weight", 4), normal("second bias", 4)
    dy = normal("second dy", 3, 4)
    second = [("DyT's gradient", 4, "dyt_backward", {"x": x, "weight": weight, "dy": dy, "alpha": 0.7},
               of_dyt({"x": x, "weight": weight, "bias": bias, "alpha": Array((1,), [0.7])}, dy), "", LOOSE)]
    for what, task, call, inputs, wanted, _, how in [*layers(x, weight, bias, dy, 1e-3)][2:] + second:
        yield case(task, call, f"a second {what}", {**inputs, "warm": 1}, wanted, **how)
    yield from beyond_differences()
    x = normal(1, 3, 4)
    for what, task, shapes, public in [
            ("layer_norm", 2, [(3,), (4,)], True), ("layer_norm", 2, [(4,), (5,)], False),
            ("layer_norm", 2, [(1,), (4,)], False), ("layer_norm", 2, [(4,), (1, 4)], False),
            ("layer_norm", 2, [(4, 1), (4,)], False), ("layer_norm", 2, [(3, 4), (3, 4)], False),
            ("rms_norm", 3, [(5,)], True), ("rms_norm", 3, [(1,)], False), ("rms_norm", 3, [(1, 4)], False),
            ("rms_norm", 3, [(4, 1)], False), ("rms_norm", 3, [(3, 4)], False)]:
        parts = {k: normal(12, *s) for k, s in zip(["weight", "bias"], shapes)}
        yield case(task, what, f"{what}: {' and '.join(str(list(s)) for s in shapes)} does not fit",
                   {"x": x, **parts, "eps": 1e-5}, error=shapes, public=public,
                   hint=f"name what came: \"…, got {'[3] and [4]' if len(shapes) > 1 else '[3]'}\"")
