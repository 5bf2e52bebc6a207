"""a2's written questions. Slopes are found by complex steps, errors and counts by doing what is told."""
import math
import course, oracle
from tensors import Array

cases = course.module_of("a2", "cases.py")
F32 = 6e-8  # half of the distance of neighbours near 1


difference = lambda f, x, h, sides=2: (f(x + h) - f(x - h if sides == 2 else x)) / (sides * h)


def tied(count):
    """gradient_error of a right gradient of max, where `count` elements tie, and the differences."""
    row, h = [1.0] * count, 1e-3
    f = lambda i, by: max(v + by * (i == j) for j, v in enumerate(row))
    return cases.gradient_error([1 / count] * count, [(f(i, h) - f(i, -h)) / (2 * h) for i in range(count)])


def softmax_slopes(weights, dy):
    x, n = Array((1, len(weights)), [math.log(w) for w in weights]), len(weights)
    return oracle.gradient(cases.softmax, {"x": x}, "x", Array((1, n), [float(d) for d in dy])).values


def large_sum(batch, rows, columns, row):
    return sum(b + 10 * row + 100 * c for b in range(batch) for c in range(columns))


def questions(draw):
    x, h = draw.randint(2, 6), draw.choice([0.1, 0.2, 0.25])
    cube = lambda v: v ** 3
    yield (f"x³ at x = {x}, a step of h = {h}. How many times larger is the error of the one-sided "
           "difference (F(x + h) − F(x))/h than that of the central one?",
           (difference(cube, x, h, 1) - 3 * x * x) / (difference(cube, x, h) - 3 * x * x))
    size, third = draw.choice([2, 5, 8, 20, 50]), draw.choice([1, 3, 4, 6, 10])
    yield (f"In f32, ε = 0.00000006. F is about {size}, F‴ about {third}. At which h are the two errors of a "
           "central difference, ε|F|/h and h²|F‴|/6, equal?", (6 * F32 * size / third) ** (1 / 3))
    large, small, off = draw.randint(2, 9) * 1000, draw.choice([0.5, 1.5, 2.5]), draw.choice([0.2, 0.3, 0.4])
    n = [float(large), small]
    yield (f"Analytic gradient ({large}, {small + off:g}), numeric gradient ({large}, {small:g}). "
           "gradient_error, as section 1 (The judge) defines it?", cases.gradient_error([n[0], small + off], n))
    batch, rows, columns = (draw.randint(3, 6) for _ in range(3))
    row = draw.randint(1, rows - 1)
    yield (f"x of shape ({rows}, 1) was read as ({batch}, {rows}, {columns}). dy at (b, r, c), counted from "
           f"0, is b + 10 r + 100 c. x's gradient at ({row}, 0)?", large_sum(batch, rows, columns, row))
    batch, rows, columns = (draw.randint(3, 7) for _ in range(3))
    index = draw.randint(rows * columns + columns, batch * rows * columns - 1)
    yield (f"A tensor of shape ({batch}, 1, {columns}) is read as ({batch}, {rows}, {columns}). From which "
           f"place in the small one's memory, counted from 0, comes element {index} of the large one? (A "
           "whole number.)", index // (rows * columns) * columns + index % columns, {"whole": True})
    a, dy, b = [draw.randint(2,
                             9) for _ in range(2)], [draw.randint(1, 9) for _ in range(2)], draw.randint(2, 5)
    yield (f"y = a/b with a = ({a[0]}, {a[1]}), b = ({b}) read as ({b}, {b}), dy = ({dy[0]}, {dy[1]}). db?",
           sum(d * (v / complex(b, oracle.STEP)).imag for v, d in zip(a, dy)) / oracle.STEP)
    m, k, n = draw.randint(5, 40), draw.randint(5, 40), draw.randint(5, 40)
    yield (f"a is ({m}, {k}), b is ({k}, {n}). How many times as many multiplications do central differences "
           "need for the gradients of both (two products a b for each element of a and of b) as the two "
           "products of matmul_backward?", 2 * (m * k + k * n) * m * k * n / (2 * m * k * n))
    weights, dy, place = drawn_row(draw)
    yield (f"Logits {', '.join(f'log {w}' for w in weights)}; dy = ({', '.join(map(str, dy))}). softmax's dx "
           f"at element {place}, counted from 0?", softmax_slopes(weights, dy)[place])
    equal = draw.randint(5, 20)
    yield f"A row of {equal} equal logits, dy = 1 at one of them and 0 elsewhere. The length ‖dx‖ of softmax's gradient?", math.hypot(*softmax_slopes([1] * equal, [1] + [0] * (equal - 1)))
    count = draw.randint(3, 12)
    yield (f"{count} elements tie for the maximum of a row, and max_backward shares dy = 1 among them in "
           "equal parts. numeric_gradient moves one element at a time. gradient_error of the two?",
           tied(count))


def drawn_row(draw):
    while True:
        weights, dy, place = [draw.randint(1, 9) for _ in range(3)], [
            draw.randint(0, 9) for _ in range(3)], draw.randrange(3)
        if len(set(weights)) == len(set(dy)) == 3 and abs(softmax_slopes(weights, dy)[place]) > 0.05:
            return weights, dy, place
