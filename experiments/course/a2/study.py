"""a2's study: how far a difference is from the slope, for each step, from both sides and from one."""
import math

STEPS = [10 ** (-10 + 0.5 * i) for i in range(20)]
LEAST = 1e-14  # what a picture in logarithms shows for 0


def errors(ask, function, x, slope):
    return [(h, max(abs(ask("numeric_gradient", function=function, x=[x], dy=[1.0],
                            h=h)["dx"].values[0] - slope), LEAST)) for h in STEPS]


def charts(ask):
    one_sided = [(h, max(abs((math.sin(1 + h) - math.sin(1)) / h - math.cos(1)), LEAST)) for h in STEPS]
    yield dict(title="How wrong a difference is", labels=("the step h", "error"), log=(True, True),
               ends=(None, (LEAST, 1)),
               curves=[("sin at 1", errors(ask, 1, 1.0, math.cos(1.0))),
                       ("cube x³ at 10", errors(ask, 0, 10.0, 300.0)), ("one side only", one_sided)])
    yield "The slopes right of each valley: which is 2, which 1, and why? Why is x³ at 10 so much worse on the left, and is it so relative to its slope?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import chart
from tensors import array

ask = None  # the reference's answers, given by grading/handouts.py
STILL = 12  # the step of tape.html that tape.svg shows
A, B, DY = [[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [[1.0, 10.0]]


def numeric(x, h):
    """The slope of x³."""
    return ask("numeric_gradient", function=0, x=[x], dy=[1.0], h=h)["dx"].values[0]


summed = lambda shape: ask("sum_to", x=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], shape=array(shape))["y"].values


def divided():
    found = ask("divide_backward", dy=[9.0], a=[6.0], b=[3.0])
    return [found[name].values[0] for name in ("da", "db")]


multiplied = lambda name: ask("multiply_backward", dy=[1.0, 10.0], a=[2.0, 3.0], b=[5.0])[name].values
product = lambda name: ask("matmul_backward", dy=DY, a=A, b=B)[name].values


def soft(dy):
    y = ask("softmax", x=[[math.log(v) for v in (1.0, 2.0, 5.0)]])["y"]
    return ask("softmax_backward", dy=[dy], y=y)["dx"].values


def pictures():
    steps = [10 ** (-11 + 0.25 * i) for i in range(41)]
    errors = [(h, max(abs(numeric(1.1, h) - 3 * 1.1 ** 2), 1e-13)) for h in steps]
    return {"steps.svg": chart.svg("How wrong a difference is: x³ at 1.1", ("the step h", "error"),
                                   [("error", errors)], log=(True, True), dots=("error",))}
