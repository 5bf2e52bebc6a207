"""a4's written questions. Values are computed from the formulas' definitions, slopes by a complex step."""
import math
import course, oracle
from tensors import Array

cases = course.module_of("a4", "cases.py")


def row_of(draw):
    """Four whole numbers, one far from the others, and that one's place."""
    while True:
        row = [draw.randint(-4, 4) for _ in range(3)]
        place, outlier = draw.randrange(4), draw.choice([-1, 1]) * draw.randint(8, 15)
        row.insert(place, outlier)
        if len(set(row)) >= 3 and 0 not in row and abs(first_share(row, place)) > 5e-3:
            return row, place


def layer(row, eps=0.0):
    return cases.layer_norm(Array((1, len(row)), row), Array((len(row),), [1.0] * len(row)),
                            Array((len(row),), [0.0] * len(row)), eps).values


def slopes(row, place):
    """LayerNorm's dx for dz = 1 at one place."""
    x, dy = Array((1, 4), [float(v) for v in row]), Array((1, 4), [float(i == place) for i in range(4)])
    one, zero = Array((4,), [1.0] * 4), Array((4,), [0.0] * 4)
    return oracle.gradient(lambda x: cases.layer_norm(x, one, zero, 0.0), {"x": x}, "x", dy).values


variance = lambda row: sum((v - sum(row) / len(row)) ** 2 for v in row) / len(row)


def first_share(row, place):
    """Of r dz, what arrives."""
    return slopes(row, place)[place] * math.sqrt(variance(row))


def questions(draw):
    row, place = row_of(draw)
    text, which = f"x = ({', '.join(map(str, row))}), w = 1, b = 0, ε = 0", f"x{'₁₂₃₄'[place]}"
    yield f"{text}. LayerNorm's output for {which}?", layer(row)[place]
    rms = math.sqrt(sum(v * v for v in row) / 4)
    yield f"The same row. RMSNorm's output for {which}?", row[place] / rms
    yield f"The same row, dz = 1 at {which} and 0 elsewhere. LayerNorm's dx there?", slopes(row, place)[place]
    a, b = draw.sample([-3, -2, -1, 1, 2, 3], 2)
    yield f"A row of two channels, x = ({a}, {b}), dz = ({draw.randint(1, 9)}, {-draw.randint(1, 9)}), ε = 0. ‖dx‖ of LayerNorm? (Exactly.)", 0.0, {"whole": True}
    yield "In question 3: how many times smaller is dx than r dz?", 1 / first_share(row, place)
    eps = draw.randint(3, 30)
    yield f"The same row with ε = {eps}. Σ z²/C of LayerNorm?", sum(v * v for v in layer(row, float(eps))) / 4
    yield f"The same row, ε = 0, the variance divided by C − 1 (wrong). The output for {which}?", layer(row)[
        place] * math.sqrt(3 / 4)
    width = draw.choice([8, 12, 16, 24, 32, 48])
    yield (f"C = {width}, x and dy normal of variance 1, w = 1, many rows. √(mean ‖dx‖² / mean ‖dy‖²) of "
           "LayerNorm? (Within 0.002.)", math.sqrt((width - 2) / (width - 3)), {"tolerance": 0.002})
    alpha, percent = draw.choice([0.3, 0.4, 0.6, 0.8, 1.2]), draw.choice([2, 3, 4, 5])
    yield (f"DyT with α = {alpha}: from which |x| on is the slope of tanh(αx) less than {percent} % of its "
           "slope at 0?", math.atanh(math.sqrt(1 - percent / 100)) / alpha)
    near = draw.choice([1500, 3000, 5000, 12000, 20000, 40000])
    yield (f"f32 has 24 binary digits. How far apart are its numbers near x² for x = {near}? (Exactly; E[x²] "
           "− E[x]² cannot tell smaller variances from 0.)", 2.0 ** (math.floor(math.log2(near * near)) - 23),
           {"whole": True})
