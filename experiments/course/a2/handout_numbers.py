"""What the numbers of a2's handout are computed with: the reference, asked about small whole tensors."""
import math
import chart
from handouts import ask
from tensors import array

A, B, DY = [[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [[1.0, 10.0]]


def numeric(x, h):
    """The slope of x³."""
    return ask("numeric_gradient", function=0, x=[x], dy=[1.0], h=h)["dx"].values[0]


def summed(shape):
    return ask("sum_to", x=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], shape=array(shape))["y"].values


def divided():
    found = ask("divide_backward", dy=[9.0], a=[6.0], b=[3.0])
    return [found[name].values[0] for name in ("da", "db")]


def multiplied(name):
    return ask("multiply_backward", dy=[1.0, 10.0], a=[2.0, 3.0], b=[5.0])[name].values


def product(name):
    return ask("matmul_backward", dy=DY, a=A, b=B)[name].values


def soft(dy):
    y = ask("softmax", x=[[math.log(v) for v in (1.0, 2.0, 5.0)]])["y"]
    return ask("softmax_backward", dy=[dy], y=y)["dx"].values


def pictures():
    steps = [10 ** (-11 + 0.25 * i) for i in range(41)]
    errors = [(h, max(abs(numeric(1.1, h) - 3 * 1.1 ** 2), 1e-13)) for h in steps]
    return {"steps.svg": chart.svg("How wrong a difference is: x³ at 1.1", ("the step h", "error"), [("error", errors)], log=(True, True), dots=("error",))}
