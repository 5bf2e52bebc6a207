"""a4's study: of what is asked of one number in a row, how much arrives at it, as the number moves away from the others?"""


def shares(ask):
    """For rows (v, 1, 3, 3) and dz = (1, 0, 0, 0): dx at v over what it would be without the statistics' own terms."""
    values = [10 ** (0.4 + 0.05 * i) for i in range(33)]
    rows, dy = [[v, 1.0, 3.0, 3.0] for v in values], [[1.0, 0.0, 0.0, 0.0]] * len(values)
    one, zero = [1.0] * 4, [0.0] * 4
    layer = ask("layer_norm", x=rows, weight=one, bias=zero, eps=0.0)
    rms = ask("rms_norm", x=rows, weight=one, eps=0.0)
    of_layer = ask("layer_norm_backward", dy=dy, x=rows, weight=one, mean=layer["mean"], rstd=layer["rstd"])["dx"]
    of_rms = ask("rms_norm_backward", dy=dy, x=rows, weight=one, rrms=rms["rrms"])["dx"]
    of_dyt = ask("dyt_backward", dy=dy, x=rows, weight=one, alpha=0.5)["dx"]
    return [("LayerNorm", [(v, of_layer[i, 0] / layer["rstd"][i,]) for i, v in enumerate(values)]),
            ("RMSNorm", [(v, of_rms[i, 0] / rms["rrms"][i,]) for i, v in enumerate(values)]),
            ("DyT", [(v, of_dyt[i, 0] / 0.5) for i, v in enumerate(values)])]


def charts(ask):
    least = 1e-4
    seen = [(name, [(v, share) for v, share in line if share > least]) for name, line in shares(ask)]
    yield dict(title="A row explains its own outlier", labels=("the outlier v in the row (v, 1, 3, 3)", "the share that arrives"),
               curves=seen, log=(True, True), ends=(None, (least, 1)))
    yield "Where does each curve end, and how steeply does it fall? Which direction of dz is lost there?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import math
import chart, course, oracle
from drawings import arrow, box

ask = None  # the reference's answers, given by grading/handouts.py
a6 = course.module_of("a6", "cases.py")

X, E1 = [9.0, 1.0, 3.0, 3.0], [1.0, 0.0, 0.0, 0.0]


def full(x, eps=0.0):
    return {"x": [x], "weight": [1.0] * len(x), "bias": [0.0] * len(x), "eps": eps}


def part(x, eps=0.0):
    return {"x": [x], "weight": [1.0] * len(x), "eps": eps}


def ln(x, eps=0.0):
    return ask("layer_norm", **full(x, eps))["y"].values


def mean(x):
    return ask("layer_norm", **full(x))["mean"].values[0]


def rstd(x, eps=0.0):
    return ask("layer_norm", **full(x, eps))["rstd"].values[0]


def composed(x):
    return ask("layer_norm_composed", **full(x), dy=[E1])


def rms(x):
    return ask("rms_norm", **part(x))["y"].values


def rrms(x):
    return ask("rms_norm", **part(x))["rrms"].values[0]


def dyt(x):
    return ask("dyt", x=[x], weight=[1.0] * 4, bias=[0.0] * 4, alpha=0.5)["y"].values


def of_layer(x, dy, eps=0.0):
    return ask("layer_norm_backward", dy=[dy], x=[x], weight=[1.0] * len(x), mean=[mean(x)], rstd=[rstd(x, eps)])


def dx(x, dy, eps=0.0):
    return of_layer(x, dy, eps)["dx"].values


def of_row(name):
    return of_layer(X, E1)[name].values[0]


def rms_dx(x, dy):
    return ask("rms_norm_backward", dy=[dy], x=[x], weight=[1.0] * len(x), rrms=[rrms(x)])["dx"].values


def dyt_backward(x, dy):
    return ask("dyt_backward", dy=[[float(v) for v in dy]], x=[x], weight=[1.0] * 4, alpha=0.5)


def dyt_dx(x, dy):
    return dyt_backward(x, dy)["dx"].values


def dalpha(dy):
    return dyt_backward(X, dy)["dalpha"].values[0]


def add(x, i, step):
    return [v + step * (i == j) for j, v in enumerate(x)]


def slope(of, i):
    """By a central difference, as far as its digits go."""
    return round((of(add(X, i, 1e-4)) - of(add(X, i, -1e-4))) / 2e-4, 9)


def var_slope(i):
    return round(slope(lambda x: rstd(x) ** -2, i), 6)


def r_slope(i):
    return slope(rstd, i)


def one_pass(x):
    return sum(v * v for v in x) / len(x) - (sum(x) / len(x)) ** 2


def ratios():
    normal = oracle.normal("compared", 400, 64), oracle.normal("dy", 400, 64)
    return ask("compare", x=normal[0], dy=normal[1])["ratios"].values


def default_signal():
    return [a6.std_of(m) for m in a6.predicted(8, 512, 1 / 1536, 1 / 1536)]


def he_signal():
    return [a6.std_of(m) for m in a6.predicted(8, 512, 1 / 256, 0)]


def relu_std():
    return a6.std_of(0.5)


def roads():
    """From x_i to z_j: straight, by the mean, by the variance."""
    out = [chart.HEAD.format(640, 230)]
    out += [arrow(115, 40, 514, 40), arrow(112, 54, 215, 98), arrow(92, 58, 214, 184), arrow(274, 100, 515, 52), arrow(245, 124, 245, 180),
            arrow(275, 200, 390, 200), arrow(449, 192, 538, 60)]
    out += [box(85, 40, "xᵢ"), box(245, 105, "μ"), box(245, 200, "σ²"), box(420, 200, "r"), box(550, 40, "zⱼ", 70)]
    out += [chart.word(300, 32, "directly: only where j = i", "s", "middle"), chart.word(168, 70, "1.", "t"),
            chart.word(252, 156, "vanishes: why?", "s"), chart.word(140, 138, "2.", "t", "end"),
            chart.word(330, 192, "3.", "t", "middle"), chart.word(390, 94, "by the mean", "s", "middle"),
            chart.word(508, 140, "by r", "s"), chart.word(85, 218, "zⱼ = (xⱼ − μ) r", "", "middle")]
    return "\n".join([*out, "</svg>\n"])


def place(middle, scale, point):
    """A point of space on paper, seen from above (1, −1, 0.6)."""
    a, b, c = point
    return middle[0] + scale * (0.87 * a - 0.5 * b), middle[1] + scale * (0.25 * a + 0.43 * b - 0.87 * c)


def path(points, fill="none", stroke="#0b5fc0", more=""):
    return f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="{fill}" stroke="{stroke}" {more}/>'


def around(u, v, length=1.0, steps=72):
    """A circle in the plane of two vectors."""
    turns = [2 * math.pi * i / steps for i in range(steps + 1)]
    return [tuple(length * (math.cos(t) * a + math.sin(t) * b) for a, b in zip(u, v)) for t in turns]


def axes(middle, size):
    ends = [place(middle, size, e) for e in ((2.1, 0, 0), (0, 2.1, 0), (0, 0, 2.1))]
    return [arrow(*middle, *end, "#b6bdc6", 1) for end in ends]


def shapes():
    """For three channels: LayerNorm's circle, RMSNorm's sphere, DyT's box."""
    out, size = [chart.HEAD.format(640, 270)], 40
    left, centre, right = (110, 130), (325, 130), (540, 140)
    for middle in (left, centre, right):
        out += axes(middle, size)
    third, half = math.sqrt(3), math.sqrt(2)
    u, v = (1 / half, -1 / half, 0), (1 / math.sqrt(6), 1 / math.sqrt(6), -2 / math.sqrt(6))
    corner = lambda a, b: tuple(2.1 * (a * p + b * q) for p, q in zip(u, v))
    out.append(path([place(left, size, corner(a, b)) for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1))], "#e7eef8", "#c3d3ea"))
    out.append(path([place(left, size, p) for p in around(u, v, third)], more='stroke-width="2"'))
    z = tuple(third * (math.cos(0.3) * a + math.sin(0.3) * b) for a, b in zip(u, v))
    along = tuple(-math.sin(0.3) * a + math.cos(0.3) * b for a, b in zip(u, v))
    inside = tuple(0.6 * p / third - 0.9 * q for p, q in zip(z, along))  # dz without its part along (1, 1, 1)
    tip = lambda by: place(left, size, tuple(p + q for p, q in zip(z, by)))
    at, full, shadow, last = place(left, size, z), tip([p + 0.9 for p in inside]), tip(inside), tip([-0.9 * q for q in along])
    out += [arrow(*left, *at, "#1b1f24"), arrow(*at, *full, "#b45309", 2), arrow(*at, *last, "#15803d", 2)]
    out += [path([full, shadow, last], stroke="#5b636d", more='stroke-dasharray="4 3"')]
    out += [chart.word((left[0] + at[0]) / 2 - 4, (left[1] + at[1]) / 2 - 6, "z", "", "end"), chart.word(full[0] + 5, full[1], "dz"),
            chart.word(last[0] - 4, last[1] - 7, "dx / r", "s", "middle")]
    out += [f'<circle cx="{centre[0]}" cy="{centre[1]}" r="{third * size:.1f}" fill="#e7eef8" stroke="#0b5fc0" stroke-width="2"/>']
    out += [path([place(centre, size, p) for p in around((1, 0, 0), (0, 1, 0), third)], stroke="#9db8dd")] + axes(centre, size)
    cube = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    for p in cube:
        for q in cube:
            if p < q and sum(i != j for i, j in zip(p, q)) == 1:
                out.append(path([place(right, size, p), place(right, size, q)], more='stroke-width="1.5"'))
    for middle, name in ((left, "LayerNorm: a circle"), (centre, "RMSNorm: a sphere"), (right, "DyT: a box")):
        out.append(chart.word(middle[0], 262, name, "", "middle"))
    return "\n".join([*out, "</svg>\n"])


def pictures():
    layers = lambda stds: list(enumerate(stds, 1))
    return {"signals.svg": chart.svg("The signal at initial weights", ("layer", "std of its output"),
                                     [("default", layers(default_signal())), ("He", layers(he_signal())),
                                      ("norm", layers([relu_std()] * 8))], log=(False, True),
                                     ends=(None, (0.01, 2))), "roads.svg": roads(), "shapes.svg": shapes()}
