"""a3's cases."""
import math
import oracle
from course import case
from derived import HUGE, beyond, one_row, sized, times, transposed
from layers import linear
from oracle import gradient, gradients, normal
from tensors import Array, array

ALLOWED = ["Rng"]  # of the library beside its tensors: draws


def log_softmax(x):
    found = []
    for row in oracle.rows(x):
        top = max(map(oracle.real, row))
        total = oracle.log(sum(oracle.exp(v - top) for v in row))
        found.append([v - top - total for v in row])
    return oracle.flat(found, x.shape)


def cross_entropy(logits, targets, ignore=-100):
    rows = oracle.rows(log_softmax(logits))
    losses = [-row[t] for row, t in zip(rows, targets) if t != ignore]
    return Array((), [sum(losses) / len(losses)])


def beyond_differences():
    """Gradients that no difference quotient has."""
    x, weight, dy = normal("many rows", 600, 150), normal("many inputs", 5, 150), normal("many dy", 600, 5)
    yield beyond(1, "linear_backward", "linear's gradients, 90,000 numbers", {"dy": dy, "x": x, "weight": weight},
                 {"dx": times(dy, weight), "dweight": times(transposed(dy), x),
                  "dbias": [math.fsum(dy.values[m::5]) for m in range(5)]}, atol=1e-10)
    x, dy = sized("x", *[1] * 6), sized("dy", HUGE, *[1] * 5)
    yield beyond(2, "relu_backward", "relu's gradient, a dy of which one is huge", {"dy": dy, "x": x},
                 {"dx": [d if v > 0 else 0.0 for d, v in zip(dy, x)]})
    logits = [*sized("logits", 1, 1), *(-abs(v) for v in sized("far", 150, 200))]
    y, dy = log_softmax(one_row(logits)).values, sized("sum", 1, 1) + [0.0, 0.0]
    yield beyond(4, "log_softmax_backward", "log_softmax's gradient, almost 0", {"dy": one_row(dy), "y": one_row(y)},
                 {"dx": one_row([d - math.exp(v) * (dy[0] + dy[1]) for d, v in zip(dy, y)])})
    yield beyond(5, "cross_entropy_backward", "cross_entropy's gradient, almost 0",
                 {"logits": one_row(logits), "targets": Array([1], [0], "i64")},
                 {"dlogits": one_row([math.expm1(y[0]), *map(math.exp, y[1:])])})


def cases():
    # --- task 1
    for name, n, k, m, bias, public in [
            ("small", 2, 3, 4, True, True), ("without a bias", 3, 2, 2, False, True),
            ("square", 3, 3, 3, True, True), ("one row", 1, 4, 2, True, False),
            ("one output", 4, 2, 1, True, False), ("no rows", 0, 3, 2, True, False),
            ("no inputs", 2, 0, 3, True, False)]:
        n, k, m = oracle.longer(name, public=public)(n, k, m)
        tensors = {"x": normal(1, n, k), "weight": normal(2, m, k)}
        if bias:
            tensors["bias"] = normal(3, m)
        dy = normal(4, n, m)
        yield case(1, "linear", f"linear, {name}", tensors, {"y": linear(**tensors)},
                   "weight is (outputs, inputs): a row of it for each output", public=public)
        wanted = gradients(lambda x, weight, bias: linear(x, weight, bias),
                           {"bias": normal(3, m), **tensors}, ["x", "weight", "bias"], dy)
        yield case(1, "linear_backward", f"linear's gradients, {name}",
                   {"dy": dy, "x": tensors["x"], "weight": tensors["weight"]}, wanted, "who uses what? x[n, "
                   "k] is in all outputs of row n, weight[m, k] and bias[m] in all rows", public=public)
    for name, shapes, told, public in [
            ("a weight that does not fit is an error", [(2, 3), (4, 2)], [0, 1], True),
            ("a bias that does not fit is an error", [(2, 3), (4, 3), (3,)], [2], True),
            ("a vector is no batch", [(3,), (4, 3)], [0, 1], False),
            ("a bias of one number does not fit four", [(2, 3), (4, 3), (1,)], [2], False),
            ("a bias in a row is an error", [(2, 3), (4, 3), (1, 4)], [2], False),
            ("a bias in a column is an error", [(2, 3), (4, 3), (4, 1)], [2], False),
            ("a bias for each row of x is an error", [(5, 3), (4, 3), (5,)], [2], False),
            ("a single number for a bias is an error", [(2, 3), (1, 3), ()], [2], False),
            ("a transposed weight is an error", [(2, 3), (3, 4)], [0, 1], False)]:
        yield case(1, "linear", name, {k: normal(5, *s) for k, s in zip(["x", "weight", "bias"], shapes)},
                   error=[shapes[i] for i in told], public=public,
                   hint="name the shapes of x and weight, or bias's")
    # --- task 2
    x = array([[1.5, -2.0, 0.0], [-1e-300, 3.0, 1e-300]])
    dy = array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    yield case(2, "relu", "relu", {"x": x}, {"y": [[1.5, 0, 0], [0, 3.0, 1e-300]]},
               "a new tensor; x keeps its values", public=True, atol=0)
    yield case(2, "relu_backward", "relu's gradient", {"x": x, "dy": dy},
               {"dx": [[1.0, 0, 0], [0, 5.0, 6.0]]}, "slope 0 at 0", public=True)
    size = oracle.choose(1, "relu's size", [0.25, 0.5, 1.5, 2.5])
    yield case(2, "relu", "relu of infinities", {"x": [math.inf, -math.inf, -0.5 * size]},
               {"y": [math.inf, 0.0, 0.0]}, "max(0, x)")
    yield case(2, "relu", "relu of a NaN", {"x": [size, math.nan, -1.0]}, {"y": [size, math.nan, 0.0]},
               "NaN compares false with everything: which branch does it take?")
    rows, columns = oracle.longer("relu", 4)(3, 7)
    big = normal(6, rows, columns)
    yield case(2, "relu", "relu of more numbers", {"x": big},
               {"y": Array((rows, columns), [max(v, 0.0) for v in big.values])}, "max(0, x)")
    up = normal(7, rows, columns)
    yield case(2, "relu_backward", "relu's gradient of more numbers", {"x": big, "dy": up},
               {"dx": Array((rows, columns), [d if v > 0 else 0.0 for d, v in zip(up.values, big.values)])},
               "dy where x > 0")
    yield case(2, "relu_backward", "relu's gradient at zeros", {"x": [0.0, -0.0, size], "dy": [5.0, 6.0, 7.0 * size]},
               {"dx": [0.0, 0.0, 7.0 * size]}, "slope 0 at 0")
    # --- task 3
    for shape, (rows, columns), public in [("(3, 5)", (3, 5), True),
                                           ("a small layer, after another", (4, 2), False),
                                           ("one input, after another layer", (16, 1), False)]:
        seed = 7
        if not public:
            seed = oracle.choose(7, f"seed {rows}", range(1, 10 ** 6))
            rows, columns = oracle.longer(f"weights {rows}", 4)(rows, columns)
        u, z = oracle.uniform_draws(seed, rows * columns), oracle.normal_draws(seed, rows * columns)
        inputs = {"out": rows, "in": columns, "seed": seed, **({} if public else {"warm": 1})}
        for what, values in [("xavier_uniform", [math.sqrt(6 / (rows + columns)) * (2 * v - 1) for v in u]),
                             ("he_normal", [math.sqrt(2 / columns) * v for v in z]),
                             ("torch_default", [(2 * v - 1) / math.sqrt(columns) for v in u])]:
            yield case(3, what, f"{what} of {shape}", inputs, {"w": Array((rows, columns), values)},
                       "blank 3; element i is made of draw i; (out, in) is the shape", public=public,
                       rtol=1e-8, atol=1e-9)
    def variance(wanted, fourth):
        def judge(answer):
            w = answer["w"].values
            v = sum(x * x for x in w) / len(w)
            k = sum(x ** 4 for x in w) / len(w) / v ** 2
            near = abs(v / wanted - 1) <= 0.11 and abs(k / fourth - 1) <= 0.15  # 5 standard errors or more
            if answer["w"].shape != (64, 64) or not near:
                return "the variance, or the shape of the distribution, is another"
        return judge
    for what, wanted, fourth in [("xavier_uniform", 2 / 128, 1.8), ("he_normal", 2 / 64, 3.0),
                                 ("torch_default", 1 / 3 / 64, 1.8)]:
        yield case(3, what, f"{what}'s variance of 4096 weights",
                   {"out": 64, "in": 64, "seed": oracle.choose(11, what, range(10 ** 6))},
                   judge=variance(wanted, fourth), hint="the variance, and uniform or normal")
    # --- task 4
    far = oracle.choose(800, "far apart", range(760, 900))
    for name, x, public in [("rows", normal(8, 3, 4), True),
                            ("large numbers", array([[1000.0, 1001.0], [-900.0, -905.0]]), True),
                            ("far apart", array([[0.0, -far, 5.0], [3000.0, 0.0, 1.0]]), False),
                            ("one class", normal(8, 3, 1), False), ("many classes", normal(8, 2, 40), False)]:
        yield case(4, "log_softmax", f"log_softmax of {name}", {"x": x}, {"y": log_softmax(x)},
                   "the largest may be taken off first: what is left of the row? The logarithm of a "
                   "rounded-off probability is −∞", public=public)
    for name, x, public in [("rows", normal(9, 3, 4), True), ("one row", normal(9, 1, 5), False),
                            ("large numbers", array([[1000.0, 1001.0, 998.0], [700.0, 705.0, 706.0]]),
                             False)]:
        dy = normal(10, *x.shape)
        yield case(4, "log_softmax_backward", f"log_softmax's gradient of {name}",
                   {"dy": dy, "y": log_softmax(x)}, gradients(log_softmax, {"x": x}, "x", dy),
                   "blank 5: directly, and by the sum that the whole row shares; p is e to the y",
                   public=public, rtol=1e-8)
    # --- task 5
    def pair(name, logits, targets, public=False, ignore=None):
        if not public:  # the classes in another order
            order = list(range(logits.shape[1]))
            oracle.draws(f"classes {name}").shuffle(order)
            if ignore != 0:
                targets = [t if t < 0 else order[t] for t in targets]
            if max(logits.values) > 100:
                places = [order.index(i) for i in range(len(order))]
                logits = oracle.flat([[row[i] for i in places] for row in oracle.rows(logits)], logits.shape)
        inputs = {"logits": logits, "targets": Array([len(targets)], targets, "i64")}
        if ignore is not None:
            inputs["ignore"] = ignore
        f = lambda logits: cross_entropy(logits, targets, -100 if ignore is None else ignore)
        yield case(5, "cross_entropy", f"cross_entropy, {name}", inputs, {"loss": f(logits)},
                   "the mean over the rows that are not ignored", public=public)
        yield case(5, "cross_entropy_backward", f"cross_entropy's gradient, {name}", inputs,
                   {"dlogits": gradient(f, {"logits": logits}, "logits", Array((), [1.0]))},
                   "blank 6; the mean is over the rows that are not ignored, whose own gradient is 0",
                   public=public, rtol=1e-8)
    yield from pair("three rows", normal(11, 3, 4), [1, 3, 0], True)
    yield from pair("one of them ignored", normal(11, 4, 3), [1, -100, 0, 2], True)
    yield from pair("the last class and the first", normal(12, 2, 5), [4, 0])
    yield from pair("another number to ignore", normal(13, 4, 3), [2, 0, 0, 1], ignore=0)
    yield from pair("an ignored row between", normal(14, 5, 3), [-100, 2, -100, 1, 1])
    yield from pair("sure and wrong", array([[1000.0, 0.0], [0.0, 2000.0]]), [1, 0])
    yield from pair("one row", normal(15, 1, 6), [2])
    all_out = {"logits": normal(16, 2, 3), "targets": Array([2], [-100, -100], "i64")}
    yield case(5, "cross_entropy", "all ignored: a NaN", all_out, {"loss": math.nan}, "0 / 0, as in PyTorch")
    yield case(5, "cross_entropy_backward", "all ignored: no gradient", all_out, {"dlogits": [[0.0] * 3] * 2},
               "ignored rows get zeros, whatever is divided by")
    for name, target, public in [
            ("a target of V is an error", 3, True), ("a negative target is an error", -1, False),
            ("a target far out is an error", 1000, False), ("V counts from one", 5, False),
            ("the number to ignore, when it is another", -100, False)]:
        inputs = {"logits": normal(17, 2, 5 if target == 5 else 3), "targets": Array([2], [0, target], "i64")}
        if target == -100:
            inputs["ignore"] = -1
        for what in ("cross_entropy", "cross_entropy_backward"):
            yield case(5, what, f"{what}, {name}", inputs, error=[target, 5 if target == 5 else 3],
                       public=public, hint="\"cross_entropy: wanted targets in [0, 3), got 3\"")
    yield from beyond_differences()
