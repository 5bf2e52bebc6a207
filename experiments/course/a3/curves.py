"""a3's study: the loss of the very first step, by how large the initial weights are; and what it asks of the logits."""
import math, random
import tensors

ROWS, WIDTH, CLASSES = 64, 64, 10
FACTORS = [2.0 ** i for i in range(-4, 5)]


def net(ask, start):
    """(inputs, the weights of three layers as the student draws them, targets)"""
    draw = random.Random(3)
    x = [[draw.gauss(0, 1) for _ in range(WIDTH)] for _ in range(ROWS)]
    weights = [ask(start, out=out, seed=seed, **{"in": WIDTH})["w"] for seed, out in enumerate((WIDTH, WIDTH, CLASSES))]
    return x, weights, [draw.randrange(CLASSES) for _ in range(ROWS)]


def first_loss(ask, drawn, factor):
    """Of Linear, ReLU, Linear, ReLU, Linear, all weights times `factor`."""
    h, weights, targets = drawn
    for layer, weight in enumerate(weights):
        scaled = [[factor * v for v in weight.values[i:i + WIDTH]] for i in range(0, len(weight.values), WIDTH)]
        z = ask("linear", x=h, weight=scaled)["y"]
        h = ask("relu", x=z)["y"] if layer < 2 else z
    return ask("cross_entropy", logits=h, targets=tensors.array(targets, "i64"))["loss"].values[0]


def charts(ask):
    losses = lambda start: [(f, first_loss(ask, drawn, f)) for drawn in [net(ask, start)] for f in FACTORS]
    yield dict(title="The loss before any step", labels=("all weights times", "loss, nats"), log=(True, True),
               curves=[("log 10", [(f, math.log(CLASSES)) for f in FACTORS]), ("He", losses("he_normal")),
                       ("PyTorch's", losses("torch_default"))])
    yield "Which way of drawing weights begins at log 10, and what does a loss above it say of a net that knows nothing? Why does the curve rise with the third power?"
