"""a5's cases. Running means are wanted as the sums that they stand for, not as recurrences."""
import math
import oracle
from course import case
from oracle import normal
from tensors import Array, array


columns = lambda dws: [dws.values[c::dws.shape[1]] for c in range(dws.shape[1])]


def paths(w, dws, walk):
    """The path of all weights, each walked by itself: walk(w, gradients) yields it."""
    walked = zip(*(walk(v, g) for v, g in zip(w.values, columns(dws))))
    return Array(dws.shape, [v for step in walked for v in step])


def sgd(lr, decay):
    def walk(w, g):
        for d in g:
            w = w * (1 - lr * decay) - lr * d
            yield w
    return walk


def momentum(lr, momentum, decay, nesterov):
    def walk(w, g):
        seen = []
        for d in g:
            seen.append(d + decay * w)
            speed = sum(momentum ** (len(seen) - 1 - i) * s for i, s in enumerate(seen))
            w -= lr * (seen[-1] + momentum * speed if nesterov else speed)
            yield w
    return walk


def adam_w(lr, beta1, beta2, eps, decay):
    def walk(w, g):
        for t in range(1, len(g) + 1):
            # the corrected running mean is a weighted mean of all gradients so far
            weights = lambda beta: [beta ** (t - 1 - i) for i in range(t)]
            average = lambda beta, values: sum(p * q for p, q in zip(weights(beta), values)) / sum(
                weights(beta))
            m, v = average(beta1, g[:t]), average(beta2, [d * d for d in g[:t]])
            w = w - lr * decay * w - lr * m / (math.sqrt(v) + eps)
            yield w
    return walk


def fitted(x, y, steps, walk_of):
    """Losses of the fit; the walk is asked anew for every step, with all gradients so far."""
    rows, width = x.shape
    w, gradients, losses = [0.0] * width, [[] for _ in range(width)], []
    for _ in range(steps):
        off = [sum(x[n, c] * w[c] for c in range(width)) - y.values[n] for n in range(rows)]
        losses.append(sum(o * o for o in off) / rows)
        for c in range(width):
            gradients[c].append(sum(2 * o * x[n, c] for n, o in enumerate(off)) / rows)
        w = [[*walk_of(0.0, g)][-1] for g in gradients]
    return losses


def cases():
    drawn = lambda name, low, high: oracle.draws(name).uniform(low, high)
    size, steps = oracle.choose(3, "width", range(3, 6)), oracle.choose(5, "steps", range(5, 8))
    given, own = (normal(1, 3), normal(2, 5, 3)), (normal("w", size), normal("dws", steps, size))
    hint = "the decay adds to the gradient, before lr; the gradient keeps its values"
    for name, lr, decay, public in [("plain", 0.1, 0.0, True), ("with decay", 0.1, 0.5, True),
                                    ("a large step", drawn("lr", 1.5, 2.5), 0.0, False),
                                    ("decay alone counts too", 0.5, drawn("decay", 1.2, 1.7), False)]:
        w, dws = given if public else own
        yield case(1, "sgd", f"SGD, {name}", {"w": w, "dws": dws, "lr": lr, "decay": decay},
                   {"path": paths(w, dws, sgd(lr, decay)), "dws": dws}, hint, public=public)
    for a, b, public in [((3,), (4,), True), ((2, 3), (6,), False), ((4,), (1,), False),
                         ((1, 4), (4,), False), ((4,), (5,), False)]:
        yield case(1, "sgd_shapes", f"SGD, a gradient of {b} for a weight of {a} is an error",
                   {"w": normal(3, *a), "dw": normal(4, *b)}, error=[a, b], public=public,
                   hint="\"sgd: wanted …[3], got [4]\"")
    for name, lr, mu, decay, nesterov, public in [
            ("plain", 0.1, 0.9, 0.0, 0, True), ("Nesterov", 0.1, 0.9, 0.0, 1, True),
            ("with decay", 0.2, 0.8, 0.5, 0, True), ("Nesterov with decay", 0.2, 0.5, 0.3, 1, False),
            ("no momentum is SGD", 0.3, 0.0, 0.2, 0, False),
            ("a long memory", drawn("slow", 0.03, 0.08), 0.99, 0.1, 0, False),
            ("Nesterov, a long memory", 0.05, drawn("long", 0.97, 0.995), 0.0, 1, False)]:
        w, dws = given if public else own
        yield case(2, "momentum", f"momentum, {name}",
                   {"w": w, "dws": dws, "lr": lr, "momentum": mu, "decay": decay, "nesterov": nesterov},
                   {"path": paths(w, dws, momentum(lr, mu, decay, nesterov)), "dws": dws},
                   "by hand, as in section 2 (Momentum): what is the first velocity? Which velocity does "
                   "Nesterov look ahead with?", public=public)
    hint = "by hand, as in section 3 (AdamW): m and v from zero, both corrected; eps beside the root; the decay is of the w before"
    for name, lr, b1, b2, eps, decay, scale, public in [
            ("as usual", 0.1, 0.9, 0.999, 1e-8, 0.01, 1.0, True),
            ("a strong decay", 0.5, 0.9, 0.99, 1e-8, 0.8, 1.0, True),
            ("no decay", 0.1, 0.8, 0.9, 1e-8, 0.0, 1.0, False),
            ("a large eps", 0.1, 0.9, 0.95, 0.5, 0.1, 1.0, True),
            ("tiny gradients", 0.1, 0.9, 0.99, 1e-3, 0.1, 1e-3, False),
            ("no memory", 0.3, 0.0, 0.0, 1e-8, 0.2, 1.0, False),
            ("a strong decay and a large eps", 0.7, 0.5, 0.7, 0.3, 0.9, 2.0, False)]:
        w = given[0] if public else own[0]
        g = normal(5, 6, *w.shape, scale=scale)
        yield case(3, "adam_w", f"AdamW, {name}",
                   {"w": w, "dws": g, "lr": lr, "beta1": b1, "beta2": b2, "eps": eps, "decay": decay},
                   {"path": paths(w, g, adam_w(lr, b1, b2, eps, decay)), "dws": g, "steps": 6.0}, hint,
                   public=public)
    w = own[0]
    zero = Array((4, size), [0.0] * 4 * size)
    yield case(3, "adam_w", "AdamW, no gradient: only the decay",
               {"w": w, "dws": zero, "lr": 0.5, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "decay": 0.5},
               {"path": paths(w, zero, lambda v, g: [v * 0.75 ** t for t in range(1, 5)])}, hint)
    two = {"w0": normal("first", 2), "w1": normal("second", 4), "dws0": normal("first's", 4, 2),
           "dws1": normal("second's", 4, 4, scale=5.0)}
    hint = "each optimizer has a state of its own: no static"
    for name, nesterov in (("", 0), (" of Nesterov's", 1)):
        yield case(2, "momentum", f"two momenta{name} in one program",
                   {**two, "lr": 0.1, "momentum": 0.8, "decay": 0.1, "nesterov": nesterov},
                   {f"path{k}": paths(two[f"w{k}"], two[f"dws{k}"],
                                      momentum(0.1, 0.8, 0.1, nesterov)) for k in (0, 1)}, hint)
    yield case(3, "adam_w", "two AdamW in one program",
               {**two, "lr": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-8, "decay": 0.1},
               {f"path{k}": paths(two[f"w{k}"], two[f"dws{k}"],
                                  adam_w(0.1, 0.8, 0.95, 1e-8, 0.1)) for k in (0, 1)}, hint)
    slow = {"lr": 0.1, "momentum": 0.9, "decay": 0.0, "nesterov": 0}
    usual = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "decay": 0.1}
    for name, task, call, how, walk, more in [("momentum", 2, "momentum", slow, momentum, {}),
                                              ("AdamW", 3, "adam_w", usual, adam_w, {"steps": float(steps)})]:
        yield case(task, call, f"a second {name} after the first",
                   {"w": own[0], "dws": own[1], **how, "warm": 1},
                   {"path": paths(*own, walk(*how.values())), "dws": own[1], **more}, hint)
    x, y = normal(6, 8, 3), normal(7, 8)
    for name, task, call, how, walk in [
            ("momentum", 2, "momentum", {"lr": 0.05, "momentum": 0.8, "decay": 0, "nesterov": 0}, momentum),
            ("AdamW", 3, "adam_w", usual, adam_w)]:
        yield case(task, f"fit_{call}", f"{name}, losses of a fit", {"x": x, "y": y, "steps": 20, **how},
                   {"losses": fitted(x, y, 20, walk(*how.values()))}, "the losses fall", rtol=1e-8)
    # --- task 4
    def clipped(name, gradients, most, public=False):
        norm = math.sqrt(math.fsum(v * v for g in gradients for v in g.values))
        factor = most / norm if math.isfinite(norm) and norm > most else 1.0
        parts = {f"g{k}": g for k, g in enumerate(gradients)}
        return case(4, "clip", f"clip, {name}", {**parts, "most": most},
                    {"norm": norm,
                     **{k: Array(g.shape, [v * factor for v in g.values]) for k, g in parts.items()}},
                    "one factor for all, from the norm of all; returns the norm before", public=public)
    yield clipped("two gradients", [normal(8, 3), normal(9, 2, 2)], 1.0, True)
    yield clipped("small ones stay", [normal(8, 3), normal(9, 2, 2)], 100.0, True)
    long, short = oracle.draws("triple").choice([(3.0, 4.0), (5.0, 12.0), (8.0, 15.0), (20.0, 21.0)])
    yield clipped("one gradient", [array([long, short])], 2.5)
    yield clipped("exactly at the bound", [array([long, short])], math.sqrt(long ** 2 + short ** 2))
    yield clipped("a little above the bound", [normal("above", 4)],
                  0.999 * math.sqrt(sum(v * v for v in normal("above", 4).values)))
    yield clipped("three of different size",
                  [normal(10, 2, scale=10.0), normal(11, 3, scale=0.1), normal(12, 4)], 0.5)
    many = [normal(f"many {k}", k % 3 + 1) for k in range(oracle.choose(7, "many", range(6, 12)))]
    yield clipped("many, one of them empty", [*many, Array((0,), [])], 0.3)
    yield clipped("zeros stay zeros", [array([0.0, 0.0])], 1.0)
    one = drawn("one", 0.5, 3)
    yield clipped("none at all", [], 1.0)
    yield clipped("an infinite one scales nothing", [array([one, math.inf]), array([2.0])], 1.0)
    yield case(4, "clip", "clip, a NaN scales nothing", {"g0": [one, math.nan], "g1": [5.0], "most": 1.0},
               {"norm": math.nan, "g0": [one, math.nan], "g1": [5.0]}, "NaN compares false with everything")
    # --- task 5
    def rms(weights, gradients, lr, rho, eps):
        def walk(w, g):
            for t in range(1, len(g) + 1):
                s = sum((1 - rho) * rho ** (t - 1 - i) * d * d for i, d in enumerate(g[:t]))
                w -= lr * g[t - 1] / (math.sqrt(s) + eps)
                yield w
        return [Array(w.shape, paths(w, g, walk).values[-w.shape[0]:]) for w, g in zip(weights, gradients)]
    for name, shapes, lr, rho, eps, public in [
            ("two weights", (3, 3), 0.01, 0.9, 1e-8, True),
            ("three weights", (2, 2, 2), 0.1, 0.5, 1e-8, True), ("a large eps", (3, 3), 0.1, 0.9, 0.5, False),
            ("weights of different size", (2, 4), 0.1, 0.8, 1e-8, False),
            ("a large one first", (4, 1), 0.05, 0.95, 1e-4, False),
            ("a second optimizer after the first", (2, 3), 0.1, 0.9, 1e-8, False)]:
        shapes = oracle.longer(name, public=public)(*shapes)
        weights = [normal(20 + k, n) for k, n in enumerate(shapes)]
        gradients = [normal(30 + k, 4, n, scale=3.0 ** k) for k, n in enumerate(shapes)]
        inputs = {**{f"w{k}": v for k, v in enumerate(weights)},
                  **{f"dws{k}": v for k, v in enumerate(gradients)}}
        yield case(5, "rms_prop", f"RMSprop, {name}", {**inputs, "steps": 4, "lr": lr, "rho": rho, "eps": eps,
                                                       **({"warm": 1} if "second" in name else {})},
                   {f"w{k}": v for k, v in enumerate(rms(weights, gradients, lr, rho, eps))},
                   "with one weight all is well: what do two share?", public=public)
