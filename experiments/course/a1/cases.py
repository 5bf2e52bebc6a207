"""a1's cases. Wanted gradients come from forward differentiation: another way than the one to be written."""
import math
import oracle
from course import case
from tensors import Array

ALLOWED = []  # of the library beside its tensors: the tape is to be written

LEAF, CONST, ADD, MUL, SUM, SIN, MUL_STOP = range(7)
POINTS = {1: 10, 2: 20, 3: 20, 4: 35, 5: 15}  # of each task
STUDENT = ["tape.cpp"]  # more of what a student's tree gets


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
    """(slots of the rows, inputs of the slots with −2 before each, 1 for each leaf)"""
    slots, inputs, leaves = [], [], []
    for op, a, b in code:
        of = [] if op in (LEAF, CONST) else [slots[a]] if op in (SUM, SIN) else [slots[a], slots[b]]
        constant = op == CONST or (of and max(of) < 0)
        slots.append(-1 if constant else len(leaves))
        if not constant:
            inputs += [-2, *of]
            leaves.append(float(op == LEAF))
    return slots, inputs, leaves


def gradient_case(name, task, code, xs, loss=None, *, times=1, clear=False, calls=None, **options):
    loss = len(code) - 1 if loss is None else loss
    more = {"loss": loss, "times": times, **({"clear": 1} if clear else {})}
    expect = wanted(code, xs, loss, 1 if clear else times)
    if calls is not None:
        expect["calls"] = calls
    return case(name, task, "gradients", program(code, xs, **more), expect, **options)


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
    def recorded(name, code, xs, slots, inputs, leaves, **options):
        values = {k: v for k, v in wanted(code, xs, len(code) - 1).items() if k[0] == "v"}
        return case(name, 1, "record", program(code, xs),
                    {"slots": slots, "inputs": inputs, "leaves": leaves, **values},
                    "slots count up from 0; an op whose inputs are all constants is a constant", **options)
    x = numbers(1, 4, 3)
    yield recorded("a chain is on the tape in its order", CHAIN, x, [0, 1, 2, 3], [-2, -2, 0, -2, 1, -2, 2],
                   [1, 0, 0, 0], public=True)
    yield recorded("an op on constants is not recorded",
                   [(CONST, 0, 0), (SIN, 0, 0), (LEAF, 1, 0), (MUL, 2, 1)], x, [-1, -1, 0, 1],
                   [-2, -2, 0, -1], [1, 0], public=True)
    yield recorded("an input used twice is named twice", TWICE, x, [0, 1, 2], [-2, -2, 0, 0, -2, 1],
                   [1, 0, 0])
    yield recorded("one constant among the inputs keeps its place", CONSTANT, x, [0, -1, 1, 2, 3],
                   [-2, -2, 0, -1, -2, -1, 1, -2, 2], [1, 0, 0, 0])
    for number in (1, 2):
        code, xs = drawn_program(f"recorded {number}", 3)
        yield recorded(f"drawn program {number}", code, xs, *recorded_of(code))
    # --- task 2: walk
    def walked(name, inputs, start, order, then=None, **options):
        more = {} if then is None else {"then": then}
        wanted = {} if then is None else {"visited_then": visited(inputs, then),
                                          "too_early_then": Array([0], [])}
        return case(name, 2, "walk",
                    {"inputs": Array([len(inputs), 2], [i for p in inputs for i in p], "i64"), "start": start,
                     **more}, {"visited": order, "too_early": Array([0], []), **wanted},
                    "every slot once, before its inputs; only those that the start depends on", **options)
    yield walked("a chain is walked from its end", [(N, N), (0, N), (1, N)], 2, [2, 1, 0], public=True)
    yield walked("what the loss does not need is not visited",
                 [(N, N), (N, N), (0, N), (1, N), (2, 2), (3, 3)], 4, [4, 2, 0], public=True)
    yield walked("a diamond's foot is visited once", [(N, N), (0, N), (0, N), (1, 2)], 3, [3, 2, 1, 0],
                 public=True)
    yield walked("a constant input is passed over", [(N, N), (-1, 0), (1, -1)], 2, [2, 1, 0])
    yield walked("a leaf is walked alone", [(N, N), (N, N)], 1, [1])
    yield walked("the start need not be the last slot", [(N, N), (0, N), (1, N), (2, N)], 1, [1, 0])
    yield walked("a long way and a short way to one leaf", [(N, N), (0, N), (1, N), (2, 0), (3, 1)], 4,
                 [4, 3, 2, 1, 0])
    yield walked("what an earlier walk has met is met again", [(N, N), (0, N), (0, N), (2, N), (1, 0)], 4,
                 [4, 1, 0], then=3)
    for number in (1, 2, 3):
        slots, start = drawn_slots(f"walk {number}", 18)
        yield walked(f"drawn slots {number}", slots, start, visited(slots, start), then=start - number)
    many = oracle.choose(40, "diamonds", range(38, 48))
    yield walked("forty diamonds in a row take no time",
                 [(N, N)] + [(i, i) for i in range(many)], many, list(range(many, -1, -1)))
    many = oracle.choose(60000, "chain", range(60000, 64000))
    yield walked("a chain of 60,000 does not overflow the stack", [(N, N)] + [(i, N) for i in range(many)],
                 many, list(range(many, -1, -1)))
    # --- task 3: accumulate
    a, b, c = numbers("parts", 3, 3)
    p, q = (Array([2, 2], v) for v in numbers("matrices", 2, 4))
    add = lambda *rows: [sum(v) for v in zip(*rows)]
    hint = "a new tensor for every sum"
    yield case("the first gradient is taken over", 3, "accumulate", {"dx0": a}, {"adjoint": a, "dx0": a},
               hint, public=True)
    yield case("the second is added, and both stay as they were", 3, "accumulate", {"dx0": a, "dx1": b},
               {"adjoint": add(a, b), "dx0": a, "dx1": b}, hint, public=True)
    yield case("the third is added, and all stay as they were", 3, "accumulate",
               {"dx0": a, "dx1": b, "dx2": c}, {"adjoint": add(a, b, c), "dx0": a, "dx1": b, "dx2": c}, hint)
    yield case("what stood in the adjoint stays as it was", 3, "accumulate", {"adjoint": c, "dx1": b},
               {"adjoint": add(c, b), "before": c, "dx1": b}, hint)
    yield case("an undefined gradient changes nothing", 3, "accumulate", {"adjoint": c, "dx2": b},
               {"adjoint": add(c, b), "before": c}, hint)
    yield case("matrices are added too", 3, "accumulate", {"dx0": p, "dx1": q},
               {"adjoint": Array([2, 2], add(p.values, q.values)), "dx0": p, "dx1": q}, hint)
    yield case("a gradient of no numbers is none too many", 3, "accumulate",
               {"dx0": Array([0, 3], []), "dx1": Array([0, 3], [])}, {"adjoint": Array([0, 3], [])},
               "a batch may be empty")
    yield case("a single number and a list of one differ", 3, "accumulate", {"dx0": a[0], "dx1": a[:1]},
               error=[[], [1]], hint="the shapes [] and [1] differ: name both")
    yield case("shapes that differ are an error", 3, "accumulate", {"dx0": [[1.0, 2.0, 3.0]], "dx1": a},
               error=[[1, 3], [3]], public=True, hint="name both shapes, in your words")
    yield case("shapes of one size that differ are an error", 3, "accumulate", {"dx0": p, "dx1": q.values},
               error=[[2, 2], [4]], hint="name both shapes, in your words")
    # --- task 4: backward
    x = numbers(2, 4, 4)
    hint = "the adjoint of the loss is 1; each op's closure is called once, when its adjoint is whole"
    yield gradient_case("a chain of sines", 4, CHAIN, x, calls=[0, 1, 1, 1], public=True, hint=hint)
    yield gradient_case("x · x", 4, TWICE, x, calls=[0, 1, 1], public=True,
                        hint="an input used twice gets both parts")
    yield gradient_case("a value used three times", 4, DIAMOND, x, calls=[0, 1, 1, 1, 1, 1], hint=hint)
    yield gradient_case("two leaves that share a tensor", 4, SHARED, x, public=True,
                        hint="a closure may return the same tensor for two inputs")
    yield gradient_case("a leaf made late", 4, LATE, x, hint=hint)
    yield gradient_case("what the loss does not need is not called", 4, DEAD, x, 5,
                        calls=[0, 0, 0, 0, 1, 1, 0], hint=hint)
    yield gradient_case("a constant gets nothing", 4, CONSTANT, x, hint=hint)
    yield gradient_case("an undefined gradient goes nowhere", 4, STOP, x, calls=[0, 0, 0, 1, 1], hint=hint)
    yield gradient_case("a million paths take no time", 4, deep(20), x, calls=[0] + [1] * 22, hint=hint)
    for number in (1, 2, 3):
        yield gradient_case(f"drawn program {number} of 17 rows", 4,
                            *drawn_program(f"gradients {number}", 2 + number), hint=hint)
    yield case("two tapes know nothing of each other", 4, "two_tapes", {**program(DIAMOND, x), "y0": x[1]},
               {"first": wanted(DIAMOND, x, 5)["d0"], "second": wanted(DIAMOND, [x[1]], 5)["d0"]},
               "what belongs to a tape stands in the tape, not in a static")
    one = numbers("one", 1, 1)[0][0]
    yield case("a loss of three numbers is an error", 4, "gradients",
               program(CHAIN[:3], numbers(1, 1, 3), loss=2), error=[[3]], public=True,
               hint="\"backward: loss must be a single number, got [3]\"")
    yield case("a loss of two numbers is an error", 4, "gradients",
               program(DIAMOND, numbers(1, 1, 2), loss=4), error=[[2]],
               hint="\"backward: loss must be a single number, got [2]\"")
    yield case("a loss of one number in a list is none", 4, "gradients", program(CHAIN[:3], [[one]], loss=2),
               {"d0": [math.cos(one) * math.cos(math.sin(one))]}, "[1] holds a single number too")
    yield case("a constant loss is an error", 4, "gradients",
               program([(LEAF, 0, 0), (CONST, 1, 0), (SUM, 1, 0)], x, loss=2), error=[],
               hint="\"backward: loss does not stand on this tape\"")
    yield case("a loss of another tape is an error", 4, "other_tape", program(CHAIN, x), error=[],
               hint="\"backward: loss does not stand on this tape\"")
    # --- task 5: several steps
    hint = "backward adds to the leaves' gradients, clear_gradients forgets them"
    yield gradient_case("two backwards add up", 5, DIAMOND, x, times=2, public=True, hint=hint)
    yield gradient_case("three, cleared between, give one", 5, DIAMOND, x, times=3, clear=True, public=True,
                        hint=hint)
    yield gradient_case("two backwards of two leaves", 5, SHARED, x, times=2, hint=hint)
    code, xs = drawn_program("twice", 3)
    yield gradient_case("three backwards of a drawn program", 5, code, xs, times=3, hint=hint)
    yield case("a gradient that was handed out keeps its values", 5, "gradients",
               program(SHARED, x, loss=7, times=2, keep=1),
               {**wanted(SHARED, x, 7, 2),
                **{f"kept{row}": wanted(SHARED, x, 7)[f"d{row}"] for row in (0, 1)}},
               "the second backward makes a new tensor for the sum")
    yield gradient_case("cleared leaves that share a tensor", 5, SHARED, x, times=2, clear=True, hint=hint)
    yield case("a leaf without a gradient says so", 5, "gradient_of", program(CHAIN, x, of=0),
               {"defined": 0.0}, "an undefined Tensor")
    yield case("a constant has no gradient to ask for", 5, "gradient_of", program(CONSTANT, x, of=1),
               error=[], public=True, hint="\"gradient: this value does not stand on this tape\"")
    yield case("nor has the constant that an op made", 5, "gradient_of",
               program([(LEAF, 0, 0), (CONST, 1, 0), (SIN, 1, 0)], x, of=2), error=[],
               hint="\"gradient: this value does not stand on this tape\"")
