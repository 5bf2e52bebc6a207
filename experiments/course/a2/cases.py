"""a2's cases."""
import functools, math, operator
import oracle
from course import case
from derived import HUGE, TINY, beyond, one_row, sized, times, transposed
from layers import softmax
from oracle import build, gradients, normal
from tensors import Array, array


def broadcast(shape, x, index):
    """x's element at an index of the shape it broadcasts to."""
    own = index[len(shape) - len(x.shape):]
    return x[tuple(0 if e == 1 else i for e, i in zip(x.shape, own))]


def wide(a, b):
    n = max(len(a.shape), len(b.shape))
    pad = lambda s: (1,) * (n - len(s)) + tuple(s)
    return tuple(q if p == 1 else p for p, q in zip(pad(a.shape), pad(b.shape)))


def elementwise(op, a, b):
    shape = wide(a, b)
    return build(shape, lambda *i: op(broadcast(shape, a, i), broadcast(shape, b, i)))


def matmul(a, b):
    return build((a.shape[0], b.shape[1]), lambda m, n: sum(a[m, k] * b[k, n] for k in range(a.shape[1])))


def sum_to(x, shape):
    """By the definition of an adjoint: d Σ x · broadcast(z) / d z."""
    z = Array(shape, [0.0] * math.prod(shape))
    return oracle.gradient(lambda z: build(x.shape, lambda *i: broadcast(x.shape, z, i)), {"z": z}, "z", x)


def gradient_error(a, n):
    size = max(map(abs, n))
    return max(0 if p == q else abs(p - q) / max(abs(p), abs(q), 1e-3 * size) for p, q in zip(a, n))


def beyond_differences():
    """Gradients that no difference quotient has."""
    dy, a, b = sized("dy", HUGE, 1, 1, 1), sized("a", *[1] * 4), sized("b", *[1] * 4)
    for op, da, db in [("multiply", [d * q for d, q in zip(dy, b)], [d * p for d, p in zip(dy, a)]),
                       ("divide", [d / q for d, q in zip(dy, b)], [-d * p / q ** 2 for d, p, q in zip(dy, a, b)])]:
        yield beyond(2, f"{op}_backward", f"{op}, a dy of which one is huge", {"dy": dy, "a": a, "b": b},
                     {"da": da, "db": db})
    a, b, dy = normal("many rows", 600, 150), normal("many columns", 150, 5), normal("many dy", 600, 5)
    yield beyond(3, "matmul_backward", "its gradients, 90,000 numbers", {"dy": dy, "a": a, "b": b},
                 {"da": times(dy, transposed(b)), "db": times(transposed(a), dy)}, atol=1e-10)
    y, dy = [*softmax(Array((2,), sized("logits", 1, 1))).values, *map(abs, sized("y", TINY, 1e-90))], sized("sum", 1, 1)
    share = dy[0] * y[0] + dy[1] * y[1]
    yield beyond(4, "softmax_backward", "softmax's gradient, almost 0",
                 {"dy": one_row(dy + [0.0, 0.0]), "y": one_row(y)},
                 {"dx": one_row([v * (d - share) for v, d in zip(y, dy + [0.0, 0.0])])})
    top, dy = sized("tie", 1)[0], sized("rows", HUGE, 1)
    yield beyond(4, "max_backward", "max's gradient, a dy of which one is huge",
                 {"dy": dy, "x": [[top, top - 1, top - 2, top - 3], [top, top, top - 1, top]]},
                 {"dx": [[dy[0], 0.0, 0.0, 0.0], [dy[1] / 3, dy[1] / 3, 0.0, dy[1] / 3]]})


def cases():
    # --- task 1
    hint = "align the shapes at their last dimension; sum over extents of one and over what is missing in front"
    for name, frm, to, public in [("rows of a matrix are summed", (3, 4), (4,), True),
                                  ("columns are summed, one stays", (3, 4), (3, 1), True),
                                  ("all of it to a single number", (2, 3), (), False),
                                  ("the same shape changes nothing", (2, 3), (2, 3), False),
                                  ("in front, in the middle and at the end", (2, 3, 4, 2), (3, 1, 2), False),
                                  ("an extent of one in front stays", (5, 3), (1, 3), True),
                                  ("ones on both sides", (2, 3, 2), (1, 3, 1), False),
                                  ("nothing is summed to zeros", (0, 3), (3,), False)]:
        more = oracle.longer(name, public=public)
        frm, to = more(*frm), more(*to)
        x = normal(1, *frm)
        yield case(1, "sum_to", name, {"x": x, "shape": Array([len(to)], to, "i64")}, {"y": sum_to(x, to)},
                   hint, public=public)
    for name, frm, to, public in [("a shape that does not fit is an error", (3, 4), (3,), True),
                                  ("a shape that would need repeating is an error", (3, 1), (4,), False),
                                  ("a shape of more dimensions is an error", (3,), (2, 3), False)]:
        more = oracle.longer(name, public=public)
        frm, to = more(*frm), more(*to)
        yield case(1, "sum_to", name, {"x": normal(1, *frm), "shape": Array([len(to)], to, "i64")},
                   error=[frm, to], public=public, hint="\"sum_to: [3] does not broadcast to [3, 4]\"")
    # --- task 2
    pairs = [("same shapes", (2, 3), (2, 3), True), ("b is a row", (3, 4), (4,), True),
             ("a is a row", (4,), (3, 4), False), ("b is a single number", (2, 3), (), False),
             ("both are repeated", (3, 1), (1, 4), False), ("three dimensions", (2, 1, 3), (4, 1), False)]
    for op, f in (("multiply", operator.mul), ("divide", operator.truediv)):
        for name, p, q, public in pairs:
            more = oracle.longer(f"{op} {name}", public=public)
            p, q = more(*p), more(*q)
            a, b = normal(2, *p), normal(3, *q, shift=3.0, scale=0.4)
            dy = normal(4, *wide(a, b))
            yield case(2, f"{op}_backward", f"{op}, {name}", {"dy": dy, "a": a, "b": b},
                       gradients(functools.partial(elementwise, f), {"a": a, "b": b}, "ab", dy),
                       "the gradient in dy's shape, then sum_to the operand's", public=public)
    # --- task 3
    for name, m, k, n, public in [("small", 2, 3, 4, True), ("a column times a row", 3, 1, 4, False),
                                  ("a row times a column", 1, 5, 1, False),
                                  ("no depth gives zeros", 2, 0, 3, False), ("square", 3, 3, 3, True),
                                  ("tall", 4, 3, 2, False), ("wide", 2, 2, 5, False)]:
        m, k, n = oracle.longer(f"product {name}", public=public)(m, k, n)
        a, b = normal(5, m, k), normal(6, k, n)
        dy = normal(7, m, n)
        yield case(3, "matmul", f"product, {name}", {"a": a, "b": b}, {"y": matmul(a, b)},
                   "y[m, n] = Σₖ a[m, k] b[k, n]", public=public)
        yield case(3, "matmul_backward", f"its gradients, {name}", {"dy": dy, "a": a, "b": b},
                   gradients(matmul, {"a": a, "b": b}, "ab", dy),
                   "shapes decide: which product of dy and b has a's shape?", public=public)
    yield case(3, "matmul", "matrices that do not fit are an error",
               {"a": normal(1, 2, 3), "b": normal(1, 4, 5)}, error=[[2, 3], [4, 5]], public=True,
               hint="name both shapes, in your words")
    yield case(3, "matmul", "a matrix that wants to be transposed is an error",
               {"a": normal(1, 2, 3), "b": normal(1, 2, 3)}, error=[[2, 3]], hint="name both shapes")
    a, b, dy = normal(5, 3, 2), normal(6, 2, 4), normal(7, 3, 4)
    yield case(3, "matmul", "a second product", {"a": a, "b": b, "warm": 1}, {"y": matmul(a, b)})
    yield case(3, "matmul_backward", "a second product's gradients", {"a": a, "b": b, "dy": dy, "warm": 1},
               gradients(matmul, {"a": a, "b": b}, "ab", dy))
    yield case(3, "matmul", "a vector is no matrix", {"a": normal(1, 3), "b": normal(1, 3, 5)},
               error=[[3], [3, 5]], hint="both have two dimensions")
    # --- task 4
    x = normal(8, 3, 5)
    yield case(4, "softmax", "softmax of rows", {"x": x}, {"y": softmax(x)}, "each row sums to one",
               public=True)
    for name, x, public in [("of three dimensions", normal(9, 2, 2, 3), False),
                            ("of large numbers", array([[1000.0, 1001.0, 999.0]]), True),
                            ("of very negative numbers", array([[-2000.0, -2001.0], [-3000.0, -3000.0]]),
                             False), ("of one column", normal(9, 3, 1), False),
                            ("of a vector", normal(9, 4), False), ("of no rows", Array((0, 3), []), False),
                            ("of rows of nothing", Array((2, 0), []), False)]:
        yield case(4, "softmax", f"softmax {name}", {"x": x}, {"y": softmax(x)},
                   "subtract each row's maximum before exp", public=public)
    for name, x, public in [("rows", normal(10, 3, 4), True),
                            ("three dimensions", normal(11, 2, 2, 3), False),
                            ("one column", normal(10, 3, 1), False)]:
        dy = normal(12, *x.shape)
        yield case(4, "softmax_backward", f"softmax's gradient, {name}", {"dy": dy, "y": softmax(x)},
                   gradients(softmax, {"x": x}, "x", dy),
                   "blank 5: directly, and by the sum that the row shares", public=public, atol=1e-11)
    dy = [2.0, 3.0, -1.0]
    for name, x, dx, public in [
            ("goes to the largest", [[1.0, 4.0, 2.0], [5.0, 0.0, 1.0], [-3.0, -2.0, -1.0]],
             [[0, 2.0, 0], [3.0, 0, 0], [0, 0, -1.0]], True),
            ("is shared by two of three", [[4.0, 4.0, 2.0], [5.0, 0.0, 5.0], [-1.0, -1.0, -2.0]],
             [[1.0, 1.0, 0], [1.5, 0, 1.5], [-0.5, -0.5, 0]], True),
            ("is shared by two of four",
             [[4.0, 4.0, 2.0, 0.0], [5.0, 0.0, 1.0, 5.0], [-1.0, -9.0, -1.0, -2.0]],
             [[1.0, 1.0, 0, 0], [1.5, 0, 0, 1.5], [-0.5, 0, -0.5, 0]], False),
            ("is shared by all", [[0.0] * 4] * 3, [[0.5] * 4, [0.75] * 4, [-0.25] * 4], False)]:
        if not public:  # the columns in another order, plus a number for each row
            order = list(range(len(x[0])))
            oracle.draws(name).shuffle(order)
            x, dx = ([[row[i] for i in order] for row in rows] for rows in (x, dx))
            x = [[v + more for v in row] for row, more in zip(x, normal(f"more {name}", 3).values)]
        yield case(4, "max_backward", f"max's gradient {name}", {"dy": dy, "x": x}, {"dx": dx},
                   "each row's dy is shared out among those that tie, and none of it is lost", public=public)
    # --- task 5
    h = 1e-4
    # Central differences err by h²/6 · f‴, and by rounding.
    for number, name, dx, public in [
            (0, "cubes", lambda x, d: [3 * v * v * e + h * h * e for v, e in zip(x, d)], True),
            (1, "sines", lambda x, d: [math.cos(v) * e * math.sin(h) / h for v, e in zip(x, d)], False),
            (2, "outputs that depend on all inputs",
             lambda x, d: [e * sum(x) + sum(p * q for p, q in zip(d, x)) for e in d], True)]:
        x, d = normal(13, 5).values, normal(14, 5).values
        yield case(5, "numeric_gradient", f"differences of {name}",
                   {"x": x, "dy": d, "function": number, "h": h}, {"dx": dx(x, d), "x": x},
                   "weight the outputs with dy; give x back as it was; divide by 2h", rtol=1e-9, atol=2e-10,
                   public=public)
    x, d = normal(15, 2, 3), normal(16, 2, 3)
    yield case(5, "numeric_gradient", "differences by another h, of a matrix",
               {"x": x, "dy": d, "function": 0, "h": 0.5},
               {"dx": Array((2, 3), [3 * v * v * e + 0.25 * e for v, e in zip(x.values, d.values)])},
               "a coarse h shows: (x+h)³ − (x−h)³ = 6x²h + 2h³")
    right = [1.0, -2.0, 0.5, 0.0]
    factor = oracle.draws("errors").uniform(0.2, 5)
    for name, a, n, public in [("of equal gradients is 0", right, right, True),
                               ("of a factor of two", [2 * v for v in right], right, True),
                               ("of one wrong entry of four", [1.0, -2.0, 0.6, 0.0], right, True),
                               ("of one wrong sign", [1.0, 2.0, 0.5, 0.0], right, False),
                               ("of a small number where 0 is right", [1.0, -2.0, 0.5, 1e-5], right, False),
                               ("of 0 where a small number is right", [1.0, -2.0, 0.5, 0.0],
                                [1.0, -2.0, 0.5, 4e-3], False),
                               ("of one wrong entry in front", [1.1, -2.0, 0.5, 0.0], right, False),
                               ("of a large and a small one behind it", [2.0, -2.1, 0.5, 0.0], right, False),
                               ("of all zeros is 0", [0.0] * 3, [0.0] * 3, False),
                               ("of small gradients is as large", [3e-9, 2e-9], [3e-9, 1e-9], False)]:
        if not public:  # an error is relative
            a, n = ([factor * v for v in values] for values in (a, n))
        wanted = 0.0 if not any(n) else gradient_error(a, n)
        yield case(5, "gradient_error", f"error {name}", {"analytic": a, "numeric": n}, {"error": wanted},
                   "the largest over all entries; relative to the entry, or to 10⁻³ of the largest",
                   public=public)
    for name, a, n, public in [("a NaN", [1.0, math.nan], [1.0, 2.0], True),
                               ("an infinite difference", [1.0, 2.0], [1.0, math.inf], False),
                               ("a gradient of NaN alone", [math.nan, math.nan], [3.0, 2.0], False)]:
        yield case(5, "gradient_error", f"error of {name} is infinite", {"analytic": a, "numeric": n},
                   {"error": math.inf}, "a NaN compares false with everything: look for it first",
                   public=public)
    yield from beyond_differences()
