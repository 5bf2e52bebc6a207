"""a0's cases. Right numbers prove little here: every case is run under sanitizers too."""
import oracle
from course import case
from tensors import Array

WATCHED = True  # hidden cases are run under sanitizers as well


def drawn(name, count, dtype="f64"):
    """Eighths, which f32 holds exactly; none is 0."""
    draw = oracle.draws(name)
    return Array((count,), [draw.choice([-1, 1]) * draw.randint(1, 80) / 8 for _ in range(count)], dtype)


def cases():
    hint = "./check names a line; which i is the last whose window lies within x?"
    for name, count, width, public in [("three of seven", 7, 3, True), ("two of four", 4, 2, True),
                                       ("single numbers", 5, 1, True), ("all at once", 6, 6, False),
                                       ("one number", 1, 1, False), ("many", 40, 8, False),
                                       ("after another call", 9, 4, False)]:
        if not public and width > 1:
            count, width = (extent + oracle.choose(0, f"{name} longer",
                                                   range(5)) for extent in (count, width))
        x = drawn(name, count)
        inputs = {"x": x, "width": width} | ({"warm": 1} if name == "after another call" else {})
        means = [sum(x.values[i:i + width]) / width for i in range(count - width + 1)]
        yield case(1, "moving_average", f"moving average, {name}", inputs, {"y": means}, hint, public=public)
    hint = "a pointer is of use as long as the tensor that it points into lives"
    for name, values, public in [("both signs", [0.5, -2.0, 1.0], True),
                                 ("positive", [1.0, 4.0, 3.0, 2.0], True),
                                 ("small numbers", [0.125, -0.25], True), ("zeros", [0.0, 0.0, 0.0], False),
                                 ("one number", [-0.375], False), ("drawn", None, False),
                                 ("below 0", [-1.0, -0.5, -8.0], False), ("after another call", None, False)]:
        if values is not None and not public:  # as many or more, of the same signs
            draw, (count,) = oracle.draws(f"size of {name}"), oracle.longer(name, 5)(len(values))
            factor = oracle.choose(1, f"factor of {name}", [0.25, 0.5, 3, 5, 7])
            values = [factor * v for v in values] + [factor * draw.choice(values) for _ in range(count - len(values))]
        x = drawn(f"scaled {name}", 30, "f32") if values is None else Array((len(values),), values, "f32")
        largest = max(map(abs, x.values)) or 1
        inputs = {"x": x} | ({"warm": 1} if name == "after another call" else {})
        yield case(2, "scaled", f"scaled, {name}", inputs, {"y": [v / largest for v in x.values]}, hint,
                   public=public)
    hint = "what stands in a new tensor before anything is written to it?"
    for name, classes, count, public in [
            ("three classes", [0, 2, 2, 1, 2], 3, True), ("one class", [0, 0], 1, True),
            ("a class that does not occur", [0, 3, 3], 5, True), ("none at all", [], 4, False),
            ("drawn", None, 10, False), ("all of the last class", [6] * 9, 7, False),
            ("after another call", None, 5, False)]:
        if not public and classes is not None:
            (count,), extent = oracle.longer(name, 20)(count), oracle.longer(f"{name} in all", 20)
            classes = [count - 1] * extent(len(classes))[0]
        if classes is None:
            classes = [oracle.draws(f"{name} {i}").randrange(count) for i in range(20)]
        inputs = {"classes": Array((len(classes),), classes), "count": count}
        call = "histogram_twice" if name == "after another call" else "histogram"
        yield case(3, call, f"histogram, {name}", inputs,
                   {"counts": [classes.count(c) for c in range(count)]}, hint, public=public)
