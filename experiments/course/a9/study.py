"""What the numbers of a9's handout are computed with: the reference; exp of the row is 4, 2, 2, 1."""
import math, struct
import chart
from oracle import f32

ask = None  # the reference's answers, given by grading/handouts.py
LN2 = math.log(2)
X = [2 * LN2, LN2, LN2, 0.0]
ONE = [1.0] * 4


def bits(value):
    """Of a float, in hexadecimal digits."""
    return format(struct.unpack("I", struct.pack("f", value))[0], "x")


def near(values):
    """As many digits as floats keep."""
    return [round(v, 6) for v in values]


softmax = lambda x: near(ask("softmax", x=[x])["y"].values)
norm = lambda what, eps=0.0: near(ask("softmax_rms_norm", x=[X], weight=ONE, eps=eps)[what].values)


def dx(eps=0.0):
    parts = ask("softmax_rms_norm", x=[X], weight=ONE, eps=eps)
    return near(ask("softmax_rms_norm_backward", dy=[[1.0, 0, 0, 0]], x=[X], weight=ONE, eps=eps,
                    **{name: parts[name] for name in ("largest", "sum", "rrms")})["dx"].values)


def online(x):
    """Σ exp(x − largest so far) after each number, by softmax's first result, exp(x₁ − largest) / sum."""
    return [round(math.exp(x[0] - max(x[:n])) / ask("softmax", x=[x[:n]])["y"].values[0],
                  5) for n in range(1, len(x) + 1)]


def predicted(what, **changed):
    work = dict(rows=4096, width=1024, reads=3, writes=2, flops=25, cache=32768, gigabytes_a_second=10,
                gigaflops=50)
    return ask("predict", **{**work, **changed})[what].values[0]


taylor = lambda degree, f: sum(f ** i / math.factorial(i) for i in range(degree + 1))


def degree_error(degree):
    """The largest relative error of Taylor's polynomial on |f| ≤ ln 2 / 2, in units of 2^−24."""
    ends = [LN2 / 2 * s for s in (-1, 1)]
    return max(abs(taylor(degree, f) / math.exp(f) - 1) for f in ends) * 2 ** 24


def one_part(n):
    """How far off n ln 2 is, rounded to a float, at most."""
    return 2.0 ** (math.frexp(n * LN2)[1] - 25)


def worst_ulp():
    """Of the reference's exp, over 2000 numbers of [−87, 0]."""
    x = [f32(-87 * i / 2000) for i in range(2001)]
    unit = lambda v: 2.0 ** (math.frexp(v)[1] - 24)
    return max(
        abs(got - math.exp(v)) / unit(math.exp(v)) for v, got in zip(x, ask("expf_lanes", x=x)["y"].values))


def pictures():
    degrees = [(d, degree_error(d)) for d in range(2, 10)]
    peaks = [2.0 ** (i / 2) for i in range(0, 17)]
    times = lambda **how: [(p, predicted("milliseconds", gigaflops=p, **how)) for p in peaks]
    return {
        "degrees.svg": chart.svg("Taylor's polynomial of exp, |f| up to ln 2 / 2",
                                 ("degree", "error, in 2^-24"),
                                 [("error", degrees), ("2 units", [(2, 2.0), (9, 2.0)])], log=(False, True)),
        "roof.svg": chart.svg("4096 rows of 1024: the least time", ("gigaflops of the processor", "ms"),
                              [("in cache", times()), ("each read", times(cache=4096))], log=(True, True))}
