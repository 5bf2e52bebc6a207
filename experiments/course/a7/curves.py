"""a7's study: how many keys a query looks at, with and without 1/√D; and what two tokens see of each other by RoPE."""
import math, random

QUERIES, KEYS = 32, 16


def looked_at(ask, dim, factor):
    """e to the mean entropy of the shares: as many keys, looked at evenly, would be the same choice."""
    draw = random.Random(dim)
    rows = lambda count, scale: [[[scale * draw.gauss(0, 1) for _ in range(dim)]] for _ in range(count)]
    q, k = rows(QUERIES, factor), rows(KEYS, 1)
    p = ask("attention", q=q, k=k, v=k, causal=0)["probability"].values
    return math.exp(-sum(share * math.log(share) for share in p if share > 0) / QUERIES)


def seen(ask, base, dim=64, last=256):
    """The product of a query of ones at position 0 with keys of ones further on, over the one with itself."""
    turned = ask("rope", x=[[[1.0] * dim]] * (last + 1), base=base, start=0)["y"].values
    return [(t, sum(turned[d] * turned[t * dim + d] for d in range(dim)) / dim) for t in range(last + 1)]


def charts(ask):
    dims = [2 ** i for i in range(9)]
    yield dict(title=f"The choice of {KEYS} keys", labels=("channels D", "keys looked at"), log=(True, False), ends=(None, (0, KEYS)),
               curves=[("q · k/√D", [(d, looked_at(ask, d, 1)) for d in dims]), ("raw q · k", [(d, looked_at(ask, d, math.sqrt(d))) for d in dims])])
    yield dict(title="Two equal tokens, turned by RoPE", labels=("how far apart they stand", "q · k, 1 at 0"), ends=(None, (-0.5, 1)),
               curves=[("base 10000", seen(ask, 10000.0)), ("100", seen(ask, 100.0))])
    yield "How many keys does the raw product choose in the end, and what is softmax's slope there? Which pairs of channels make the fast fall of q · k, which the slow one? With base 100, what is lost at a distance of 200?"
