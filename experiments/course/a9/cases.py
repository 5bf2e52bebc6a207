"""a9's cases."""
import decimal, math
from functools import partial
import oracle
from course import case
from derived import beyond, sized
from layers import softmax, softmax_row
from oracle import normal
from tensors import Array

# What a source may not hold, and what to say of it. Flags are the kit's; one core is all there is.
FORBIDDEN = [(r"(?m:^[ \t]*(?:#|%:)[ \t]*pragma\b)(?![ \t]+once\b)|_Pragma", "#pragma"),
             (r"\b(?:__)?(?:optimize|target|target_clones)(?:__)?\b",
              "optimize, target or target_clones, the name of an attribute that sets flags"),
             (r"##|%:%:", "## of the preprocessor")]
STUDENT = ["baseline.cpp", "clocked.cpp", "counted.cpp"]
CLOCKED = "softmax_rms_norm"  # the call that task 6 measures
INF, NAN = math.inf, math.nan
LN2 = math.log(2)
MASKED = "−∞ − (−∞) is NaN: can it happen?"


def f32(x):
    """The values as floats are."""
    return Array(x.shape, [oracle.f32(v) for v in x.values])


def drawn(name, *shape, public=False, **how):
    return f32(normal(name, *(shape if public else oracle.longer(name)(*shape)), **how))


rrms = lambda p, eps: 1 / oracle.sqrt(sum(v * v for v in p) / len(p) + eps)


def forward(x, weight, eps):
    found = []
    for row in oracle.rows(x):
        p = softmax_row(row)
        r = rrms(p, eps)
        found.append([v * r * w for v, w in zip(p, weight.values)])
    return oracle.flat(found, x.shape)


def saved(x, eps):
    """Each row's maximum, Σ exp(x − maximum), r."""
    all_rows = oracle.rows(x)
    largest = [max(row) for row in all_rows]
    return {"largest": largest,
            "sum": [math.fsum(math.exp(v - m) for v in row) for row, m in zip(all_rows, largest)],
            "rrms": [rrms(softmax_row(row), eps) for row in all_rows]}


def by_textbook(dy, x, weight, eps):
    """dweight and dx by the two Jacobians one after the other, where complex steps would take long."""
    dweight, dx = [0.0] * x.shape[1], []
    for d, row in zip(oracle.rows(dy), oracle.rows(x)):
        p = softmax_row(row)
        r = rrms(p, eps)
        z = [v * r for v in p]
        dweight = [s + a * b for s, a, b in zip(dweight, d, z)]
        dz = [a * w for a, w in zip(d, weight.values)]
        share = math.fsum(a * b for a, b in zip(dz, z)) / len(z)
        dp = [r * (a - share * b) for a, b in zip(dz, z)]
        dot = math.fsum(a * b for a, b in zip(dp, p))
        dx.append([v * (a - dot) for v, a in zip(p, dp)])
    return {"dweight": dweight, "dx": dx}


def backward(dy, x, weight, eps):
    if len(x.values) > 60:
        return by_textbook(dy, x, weight, eps)
    f = lambda x, weight: forward(x, weight, eps)
    return {"d" + name: oracle.gradient(f, {"x": x, "weight": weight}, name, dy) for name in ("weight", "x")}


def ulps(x, most=2):
    """A judge: exp(x) to so many units in the last place."""
    def judge(found):
        if "y" not in found or found["y"].shape != x.shape:
            return f"y: wanted shape {list(x.shape)}"
        for v, got in zip(x.values, found["y"].values):
            wanted = math.exp(v)
            unit = 2.0 ** (max(math.frexp(wanted)[1] - 1, -126) - 23)
            if not abs(got - wanted) <= most * unit:
                return f"exp({v:.9g}): wanted {wanted:.9g}, got {got:.9g}, {abs(got - wanted) / unit:.1f} ulp off"
        return None
    return judge


def exponential_cases():
    near = dict(rtol=2.4e-7, atol=2.9e-45)
    exp_of = partial(case, 2, "expf_lanes")
    ask = lambda name, x, **how: exp_of(name, {"x": x},
                                        {"y": Array(x.shape, [math.exp(v) for v in x.values])}, **near, **how)
    line = lambda *values: f32(Array((len(values),), values))
    uniform = lambda name, count, low, high: line(
        *(draw.uniform(low, high)
          for draw in [oracle.draws(name)] + [oracle.draws(f"many {name}")] * (count - 1)))
    yield ask("exp of whole numbers", line(*range(0, -18, -1)), public=True,
              hint="split x into n ln 2 and a rest: 2^n is a float's exponent")
    yield ask("exp near 0", line(*(-i / 40 for i in range(40))), public=True,
              hint="the polynomial: its degree, its coefficients")
    yield ask("exp of far numbers", line(*(-87 + i / 7 for i in range(60))), public=True,
              hint="n ln 2 in one float is off by n times its rounding")
    yield ask("exp whose result is denormal", line(*(-87 - i / 4 for i in range(64))), public=True,
              hint="2^n has no float below n = −126")
    special = line(0.0, -INF, NAN, -1.0)
    yield exp_of("exp of 0, −∞ and NaN", {"x": special}, {"y": [1.0, 0.0, NAN, math.exp(-1)]},
                 "exactly 1; 0; NaN stays. Which of your comparisons does a NaN pass?", **near, public=True)
    for name, low, high, count in [("all of [−87, 0]", -87, 0, 3000), ("[−1, 0]", -1, 0, 1000),
                                   ("results that are denormal", -103.9, -87, 1000),
                                   ("tiny numbers", -1e-6, 0, 100), ("seven numbers", -20, 0, 7),
                                   ("33 numbers", -20, 0, 33)]:
        x = uniform(name, count, low, high)
        yield exp_of(f"exp to 2 ulp, {name}", {"x": x}, judge=ulps(x),
                     hint="section 2 (exp without a call) has a check for each step")
        if count < 50:
            yield exp_of(f"exp to 2 ulp at an odd address, {name}", {"x": x, "offset": 3}, judge=ulps(x),
                         hint="rows begin at any float")
    turns = line(*(-(i + 0.5) * LN2 + oracle.draws(f"turn {i}").uniform(-1e-5, 1e-5) for i in range(120)))
    yield exp_of("exp to 2 ulp where n changes", {"x": turns}, judge=ulps(turns),
                 hint="|rest| ≤ ln 2 / 2: round, do not cut off")
    low = line(*(-104 - oracle.draws(f"far {i}").expovariate(1e-3) for i in range(40)), -1e4, -1e30, -3e38,
               -INF)
    yield exp_of("exp of less than −104", {"x": low}, {"y": [0.0] * low.shape[0]},
                 "0, also where n has no room in an exponent", atol=0)
    x = uniform("among NaN", 40, -9, 0)
    x.values[5] = x.values[17] = NAN
    yield ask("exp among NaN", x, hint="a NaN changes no neighbour, and stays")
    x = uniform("before", 20, -9, 0)
    yield exp_of("a second exp", {"x": x, "warm": 1}, {"y": [math.exp(v) for v in x.values]}, **near)


def rows_of_inputs():
    """(name, x, extra inputs, public)"""
    yield "the handout's row", f32(Array((1, 4), [2 * LN2, LN2, LN2, 0.0])), {}, True
    yield "seven channels", drawn("seven", 2, 7, public=True), {}, True
    yield "forty channels", drawn("forty", 3, 40, public=True, scale=3.0), {}, True
    yield "one channel", drawn("one", 3, 1, public=True), {}, True
    yield "around 10000", f32(
        Array((2, 5), [v + s for s in (1e4, -1e4) for v in (1.0, -0.5, 2.0, 0.25, 0.0)])), {}, True
    yield "at an odd address", drawn("odd", 2, 19, public=True), {"offset": 1}, True
    yield "1023 channels", drawn("1023", 2, 1023, scale=2.0), {}, False
    for width in (8, 15, 16, 31, 32, 33, 64, 65, 100):
        yield f"{width} channels", f32(normal(f"width {width}", 3, width)), {}, False
    yield "one channel, hidden", drawn("one more", 4, 1), {}, False
    yield "many rows", drawn("many rows", 70, 9), {}, False
    yield "1023 channels at an odd address", drawn("1023 odd", 2, 1023), {"offset": 5}, False
    yield "far above 0", f32(normal("above", 2, 37, shift=1e4)), {}, False
    yield "far below 0", f32(normal("below", 2, 37, shift=-1e4)), {}, False
    yield "from −10000 to 10000", f32(normal("both", 3, 50, scale=4e3)), {}, False
    yield "each larger than the one before", f32(
        Array((1, 70), sorted(normal("rising", 1, 70, scale=5.0).values))), {}, False
    yield "each smaller than the one before", f32(
        Array((1, 70), sorted(normal("falling", 1, 70, scale=5.0).values)[::-1])), {}, False
    for where in (0, 20, 68):
        x = drawn(f"outlier {where}", 2, 69)
        x.values[where] = 30.0
        yield f"the largest is number {where}", f32(x), {}, False
    yield "all the same", Array((2, 35), [float(oracle.choose(3, "same", range(-5, 6)))] * 70), {}, False
    yield "a second call", drawn("second", 3, 21), {"warm": 1}, False


def edge_rows():
    """(name, x): rows of −∞ but for some, and a NaN."""
    for where, width in ((0, 5), (36, 37), (17, 40)):
        x = Array((2, width), [-INF] * (2 * width))
        x.values[where], x.values[width + where] = (
            oracle.draws(f"{r} but {where}").choice([-3.0, 0.5, 7.0]) for r in range(2))
        yield f"−∞ but for number {where}", x, MASKED
    x = drawn("half masked", 3, 34)
    yield "half of it −∞", Array(x.shape, [v if i % 2 else -INF for i, v in enumerate(x.values)]), MASKED
    x = drawn("NaN", 3, 35)
    x.values[x.shape[1] + 20] = NAN
    yield "NaN in one row", x, "its row is NaN, all others are not"


def softmax_cases():
    ask = partial(case, 3, "softmax", rtol=1e-5, atol=1e-37)
    for name, x, more, public in rows_of_inputs():
        yield ask(f"softmax, {name}", {"x": x, **more}, {"y": softmax(x)}, "a larger maximum makes the sum "
                  "so far smaller; the last block may not be whole", public=public)
    for i, (name, x, hint) in enumerate(edge_rows()):
        yield ask(f"softmax, {name}", {"x": x}, {"y": softmax(x)}, hint, public=i == 0)


    # Plain code in three reads has a third of the points.
    for name, pages, public in [("whole numbers", 6, True), ("some pages", oracle.choose(6, "pages", range(6, 10)), False),
                                ("rising", 7, False), ("falling", 8, False)]:
        width = 1024 * pages
        if public:
            x = Array((1, width), [float(7 * i % 11 - 5) for i in range(width)])
        else:
            x = f32(normal(f"passes {name}", 1, width))
            x.values.sort(reverse=name == "falling") if name != "some pages" else None
        yield case(3, "softmax_passes", f"softmax reads x twice and goes through y once, {name}", {"x": x},
                   {"y": softmax(x)}, "the maximum and the sum come from one read, the results from the second",
                   public=public, rtol=1e-5, atol=1e-37, bounds={"reads_of_x": (1, 2), "passes_of_y": (1, 1)},
                   weight=4 if public else 10)


def norm_inputs(name, x, public):
    weight = normal(f"weight {name}", x.shape[1], shift=1.0)
    return {"x": x, "weight": f32(weight), "eps": oracle.f32(1e-6 if public or len(name) % 2 else 0.03)}


def norm_cases():
    ask = partial(case, 4, CLOCKED, rtol=1e-5, atol=1e-36)
    for name, x, more, public in rows_of_inputs():
        inputs = norm_inputs(name, x, public)
        kept = saved(x, inputs["eps"])
        yield ask(f"softmax and norm, {name}", {**inputs, **more}, {**kept, "y": forward(**inputs)},
                  "largest, sum, rrms of each row come first; what does the mean square of p have to do with "
                  "that of exp(x − largest)?", public=public)
        dy = f32(normal(f"dy {name}", *x.shape))
        size = max(abs(r * d * w) for r, row in zip(kept["rrms"], oracle.rows(dy))
                   for d, w in zip(row, inputs["weight"].values))
        yield case(5, "softmax_rms_norm_backward", f"its gradient, {name}",
                   {**inputs, **more, **kept, "dy": dy}, backward(dy, **inputs),
                   "dweight first; one sum of the row is enough, and eps leaves a term", public=public,
                   rtol=2e-5, atol=3e-6 * size * max(softmax(x).values))
    for i, (name, x, hint) in enumerate(edge_rows()):
        inputs = norm_inputs(name.removesuffix(" in one row"), x, i == 0)
        yield ask(f"softmax and norm, {name}", inputs, {"y": forward(**inputs)}, hint)
    x = drawn("large eps", 3, 30)
    inputs = {**norm_inputs("large eps", x, False), "eps": 0.5}
    yield ask("softmax and norm, eps of 0.5", inputs, {"y": forward(**inputs)},
              "eps is added to the mean square of p")
    dy = f32(normal("dy large eps", *x.shape))
    yield case(5, "softmax_rms_norm_backward", "its gradient, eps of 0.5",
               {**inputs, **saved(x, 0.5), "dy": dy}, backward(dy, **inputs),
               "with eps = 0 a term is missing", rtol=2e-5, atol=1e-8)


def wide_rows():
    """Whoever finds each number of dx by another forward pass is not done in time."""
    for width in (60000, 70000):
        x, weight, dy = (f32(normal(f"{what} of a wide row", *shape)) for what, shape in (
            ("x", (1, width)), ("weight", (width,)), ("dy", (1, width))))
        inputs, kept = {"x": x, "weight": weight, "eps": oracle.f32(1e-6)}, saved(x, oracle.f32(1e-6))
        size = kept["rrms"][0] * max(abs(d * w) for d, w in zip(dy.values, weight.values))
        yield case(5, "softmax_rms_norm_backward", f"its gradient, {width} channels", {**inputs, **kept, "dy": dy},
                   backward(dy, **inputs), "one sum of the row is enough: the work grows with its width, not with its "
                   "square", rtol=2e-5, atol=3e-6 * size * max(softmax(x).values))


def by_digits(dy, x, weight, eps):
    """dx of one row: a difference quotient in 300 digits, which loses none of them."""
    with decimal.localcontext() as context:
        context.prec = 300
        exact = lambda values: list(map(decimal.Decimal, values))
        row, slopes, step, dx = exact(x.values), exact(d * w for d, w in zip(dy.values, weight.values)), decimal.Decimal(10) ** -60, []

        def loss(c, by):
            e = [(v + by if i == c else v).exp() for i, v in enumerate(row)]
            mean_square = sum(v * v for v in e) / len(e)
            return sum(v * d for v, d in zip(e, slopes)) / (mean_square + decimal.Decimal(eps) * sum(e) ** 2).sqrt()
        for c in range(len(row)):
            dx.append(float((loss(c, step) - loss(c, -step)) / (2 * step)))
    return Array(x.shape, dx)


def beyond_differences():
    """A row whose p is very small at some numbers, beside a loss that is 10^30 times as large as their slopes: what a step
    changes is 10^-64 of it. 64ths, so that x - largest is exact."""
    far = oracle.draws("far below")
    low = [round(64 * far.uniform(76, 80)) / 64 for _ in range(4)]
    x = Array((1, 6), [1.0, 0.25, *(-v for v in low)])
    huge = oracle.draws("huge").uniform(0.5, 1.5) * 1e30
    weight, dy = (f32(Array(shape, values)) for shape, values in (
        ((6,), [abs(v) for v in sized("weight", *[1] * 6)]), ((1, 6), [huge, -huge, *sized("dy", *[1] * 4)])))
    inputs = {"x": x, "weight": weight, "eps": oracle.f32(1e-30)}
    yield beyond(5, "softmax_rms_norm_backward", "its gradient, almost 0", {"dy": dy, **inputs, **saved(x, inputs["eps"])},
                 {"dx": by_digits(dy, **inputs)}, rtol=1e-4)


def prediction_cases():
    """Bytes, flops, milliseconds by hand."""
    for name, public in [("softmax in three reads", True), ("rows that the cache holds", True),
                         ("a slow memory", True), ("long rows", False), ("just too long", False),
                         ("just short enough", False), ("a fast processor", False),
                         ("a slow processor", False), ("nothing", False)]:
        draw = oracle.draws(f"predict {name}") if not public else __import__("random").Random(name)
        rows, cache = draw.choice([1, 100, 4096]), draw.choice([32768, 49152, 1 << 20])
        fits = cache // 8
        width = {"long rows": 3 * fits, "just too long": fits + 1, "just short enough": fits,
                 "softmax in three reads": 2 * fits}.get(name, draw.randint(1, fits - 1))
        reads, writes, flops = draw.randint(2, 5), draw.randint(1, 3), draw.randint(5, 30)
        if name == "nothing":
            rows = 0
        bandwidth = draw.choice([2, 5]) if name == "a slow memory" else draw.choice([10, 20, 40])
        peak = {"a slow processor": 1, "a fast processor": 500}.get(name, draw.choice([8, 50]))
        moved = 4 * rows * width * (2 if 8 * width <= cache else reads + writes)
        done = rows * width * flops
        yield case(1, "predict", f"predict: {name}",
                   dict(rows=rows, width=width, reads=reads, writes=writes, flops=flops, cache=cache,
                        gigabytes_a_second=bandwidth, gigaflops=peak),
                   {"bytes": Array((), [float(moved)]), "flops": Array((), [float(done)]),
                    "milliseconds": Array((), [max(moved / bandwidth, done / peak) / 1e6])},
                   "which goes through a row reach memory? which of the two times is the longer one?",
                   public=public)


def cases():
    yield from prediction_cases()
    yield from exponential_cases()
    yield from softmax_cases()
    yield from norm_cases()
    yield from wide_rows()
    yield from beyond_differences()
    for sixteenth in range(1, 13):  # 1× is worth 0, 2× half, 3× three quarters, 4× all of the task
        times = 1 + sixteenth / 4
        yield case(6, CLOCKED, f"{times:g} times as fast as baseline.cpp", {}, times=times,
                   weight=2 if times <= 2 else 1, hint="./speed in your tree measures the same way")
