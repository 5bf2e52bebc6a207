"""a7's study: how many keys a query looks at, with and without 1/√D; two tokens turned by RoPE."""
import math, random

QUERIES, KEYS = 32, 16


def looked_at(ask, dim, factor):
    """e to the mean entropy of the shares: as many keys, looked at evenly, would be the same choice."""
    draw = random.Random(dim)
    rows = lambda count, scale: [[[scale * draw.gauss(0, 1) for _ in range(dim)]] for _ in range(count)]
    q, k = rows(QUERIES, factor), rows(KEYS, 1)
    p = ask("attention", q=q, k=k, v=k, causal=0)["probability"].values
    return math.exp(-sum(share * math.log(share) for share in p if share > 0) / QUERIES)


def product_at(ask, base, dim=64, last=256):
    """The product of a query of ones at position 0 with keys of ones further on, over the one with itself."""
    turned = ask("rope", x=[[[1.0] * dim]] * (last + 1), base=base, start=0)["y"].values
    return [(t, sum(turned[d] * turned[t * dim + d] for d in range(dim)) / dim) for t in range(last + 1)]


def charts(ask):
    dims = [2 ** i for i in range(9)]
    yield dict(title=f"The choice of {KEYS} keys", labels=("channels D", "keys looked at"), log=(True, False),
               ends=(None, (0, KEYS)),
               curves=[("q · k/√D", [(d, looked_at(ask, d, 1)) for d in dims]),
                       ("raw q · k", [(d, looked_at(ask, d, math.sqrt(d))) for d in dims])])
    yield dict(title="Two equal tokens, turned by RoPE", labels=("how far apart they stand", "q · k, 1 at 0"),
               ends=(None, (-0.5, 1)),
               curves=[("base 10000", product_at(ask, 10000.0)), ("100", product_at(ask, 100.0))])
    yield "How many keys does the raw product choose in the end, and what is softmax's slope there? Which pairs of channels make the fast fall of q · k, which the slow one? With base 100, what is lost at a distance of 200?"


# --- the handout's numbers and pictures; a student's tree ends above this line
import chart, oracle
from tensors import Array

ask = None  # the reference's answers, given by grading/handouts.py
STILL = 10  # the step of tape.html that tape.svg shows
Q, K, V = Array((1, 1, 1), [1.0]), Array((3, 1, 1), [math.log(v) for v in (1.0, 2.0, 5.0)]), Array(
    (3, 1, 1), [8.0, 0.0, 16.0])


look = lambda name: ask("attention", q=Q, k=K, v=V, causal=0)[name].values


def back(name):
    return ask("attention_backward", dy=Array((1, 1, 1), [8.0]), q=Q, k=K, v=V,
               probability=Array((1, 1, 3), look("probability")))[name].values


def shared():
    """Σ dp p, of a dz that the reference puts out: dz = p (dp − it)."""
    return 8 * 8 - back("dk")[0] / look("probability")[0]


def seen():
    """How many keys two queries see of five."""
    p = ask("attention", q=oracle.normal("q", 2, 1, 2), k=oracle.normal("k", 5, 1, 2),
            v=oracle.normal("v", 5, 1, 2), causal=1)["probability"]
    return [sum(p[0, t, s] > 0 for s in range(5)) for t in range(2)]


def quarter():
    """The pair of channels 1 and 3, which turn by base^(−1/2) = π/2 for each position."""
    y = ask("rope", x=Array((1, 1, 4), [0.0, 3.0, 0.0, 4.0]), base=(2 / math.pi) ** 2, start=1)["y"].values
    return [round(y[1], 12), round(y[3], 12)]


swiglu = lambda gate, up: ask("swiglu", gate=[gate], up=[up])["y"].values[0]
gate_slope = lambda gate: ask("swiglu_backward", dy=[1.0], gate=[gate], up=[1.0])["dgate"].values[0]


def largest(dim, factor):
    """The mean of the largest share of 16 keys, for random queries and keys of unit variance."""
    q, k = oracle.normal("q", 64, 1, dim, scale=factor), oracle.normal("k", 16, 1, dim)
    p = ask("attention", q=q, k=k, v=k, causal=0)["probability"]
    return sum(max(p.values[16 * t:16 * t + 16]) for t in range(64)) / 64


def pictures():
    dims = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    return {"largest.svg": chart.svg("The largest of 16 shares", ("channels D", "its mean"),
                                     [("z = q · k/√D", [(d, largest(d, 1)) for d in dims]),
                                      ("z = q · k", [(d, largest(d, math.sqrt(d))) for d in dims])],
                                     log=(True, False), ends=(None, (0, 1)))}
