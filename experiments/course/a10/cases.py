"""a10's cases. The tree's sum is computed here, in f32 and in order, and every rank's bits must be these, in every order of messages that the
seeds draw. The broker counts messages, their chains and what each rank sends and receives."""
import math
import oracle
from course import case
from oracle import f32
from tensors import Array


def drawn(name, *shape):
    """Normal numbers of three sizes: their sum shows its order in the last bits."""
    draw = oracle.draws(f"{name} {shape}")
    return Array(
        shape, [f32(draw.gauss(0, 1) * draw.choice([0.01, 1, 100])) for _ in range(math.prod(shape))], "f32")


def tree(parts):
    """The sum of lists of f32 by the tree."""
    parts, stride = [list(part) for part in parts], 1
    while stride < len(parts):
        for first in range(0, len(parts) - stride, 2 * stride):
            parts[first] = [f32(a + b) for a, b in zip(parts[first], parts[first + stride])]
        stride *= 2
    return parts[0]


rounds = lambda size: (size - 1).bit_length()
begins = lambda count, size: [rank * (count // size) + min(rank, count % size) for rank in range(size + 1)]
of_ranks = lambda name, size, values: {f"{name}.{rank}": value for rank, value in enumerate(values)}
on_all = lambda size, y: of_ranks("y", size, [y] * size)


def drawn_ranks(name, size, count):
    """Every rank's x, and y, the sum by the tree, on every rank."""
    x = [drawn(f"{name} {rank}", count) for rank in range(size)]
    return of_ranks("x", size, x), on_all(size, Array((count,), tree(v.values for v in x), "f32"))


def by_ranks(name, task, call, size, inputs, expect, limits, **more):
    """A case of several processes, in three orders of messages. limits: the most that the broker may count;
    where there are numbers to tell, each rank but one must get a message or send one."""
    draw = oracle.draws(f"orders {name}")
    seeds = [float(draw.randrange(10 ** 6)) for _ in range(3 if size > 2 else 1)]
    tolerance = {"rtol": 0, "atol": 0} | more
    least = {"messages": size - 1} if any(
        tensor.values for named, tensor in inputs.items() if named[:2] in ("x.", "le")) else {}
    return case(task, call, f"{name}, {size} rank{'s' * (size > 1)}",
                {"ranks": size, "seeds": seeds, **inputs}, expect,
                bounds={what: (least.get(what, 0), most) for what, most in limits.items()}, **tolerance)


def shares():
    hint = "whoever comes first has the row more; what is left of count / size?"
    for name, count, size, rank, public in [
            ("the first of 3", 10, 3, 0, True), ("the second of 3", 10, 3, 1, True),
            ("the last of 3", 10, 3, 2, True), ("the fourth of 5", 8, 5, 3, True),
            ("of none", 0, 4, 2, False), ("fewer rows than ranks", 3, 8, 5, False),
            ("the last that has one", 3, 8, 2, False), ("no remainder", 24, 8, 7, False),
            ("alone", 7, 1, 0, False), ("many rows", 10 ** 12 + 5, 8, 6, False)]:
        if not public and count >= 7:
            count += oracle.choose(0, name, range(0, 8000, size))
        elif not public and count > 0:  # fewer than ranks: the last that has a row, or the first that has none or later
            few = oracle.choose(count, name, range(1, 6))
            count, rank = few, few - 1 if rank < count else rank
        begin = begins(count, size)
        yield case(1, "share", f"share, {name}", {"count": count, "size": size, "rank": rank},
                   {"begin": begin[rank], "end": begin[rank + 1]}, hint, public=public)
    for name, size, rank, public in [("past the last", 4, 4, True), ("below 0", 4, -1, False),
                                     ("past the last of one", 1, 1, False)]:
        yield case(1, "share", f"share, a rank {name}", {"count": 9, "size": size, "rank": rank},
                   public=public, hint="which ranks are there?", error=[rank])


def sums():
    for name, size, count, public in [("to rank 0", 2, 3, True), ("to rank 0", 4, 3, True),
                                      ("to rank 0", 5, 4, True), ("to rank 0, alone", 1, 3, True),
                                      ("to rank 0", 3, 5, False), ("to rank 0", 8, 6, False),
                                      ("to rank 0", 7, 4, False), ("to rank 0, one number", 6, 1, False),
                                      ("to rank 0, nothing", 3, 0, False)]:
        count = oracle.longer(f"{name} {size}")(count)[0]
        x, y = drawn_ranks(f"{name} {size}", size, count)
        limits = {"messages": size - 1, "depth": rounds(size), "received": rounds(size) * count}
        yield by_ranks(name, 2, "reduce_tree", size, x, {"y.0": y["y.0"]}, limits, public=public,
                       hint="who adds what in round s? Draw it for five ranks")
    for name, size, count, public in [("to all", 2, 3, True), ("to all", 3, 4, True), ("to all", 5, 3, True),
                                      ("to all, alone", 1, 4, False), ("to all", 4, 5, False),
                                      ("to all", 6, 3, False), ("to all", 8, 7, False),
                                      ("to all, one number", 7, 1, False),
                                      ("to all, after another call", 3, 4, False)]:
        x, y = drawn_ranks(f"{name} {size}", size, count)
        yield by_ranks(
            name, 3, "all_reduce", size, x | ({"warm": 1} if "after" in name else {}), y,
            limits_of(size, count, count), public=public,
            hint="the tree down is the tree up, backwards; does every rank get it, and none too much?")


def limits_of(size, count, most):
    """Of an all-reduce in chunks."""
    busiest = max(1, rounds(size)) * count
    return {"messages": 2 * (size - 1) * max(1, -(-count // most)), "depth": 2 * rounds(size),
            "sent": busiest, "received": busiest, "largest": most}


def chunks():
    for name, size, count, most, public in [
            ("10 numbers in 4s", 2, 10, 4, True), ("7 in 3s", 5, 7, 3, True), ("5 in 1s", 3, 5, 1, True),
            ("6 in 3s", 4, 6, 3, False), ("8 in 8s", 3, 8, 8, False), ("3 in 8s", 5, 3, 8, False),
            ("9 in 8s", 6, 9, 8, False), ("none in 4s", 3, 0, 4, False), ("40 in 16s", 8, 40, 16, False),
            ("5 in 2s, alone", 1, 5, 2, False)]:
        x, y = drawn_ranks(name, size, count)
        yield by_ranks(f"chunks, {name}", 4, "all_reduce_chunks", size, {"most": most, **x}, y,
                       limits_of(size, count, most), public=public,
                       hint="what does the first chunk's answer wait for, and what the second chunk?")


def steps():
    hint = "a rank with more rows counts more; how many rows are there in all, and who knows?"
    for name, rows, columns, public in [
            ("step, equal parts", [3, 3], 2, True), ("step, unequal parts", [4, 1, 2], 3, True),
            ("step, one rank has no rows", [2, 0, 3], 2, True), ("step, alone", [5], 3, False),
            ("step, unequal parts", [7, 1, 1, 2, 5], 2, False),
            ("step, the first has no rows", [0, 3, 4], 2, False),
            ("step, three rows", [1, 1, 1, 0, 0, 0, 0, 0], 2, False),
            ("step, one column", [2, 6, 1, 1], 1, False)]:
        draw = oracle.draws(f"{name} {rows}")
        array = lambda *shape: Array(shape, [f32(draw.gauss(0, 1)) for _ in range(math.prod(shape))], "f32")
        w, rate = array(columns), 0.25
        x, y = [array(count, columns) for count in rows], [array(count) for count in rows]
        gradient = [0.0] * columns
        for xs, ys in zip(x, y):
            for row, wanted in enumerate(ys.values):
                line = xs.values[row * columns:(row + 1) * columns]
                error = sum(a * b for a, b in zip(line, w.values)) - wanted
                gradient = [g + error * a / sum(rows) for g, a in zip(gradient, line)]
        after = Array((columns,), [a - rate * g for a, g in zip(w.values, gradient)], "f32")
        size = len(rows)
        limits = {"messages": 4 * (size - 1), "depth": 4 * rounds(size), "sent": rounds(size) * (columns + 1),
                  "received": rounds(size) * (columns + 1)}
        yield by_ranks(name, 5, "step", size,
                       {"w": w, "rate": rate, **of_ranks("x", size, x), **of_ranks("y", size, y)},
                       on_all(size, after), limits, public=public, hint=hint, rtol=1e-5, atol=1e-6,
                       judge=None if public else same_bits)


def same_bits(found):
    wrong = [name for name in found if name.startswith("y.") and found[name].values != found["y.0"].values]
    return f"{wrong[0]} and y.0 differ in their last bits" if wrong else None


def leaves():
    for size, count, public in [(1, 8, True), (2, 8, True), (3, 8, True), (5, 8, False), (8, 8, False),
                                (4, 8, False), (7, 8, False), (5, 12, False), (6, 5, False), (3, 1, False),
                                (4, 7, False)]:
        width = 3
        parts = [drawn(f"leaf {i} of {count}", width) for i in range(count)]
        begin = begins(count, size)
        mine = [Array((b - a, width), [v for part in parts[a:b] for v in part.values],
                      "f32") for a, b in zip(begin, begin[1:])]
        owner = [rank for rank in range(size) for _ in range(begin[rank + 1] - begin[rank])]
        crossed = sum(
            owner[first] != owner[first + s] for s in (1, 2, 4, 8) for first in range(0, count - s, 2 * s))
        limits = {"messages": crossed + size - 1, "depth": rounds(count) + rounds(size)}
        y = Array((width,), tree(part.values for part in parts), "f32")
        yield by_ranks(
            f"{count} lea{'ves' if count > 1 else 'f'}", 6, "sum_leaves", size,
            {"count": count, **of_ranks("leaves", size, mine)}, on_all(size, y), limits, public=public,
            hint="draw the tree of the leaves first, then write at each node in whose rank it begins")


def deaths():
    for size, dead, calls, public in [(2, 1, 0, True), (4, 3, 0, True), (5, 2, 1, True), (4, 0, 2, True),
                                      (5, 4, 0, False), (8, 4, 1, False), (6, 5, 0, False), (6, 0, 0, False),
                                      (3, 0, 2, False), (8, 4, 3, False), (4, 2, 3, False), (7, 4, 2, False),
                                      (5, 0, 3, False), (3, 2, 0, False)]:
        x, y = drawn_ranks(f"death {size} {dead} {calls}", size, 3)
        living = [rank for rank in range(size) if rank != dead]
        if calls == 0:  # nobody can have the sum
            expect = {f"named.{rank}": dead for rank in living}
        else:
            expect = {f"named.{rank}?": dead for rank in living} | {f"y.{r}?": y[f"y.{r}"] for r in living}
        yield by_ranks(f"rank {dead} dies before its call {calls} of the link", 7, "all_reduce_safely", size,
                       {"dies": [dead, calls], **x}, expect, {"largest": 3}, public=public, hint="who hears of the death first, who waits for that rank, and how "
                       "do the others learn of it? (-1: the error names another rank, or more than one)")
    for size, public in [(5, True), (6, False), (1, False)]:
        yield by_ranks("nobody dies", 7, "all_reduce_safely", size, *drawn_ranks(f"nobody {size}", size, 3),
                       {"depth": 2 * rounds(size)}, public=public, hint="without a death it is all_reduce")


def times():
    for name, size, alpha, beta, size_bytes, public in [
            ("8 machines, 1 GbE", 8, 5e-5, 1.25e8, 3.2e6, True), ("2 ranks", 2, 5e-5, 1.25e8, 4e3, True),
            ("5 machines, 10 GbE", 5, 2e-5, 1.25e9, 4.3e7, True), ("alone", 1, 5e-5, 1.25e8, 1e6, False),
            ("3 ranks", 3, 1e-5, 1.25e9, 1e5, False), ("1024 ranks", 1024, 2e-6, 1.25e10, 1e8, False),
            ("9 ranks", 9, 5e-5, 1.25e8, 0.0, False), ("64 ranks", 64, 1e-5, 3e9, 1e4, False)]:
        if not public:
            alpha *= oracle.draws(f"alpha {name}").uniform(0.75, 3)
        bits, others = rounds(size), size - 1
        tree_s, ring = 2 * bits * (alpha + size_bytes / beta), 2 * others * (
            alpha + size_bytes / (size * beta))
        start = math.inf if size == 1 else max(0.0, (others - bits) * alpha * beta / (bits - others / size))
        yield case(8, "predict", f"times, {name}",
                   {"size": size, "alpha": alpha, "beta": beta, "bytes": size_bytes},
                   {"tree": tree_s, "ring": ring, "from": start},
                   "how many rounds, and how many bytes in each?", public=public)


def cases():
    for part in (shares, sums, chunks, steps, leaves, deaths, times):
        yield from part()
