"""a4's study: how much of what is asked of one number arrives as it moves away from its row?"""


def shares(ask):
    """For rows (v, 1, 3, 3) and dz = (1, 0, 0, 0): dx at v over that without the statistics' own terms."""
    values = [10 ** (0.4 + 0.05 * i) for i in range(33)]
    rows, dy = [[v, 1.0, 3.0, 3.0] for v in values], [[1.0, 0.0, 0.0, 0.0]] * len(values)
    one, zero = [1.0] * 4, [0.0] * 4
    layer = ask("layer_norm", x=rows, weight=one, bias=zero, eps=0.0)
    rms = ask("rms_norm", x=rows, weight=one, eps=0.0)
    of_layer = ask("layer_norm_backward", dy=dy, x=rows, weight=one, mean=layer["mean"],
                   rstd=layer["rstd"])["dx"]
    of_rms = ask("rms_norm_backward", dy=dy, x=rows, weight=one, rrms=rms["rrms"])["dx"]
    of_dyt = ask("dyt_backward", dy=dy, x=rows, weight=one, alpha=0.5)["dx"]
    return [("LayerNorm", [(v, of_layer[i, 0] / layer["rstd"][i,]) for i, v in enumerate(values)]),
            ("RMSNorm", [(v, of_rms[i, 0] / rms["rrms"][i,]) for i, v in enumerate(values)]),
            ("DyT", [(v, of_dyt[i, 0] / 0.5) for i, v in enumerate(values)])]


def charts(ask):
    least = 1e-4
    seen = [(name, [(v, share) for v, share in line if share > least]) for name, line in shares(ask)]
    yield dict(title="A row explains its own outlier",
               labels=("the outlier v in the row (v, 1, 3, 3)", "the share that arrives"), curves=seen,
               log=(True, True), ends=(None, (least, 1)))
    yield "Where does each curve end, and how steeply does it fall? Which direction of dz is lost there?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import chart, course, oracle

ask = None  # the reference's answers, given by grading/handouts.py
a6 = course.module_of("a6", "cases.py")

X, E1 = [9.0, 1.0, 3.0, 3.0], [1.0, 0.0, 0.0, 0.0]


full = lambda x, eps=0.0: {"x": [x], "weight": [1.0] * len(x), "bias": [0.0] * len(x), "eps": eps}
part = lambda x, eps=0.0: {"x": [x], "weight": [1.0] * len(x), "eps": eps}
ln = lambda x, eps=0.0: ask("layer_norm", **full(x, eps))["y"].values
mean = lambda x: ask("layer_norm", **full(x))["mean"].values[0]
rstd = lambda x, eps=0.0: ask("layer_norm", **full(x, eps))["rstd"].values[0]
composed = lambda x: ask("layer_norm_composed", **full(x), dy=[E1])
rms = lambda x: ask("rms_norm", **part(x))["y"].values
rrms = lambda x: ask("rms_norm", **part(x))["rrms"].values[0]
dyt = lambda x: ask("dyt", x=[x], weight=[1.0] * 4, bias=[0.0] * 4, alpha=0.5)["y"].values


def of_layer(x, dy, eps=0.0):
    return ask("layer_norm_backward", dy=[dy], x=[x], weight=[1.0] * len(x), mean=[mean(x)],
               rstd=[rstd(x, eps)])


dx = lambda x, dy, eps=0.0: of_layer(x, dy, eps)["dx"].values
of_row = lambda name: of_layer(X, E1)[name].values[0]


def rms_dx(x, dy):
    return ask("rms_norm_backward", dy=[dy], x=[x], weight=[1.0] * len(x), rrms=[rrms(x)])["dx"].values


def dyt_backward(x, dy):
    return ask("dyt_backward", dy=[[float(v) for v in dy]], x=[x], weight=[1.0] * 4, alpha=0.5)


dyt_dx = lambda x, dy: dyt_backward(x, dy)["dx"].values
dalpha = lambda dy: dyt_backward(X, dy)["dalpha"].values[0]
add = lambda x, i, step: [v + step * (i == j) for j, v in enumerate(x)]


def slope(of, i):
    """By a central difference, as far as its digits go."""
    return round((of(add(X, i, 1e-4)) - of(add(X, i, -1e-4))) / 2e-4, 9)


var_slope = lambda i: round(slope(lambda x: rstd(x) ** -2, i), 6)
r_slope = lambda i: slope(rstd, i)
one_pass = lambda x: sum(v * v for v in x) / len(x) - (sum(x) / len(x)) ** 2


def ratios():
    normal = oracle.normal("compared", 400, 64), oracle.normal("dy", 400, 64)
    return ask("compare", x=normal[0], dy=normal[1])["ratios"].values


default_signal = lambda: [a6.std_of(m) for m in a6.predicted(8, 512, 1 / 1536, 1 / 1536)]
he_signal = lambda: [a6.std_of(m) for m in a6.predicted(8, 512, 1 / 256, 0)]
relu_std = lambda: a6.std_of(0.5)


def pictures():
    layers = lambda stds: list(enumerate(stds, 1))
    return {"signals.svg": chart.svg("The signal at initial weights", ("layer", "std of its output"),
                                     [("default", layers(default_signal())), ("He", layers(he_signal())),
                                      ("norm", layers([relu_std()] * 8))], log=(False, True),
                                     ends=(None, (0.01, 2)))}
