"""a5's study: four optimizers in one valley: a fit of two weights, one direction 51 times flatter."""
X, Y = [[3.0, 0.1], [-3.0, 0.5], [0.5, -0.3], [1.0, 0.3]], [3.5, -1.0, -0.7, 2.2]
STEPS = 60


def charts(ask):
    line = lambda call, **how: list(enumerate(ask(call, x=X, y=Y, steps=STEPS, **how)["losses"].values))
    plain = dict(lr=0.12, decay=0.0)
    curves = [("SGD", line("fit_momentum", **plain, momentum=0.0, nesterov=0)),
              ("momentum", line("fit_momentum", **plain, momentum=0.8, nesterov=0)),
              ("Nesterov", line("fit_momentum", **plain, momentum=0.8, nesterov=1)),
              ("AdamW", line("fit_adam_w", lr=0.3, beta1=0.9, beta2=0.99, eps=1e-8, decay=0.0))]
    yield dict(title="Four optimizers in one valley", labels=("step", "loss"), log=(False, True),
               curves=curves)
    yield "Which of them know the flat direction? Why does momentum swing, and when is that worth it?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import math
import chart

ask = None  # the reference's answers, given by grading/handouts.py
sgd = lambda w, dws, lr, decay: ask("sgd", w=[w], dws=[[d] for d in dws], lr=lr, decay=decay)["path"].values


def momentum(nesterov):
    return ask("momentum", w=[10.0], dws=[[2.0]] * 3, lr=1.0, momentum=0.5, decay=0.0,
               nesterov=nesterov)["path"].values


def velocities():
    path = [10.0, *momentum(0)]
    return [before - after for before, after in zip(path, path[1:])]


def adam():
    return ask("adam_w", w=[10.0], dws=[[4.0], [-4.0]], lr=1.0, beta1=0.5, beta2=0.75, eps=0.0,
               decay=0.0)["path"].values


def by_hand(t):
    """m, v and both corrected, of gradients 4 and −4; their step is the reference's."""
    m = v = 0.0
    for d in [4.0, -4.0][:t]:
        m, v = m / 2 + d / 2, 0.75 * v + 0.25 * d * d
    found = [m, v, m / (1 - 0.5 ** t), v / (1 - 0.75 ** t)]
    assert abs([10.0, *adam()][t - 1] - found[2] / found[3] ** 0.5 - adam()[t - 1]) < 1e-12
    return found


def clipped():
    found = ask("clip", g0=[3.0], g1=[4.0], most=1.0)
    return [found[name].values[0] for name in ("norm", "g0", "g1")]


def step_of(t):
    """RMSprop's step number t, for gradients that stay 1."""
    w = [ask("rms_prop", w0=[0.0], w1=[0.0], dws0=[[1.0]] * 2, dws1=[[100.0]] * 2, steps=n, lr=1.0, rho=0.9,
             eps=0.0)["w0"].values[0] if n else 0.0 for n in (t - 1, t)]
    return w[0] - w[1]


state = lambda t: 1 / step_of(t) ** 2


def flatness():
    """The ratio of the fit's two curvatures: of the eigenvalues of xᵀx."""
    a, b, c = (sum(row[i] * row[j] for row in X) for i, j in ((0, 0), (1, 1), (0, 1)))
    root = math.sqrt((a - b) ** 2 + 4 * c * c)
    return (a + b + root) / (a + b - root)


pictures = lambda: {"valley.svg": chart.svg(**next(charts(ask)))}
