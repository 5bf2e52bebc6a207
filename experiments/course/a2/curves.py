"""a2's study: how far a difference is from the slope, for each step, from both sides and from one."""
import math

STEPS = [10 ** (-10 + 0.5 * i) for i in range(20)]
LEAST = 1e-14  # what a picture in logarithms shows for 0


def errors(ask, function, x, slope):
    return [(h, max(abs(ask("numeric_gradient", function=function, x=[x], dy=[1.0], h=h)["dx"].values[0] - slope), LEAST)) for h in STEPS]


def charts(ask):
    one_sided = [(h, max(abs((math.sin(1 + h) - math.sin(1)) / h - math.cos(1)), LEAST)) for h in STEPS]
    yield dict(title="How wrong a difference is", labels=("the step h", "error"), log=(True, True), ends=(None, (LEAST, 1)),
               curves=[("sin at 1", errors(ask, 1, 1.0, math.cos(1.0))), ("cube x³ at 10", errors(ask, 0, 10.0, 300.0)), ("one side only", one_sided)])
    yield "The slopes right of each valley: which is 2, which 1, and why? Why is x³ at 10 so much worse on the left, and is it so relative to its slope?"
