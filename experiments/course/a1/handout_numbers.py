"""What the numbers of a1's handout are computed with: the reference, asked about x · x, x + a, a · b at x = 3."""
import chart
from handouts import ask
from drawings import arrow, box
from tensors import Array

CHANGES = [("a[i] + b[i]", "a[i] + 2 * b[i]")]  # the reference holds no constant that could be changed
LEAF, ADD, MUL, SUM, SIN = 0, 2, 3, 4, 5
DIAMOND = [(LEAF, 0, 0), (MUL, 0, 0), (ADD, 0, 1), (MUL, 1, 2)]
SINES = [(LEAF, 0, 0), (SIN, 0, 0), (SIN, 1, 0), (SUM, 2, 0)]


def run(code, x):
    return ask("gradients", code=Array([len(code), 3], [i for row in code for i in row], "i64"), x0=x, loss=len(code) - 1)


def value(row):
    return run(DIAMOND, [3.0])[f"v{row}"].values[0]


def slope():
    return run(DIAMOND, [3.0])["d0"].values[0]


def sines():
    return run(SINES, [1.0, 2.0])["d0"].values


def overwritten():
    """x̄ where each part replaces what was there: b's part for a takes the loss's place, and x · x's second that of all."""
    of_b = value(1)
    of_a = of_b
    return of_a * 3


def pictures():
    at = {"x": (320, 205), "a": (220, 120), "b": (420, 120), "loss": (320, 36)}
    join = lambda low, high, side=0: arrow(at[low][0] + side, at[low][1] - 18, at[high][0] + side / 2, at[high][1] + 19)
    out = [chart.HEAD.format(640, 240), join("x", "a", -18), join("x", "a", 6), join("x", "b", 16), join("a", "loss", -10), join("b", "loss", 10),
           arrow(280, 120, 358, 120)]
    out += [box(*at["x"], "x = 3", 80), box(*at["a"], f"a = x · x = {value(1):g}", 120), box(*at["b"], f"b = x + a = {value(2):g}", 120),
            box(*at["loss"], f"loss = a · b = {value(3):g}", 150)]
    out += [chart.word(x, y, f"{name}̄ = ____") for name, x, y in (("x", 372, 210), ("a", 100, 125), ("b", 492, 125))]
    out.append(chart.word(405, 41, "1"))
    return {"diamond.svg": "\n".join([*out, "</svg>\n"])}
