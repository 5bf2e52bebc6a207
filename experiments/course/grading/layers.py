"""Layers in plain Python, forwards, as several assignments want them."""
import math
import oracle
from oracle import build
from tensors import Array


def linear(x, weight, bias=None):
    row = lambda a, i: a.values[i * a.shape[1]:(i + 1) * a.shape[1]]
    return build((x.shape[0], weight.shape[0]), lambda n, m: (bias[m] if bias else 0) + sum(
        v * w for v, w in zip(row(x, n), row(weight, m))))


def scaled(values, weight, bias=None):
    return [v * w + b for v, w, b in zip(values, weight.values, bias.values if bias else [0] * len(values))]


def rms_norm(x, weight, eps):
    return oracle.flat([scaled([v / oracle.sqrt(sum(u * u for u in row) / len(row) + eps) for v in row],
                               weight) for row in oracle.rows(x)], x.shape)


def softmax_row(row):
    if any(math.isnan(oracle.real(v)) for v in row):
        return [math.nan] * len(row)
    largest = max(map(oracle.real, row))
    e = [oracle.exp(v - largest) if oracle.real(v) != -math.inf else 0.0 for v in row]
    total = sum(e) if any(isinstance(v, complex) for v in e) else math.fsum(e)
    return [v / total for v in e]


softmax = lambda x: oracle.flat([softmax_row(row) for row in oracle.rows(x)], x.shape)


def rope(x, base, start):
    """A pair is a complex number, and turning it a product."""
    half = x.shape[2] // 2

    def turned(t, h, d):
        j = d % half
        angle = (start + t) * base ** (-2 * j / x.shape[2])
        a, b = x[t, h, j], x[t, h, j + half]
        cos, sin = math.cos(angle), math.sin(angle)
        return a * cos - b * sin if d < half else a * sin + b * cos
    return build(x.shape, turned)


def probabilities(q, k, causal):
    (t_all, heads, dim), (s_all, kv_heads, _) = q.shape, k.shape
    seen = lambda t, s: not causal or s <= t + s_all - t_all
    rows = {(h, t): softmax_row([sum(q[t, h, d] * k[s, h * kv_heads // heads, d]
                                     for d in range(dim)) / math.sqrt(dim) if seen(t, s) else -math.inf
                                 for s in range(s_all)]) for h in range(heads) for t in range(t_all)}
    return build((heads, t_all, s_all), lambda h, t, s: rows[h, t][s])


def attend(q, k, v, causal):
    p = probabilities(q, k, causal)
    heads, kv_heads = q.shape[1], k.shape[1]
    return build(q.shape,
                 lambda t, h, d: sum(p[h, t, s] * v[s, h * kv_heads // heads, d] for s in range(k.shape[0])))


def silu_up(gate, up):
    return Array(gate.shape, [x / (1 + oracle.exp(-x)) * u for x, u in zip(gate.values, up.values)])
