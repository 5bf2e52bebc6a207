"""What the numbers of a3's handout are computed with: the reference, asked about small whole rows."""
import math
import chart, oracle
from handouts import ask
from tensors import array

ROW = [math.log(1.0), math.log(2.0), math.log(5.0)]  # of probabilities 1/8, 2/8, 5/8


def line():
    return ask("linear", x=[[1.0, 2.0]], weight=[[3.0, 4.0], [5.0, 6.0], [0.0, 1.0]], bias=[10.0, 20.0, 30.0])["y"].values


def down(name):
    return ask("linear_backward", dy=[[1.0, 0.0, 2.0]], x=[[1.0, 2.0]], weight=[[3.0, 4.0], [5.0, 6.0], [0.0, 1.0]])[name].values


def p():
    return [math.exp(v) for v in ask("log_softmax", x=[ROW])["y"].values]


def dx(dy):
    return ask("log_softmax_backward", dy=[dy], y=ask("log_softmax", x=[ROW])["y"])["dx"].values


def targets(*values):
    return array(list(values), "i64")


def loss(logits, target):
    return ask("cross_entropy", logits=[logits], targets=targets(target))["loss"].values[0]


def dlogits():
    return ask("cross_entropy_backward", logits=[ROW], targets=targets(1))["dlogits"].values


def scale(call, out, width):
    """What a draw is multiplied by: a uniform one in ±1, or a standard normal one."""
    drawn = oracle.normal_draws(3, 1)[0] if call == "he_normal" else 2 * oracle.uniform_draws(3, 1)[0] - 1
    return ask(call, out=out, seed=3, **{"in": width})["w"].values[0] / drawn


def pictures():
    steps = [-4 + 0.1 * i for i in range(81)]
    rows = [[z, 0.0] for z in steps]
    right, wrong = ([-v for v in ask("log_softmax", x=rows)["y"].values[k::2]] for k in (0, 1))
    return {"surprise.svg": chart.svg("What an answer costs", ("logit of class 0, the other's is 0", "loss, nats"),
                                      [("class 0 is right", list(zip(steps, right))), ("class 1 is right", list(zip(steps, wrong)))], ends=(None, (0, 4)))}
