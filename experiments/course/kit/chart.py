"""Curves as an SVG picture, and as text for a terminal."""
import math

COLORS = ["#0b5fc0", "#b45309", "#15803d", "#7c3aed"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 330, 66, 40, 150, 50
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">
<style>text{{fill:#1b1f24;font:13px system-ui,sans-serif}}.t{{font-size:15px;font-weight:600}}.s{{fill:#5b636d;font-size:12px}}</style>
<rect width="{0}" height="{1}" fill="#fff"/>"""


def word(x, y, text, kind="", anchor="start"):
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{text}</text>'


class Scale:
    """From numbers to places, in logarithms or not."""

    def __init__(self, numbers, first, last, log, ends=None):
        self.log, self.first, self.last = log, first, last
        low, high = ends or (min(numbers), max(numbers))
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)
        if self.high <= self.low:
            self.high = self.low + 1

    def __call__(self, v):
        v = math.log10(v) if self.log else v
        return self.first + (v - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self):
        """Round numbers between the ends."""
        if self.log:
            steps = [1] if self.high - self.low > 2.5 else [1, 2, 5]
            found = [s * 10.0 ** k for k in range(math.floor(self.low),
                                                  math.ceil(self.high) + 1) for s in steps]
            return [v for v in found if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
        step *= next(s for s in (1, 2, 5) if (self.high - self.low) / (step * s) <= 8)
        return [k * step for k in range(math.ceil(self.low / step - 1e-9),
                                        math.floor(self.high / step + 1e-9) + 1)]


def scales(curves, log, ends, area):
    points = [p for _, line in curves for p in line]
    (left, right), (bottom, top) = area
    return (Scale([x for x, _ in points], left, right, log[0], ends[0]),
            Scale([y for _, y in points], bottom, top, log[1], ends[1]))


def svg(title, labels, curves, log=(False, False), ends=(None, None), dots=()):
    """A picture of `curves`, pairs of a name and a list of (x, y); names in `dots` are drawn as dots."""
    x, y = scales(curves, log, ends, ((LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)))
    out = [HEAD.format(WIDTH, HEIGHT), word(LEFT, 24, title, "t")]
    for v in y.ticks():
        out += [f'<path d="M{LEFT} {y(v):.1f}H{WIDTH - RIGHT}" stroke="#d5dae0"/>',
                word(LEFT - 8, y(v) + 4, f"{v:.4g}", "s", "end")]
    out += [word(x(v), HEIGHT - BOTTOM + 18, f"{v:.4g}", "s", "middle") for v in x.ticks()]
    out += [word((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, labels[0], "", "middle"),
            word(WIDTH - RIGHT + 12, TOP - 4, labels[1], "s")]
    for i, (name, line) in enumerate(curves):
        color, places = COLORS[i % len(COLORS)], [(x(a), y(b)) for a, b in line]
        if name in dots:
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{color}"/>' for a, b in places]
        else:
            out.append(f'<path d="M{" L".join(f"{a:.1f} {b:.1f}" for a, b in places)}" fill="none" '
                       f'stroke="{color}" stroke-width="2"/>')
        out += [f'<rect x="{WIDTH - RIGHT + 12}" y="{TOP + 11 + 20 * i}" width="14" height="4" '
                f'fill="{color}"/>', word(WIDTH - RIGHT + 32, TOP + 18 + 20 * i, name)]
    return "\n".join([*out, "</svg>\n"])


def text(title, labels, curves, log=(False, False), ends=(None, None), dots=(), columns=60, lines=16):
    """The same for a terminal: each curve's points are the first letter of its name."""
    x, y = scales(curves, log, ends, ((0, columns - 1), (lines - 1, 0)))
    grid = [[" "] * columns for _ in range(lines)]
    for name, line in curves:
        for a, b in line:
            grid[round(y(b))][round(x(a))] = name[0]
    marks = {round(y(v)): f"{v:.3g}" for v in y.ticks()}
    below = [" "] * (columns + 10)
    for v in x.ticks():
        place = round(x(v))
        below[place:place + len(f"{v:.3g}")] = f"{v:.3g}"
    return "\n".join([f"{title}: {labels[1]}",
                      *(f"{marks.get(i, ''):>8} |{''.join(row).rstrip()}" for i, row in enumerate(grid)),
                      " " * 9 + "+" + "-" * columns, " " * 10 + "".join(below).rstrip() + f"   {labels[0]}",
                      *(f"   {name[0]} {name}" for name, _ in curves)])
