"""Boxes and arrows, of which handouts draw their graphs."""
import math
import chart


def box(x, y, text, width=58):
    return (f'<rect x="{x - width / 2}" y="{y - 17}" width="{width}" height="34" rx="6" fill="#eef3fa" stroke="#0b5fc0"/>'
            + chart.word(x, y + 5, text, "", "middle"))


def arrow(x0, y0, x1, y1, color="#5b636d", width=1.6):
    """A line with a head."""
    angle = math.atan2(y1 - y0, x1 - x0)
    wings = [(x1 - 9 * math.cos(angle + a), y1 - 9 * math.sin(angle + a)) for a in (0.4, -0.4)]
    return (f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{color}" stroke-width="{width}"/>'
            f'<path d="M{x1:.1f} {y1:.1f}L{wings[0][0]:.1f} {wings[0][1]:.1f}L{wings[1][0]:.1f} {wings[1][1]:.1f}Z" fill="{color}"/>')
