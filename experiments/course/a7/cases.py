"""a7's cases."""
import cmath, math
import oracle
from course import case
from derived import HUGE, TINY, beyond, sized
from layers import attend, probabilities, rope, silu_up, softmax_row
from oracle import gradient, gradients, normal
from tensors import Array


def attended(what, name, q, k, v, dy, causal, public=False, **more):
    """Attention and its gradient, whose probabilities come with the request."""
    p = probabilities(q, k, causal)
    yield case(2, "attention", what + name, {"q": q, "k": k, "v": v, "causal": causal, **more},
               {"y": attend(q, k, v, causal), "probability": p}, "" if more else "scaled by 1/√D; query t "
               "sees s ≤ t + (S − T); query head h reads key head h / (H/K)", public=public)
    yield case(3, "attention_backward", f"{what}'s gradient{name}",
               {"dy": dy, "q": q, "k": k, "v": v, "probability": p, **more},
               gradients(lambda q, k, v: attend(q, k, v, causal), {"q": q, "k": k, "v": v}, "qkv", dy),
               "" if more else "section 5 (Attention's gradient) by hand: dv, dp, dz, then dq and dk; 1/√D "
               "once; heads of a group add up in dk and dv", public=public, rtol=1e-8, atol=1e-11)


def attend_from(p, q0, k0):
    """Attention whose probability is p at q0 and k0, not their own: the logits are log p and what the products gain."""
    (queries, heads, dim), (keys, kv_heads, _) = q0.shape, k0.shape
    key_head = lambda h: h * kv_heads // heads
    product = lambda q, k, t, h, s: sum(q[t, h, d] * k[s, key_head(h), d] for d in range(dim)) / math.sqrt(dim)

    def y(q, k, v):
        rows = {(t, h): softmax_row([math.log(p[h, t, s]) + product(q, k, t, h, s) - product(q0, k0, t, h, s)
                                     for s in range(keys)]) for t in range(queries) for h in range(heads)}
        return oracle.build(q.shape, lambda t, h, d: sum(rows[t, h][s] * v[s, key_head(h), d] for s in range(keys)))
    return y


def beyond_differences():
    """Gradients that no difference quotient has."""
    dy, base, start = normal("many", 100, 10, 40), oracle.draws("many").uniform(80, 120), 3
    turns = {(t, j): cmath.rect(1, -(start + t) * base ** (-j / 20)) for t in range(100) for j in range(20)}
    pair = lambda t, h, j: complex(dy[t, h, j], dy[t, h, j + 20]) * turns[t, j]
    yield beyond(1, "rope_backward", "RoPE's gradient, 40,000 numbers", {"dy": dy, "base": base, "start": start},
                 {"dx": oracle.build(dy.shape, lambda t, h, d: pair(t, h, d).real if d < 20 else pair(t, h, d - 20).imag)},
                 atol=1e-10)
    row = lambda values: Array((len(values) // 2, 1, 2), values)
    q, dy, k, v = (sized(what, *[1] * n) for what, n in (("q", 2), ("dy", 2), ("k", 8), ("v", 8)))
    share = oracle.draws("share").uniform(0.3, 0.7)
    p = [share, 1 - share, *map(abs, sized("p", TINY, 1e-90))]
    dp = [dy[0] * v[2 * s] + dy[1] * v[2 * s + 1] for s in range(4)]
    # p0 (dp0 - Σ p dp) without the cancellation
    dz = [p[0] * p[1] * (dp[0] - dp[1]), p[0] * p[1] * (dp[1] - dp[0]),
          *(n * (d - p[0] * dp[0] - p[1] * dp[1]) for n, d in zip(p[2:], dp[2:]))]
    dz = [value / math.sqrt(2) for value in dz]
    yield beyond(3, "attention_backward", "attention's gradient, almost 0",
                 {"dy": row(dy), "q": row(q), "k": row(k), "v": row(v), "probability": Array((1, 1, 4), p)},
                 {"dv": row([n * d for n in p for d in dy]), "dk": row([value * x for value in dz for x in q]),
                  "dq": row([math.fsum(value * x for value, x in zip(dz, k[c::2])) for c in range(2)])})
    gate, up, dy = sized("gate", *[1] * 6), sized("up", *[1] * 6), sized("dy swiglu", HUGE, *[1] * 5)
    sigma = [1 / (1 + math.exp(-x)) for x in gate]
    yield beyond(4, "swiglu_backward", "SwiGLU's gradient, a dy of which one is huge",
                 {"dy": dy, "gate": gate, "up": up},
                 {"dgate": [d * u * s * (1 + x * (1 - s)) for d, u, s, x in zip(dy, up, sigma, gate)],
                  "dup": [d * x * s for d, s, x in zip(dy, sigma, gate)]})


def cases():
    # --- task 1
    for name, shape, base, start, public in [
            ("one head", (3, 1, 4), 10000.0, 0, True), ("two heads", (3, 2, 4), 100.0, 0, True),
            ("a later start", (2, 2, 6), 10000.0, 7, True), ("one pair", (4, 1, 2), 10.0, 1, False),
            ("many channels", (2, 1, 12), 500.0, 3, False), ("far away", (1, 3, 4), 10000.0, 900, False)]:
        if not public:
            length, heads, pairs = oracle.longer(name)(shape[0], shape[1], shape[2] // 2)
            shape, start = (length, heads,
                            2 * pairs), oracle.choose(start, f"start {name}", range(start, start + 20))
            base *= oracle.draws(f"base {name}").uniform(0.8, 1.25)
        x, dy = normal(1, *shape), normal(2, *shape)
        hint = "channel j goes with j + D/2; the angle is (start + t) · base^(−2j/D), the same for all heads"
        yield case(1, "rope", f"RoPE, {name}", {"x": x, "base": base, "start": start},
                   {"y": rope(x, base, start)}, hint, public=public)
        yield case(1, "rope_backward", f"RoPE's gradient, {name}", {"dy": dy, "base": base, "start": start},
                   {"dx": gradient(lambda x: rope(x, base, start), {"x": x}, "x", dy)},
                   "a rotation's adjoint is the rotation back", public=public)
    for shape, public in [((2, 1, 3), True), ((2, 3, 5), False)]:
        yield case(1, "rope", f"RoPE of {shape[2]} channels is an error",
                   {"x": normal(1, *shape), "base": 10.0, "start": 0}, error=[shape], public=public,
                   hint="\"rope: wanted an even number of channels a head, got [2, 1, 3]\"")
    # --- tasks 2, 3
    for name, t, s, h, k_heads, d, causal, public in [
            ("all see all", 3, 4, 1, 1, 2, 0, True), ("causal", 4, 4, 2, 2, 3, 1, True),
            ("causal with earlier keys", 2, 5, 2, 2, 2, 1, True), ("grouped heads", 3, 3, 4, 2, 2, 1, True),
            ("one key/value head for all", 3, 3, 3, 1, 2, 0, False),
            ("one query, one key", 1, 1, 2, 1, 4, 1, False),
            ("six heads in groups of three", 2, 3, 6, 2, 3, 1, False),
            ("wide heads", 2, 2, 1, 1, 9, 0, False), ("causal, longer", 6, 6, 1, 1, 2, 1, False),
            ("grouped, all see all", 2, 4, 4, 2, 3, 0, False)]:
        if not public:  # as many earlier keys, and heads that divide
            (d,), (more,) = oracle.longer(f"channels of {name}")(d), oracle.longer(f"length of {name}")(2)
            t, s = (t, s) if t == 1 else (t + more - 2, s + more - 2)
        yield from attended("attention", f", {name}", normal(3, t, h, d), normal(4, s, k_heads, d),
                            normal(5, s, k_heads, d), normal(6, t, h, d), causal, public=public)
    for name, t, s, h, k_heads, d in [("three queries", 3, 4, 2, 1, 2), ("four heads", 2, 5, 4, 2, 3)]:
        (t, s), (d,) = oracle.longer(f"saved {name}")(t, s), oracle.longer(f"saved channels {name}")(d)
        q, k, v, dy = (normal(f"saved {what} {name}", *shape) for what, shape in (
            ("q", (t, h, d)), ("k", (s, k_heads, d)), ("v", (s, k_heads, d)), ("dy", (t, h, d))))
        p = probabilities(normal(f"other q {name}", t, h, d), k, 0)
        yield case(3, "attention_backward", f"attention's gradient takes the saved probability, {name}",
                   {"dy": dy, "q": q, "k": k, "v": v, "probability": p},
                   gradients(attend_from(p, q, k), {"q": q, "k": k, "v": v}, "qkv", dy), "the probability is an "
                   "input: it is not computed again from q and k", rtol=1e-8, atol=1e-11)
    yield from attended("a second attention", "", normal("q", 3, 4, 2), normal("k", 5, 2, 2),
                        normal("v", 5, 2, 2), normal("dy", 3, 4, 2), 1, warm=1)
    for name, scale, public in [("large logits", 100.0, True), ("very large logits", 3e3, False)]:
        q, k, v = normal(7, 3, 2, 4, scale=scale), normal(8, 3, 2, 4), normal(9, 3, 2, 4)
        yield case(2, "attention", f"attention, {name}", {"q": q, "k": k, "v": v, "causal": 1},
                   {"y": attend(q, k, v, 1), "probability": probabilities(q, k, 1)},
                   "subtract the largest logit of those that are seen", public=public, rtol=1e-8)
    low, v, one = normal(10, 3, 1, 2, scale=1e-3), normal(9, 3, 1, 2), Array((3, 1, 2), [-900.0, 0.0] * 3)
    k = Array((3, 1, 2), [1.0 + x for x in low.values])
    yield case(2, "attention", "attention, all logits very negative", {"q": one, "k": k, "v": v, "causal": 0},
               {"y": attend(one, k, v, 0)}, "the largest logit is far below 0 here")
    for name, qs, ks, causal, public in [("3 heads cannot share 2", (2, 3, 4), (2, 2, 4), 1, True),
                                         ("5 heads cannot share 3", (2, 5, 2), (2, 3, 2), 0, False),
                                         ("channels differ", (2, 2, 4), (2, 2, 6), 0, False),
                                         ("fewer keys than queries, causal", (3, 1, 2), (2, 1, 2), 1, False),
                                         ("more key heads than heads", (2, 2, 4), (2, 4, 4), 1, False)]:
        yield case(2, "attention", f"attention, {name}: an error",
                   {"q": normal(1, *qs), "k": normal(1, *ks), "v": normal(1, *ks), "causal": causal},
                   error=[qs, ks], public=public,
                   hint="name both shapes: \"attention: q [2, 3, 4] and k [2, 2, 4] do not fit\"")
    # --- task 4
    for name, shape, scale, public in [("a matrix", (2, 3), 1.0, True), ("large numbers", (6,), 30.0, True),
                                       ("a vector", (9,), 3.0, False),
                                       ("three dimensions", (2, 2, 2), 2.0, False)]:
        shape = oracle.longer(f"SwiGLU {name}", 3, public)(*shape)
        gate, up, dy = normal(11, *shape, scale=scale), normal(12, *shape), normal(13, *shape)
        yield case(4, "swiglu", f"SwiGLU, {name}", {"gate": gate, "up": up}, {"y": silu_up(gate, up)},
                   "silu(gate) · up", public=public)
        yield case(4, "swiglu_backward", f"SwiGLU's gradient, {name}", {"dy": dy, "gate": gate, "up": up},
                   gradients(silu_up, {"gate": gate, "up": up}, ["gate", "up"], dy),
                   "blank 7 for the gate; dup needs no slope of σ", public=public, rtol=1e-8)
    gate, up = Array((3,), [-800.0, 0.0, 800.0]), Array((3,), [2.0, 3.0, 0.5])
    yield case(4, "swiglu", "SwiGLU far out", {"gate": gate, "up": up}, {"y": [0.0, 0.0, 400.0]},
               "x / (1 + e^−x) is 0 at −800, not NaN", atol=1e-9)
    # --- task 5
    for name, lengths, h, k_heads, d, public in [
            ("token by token", [1] * 4, 2, 1, 2, True), ("a prompt, then tokens", [3, 1, 1], 2, 2, 3, True),
            ("all at once", [4], 1, 1, 2, False), ("pieces of two", [2, 2, 2], 4, 2, 2, False),
            ("one token, then many", [1, 4], 2, 2, 4, False)]:
        if not public:
            more = oracle.longer(f"pieces {name}")
            lengths, (d,) = oracle.draws(f"order {name}").sample(list(more(*lengths)), len(lengths)), more(d)
        n = sum(lengths)
        q, k, v = normal(14, n, h, d), normal(15, n, k_heads, d), normal(16, n, k_heads, d)
        yield case(5, "decode", f"decoding, {name}",
                   {"q": q, "k": k, "v": v, "lengths": Array([len(lengths)], lengths, "i64")},
                   {"y": attend(q, k, v, 1), "k": k, "v": v},
                   "the same numbers as for the whole sequence; the new queries are its last", public=public)
    n = oracle.choose(5, "two sequences", range(4, 8))
    first, second = ([normal(f"{which} {what}", n, heads, 3)
                      for what, heads in (("q", 4), ("k", 2), ("v", 2))] for which in ("one", "two"))
    yield case(5, "decode", "decoding, two sequences in turn",
               {**dict(zip(("q", "k", "v"), first)), **dict(zip(("q1", "k1", "v1"), second)),
                "lengths": Array([n - 1], [2] + [1] * (n - 2), "i64")},
               {"y": attend(*first, 1), "y1": attend(*second, 1), "k": first[1], "v": first[2]},
               "each sequence has a cache of its own, which holds copies")
    yield from beyond_differences()
