"""a3's study: the loss of the first step by the size of the initial weights; what it asks of the logits."""
import math, random
import tensors

ROWS, WIDTH, CLASSES = 64, 64, 10
FACTORS = [2.0 ** i for i in range(-4, 5)]


def net(ask, start):
    """(inputs, the weights of three layers as the student draws them, targets)"""
    draw = random.Random(3)
    x = [[draw.gauss(0, 1) for _ in range(WIDTH)] for _ in range(ROWS)]
    weights = [ask(start, out=out, seed=seed,
                   **{"in": WIDTH})["w"] for seed, out in enumerate((WIDTH, WIDTH, CLASSES))]
    return x, weights, [draw.randrange(CLASSES) for _ in range(ROWS)]


def first_loss(ask, drawn, factor):
    """Of Linear, ReLU, Linear, ReLU, Linear, all weights times `factor`."""
    h, weights, targets = drawn
    for layer, weight in enumerate(weights):
        scaled = [
            [factor * v for v in weight.values[i:i + WIDTH]] for i in range(0, len(weight.values), WIDTH)]
        z = ask("linear", x=h, weight=scaled)["y"]
        h = ask("relu", x=z)["y"] if layer < 2 else z
    return ask("cross_entropy", logits=h, targets=tensors.array(targets, "i64"))["loss"].values[0]


def charts(ask):
    losses = lambda start: [(f, first_loss(ask, drawn, f)) for drawn in [net(ask, start)] for f in FACTORS]
    yield dict(title="The loss before any step", labels=("all weights times", "loss, nats"), log=(True, True),
               curves=[("log 10", [(f, math.log(CLASSES)) for f in FACTORS]), ("He", losses("he_normal")),
                       ("PyTorch's", losses("torch_default"))])
    yield "Which way of drawing weights begins at log 10, and what does a loss above it say of a net that knows nothing? Why does the curve rise with the third power?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import chart, oracle
from tensors import array

ask = None  # the reference's answers, given by grading/handouts.py
ROW = [math.log(1.0), math.log(2.0), math.log(5.0)]  # of probabilities 1/8, 2/8, 5/8


def line():
    return ask("linear", x=[[1.0, 2.0]], weight=[[3.0, 4.0], [5.0, 6.0], [0.0, 1.0]],
               bias=[10.0, 20.0, 30.0])["y"].values


def down(name):
    return ask("linear_backward", dy=[[1.0, 0.0, 2.0]], x=[[1.0, 2.0]],
               weight=[[3.0, 4.0], [5.0, 6.0], [0.0, 1.0]])[name].values


p = lambda: [math.exp(v) for v in ask("log_softmax", x=[ROW])["y"].values]
dx = lambda dy: ask("log_softmax_backward", dy=[dy], y=ask("log_softmax", x=[ROW])["y"])["dx"].values
targets = lambda *values: array(list(values), "i64")
loss = lambda logits, target: ask("cross_entropy", logits=[logits], targets=targets(target))["loss"].values[0]
dlogits = lambda: ask("cross_entropy_backward", logits=[ROW], targets=targets(1))["dlogits"].values


def scale(call, out, width):
    """What a draw is multiplied by: a uniform one in ±1, or a standard normal one."""
    drawn = oracle.normal_draws(3, 1)[0] if call == "he_normal" else 2 * oracle.uniform_draws(3, 1)[0] - 1
    return ask(call, out=out, seed=3, **{"in": width})["w"].values[0] / drawn


def pictures():
    steps = [-4 + 0.1 * i for i in range(81)]
    rows = [[z, 0.0] for z in steps]
    right, wrong = ([-v for v in ask("log_softmax", x=rows)["y"].values[k::2]] for k in (0, 1))
    return {"surprise.svg": chart.svg("What an answer costs",
                                      ("logit of class 0, the other's is 0", "loss, nats"),
                                      [("class 0 is right", list(zip(steps, right))),
                                       ("class 1 is right", list(zip(steps, wrong)))], ends=(None, (0, 4)))}
