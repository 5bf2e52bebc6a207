"""Two drawings of a4's handout: the three roads, and where a normalized row lies."""
import math
import chart
from drawings import arrow, box


def roads():
    """From x_i to z_j: straight, by the mean, by the variance."""
    out = [chart.HEAD.format(640, 230)]
    out += [arrow(115, 40, 514, 40), arrow(112, 54, 215, 98), arrow(92, 58, 214, 184), arrow(274, 100, 515, 52), arrow(245, 124, 245, 180),
            arrow(275, 200, 390, 200), arrow(449, 192, 538, 60)]
    out += [box(85, 40, "xᵢ"), box(245, 105, "μ"), box(245, 200, "σ²"), box(420, 200, "r"), box(550, 40, "zⱼ", 70)]
    out += [chart.word(300, 32, "directly: only where j = i", "s", "middle"), chart.word(168, 70, "1.", "t"), chart.word(252, 156, "vanishes: why?", "s"),
            chart.word(140, 138, "2.", "t", "end"), chart.word(330, 192, "3.", "t", "middle"), chart.word(390, 94, "by the mean", "s", "middle"),
            chart.word(508, 140, "by r", "s"), chart.word(85, 218, "zⱼ = (xⱼ − μ) r", "", "middle")]
    return "\n".join([*out, "</svg>\n"])


def place(middle, scale, point):
    """A point of space on paper, seen from above (1, −1, 0.6)."""
    a, b, c = point
    return middle[0] + scale * (0.87 * a - 0.5 * b), middle[1] + scale * (0.25 * a + 0.43 * b - 0.87 * c)


def path(points, fill="none", stroke="#0b5fc0", more=""):
    return f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="{fill}" stroke="{stroke}" {more}/>'


def around(u, v, length=1.0, steps=72):
    """A circle in the plane of two vectors."""
    turns = [2 * math.pi * i / steps for i in range(steps + 1)]
    return [tuple(length * (math.cos(t) * a + math.sin(t) * b) for a, b in zip(u, v)) for t in turns]


def axes(middle, size):
    ends = [place(middle, size, e) for e in ((2.1, 0, 0), (0, 2.1, 0), (0, 0, 2.1))]
    return [arrow(*middle, *end, "#b6bdc6", 1) for end in ends]


def shapes():
    """For three channels: LayerNorm's circle, RMSNorm's sphere, DyT's box."""
    out, size = [chart.HEAD.format(640, 270)], 40
    left, centre, right = (110, 130), (325, 130), (540, 140)
    for middle in (left, centre, right):
        out += axes(middle, size)
    third, half = math.sqrt(3), math.sqrt(2)
    u, v = (1 / half, -1 / half, 0), (1 / math.sqrt(6), 1 / math.sqrt(6), -2 / math.sqrt(6))
    corner = lambda a, b: tuple(2.1 * (a * p + b * q) for p, q in zip(u, v))
    out.append(path([place(left, size, corner(a, b)) for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1))], "#e7eef8", "#c3d3ea"))
    out.append(path([place(left, size, p) for p in around(u, v, third)], more='stroke-width="2"'))
    z = tuple(third * (math.cos(0.3) * a + math.sin(0.3) * b) for a, b in zip(u, v))
    along = tuple(-math.sin(0.3) * a + math.cos(0.3) * b for a, b in zip(u, v))
    inside = tuple(0.6 * p / third - 0.9 * q for p, q in zip(z, along))  # dz without its part along (1, 1, 1)
    tip = lambda by: place(left, size, tuple(p + q for p, q in zip(z, by)))
    at, full, shadow, last = place(left, size, z), tip([p + 0.9 for p in inside]), tip(inside), tip([-0.9 * q for q in along])
    out += [arrow(*left, *at, "#1b1f24"), arrow(*at, *full, "#b45309", 2), arrow(*at, *last, "#15803d", 2)]
    out += [path([full, shadow, last], stroke="#5b636d", more='stroke-dasharray="4 3"')]
    out += [chart.word((left[0] + at[0]) / 2 - 4, (left[1] + at[1]) / 2 - 6, "z", "", "end"), chart.word(full[0] + 5, full[1], "dz"),
            chart.word(last[0] - 4, last[1] - 7, "dx / r", "s", "middle")]
    out += [f'<circle cx="{centre[0]}" cy="{centre[1]}" r="{third * size:.1f}" fill="#e7eef8" stroke="#0b5fc0" stroke-width="2"/>']
    out += [path([place(centre, size, p) for p in around((1, 0, 0), (0, 1, 0), third)], stroke="#9db8dd")] + axes(centre, size)
    cube = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    for p in cube:
        for q in cube:
            if p < q and sum(i != j for i, j in zip(p, q)) == 1:
                out.append(path([place(right, size, p), place(right, size, q)], more='stroke-width="1.5"'))
    for middle, name in ((left, "LayerNorm: a circle"), (centre, "RMSNorm: a sphere"), (right, "DyT: a box")):
        out.append(chart.word(middle[0], 262, name, "", "middle"))
    return "\n".join([*out, "</svg>\n"])
