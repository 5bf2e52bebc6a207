"""a11's cases. Those of task 1 are computed from the layer's formula (papers.py); the others compare the
report with its runs and with runs of the grader's own (checker.py)."""
import oracle, tensors
from course import case
from folders import module_of
from oracle import longer, normal
from tensors import Array

papers = module_of("a11", "papers.py")
ALLOWED = None  # all of the library: it is the instrument here
ALTERNATIVES = papers.alternatives()
SECONDS = 60  # for check_layer
RTOL = 1e-6  # first values may be those of f32
STUDENT = ["studies.cpp", "report.py"]  # more of what a student's tree gets


def wanted(name, x, dy, noise):
    """y, dx and the gradients of the parameters, whose first values are moved as the driver moves them."""
    first, formula, _ = papers.LAYERS[name]
    inputs = {"x": x, **moved(first, x.shape[-1], noise)}

    def function(x, **p):
        return oracle.flat(formula(oracle.rows(x), {which: array.values for which, array in p.items()}),
                           x.shape)
    return {"y": function(**inputs), **oracle.gradients(function, inputs, ["x", *sorted(first)], dy)}


def forward(name, x, noise, before=None):
    """y; in evaluation, where a call in training came before."""
    first, formula, _ = papers.LAYERS[name]
    p = {which: array.values for which, array in moved(first, x.shape[-1], noise).items()}
    later = papers.LATER.get(name) if before else None
    return oracle.flat(later(oracle.rows(x), p, oracle.rows(before)) if later else formula(oracle.rows(x), p),
                       x.shape)


def moved(first, channels, noise):
    """The parameters, first values and noise, in the order of their names."""
    inputs, place = {}, 0
    for which in sorted(first):
        values = first[which].of(channels)
        inputs[which] = Array(
            (len(values),), [v + noise.values[(place + i) % len(noise.values)] for i, v in enumerate(values)])
        place += len(values)
    return inputs


def judge(want):
    """The judge of an answer that names its layer; want(name) is what it should hold."""
    def judged(found):
        name = "".join(chr(int(v)) for v in found["name"].values if 0 < v < 128) if "name" in found else ""
        if name not in papers.LAYERS:
            return f"chosen() must be one of {', '.join(papers.LAYERS)}, got '{name[:40]}'"
        expect = want(name)
        other = sorted(set(found) - set(expect) - {"name"})
        if other:
            return f"{name} has the parameters {', '.join(sorted(papers.LAYERS[name][0])) or 'none'}, got {other[0][1:]} too"
        return tensors.fault({"expect": expect, "rtol": RTOL, "atol": 1e-8}, found, None)
    return judged


def cases():
    more = longer("rows", 3)
    hint = "chosen() names the layer; nn/README.md goes through new_layer and check_layer"
    yield case(1, "name", "chosen() names a layer", {}, bounds={"name": (48, 122)}, public=True, hint=hint,
               weight=0.25)
    for what, shape, scale, public in [("two dimensions", (6, 7), 1, True),
                                       ("three dimensions", (3, 2, 5), 2, True),
                                       ("other numbers", (5, 6), 1.5, False)]:
        yield case(1, "check_layer", f"check_layer on {what}",
                   {"x": normal(f"checked {what}", *shape, scale=scale)}, {"right": 1},
                   "build/check_layers shows all its lines", public=public, weight=1.5)
    for what, shape, scale, shift, moved in [
            ("at its first values", (5, 6), 1, 0, 0), ("with other parameters", (5, 6), 1, 0, 0.3),
            ("of three dimensions", (2, 3, 4), 1, 0, 0.3), ("of large numbers", (4, 5), 30, 0, 0.2),
            ("of small numbers", (4, 5), 0.02, 0, 0.2), ("about another mean", (6, 4), 1, 3, 0.3)]:
        x, dy = (normal(f"{name} {what}", *more(*shape), scale=s,
                        shift=m) for name, s, m in [("x", scale, shift), ("dy", 1, 0)])
        noise = normal(f"noise {what}", 101, scale=moved)
        yield case(1, "layer", f"the layer {what}", {"x": x, "dy": dy, "noise": noise},
                   judge=judge(lambda name, x=x, dy=dy, noise=noise: wanted(name, x, dy, noise)),
                   hint="formula, parameters and first values as the handout's list has them?")
    more = longer("a study's size", 16)
    x, none = normal("study", *more(64, 96)), Array((1,), [0.0])
    yield case(1, "forward", "the layer at a study's size", {"x": x, "noise": none},
               judge=judge(lambda name, x=x: {"y": forward(name, x, none)}),
               hint="is it the same formula for every size?")
    more = longer("rows", 3)
    x, before, noise = normal("later x", *more(4, 5)), normal("later before", *more(6, 5)), normal(
        "later noise", 101, scale=0.3)
    yield case(1, "evaluation", "the layer in evaluation, after a call in training",
               {"x": x, "before": before, "noise": noise},
               judge=judge(lambda name: {"y": forward(name, x, noise, before)}),
               hint="what does the layer keep, and how fast does it move?")
    for task, name, public in [(2, "the signal: the report's rows are those of the run", True),
                               (2, "the signal: another run gives the same", False),
                               (3, "the language model: the report's rows are those of the runs", True),
                               (3, "the language model: another run gives the same", False),
                               (4, "the claim: a sentence of the paper, with parts that can fail", True),
                               (4, "the claim: the report's rows and verdict are those of the run", True),
                               (4, "the claim: another run gives the same", False),
                               (4, "the claim: a layer that does nothing does not fulfil it too", False)]:
        yield case(task, "report", name, {}, {"right": 1}, public=public)
