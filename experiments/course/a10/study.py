"""a10's study: how long does a sum over 8 machines take by tree and by ring, and which is quicker where?"""

ALPHA, BETA = 5e-5, 1.25e8  # a message of b bytes takes ALPHA + b / BETA seconds: 1 Gbit/s Ethernet


def curves(ask, places, asked):
    """Milliseconds of both ways at these places; asked(place) is what is predicted there."""
    times = [ask("predict", alpha=ALPHA, beta=BETA, **asked(place)) for place in places]
    return [(name, [(float(place), 1e3 * t[name].values[0]) for place, t in zip(places, times)])
            for name in ("tree", "ring")]


def over_bytes(ask):
    return curves(ask, [10 ** (2 + 0.2 * i) for i in range(31)], lambda b: {"size": 8, "bytes": b})


def over_ranks(ask):
    return curves(ask, range(2, 65), lambda size: {"size": size, "bytes": 3.2e6})


def charts(ask):
    yield dict(title="Summing over 8 ranks", labels=("bytes", "milliseconds"), curves=over_bytes(ask),
               log=(True, True))
    yield "Where do the curves cross, and what does each pay for on either side?"
    yield dict(title="Summing 3.2 MB", labels=("ranks", "milliseconds"), curves=over_ranks(ask),
               log=(True, True))
    yield "Why does one curve have steps? To what does the other go as P grows?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import chart, course
from tensors import Array

ask = None  # the reference's answers, given by grading/handouts.py
cases = course.module_of("a10", "cases.py")

BIG = [16777216.0, 1.0, 1.0, 1.0, 1.0]
DIGITS = [3.0, 1.0, 4.0, 1.0, 5.0]


def of(call, values, **more):
    """An answer of as many ranks as there are numbers, each with one."""
    return ask(call, ranks=len(values), seeds=[1.0],
               **cases.of_ranks("x", len(values), [Array((1,), [v], "f32") for v in values]), **more)


total = lambda values: of("reduce_tree", values)["y.0"].values[0]


def safely(values):
    """The sum, where every rank has it."""
    found = {of("all_reduce_safely", values)[f"y.{rank}"].values[0] for rank in range(len(values))}
    return found.pop() if len(found) == 1 else float("nan")


def chain(values):
    """One after the other, as one rank would, in f32."""
    found = values[0]
    for value in values[1:]:
        found = cases.f32(found + value)
    return found


def partners(rank, size=5):
    """(whom it receives from, whom it sends to, or None) on the way up the tree."""
    stride, found = 1, []
    while stride < size and rank % (2 * stride) == 0:
        found += [rank + stride] if rank + stride < size else []
        stride *= 2
    return found, rank - stride if rank else None


receives = lambda rank: ", ".join(map(str, partners(rank)[0])) or "nobody"
sends = lambda rank: "nobody" if rank == 0 else str(partners(rank)[1])


def rounds(values):
    """The parts that are left after each round."""
    parts, left = list(values), []
    while len(parts) > 1:
        parts = [sum(parts[i:i + 2]) for i in range(0, len(parts), 2)]
        left += parts
    return left


counted = lambda call, size, what, **more: of(call, [1.0] * size, **more)[what].values[0]


def in_chunks(size, count, most, what):
    x = cases.of_ranks("x", size, [Array((count,), [1.0] * count, "f32")] * size)
    return ask("all_reduce_chunks", ranks=size, seeds=[1.0], most=most, **x)[what].values[0]


def time(name, size=8, bytes_of=3.2e6):
    return ask("predict", size=size, alpha=ALPHA, beta=BETA, bytes=bytes_of)[name].values[0]


def share(count, size):
    ends = [ask("share", count=count, size=size, rank=rank) for rank in range(size)]
    return [end["end"].values[0] - end["begin"].values[0] for end in ends]


def crossings(size, count=8):
    """How many nodes of the leaves' tree get a message: all of sum_leaves, less those that tell the sum."""
    begin = cases.begins(count, size)
    mine = [Array((b - a, 1), [1.0] * (b - a), "f32") for a, b in zip(begin, begin[1:])]
    return ask("sum_leaves", ranks=size, seeds=[1.0], count=count,
               **cases.of_ranks("leaves", size, mine))["messages"].values[0] - (size - 1)


def other_bits(size, count=1000):
    """Of so many normal numbers, how many have other last bits summed rank by rank than by the tree."""
    parts = [
        [cases.f32(v) for v in cases.oracle.normal(f"rank {rank}", count).values] for rank in range(size)]
    return sum(a != b for a, b in zip(cases.tree(parts), map(chain, zip(*parts))))


def step():
    """w after a step of rate 1 from 0: the mean gradient, negated. Rank 0 has three rows of 2, rank 1 one of 6."""
    row = lambda count, y: ([[1.0]] * count, [y] * count)
    (x0, y0), (x1, y1) = row(3, -2.0), row(1, -6.0)
    f = lambda nested, *shape: Array(
        shape, [v for part in nested for v in (part if isinstance(part, list) else [part])], "f32")
    return -ask("step", ranks=2, seeds=[1.0], w=Array((1,), [0.0], "f32"), rate=1.0,
                **{"x.0": f(x0, 3, 1), "x.1": f(x1, 1, 1), "y.0": f(y0, 3), "y.1": f(y1, 1)})["y.0"].values[0]


def pictures():
    return {"times.svg": chart.svg("Summing over 8 ranks", ("bytes", "milliseconds"), over_bytes(ask),
                                   log=(True, True))}
