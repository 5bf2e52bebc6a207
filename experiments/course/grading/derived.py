"""Cases that a derived gradient passes, and no difference quotient of the forward pass: what a step changes is lost in a
sum that is 10^60 times as large, which neither long double nor quadruple precision holds, or there are so many numbers
that a forward pass for each of them is not done in time."""
import oracle
from course import case
from tensors import Array

HUGE, TINY = 1e60, 1e-60
HINT = "derive it: no difference of two forward passes has these numbers"


def beyond(task, call, name, inputs, expect, *, derives=(), **how):
    """A case that the points of its call need, and those of the calls that use its gradient."""
    return case(task, call, name, inputs, expect, HINT, **{"rtol": 1e-7, "atol": 0, **how}, derives=(call, *derives))


def sized(name, *sizes):
    """Drawn numbers of these sizes, above and below 0."""
    draw = oracle.draws(f"beyond differences, {name}")
    return [size * draw.uniform(0.5, 1.5) * draw.choice([-1, 1]) for size in sizes]


def one_row(values):
    return Array((1, len(values)), values)


def times(a, b):
    """The product of two matrices."""
    columns = [b.values[n::b.shape[1]] for n in range(b.shape[1])]
    return oracle.flat([[sum(map(float.__mul__, row, column)) for column in columns] for row in oracle.rows(a)],
                       (a.shape[0], b.shape[1]))


def transposed(a):
    return Array(a.shape[::-1], [v for n in range(a.shape[1]) for v in a.values[n::a.shape[1]]])
