"""a1's cases. Wanted gradients come from forward differentiation: another way than the one to be written."""
import math
from functools import partial
import oracle
from course import case
from tensors import Array, array


LEAF, CONST, ADD, MUL, SUM, SIN, MUL_STOP = range(7)


def forward(code, xs, row_of_interest, element):
    """Values of all rows and their derivatives by one element of one leaf's row."""
    values, slopes = [], []
    for row, (op, a, b) in enumerate(code):
        n = len(xs[a]) if op in (LEAF, CONST) else None
        if op in (LEAF, CONST):
            v, s = list(xs[a]), [0.0] * n
            if row == row_of_interest:
                s[element] = 1.0
        elif op == SUM:
            v, s = [sum(values[a])], [sum(slopes[a])]
        elif op == SIN:
            v = [math.sin(x) for x in values[a]]
            s = [math.cos(x) * d for x, d in zip(values[a], slopes[a])]
        else:
            pairs = list(zip(values[a], slopes[a], values[b], slopes[b]))
            v = [x + y if op == ADD else x * y for x, _, y, _ in pairs]
            s = [p + q if op == ADD else y * p + (0 if op == MUL_STOP else x * q) for x, p, y, q in pairs]
        values.append(v)
        slopes.append(s)
    return values, slopes


def wanted(code, xs, loss, factor=1):
    """d<row> of the leaves that reach the loss, and every value as it was."""
    out = {}
    values, _ = forward(code, xs, -1, 0)
    reach = set()
    for row in range(loss, -1, -1):  # which rows does a gradient reach?
        if row == loss or row in reach:
            op, a, b = code[row]
            if op >= ADD:
                reach.add(a)
            if op in (ADD, MUL):
                reach.add(b)
    for row, (op, a, _) in enumerate(code):
        if op == LEAF and row in reach:
            out[f"d{row}"] = Array([len(xs[a])], [factor * forward(code, xs, row, i)[1][loss][0]
                                                  for i in range(len(xs[a]))])
    scalars = set()
    for row, v in enumerate(values):
        op, a, _ = code[row]
        if op == SUM or (op > SUM and a in scalars):
            scalars.add(row)
        out[f"v{row}"] = Array([] if row in scalars else [len(v)], v)
    return out


def numbers(seed, count, size):
    draw = oracle.draws(seed)
    return [[draw.uniform(-2, 2) for _ in range(size)] for _ in range(count)]


def program(code, xs, **more):
    inputs = {"code": Array([len(code), 3], [i for row in code for i in row], "i64")}
    inputs.update({f"x{i}": x for i, x in enumerate(xs)})
    return {**inputs, **more}


def drawn_program(name, size):
    """A program of 12 ops on leaves, constants and one another, and its numbers."""
    draw = oracle.draws(name)
    code = [(draw.choice([LEAF, LEAF, CONST]), i, 0) for i in range(4)]
    leaf = draw.randrange(4)
    code[leaf] = (LEAF, leaf, 0)
    while len(code) < 15:  # the latest values are used most, so that few lead nowhere
        a, b = (len(code) - 1 - min(draw.randrange(len(code)), draw.randrange(len(code))) for _ in range(2))
        small = all(code[row][0] in (LEAF, CONST, SIN) for row in (a, b))  # products of products overflow
        code.append((draw.choice([ADD, SIN, MUL, MUL_STOP] if small else [ADD, ADD, SIN]), a, b))
    return code + [(ADD, leaf, 14), (SUM, 15, 0)], numbers(f"{name} numbers", 4, size)


def drawn_slots(name, count):
    """Slots of two inputs or fewer, and a start among the upper half."""
    draw = oracle.draws(name)
    slots = [(N, N), (N, N)]
    while len(slots) < count:
        slots.append(tuple(draw.choice([N, -1, *range(max(0, len(slots) - 6), len(slots)), len(slots) - 1])
                           for _ in range(2)))
    return slots, draw.randrange(count // 2, count)


def visited(inputs, start):
    """The slots that the start depends on, from the largest to the smallest."""
    reach = {start}
    for slot in range(start, -1, -1):
        if slot in reach:
            reach |= {i for i in inputs[slot] if i >= 0}
    return sorted(reach, reverse=True)


def recorded_of(code):
    """Slots of the rows, inputs of the slots with −2 before each, 1 for each leaf."""
    slots, inputs, leaves = [], [], []
    for op, a, b in code:
        of = [] if op in (LEAF, CONST) else [slots[a]] if op in (SUM, SIN) else [slots[a], slots[b]]
        constant = op == CONST or (of and max(of) < 0)
        slots.append(-1 if constant else len(leaves))
        if not constant:
            inputs += [-2, *of]
            leaves.append(int(op == LEAF))
    return {"slots": slots, "inputs": inputs, "leaves": leaves}


def gradient_case(task, name, code, xs, loss=None, *, times=1, clear=False, calls=None, **options):
    loss = len(code) - 1 if loss is None else loss
    expect = wanted(code, xs, loss, 1 if clear else times) | ({} if calls is None else {"calls": calls})
    return case(task, "gradients", name, program(code, xs, loss=loss, times=times,
                                                 **({"clear": 1} if clear else {})), expect, **options)


CHAIN = [(LEAF, 0, 0), (SIN, 0, 0), (SIN, 1, 0), (SUM, 2, 0)]
TWICE = [(LEAF, 0, 0), (MUL, 0, 0), (SUM, 1, 0)]
DIAMOND = [(LEAF, 0, 0), (SIN, 0, 0), (MUL, 1, 0), (ADD, 2, 1), (ADD, 3, 0), (SUM, 4, 0)]
N = -2  # no input
# a + b hands the same tensor to both; a takes more later on. Who adds in place spoils b.
SHARED = [(LEAF, 0, 0), (LEAF, 1, 0), (MUL, 0, 0), (ADD, 0, 1), (ADD, 3, 2), (ADD, 4, 0), (ADD, 5, 1),
          (SUM, 6, 0)]
# a leaf that is last but one and is reached first
LATE = [(LEAF, 0, 0), (SIN, 0, 0), (LEAF, 1, 0), (MUL, 1, 2), (ADD, 3, 0), (SUM, 4, 0)]
# rows 1, 2 lead nowhere
DEAD = [(LEAF, 0, 0), (SIN, 0, 0), (MUL, 1, 1), (LEAF, 1, 0), (MUL, 0, 3), (SUM, 4, 0), (SIN, 5, 0)]
CONSTANT = [(LEAF, 0, 0), (CONST, 1, 0), (MUL, 0, 1), (MUL, 1, 2), (SUM, 3, 0)]
STOP = [(LEAF, 0, 0), (LEAF, 1, 0), (SIN, 1, 0), (MUL_STOP, 0, 2), (SUM, 3, 0)]


def deep(levels):
    """x ← x + x, `levels` times, through a sine: 2^levels paths."""
    code = [(LEAF, 0, 0), (SIN, 0, 0)]
    for _ in range(levels):
        code.append((ADD, len(code) - 1, len(code) - 1))
    return code + [(SUM, len(code) - 1, 0)]


def cases():
    # --- task 1: record
    def recorded(name, code, xs, **options):
        values = {k: v for k, v in wanted(code, xs, len(code) - 1).items() if k[0] == "v"}
        return case(1, "record", name, program(code, xs), {**recorded_of(code), **values},
                    "slots count up from 0; an op whose inputs are all constants is a constant", **options)
    x = numbers(1, 4, 3)
    yield recorded("a chain is on the tape in its order", CHAIN, x, public=True)
    yield recorded("an op on constants is not recorded",
                   [(CONST, 0, 0), (SIN, 0, 0), (LEAF, 1, 0), (MUL, 2, 1)], x, public=True)
    yield recorded("an input used twice is named twice", TWICE, x)
    yield recorded("one constant among the inputs keeps its place", CONSTANT, x)
    for number in (1, 2):
        yield recorded(f"drawn program {number}", *drawn_program(f"recorded {number}", 3))
    # --- task 2: walk
    def walked(name, inputs, start, then=None, **options):
        more, wanted = {}, {"visited": visited(inputs, start), "too_early": Array([0], [])}
        if then is not None:
            more = {"then": then}
            wanted |= {"visited_then": visited(inputs, then), "too_early_then": Array([0], [])}
        return case(2, "walk", name,
                    {"inputs": Array([len(inputs), 2], [i for p in inputs for i in p], "i64"), "start": start,
                     **more}, wanted,
                    "every slot once, before its inputs; only those that the start depends on", **options)
    yield walked("a chain is walked from its end", [(N, N), (0, N), (1, N)], 2, public=True)
    yield walked("what the loss does not need is not visited",
                 [(N, N), (N, N), (0, N), (1, N), (2, 2), (3, 3)], 4, public=True)
    yield walked("a diamond's foot is visited once", [(N, N), (0, N), (0, N), (1, 2)], 3, public=True)
    yield walked("a constant input is passed over", [(N, N), (-1, 0), (1, -1)], 2, public=True)
    yield walked("a leaf is walked alone", [(N, N), (N, N)], 1)
    yield walked("the start need not be the last slot", [(N, N), (0, N), (1, N), (2, N)], 1)
    yield walked("a long way and a short way to one leaf", [(N, N), (0, N), (1, N), (2, 0), (3, 1)], 4)
    yield walked("what an earlier walk has met is met again", [(N, N), (0, N), (0, N), (2, N), (1, 0)], 4, 3)
    for number in (1, 2, 3):
        slots, start = drawn_slots(f"walk {number}", 18)
        yield walked(f"drawn slots {number}", slots, start, start - number)
    many = oracle.choose(40, "diamonds", range(38, 48))
    yield walked("forty diamonds in a row take no time", [(N, N)] + [(i, i) for i in range(many)], many)
    many = oracle.choose(60000, "chain", range(60000, 64000))
    yield walked("a chain of 60,000 does not overflow the stack", [(N, N)] + [(i, N) for i in range(many)],
                 many)
    # --- task 3: accumulate
    a, b, c = numbers("parts", 3, 3)
    p, q = (Array([2, 2], v) for v in numbers("matrices", 2, 4))
    none, add = Array([0, 3], []), lambda *rows: [sum(v) for v in zip(*rows)]
    ask = partial(case, 3, "accumulate", hint="a new tensor for every sum")
    yield ask("the first gradient is taken over", {"dx0": a}, {"adjoint": a, "dx0": a}, public=True)
    yield ask("the second is added, and both stay as they were", {"dx0": a, "dx1": b},
              {"adjoint": add(a, b), "dx0": a, "dx1": b}, public=True)
    yield ask("the third is added, and all stay as they were", {"dx0": a, "dx1": b, "dx2": c},
              {"adjoint": add(a, b, c), "dx0": a, "dx1": b, "dx2": c})
    yield ask("what stood in the adjoint stays as it was", {"adjoint": c, "dx1": b},
              {"adjoint": add(c, b), "before": c, "dx1": b})
    yield ask("an undefined gradient changes nothing", {"adjoint": c, "dx2": b},
              {"adjoint": add(c, b), "before": c})
    yield ask("matrices are added too", {"dx0": p, "dx1": q},
              {"adjoint": Array([2, 2], add(p.values, q.values)), "dx0": p, "dx1": q})
    yield ask("a gradient of no numbers is none too many", {"dx0": none, "dx1": none}, {"adjoint": none},
              hint="a batch may be empty")
    yield ask("a single number and a list of one differ", {"dx0": a[0], "dx1": a[:1]}, error=[[], [1]],
              hint="the shapes [] and [1] differ: name both")
    for name, x, y, public in [("shapes", [[1.0, 2.0, 3.0]], a, True),
                               ("shapes of one size", p, q.values, False)]:
        yield ask(f"{name} that differ are an error", {"dx0": x, "dx1": y},
                  error=[list(array(x).shape), list(array(y).shape)], public=public,
                  hint="name both shapes, in your words")
    # --- task 4: backward
    x = numbers(2, 4, 4)
    ask = partial(gradient_case, 4, hint="the adjoint of the loss is 1; each op's closure is called once, "
                  "when its adjoint is whole")
    yield ask("a chain of sines", CHAIN, x, calls=[0, 1, 1, 1], public=True)
    yield ask("x · x", TWICE, x, calls=[0, 1, 1], public=True, hint="an input used twice gets both parts")
    yield ask("a value used three times", DIAMOND, x, calls=[0, 1, 1, 1, 1, 1])
    yield ask("two leaves that share a tensor", SHARED, x, public=True,
              hint="a closure may return the same tensor for two inputs")
    yield ask("a leaf made late", LATE, x)
    yield ask("what the loss does not need is not called", DEAD, x, 5, calls=[0, 0, 0, 0, 1, 1, 0])
    yield ask("a constant gets nothing", CONSTANT, x)
    yield ask("an undefined gradient goes nowhere", STOP, x, calls=[0, 0, 0, 1, 1])
    yield ask("a million paths take no time", deep(20), x, calls=[0] + [1] * 22)
    for number in (1, 2, 3):
        yield ask(f"drawn program {number} of 17 rows", *drawn_program(f"gradients {number}", 2 + number))
    yield case(4, "two_tapes", "two tapes know nothing of each other", {**program(DIAMOND, x), "y0": x[1]},
               {"first": wanted(DIAMOND, x, 5)["d0"], "second": wanted(DIAMOND, [x[1]], 5)["d0"]},
               "what belongs to a tape stands in the tape, not in a static")
    one = numbers("one", 1, 1)[0][0]
    ask = partial(case, 4, "gradients")
    for name, code, loss, size, public in [("three", CHAIN[:3], 2, 3, True), ("two", DIAMOND, 4, 2, False)]:
        yield ask(f"a loss of {name} numbers is an error", program(code, numbers(1, 1, size), loss=loss),
                  error=[[size]], public=public,
                  hint=f"\"backward: loss must be a single number, got [{size}]\"")
    yield ask("a loss of one number in a list is none", program(CHAIN[:3], [[one]], loss=2),
              {"d0": [math.cos(one) * math.cos(math.sin(one))]}, "[1] holds a single number too")
    hint = "\"backward: loss does not stand on this tape\""
    yield ask("a constant loss is an error", program([(LEAF, 0, 0), (CONST, 1, 0), (SUM, 1, 0)], x, loss=2),
              error=[], hint=hint)
    yield case(4, "other_tape", "a loss of another tape is an error", program(CHAIN, x), error=[], hint=hint)
    # --- task 5: several steps
    ask = partial(gradient_case, 5,
                  hint="backward adds to the leaves' gradients, clear_gradients forgets them")
    yield ask("two backwards add up", DIAMOND, x, times=2, public=True)
    yield ask("three, cleared between, give one", DIAMOND, x, times=3, clear=True, public=True)
    yield ask("two backwards of two leaves", SHARED, x, times=2)
    yield ask("three backwards of a drawn program", *drawn_program("twice", 3), times=3)
    yield case(5, "gradients", "a gradient that was handed out keeps its values",
               program(SHARED, x, loss=7, times=2, keep=1),
               {**wanted(SHARED, x, 7, 2),
                **{f"kept{row}": wanted(SHARED, x, 7)[f"d{row}"] for row in (0, 1)}},
               "the second backward makes a new tensor for the sum")
    yield ask("cleared leaves that share a tensor", SHARED, x, times=2, clear=True)
    ask = partial(case, 5, "gradient_of", error=[],
                  hint="\"gradient: this value does not stand on this tape\"")
    yield ask("a leaf without a gradient says so", program(CHAIN, x, of=0), {"defined": 0.0}, error=None,
              hint="an undefined Tensor")
    yield ask("a constant has no gradient to ask for", program(CONSTANT, x, of=1), public=True)
    yield ask("nor has the constant that an op made",
              program([(LEAF, 0, 0), (CONST, 1, 0), (SIN, 1, 0)], x, of=2))
