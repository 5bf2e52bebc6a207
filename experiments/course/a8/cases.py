"""a8's cases. The model is wanted as plain Python computes it; a trained one is asked for logits, and its
loss is computed here, from symbols that it has not seen."""
import math
import oracle
from course import case
from layers import attend, linear, rms_norm, rope, silu_up
from oracle import normal
from tensors import Array

COMPUTED = 16  # contexts whose logits are computed here too
STEPS, MARGIN = 1000, 0.85  # of training; the target between the floor (0) and one symbol's (1)
SECONDS = 600  # one test trains, for a few seconds: what is limited is its steps, not the speed of the grader
STUDENT = ["counted.cpp"]
# Of the library beside its tensors: ops, the tape, optimizers, draws; no ready-made models and blocks.
ALLOWED = """
abs add affine all any argmax argmin attention batch_norm binary_cross_entropy_with_logits broadcast_to
cast clamp concat contiguous cos cross_entropy cumsum divide dropout dyisru dyt dyt_sqrtd einsum embedding
erf exp expand expm1 flip gather gelu gelu_tanh group_norm huber_loss index_add index_select l1_loss
layer_norm linear linear_cross_entropy log log1p log_softmax logsumexp mask_operator matmul max maximum
mean min minimum mse_loss multiply norm pad permute pow reciprocal relu reshape rms_norm rope scatter_add
sigmoid sign silu sin slice softcap softmax softplus split sqrt square squared_relu stack std_dev subtract
sum sum_to_size swiglu tanh transpose tril triu var where Tape Rng Optimizer SGD Adam AdamW Muon
clip_grad_norm clip_factor grad_norm threads set_threads""".split()


def logits_of(p, layers, heads, symbols):
    """(T, V) for one text."""
    width, length = p["norm"].shape[0], len(symbols)
    apart = lambda y: Array((length, heads, width // heads), y.values)
    plus = lambda a, b: Array(a.shape, [u + v for u, v in zip(a.values, b.values)])
    x = Array((length, width), [v for s in symbols for v in p["embedding"].values[s * width:(s + 1) * width]])
    for l in range(layers):
        n = rms_norm(x, p[f"{l}.norm1"], 1e-5)
        q, k, v = (apart(linear(n, p[f"{l}.{name}"])) for name in "qkv")
        y = attend(rope(q, 1e4, 0), rope(k, 1e4, 0), v, True)
        x = plus(x, linear(Array(x.shape, y.values), p[f"{l}.o"]))
        m = rms_norm(x, p[f"{l}.norm2"], 1e-5)
        x = plus(x, linear(silu_up(linear(m, p[f"{l}.gate"]), linear(m, p[f"{l}.up"])), p[f"{l}.down"]))
    return oracle.rows(linear(rms_norm(x, p["norm"], 1e-5), p["embedding"]))


def loss_of(logits, target):
    top = max(logits)
    return top + math.log(sum(math.exp(v - top) for v in logits)) - logits[target]


def parameters(seed, vocabulary, layers, width):
    shapes = {"embedding": (vocabulary, width), "norm": (width,)}
    for l in range(layers):
        shapes.update({f"{l}.{n}": (width, width) for n in "qkvo"})
        shapes.update({f"{l}.gate": (2 * width, width), f"{l}.up": (2 * width, width),
                       f"{l}.down": (width, 2 * width), f"{l}.norm1": (width,), f"{l}.norm2": (width,)})
    return {n: normal(f"{seed}{n}", *s, scale=0.3 if "norm" in n else 0.5, shift=1.0 if "norm" in n else 0.0)
            for n, s in sorted(shapes.items())}


def rate(step, steps, warmup, lr):
    if step < warmup:
        return lr * (step + 1) / warmup
    return lr * (0.55 + 0.45 * math.cos(math.pi * min(1, (step - warmup) / (steps - warmup))))


def sampled(z, temperature, top_k, u):
    if temperature == 0:
        return max(range(len(z)), key=lambda i: (z[i], -i))
    kept = sorted(range(len(z)), key=lambda i: (-z[i], i))[:top_k or len(z)]
    p = [math.exp((z[i] - max(z)) / temperature) if i in kept else 0.0 for i in range(len(z))]
    edges = [sum(p[:i + 1]) / sum(p) for i in range(len(z))]
    return next(i for i, e in enumerate(edges) if e > u)


def language(seed, symbols=6):
    """A language in which the two symbols before decide: (a text of n symbols, its entropy in nats)."""
    draw = oracle.draws(f"language {seed}")
    table = {(a, b): [draw.gammavariate(0.15, 1) + 1e-3 for _ in range(symbols)] for a in range(symbols)
             for b in range(symbols)}

    def text(n, seed):
        draw, out = oracle.draws(f"text {seed}"), [0, 1]
        while len(out) < n:
            out.append(draw.choices(range(symbols), table[out[-2], out[-1]])[0])
        return out
    def exact(a, b, c):
        return -math.log(table[a, b][c] / sum(table[a, b]))
    return text, exact


integers = lambda values, *shape: Array(shape or (len(values),), values, "i64")


def guess_by_one(text, contexts, targets):
    """The loss of who looks at one symbol only, from the counts of pairs in a text."""
    pairs = [[0.0] * 6 for _ in range(6)]
    for a, b in zip(text, text[1:]):
        pairs[a][b] += 1
    return sum(-math.log(max(pairs[c[-1]][t], 0.5) / sum(pairs[c[-1]]))
               for c, t in zip(contexts, targets)) / len(targets)


def unseen(length):
    """A language in which two symbols say much more than one: its text to learn from, contexts and targets of
    another text, and two losses on those: the floor, and that of who looks at one symbol only."""
    for attempt in range(100):
        spoken, surprise = language(f"5 {attempt}")
        learned, tested = spoken(6000, f"1 {attempt}"), spoken(1200, f"2 {attempt}")
        starts = range(2, len(tested) - length, 3)
        contexts, targets = [tested[s:s + length] for s in starts], [tested[s + length] for s in starts]
        floor = sum(surprise(*c[-2:], t) for c, t in zip(contexts, targets)) / len(targets)
        by_one = guess_by_one(learned, contexts, targets)
        if by_one - floor > 0.6 and min(map(learned.count, range(6))) > 60:
            return learned, contexts, targets, floor, by_one
    raise ValueError("no language found")


def computed(answer, config, contexts, which):
    """What is wrong with the last logits of the contexts of these numbers, or None: they are those of the
    parameters that were trained. forward may do nothing else for these than for others."""
    shapes = parameters(0, config["vocabulary"], config["layers"], config["width"])
    p = {name: answer.get(f"p:{name}") for name in shapes}
    if any(p[name] is None or p[name].shape != shapes[name].shape for name in shapes):
        return "the trained parameters are not those of a8.h"
    for i in which:
        wanted = logits_of(p, config["layers"], config["heads"], contexts[i])[-1]
        found = oracle.rows(answer["logits"])[i]
        if len(found) != len(wanted) or not all(abs(w - f) <= 1e-3 * max(1, *map(abs, wanted)) for w, f in zip(wanted, found)):
            return "the logits of the trained model are not those of its parameters"
    return None


def reached(config, contexts, targets, floor, by_one):
    target = floor + MARGIN * (by_one - floor)
    which = oracle.draws("which contexts are computed").sample(range(len(contexts)), COMPUTED)

    def judge(answer):
        z = oracle.rows(answer["logits"]) if "logits" in answer else []
        if len(z) != len(targets) or any(len(row) != 6 or not all(map(math.isfinite, row)) for row in z):
            return f"wanted {len(targets)} rows of 6 finite logits"
        loss = sum(loss_of(row, t) for row, t in zip(z, targets)) / len(targets)
        if loss > target:
            return f"the loss on unseen text is {loss:.3f}, the target {target:.3f} (floor {floor:.3f}, by one symbol {by_one:.3f})"
        return computed(answer, config, contexts, which)
    return judge


def training_cases():
    length = 8
    learned, contexts, targets, floor, by_one = unseen(length)
    base = {"vocabulary": 6, "layers": 1, "heads": 2, "width": 32, "tokens": integers(learned),
            "contexts": integers([s for c in contexts for s in c], len(contexts), length), "batch": 16,
            "length": length, "warmup": 10}
    for number in (1, 2):
        yield case(5, "train", f"{STEPS} steps reach the target, seed {number}",
                   {**base, "steps": STEPS, "lr": 0.01,
                    "seed": oracle.choose(number, f"training {number}", range(10 ** 6))},
                   judge=reached(base, contexts, targets, floor, by_one), weight=3, hint="better than by one symbol alone; "
                   "clip, warm up, decay; batches from everywhere, another one every step")
    names = parameters(0, base["vocabulary"], base["layers"], base["width"])
    unmoved = lambda answer: computed(answer, base, [[1, 2, 3, 4]], (0,))
    for public in (True, False):
        yield case(5, "train", f"{'ten' if public else 'twenty'} steps at a rate of 1e-12 move no norm",
                   {**base, "tokens": integers(learned if not public else [i * i % 6 for i in range(300)]),
                    "steps": 10 if public else 20, "lr": 1e-12, "contexts": integers([1, 2, 3, 4], 1, 4), "length": 4,
                    "seed": 1 if public else oracle.choose(3, "no rate", range(10 ** 6))},
                   {f"p:{name}": [1.0] * base["width"] for name in names if "norm" in name}, "the rate is the one that "
                   "is handed in, at each step its learning_rate", public=public, atol=1e-6,
                   judge=None if public else unmoved)
    turn = oracle.draws("turn").randrange(6)
    for steps, public in [(60, True), (90, False)]:
        first = 0 if public else turn
        short = {**base, "tokens": integers([(i + first) % 6 for i in range(300)]),
                 "contexts": integers([1, 2, 3, 4, 4, 5, 0, 1], 2, 4), "length": 4}
        told = lambda answer: computed(answer, base, [[1, 2, 3, 4], [4, 5, 0, 1]], (0, 1))
        yield case(5, "train", f"{steps} steps learn to count",
                   {**short, "steps": steps, "lr": 0.01,
                    "seed": 1 if public else oracle.choose(2, "counting", range(10 ** 6))},
                   {"best": [5.0, 2.0]}, "0 1 2 3 4 5 0 1 …: what comes next?", public=public,
                   judge=None if public else told)


def cases():
    # --- task 1
    given = [(7 * i * i + 3 * i) % 11 for i in range(20)]
    draw = oracle.draws("a text")
    count = oracle.choose(21, "length of a text", range(21, 30))
    drawn = [draw.randrange(11) for _ in range(count)]
    place = lambda below: draw.randrange(below)
    hint = "y is x one symbol later; the last target must still be in the text"
    for name, starts, length, public in [
            ("two texts", [3, 0], 4, True), ("the last that fits", [15], 4, True),
            ("single symbols", [5, count - 2, 0, place(count - 1)], 1, False),
            ("overlapping", [2, 3, place(9), 2], 6, False), ("the whole text", [0], count - 1, False),
            ("drawn places", [place(count - 5) for _ in range(5)], 5, False)]:
        text = given if public else drawn
        yield case(1, "batch", f"batch, {name}", {"tokens": integers(text), "starts": integers(starts),
                                                  "length": length},
                   {"x": [text[s:s + length] for s in starts],
                    "y": [text[s + 1:s + 1 + length] for s in starts]}, hint, public=public)
    for name, start, length, public in [
            ("no target for the last symbol", 16, 4, True), ("a negative start", -1, 4, True),
            ("after the text", count + place(9), 2, False), ("the whole text has no target", 0, count, False),
            ("a negative start, of single symbols", -3, 1, False)]:
        text = given if public else drawn
        yield case(1, "batch", f"batch, {name}: an error",
                   {"tokens": integers(text), "starts": integers([2, start]) if start > 0
                    else integers([start]), "length": length}, error=[start, len(text)], public=public,
                   hint="\"batch_of: a text of 4 from 16 leaves the 20 symbols\"")
    # --- task 2
    def weights(layers, width, vocabulary):
        def judge(answer):
            for name, wanted in parameters(0, vocabulary, layers, width).items():
                got = answer.get(name)
                if got is None or got.shape != wanted.shape or got.dtype != "f32":
                    return f"{name}: wanted f32 {list(wanted.shape)}, got {got and list(got.shape)}"
                if answer[f"trainable:{name}"].values != [1.0]:
                    return f"{name} is not trainable"
                std = math.sqrt(sum(v * v for v in got.values) / len(got.values))
                goal = 0.02 / math.sqrt(2 * layers) if name.endswith((".o", ".down")) else 0.02
                if "norm" in name:
                    if set(got.values) != {1.0}:
                        return f"{name} is not all ones"
                elif not 0.85 < std / goal < 1.15:  # four standard errors of 600 draws
                    return f"{name} has std {std:.4g}, not {goal:.4g}"
            drawn = [tuple(v.values[:8]) for n, v in answer.items() if v.dtype == "f32" and "norm" not in n]
            if len(set(drawn)) < len(drawn):
                return "two weights start with the same numbers"
            if len([n for n in answer if ":" not in n]) != len(parameters(0, vocabulary, layers, width)):
                return "there are tensors that nobody asked for"
        return judge
    seed = lambda name: oracle.choose(3, f"seed of {name}", range(10 ** 6))
    for name, layers, width, vocabulary in [
            ("two blocks", 2, 32, 40), ("one wide block", 1, oracle.choose(48, "wide", [40, 44, 48]), 20),
            ("many blocks", oracle.choose(4, "many", [3, 4, 5, 6]), 32, 30)]:
        yield case(2, "initial", f"weights of {name}", {"vocabulary": vocabulary, "layers": layers,
                                                        "heads": 2, "width": width, "seed": seed(name)},
                   judge=weights(layers, width, vocabulary),
                   hint="shapes as a8.h says; 0.02, and 0.02 / √(2L) where a branch ends")
    yield case(2, "initial_twice", "another seed gives other weights, the same seed the same",
               {"vocabulary": 5, "layers": 1, "heads": 1, "width": 4, "seed": seed("one"),
                "other": seed("two") + 10 ** 6}, {"same": 1.0, "alike": 0.0},
               "every weight is drawn from rng.split(name), and from nothing else")
    yield case(2, "initial", "weights have the shapes that a8.h says",
               {"vocabulary": 5, "layers": 1, "heads": 1, "width": 4, "seed": 3},
               {"norm": [1.0] * 4, "0.norm1": [1.0] * 4, "0.norm2": [1.0] * 4, "trainable:embedding": 1.0,
                "trainable:0.down": 1.0, "trainable:norm": 1.0}, "norms are ones, all is trainable",
               bounds={f"0.{n}": (-0.1, 0.1) for n in "q k v o gate up down".split()}, public=True)
    yield case(2, "initial", "weights have the stds that a8.h says",
               {"vocabulary": 40, "layers": 2, "heads": 2, "width": 32, "seed": 4},
               bounds={**{f"rms:{n}": (0.0185,
                                       0.0215) for n in ["embedding", "0.q", "0.v", "1.k", "1.gate", "0.up"]},
                       **{f"rms:{n}": (0.0092, 0.0108) for n in ["0.o", "1.o", "0.down", "1.down"]}},
               public=True, hint="0.02, and 0.02 / √(2L) where a branch ends")
    for steps, warmup, lr, count, public in [(20, 5, 0.1, 25, True),
                                             (oracle.choose(8, "steps", range(7, 20)), 1, 3.0, 24, False),
                                             (100, oracle.choose(40, "warm", range(20, 60)), 1e-3, 130,
                                              False), (10, 9, draw.uniform(0.5, 2), 14, False)]:
        yield case(2, "learning_rate",
                   "learning rate, " + ("5 of 20 steps to warm up" if public else f"drawn {count}"),
                   {"steps": steps, "warmup": warmup, "lr": lr, "count": count},
                   {"rates": [rate(s, steps, warmup, lr) for s in range(count)]}, "a line up, half a cosine "
                   "down, then a tenth: the table of section 2 (The start)", public=public)
    # --- tasks 3, 4
    for name, vocabulary, layers, heads, width, texts, public in [
            ("one block, one head", 5, 1, 1, 4, [[1, 4, 0]], True),
            ("two blocks, two heads", 6, 2, 2, 8, [[5, 0, 3, 3], [1, 2, 4, 0]], True),
            ("one symbol", 4, 1, 2, 4, [[2], [3]], False),
            ("three blocks", 4, 3, 1, 6, [[0, 1, 2, 3, 0]], False),
            ("four heads", 7, 1, 4, 8, [[6, 5, 4], [0, 1, 1], [2, 2, 3]], False),
            ("no blocks", 5, 0, 1, 4, [[1, 3]], False)]:
        p = parameters(name, vocabulary, layers, width)
        if not public:
            order = oracle.draws(f"symbols of {name}")
            texts = [[order.randrange(vocabulary) for _ in text] for text in texts]
        config = {"vocabulary": vocabulary, "layers": layers, "heads": heads, "width": width}
        yield case(3, "forward", f"logits, {name}",
                   {**config, "symbols": integers([s for t in texts for s in t], len(texts), len(texts[0])),
                    **{f"p:{k}": v for k, v in p.items()}},
                   {"logits": [logits_of(p, layers, heads, t) for t in texts]}, "norm before the branch, "
                   "rope on q and k only, residual sums, norm after the last block, the embedding again",
                   public=public, rtol=1e-8, atol=1e-9)
        length = len(texts[0])
        words = [s for t in texts for s in t] + [0] + ([1] if length > 1 else [])
        starts = range(0, len(words) - length, length)
        losses = [loss_of(z, words[s + 1 + t]) for s in starts
                  for t, z in enumerate(logits_of(p, layers, heads, words[s:s + length]))]
        yield case(4, "evaluate", f"loss of a text, {name}",
                   {**config, "tokens": integers(words), "length": length,
                    **{f"p:{k}": v for k, v in p.items()}}, {"loss": sum(losses) / len(losses)},
                   "texts start at 0, length, 2 length, …, each with its last target still in the text; nats",
                   public=public, rtol=1e-8)
    # --- task 5
    yield from training_cases()
    # --- task 6
    given = [1.0, 3.0, -2.0, 2.5, 3.0, 0.0], [0.001, 0.05, 0.2, 0.38, 0.5, 0.7, 0.85, 0.99, 0.9999]
    draw = oracle.draws("logits")
    spread = [round(draw.uniform(-2, 3), 2) for _ in range(5)]
    drawn = [*spread, max(spread)], sorted([0.001, 0.9999, *(draw.random() for _ in range(9))])
    draw.shuffle(drawn[0])  # two are largest
    for temperature, top_k, public in [(1.0, 0, True), (0.0, 0, True), (0.5, 3, True), (2.0, 0, False),
                                       (1.0, 1, False), (1.0, 2, False), (3.0, 4, False), (0.0, 3, False),
                                       (1.0, 100, False), (0.1, 0, False)]:
        z, us = given if public else drawn
        yield case(
            6, "sample", f"sampled at temperature {temperature}" + (f" of the best {top_k}" if top_k else ""),
            {"logits": z, "temperature": temperature, "top_k": top_k, "u": us},
            {"symbols": [float(sampled(z, temperature, top_k, u)) for u in us]}, "the running sum in the "
            "symbols' own order; logits over temperature; equals: the lower symbol first", public=public)
    wide = [v + draw.random() for v in (800.0, -800.0, 801.0)]
    us = drawn[1]
    yield case(6, "sample", "sampled from large logits",
               {"logits": wide, "temperature": 0.5, "top_k": 0, "u": us},
               {"symbols": [float(sampled(wide, 0.5, 0, u)) for u in us]}, "subtract the maximum before exp")
