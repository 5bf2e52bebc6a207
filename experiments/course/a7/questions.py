"""a7's written questions. Gradients are found by complex steps, counts by counting."""
import math
import course, oracle
from tensors import Array

cases = course.module_of("a7", "cases.py")


column = lambda values: Array((len(values), 1, 1), [float(v) for v in values])


def looked(weights, values):
    return cases.attend(column([1]), column([math.log(w) for w in weights]), column(values), False).values[0]


def key_slopes(weights, values, dy):
    k = column([math.log(w) for w in weights])
    return oracle.gradient(lambda k: cases.attend(column([1]), k, column(values), False), {"k": k}, "k",
                           Array((1, 1, 1), [float(dy)])).values


def drawn_keys(draw):
    while True:
        weights, values, place = draw.sample(range(1, 9), 3), draw.sample(range(0, 20), 3), draw.randrange(3)
        if abs(key_slopes(weights, values, 1)[place]) > 0.1:
            return weights, values, place


def turned_product(q, k, far):
    """Of q at position `far` + 3 and k at 3, one pair of channels."""
    at = lambda pair, start: cases.rope(Array((1, 1, 2), [float(v) for v in pair]), 1e4, start).values
    return sum(a * b for a, b in zip(at(q, far + 3), at(k, 3)))


seen = lambda queries, keys: sum(s <= keys - queries + t for t in range(queries) for s in range(keys))


def questions(draw):
    weights, values, place = drawn_keys(draw)
    text = f"D = 1, q = 1, keys {', '.join(f'log {w}' for w in weights)}, values {', '.join(map(str, values))}"
    yield f"{text}. y?", looked(weights, values)
    dy = draw.randint(2, 6)
    yield f"The same: {text}, dy = {dy}. dk of key {place}, counted from 0?", key_slopes(weights, values, dy)[place]
    hidden = draw.randint(1, 2)
    yield (f"The same: {text}. The last {hidden} of the keys may not be seen, but the mask is multiplied "
           "onto p *after* softmax. The sum of the shares?", sum(weights[:3 - hidden]) / sum(weights))
    dim, scale = draw.choice([32, 48, 64, 96, 128]), draw.choice([0.5, 1.5, 2, 3])
    yield (f"q and k are independent, D = {dim} channels each, normal of mean 0, std {scale} (not 1). The "
           "std of the logits q · k/√D?", math.sqrt(sum(scale ** 4 for _ in range(dim))) / math.sqrt(dim))
    queries = draw.randint(5, 20)
    keys = queries + draw.randint(5, 40)
    yield (f"Causal attention, T = {queries} queries, the last of S = {keys} tokens. How many pairs of a "
           "query and a key that it sees? (A whole number.)", seen(queries, keys), {"whole": True})
    far, q, k = drawn_turn(draw)
    yield (f"RoPE with D = 2, so θ is the position, in radians. q = ({q[0]}, {q[1]}) stands {far} positions "
           f"after k = ({k[0]}, {k[1]}). The product of the turned two?", turned_product(q, k, far))
    dim, base = draw.choice([32, 64, 128]), draw.choice([10000, 500000])
    pair = draw.randint(dim // 8, dim // 4)
    yield f"D = {dim}, base = {base}. After how many positions has pair j = {pair} (of j = 0 … D/2 − 1) turned once around?", turns(pair, dim, base)
    weight, up, dy = draw.choice([2, 5, 6, 7, 8, 9]), draw.randint(2, 6), draw.randint(2, 6)
    yield f"y = silu(g) · u with g = -log {weight}, u = {up}, dy = {dy}. dg?", dy * up * silu_slope(
        -math.log(weight))
    layers, heads, dim, tokens = draw.choice([12, 24, 32]), draw.choice([2, 4, 8]), draw.choice(
        [64, 128]), draw.choice([2048, 4096, 8192])
    yield (f"{layers} layers, {4 * heads} query heads that share {heads} key heads, D = {dim}, {tokens} "
           "tokens, 2 bytes a number. How many MB (10⁶ bytes) do the caches of all layers hold?",
           sum(2 * heads * dim * tokens * 2 for _ in range(layers)) / 1e6)
    piece, count = draw.choice([10, 20, 25]), draw.choice([8, 12, 16, 20])
    yield (f"A text of {piece * count} tokens comes in pieces of {piece}. Without a cache, all causal pairs "
           "so far are computed anew for each piece. How many times as many products of a query with a key "
           "is that as with a cache?",
           sum(seen(i * piece, i * piece)
               for i in range(1, count + 1)) / sum(seen(piece, i * piece) for i in range(1, count + 1)))


def turns(pair, dim, base):
    """Positions until pair j is where it was: the angle of one position is measured."""
    x = Array((1, 1, dim), [float(i == pair) for i in range(dim)])
    y = cases.rope(x, base, 1).values
    return 2 * math.pi / math.asin(y[pair + dim // 2])


def silu_slope(g):
    z = complex(g, oracle.STEP)
    return cases.silu_up(Array((1,), [z]), Array((1,), [1.0])).values[0].imag / oracle.STEP


def drawn_turn(draw):
    while True:
        far, q, k = draw.randint(2, 9), [draw.randint(1, 6) for _ in range(2)], [
            draw.randint(1, 6) for _ in range(2)]
        right, other = turned_product(q, k, far), turned_product(k, q, far)
        if min(abs(right), abs(right - other)) > 0.5:
            return far, q, k
