"""a1's study: what a backward costs, by paths and by ops; and what a slope becomes on a long way."""
LEAF, ADD, SIN = 0, 2, 5


def gradients(ask, code, x):
    """The answer for a program of ops, a row each."""
    return ask("gradients", code=code, x0=x, loss=len(code) - 1)


def doubled(ask, count):
    """How often closures are called where x is doubled `count` times, and x's gradient, the paths."""
    found = gradients(ask, [(LEAF, 0, 0), *((ADD, i, i) for i in range(count))], 1.0)
    return sum(found["calls"].values), found["d0"].values[0]


def charts(ask):
    counts = list(range(1, 41, 3))
    found = [(n, *doubled(ask, n)) for n in counts]
    yield dict(title="What a backward costs", labels=("n: x + x, n times over", "how many"),
               log=(False, True), curves=[("paths", [(n, paths) for n, _, paths in found]),
                                          ("closures called", [(n, calls) for n, calls, _ in found])])
    lengths = [2 ** i for i in range(11)]
    chain = lambda count, x: abs(gradients(ask, [(LEAF, 0, 0), *((SIN, i, 0) for i in range(count))],
                                           x)["d0"].values[0])
    yield dict(title="The slope of sin(sin(… x))", labels=("sines", "slope"), log=(True, True),
               curves=[(name, [(n, chain(n, x)) for n in lengths])
                       for name, x in (("one: x = 1", 1.0), ("tenth: x = 0.1", 0.1))])
    yield "Which of the two curves above does your tape's time follow? And each sine's own slope is nearly 1: why does the product of a thousand of them not stay there?"


# --- the handout's numbers and pictures; a student's tree ends above this line
ask = None  # the reference's answers, given by grading/handouts.py
STILL = 4  # the step of tape.html that tape.svg shows
CHANGES = [("a[i] + b[i]", "a[i] + 2 * b[i]")]  # the reference holds no constant that could be changed
MUL, SUM = 3, 4
DIAMOND = [(LEAF, 0, 0), (MUL, 0, 0), (ADD, 0, 1), (MUL, 1, 2)]
SINES = [(LEAF, 0, 0), (SIN, 0, 0), (SIN, 1, 0), (SUM, 2, 0)]


value = lambda row: gradients(ask, DIAMOND, [3.0])[f"v{row}"].values[0]
slope = lambda: gradients(ask, DIAMOND, [3.0])["d0"].values[0]
sines = lambda: gradients(ask, SINES, [1.0, 2.0])["d0"].values


def overwritten():
    """x̄ where each part replaces what was there: b's part for a the loss's, x · x's second all."""
    of_b = value(1)
    of_a = of_b
    return of_a * 3
