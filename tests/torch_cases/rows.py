"""The rows of torch_cases.py: for each op of autograd/ops.h how its inputs are drawn, and PyTorch's expression.

    Row("tril", with_arguments(one(least=2), diagonal=...), lambda a, x: x[0].tril(a["diagonal"]))

x are the tensors in the order of op_calls.cpp, a the arguments by name.
"""
import torch
import torch.nn.functional as F

from draws import (added, affine_maps, along, broadcast, chosen, classified, embedded, expanded, flipped, gathered,
                   joined, lettered, limits, number, one, padded, pair, permuted, picked, pieces, positions, products,
                   projected, reduced, reshaped, same_shapes, scattered, stacked, tied, tied_pair, transposed, varied,
                   window, with_arguments)
from draws_of_layers import (attended, channels, normalized, rotated, saturating, with_statistics)


class Row:
    def __init__(self, op, draw, expression, factor=1):
        self.op, self.draw, self.torch, self.factor = op, draw, expression, factor


def axes_of(a, x):
    return a["axes"]


def comparison(op, expression):
    """Two rows: of two tensors, and with a number."""
    return [Row(op, tied_pair, lambda a, x: expression(x[0], x[1])),
            Row(op + "_number", with_arguments(tied, number=lambda d: d.integer(-2, 2)),
                lambda a, x: expression(x[0], a["number"]))]


def position(a, y):
    """argmax of all elements, or along a dimension."""
    return y() if a["dim"] is None else y(a["dim"], a["keepdim"])


def reduced_mask(a, mask, one_axis):
    for axis in sorted((i % mask.ndim for i in a["axes"]), reverse=True):
        mask = one_axis(mask, axis, a["keepdim"])
    return mask


def rms_norm(x, shape, eps, partial):
    n = len(shape)
    counted = x[0].flatten(-n)[..., :partial]
    r = torch.rsqrt(counted.square().mean(-1) + eps)
    return x[0] * r.reshape(list(r.shape) + [1] * n) * (x[1] if x[1:] else 1)


def cross_entropy(a, logits, targets):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=a["ignore_index"])


def parameters_of(x, first):
    return x[first:] + [None] * (first + 2 - len(x))


def dyt(scale, inner):
    """scale(d) · inner(x, alpha, d) · weight + bias, d the number of normalized elements."""
    def expression(_, x):
        weight, bias = parameters_of(x, 2)
        n = weight.numel()
        y = scale(n) * inner(x[0], x[1], n) * weight
        return y if bias is None else y + bias
    return expression


def rope(a, x):
    time, half = x.shape[1], x.shape[3] // 2
    steps = torch.arange(a["start"], a["start"] + time, dtype=torch.float64)
    angle = steps[:, None] * a["base"] ** (-torch.arange(half, dtype=torch.float64) / half)
    c, s = angle.cos()[:, None, :], angle.sin()[:, None, :]
    if a["interleaved"]:
        u, v = x[..., 0::2], x[..., 1::2]
        return torch.stack([u * c - v * s, u * s + v * c], -1).flatten(3)
    u, v = x[..., :half], x[..., half:]
    return torch.cat([u * c - v * s, u * s + v * c], -1)


def attention(a, x):
    q, k, v = [t.transpose(1, 2) for t in x]
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    logits = q @ k.transpose(2, 3) * (q.shape[3] ** -0.5 if a["scale"] is None else a["scale"])
    if a["softcap"]:
        logits = a["softcap"] * torch.tanh(logits / a["softcap"])
    if a["causal"]:
        hidden = torch.ones(logits.shape[2:], dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2])
        logits = logits.masked_fill(hidden, float("-inf"))
    return (logits.softmax(-1) @ v).transpose(1, 2)



ROWS = [
    Row("add", pair(), lambda a, x: x[0] + x[1]),
    Row("subtract", pair(), lambda a, x: x[0] - x[1]),
    Row("multiply", pair(), lambda a, x: x[0] * x[1]),
    Row("divide", pair(positive=True), lambda a, x: x[0] / x[1]),
    Row("affine", with_arguments(one(), scale=number(-3, 3), shift=number(-3, 3)),
        lambda a, x: a["scale"] * x[0] + a["shift"]),
    Row("multiply_number", with_arguments(one(), number=number(-3, 3)), lambda a, x: x[0] * a["number"]),
    Row("divide_number", with_arguments(one(), number=number(0.2, 60)), lambda a, x: x[0] / a["number"]),
    Row("number_divide", with_arguments(one(positive=True), number=number(-3, 3)), lambda a, x: a["number"] / x[0]),
    Row("pow", pair(positive=True), lambda a, x: x[1] ** x[0], 3),
    Row("pow_number", with_arguments(one(positive=True), number=number(-3, 3)), lambda a, x: x[0] ** a["number"], 3),
    Row("pow_number", with_arguments(one(), number=lambda d: d.integer(0, 4)), lambda a, x: x[0] ** a["number"], 3),
    Row("number_pow", with_arguments(one(), number=number(0.3, 3)), lambda a, x: a["number"] ** x[0]),
    Row("minimum", tied_pair, lambda a, x: torch.minimum(*x)),
    Row("maximum", tied_pair, lambda a, x: torch.maximum(*x)),
    *comparison("equal", torch.eq), *comparison("not_equal", torch.ne), *comparison("less", torch.lt),
    *comparison("less_equal", torch.le), *comparison("greater", torch.gt), *comparison("greater_equal", torch.ge),
    Row("logical_and", pair(), lambda a, x: (x[0] > 0) & (x[1] > 0)),
    Row("logical_or", pair(), lambda a, x: (x[0] > 0) | (x[1] > 0)),
    Row("logical_not", one(), lambda a, x: ~(x[0] > 0)),
    Row("where", chosen, lambda a, x: torch.where(x[0] > 0, x[1], x[2])),
    Row("where_number", with_arguments(pair(), number=number(-3, 3)),
        lambda a, x: torch.where(x[0] > 0, x[1], a["number"])),
    Row("number_where", with_arguments(pair(), number=number(-3, 3)),
        lambda a, x: torch.where(x[0] > 0, a["number"], x[1])),
    Row("abs", tied, lambda a, x: x[0].abs()),
    Row("sign", tied, lambda a, x: x[0].sign()),
    Row("sin", one(5), lambda a, x: x[0].sin()),
    Row("cos", one(5), lambda a, x: x[0].cos()),
    Row("expm1", one(), lambda a, x: x[0].expm1()),
    Row("log1p", one(0.2), lambda a, x: x[0].log1p()),
    Row("softplus", one(5), lambda a, x: F.softplus(x[0], threshold=1e9)),
    Row("clamp", limits, lambda a, x: x[0].clamp(a["min"], a["max"])),
    Row("cast", with_arguments(one(), dtype=lambda d: d.one_of(["f32", "f64"])),
        lambda a, x: x[0].float().double() if a["dtype"] == "f32" else x[0] * 1),
    Row("reciprocal", one(positive=True), lambda a, x: x[0].reciprocal()),
    Row("square", one(), lambda a, x: x[0].square()),
    Row("sqrt", one(positive=True), lambda a, x: x[0].sqrt()),
    Row("exp", one(), lambda a, x: x[0].exp()),
    Row("log", one(positive=True), lambda a, x: x[0].log()),
    Row("tanh", one(2), lambda a, x: x[0].tanh()),
    Row("sigmoid", one(3), lambda a, x: x[0].sigmoid()),
    Row("erf", one(), lambda a, x: x[0].erf()),
    Row("relu", one(), lambda a, x: x[0].relu()),
    Row("squared_relu", one(), lambda a, x: x[0].relu().square()),
    # 1 + erf and 1 + tanh cancel where x is negative: of their 5e-7 (core/kernels/vmath.h), |x| / 2 times as much stays.
    Row("gelu", one(2), lambda a, x: F.gelu(x[0]), factor=5),
    # PyTorch 1.13 has no second derivative of its tanh form.
    Row("gelu_tanh", one(2), lambda a, x: 0.5 * x[0] * (
        1 + torch.tanh((2 / torch.pi) ** 0.5 * (x[0] + 0.044715 * x[0] ** 3))), factor=5),
    Row("silu", one(3), lambda a, x: F.silu(x[0])),
    Row("swiglu", lambda d: (same_shapes()(d)[0], {}), lambda a, x: F.silu(x[0]) * x[1]),
    Row("softcap", with_arguments(one(3), cap=number(0.5, 5)), lambda a, x: a["cap"] * torch.tanh(x[0] / a["cap"])),
    Row("clone", one(), lambda a, x: x[0].clone()),
    Row("contiguous", one(), lambda a, x: x[0] * 1),

    Row("reshape", reshaped, lambda a, x: x[0].reshape(a["shape"])),
    Row("permute", permuted, lambda a, x: x[0].permute(a["order"])),
    Row("transpose", transposed, lambda a, x: x[0].transpose(a["dim0"], a["dim1"])),
    Row("broadcast_to", broadcast, lambda a, x: x[0].broadcast_to(a["shape"])),
    Row("expand", expanded, lambda a, x: x[0].expand(a["sizes"])),
    Row("slice", along(arguments=window), lambda a, x: x[0].narrow(a["dim"], a["begin"], a["end"] - a["begin"])),
    Row("pad", padded, lambda a, x: F.pad(x[0], a["amounts"], value=a["value"])),
    Row("concat", joined, lambda a, x: torch.cat(x, a["dim"])),
    Row("stack", stacked, lambda a, x: torch.stack(x, a["dim"])),
    Row("split", along(arguments=lambda d, n: {"size": d.integer(1, 4)}),
        lambda a, x: torch.cat(torch.split(x[0], a["size"], a["dim"])[::-1], a["dim"])),
    Row("split_sizes", pieces,
        lambda a, x: torch.cat(torch.split(x[0], a["sizes"], a["dim"])[::-1], a["dim"])),
    Row("flip", flipped, lambda a, x: x[0].flip(a["dims"])),
    Row("tril", with_arguments(one(least=2), diagonal=lambda d: d.integer(-4, 4)),
        lambda a, x: x[0].tril(a["diagonal"])),
    Row("triu", with_arguments(one(least=2), diagonal=lambda d: d.integer(-4, 4)),
        lambda a, x: x[0].triu(a["diagonal"])),
    Row("index_select", picked, lambda a, x: x[0].index_select(a["dim"], x[1])),
    Row("index_add", added, lambda a, x: x[0].index_add(a["dim"], x[1], x[2])),
    Row("gather", gathered, lambda a, x: x[0].gather(a["dim"], x[1])),
    Row("scatter_add", scattered, lambda a, x: x[0].scatter_add(a["dim"], x[1], x[2])),
    Row("embedding", embedded, lambda a, x: x[0][x[1]]),

    Row("sum", reduced(), lambda a, x: x[0].sum(axes_of(a, x[0]), keepdim=a["keepdim"])),
    Row("mean", reduced(low=1), lambda a, x: x[0].mean(axes_of(a, x[0]), keepdim=a["keepdim"])),
    Row("max", reduced(low=1), lambda a, x: x[0].amax(axes_of(a, x[0]), keepdim=a["keepdim"])),
    Row("min", reduced(low=1), lambda a, x: x[0].amin(axes_of(a, x[0]), keepdim=a["keepdim"])),
    Row("argmax", positions, lambda a, x: position(a, x[0].argmax)),
    Row("argmin", positions, lambda a, x: position(a, x[0].argmin)),
    Row("any", reduced(), lambda a, x: reduced_mask(a, x[0] > 0, torch.any)),
    Row("all", reduced(), lambda a, x: reduced_mask(a, x[0] > 0, torch.all)),
    Row("logsumexp", reduced(low=1), lambda a, x: x[0].logsumexp(axes_of(a, x[0]), keepdim=a["keepdim"])),
    # A |x| near zero multiplies roundings.
    Row("norm", with_arguments(reduced(low=1), p=lambda d: d.one_of([1, 1.5, 2, 3, None])),
        lambda a, x: torch.linalg.vector_norm(x[0], float("inf") if a["p"] is None else a["p"], axes_of(a, x[0]),
                                              a["keepdim"]), 10),
    Row("std_dev", varied,
        lambda a, x: x[0].std(axes_of(a, x[0]), unbiased=a["correction"] == 1, keepdim=a["keepdim"]), 100),
    Row("var", varied, lambda a, x: x[0].var(axes_of(a, x[0]), unbiased=a["correction"] == 1, keepdim=a["keepdim"])),
    Row("sum_to_size", lambda d: (lambda shape: ([d.normal(shape)], {"shape": d.narrowed(shape)}))(d.shape()),
        lambda a, x: x[0].sum_to_size(a["shape"])),
    Row("cumsum", along(), lambda a, x: x[0].cumsum(a["dim"])),
    Row("matmul", products, lambda a, x: x[0] @ x[1]),
    Row("linear", affine_maps, lambda a, x: F.linear(*x)),
    Row("einsum", lettered, lambda a, x: torch.einsum(a["equation"], *x)),

    Row("softmax", one(3, least=1), lambda a, x: x[0].softmax(-1)),
    Row("log_softmax", one(3, least=1), lambda a, x: x[0].log_softmax(-1)),
    Row("cross_entropy", classified, lambda a, x: cross_entropy(a, x[0], x[1])),
    Row("linear_cross_entropy", projected, lambda a, x: cross_entropy(a, x[0] @ x[1].T, x[2])),
    Row("mse_loss", same_shapes(), lambda a, x: F.mse_loss(*x, reduction=a["reduction"])),
    Row("l1_loss", same_shapes(), lambda a, x: F.l1_loss(*x, reduction=a["reduction"])),
    Row("huber_loss", with_arguments(same_shapes(), delta=number(0.3, 2)),
        lambda a, x: F.huber_loss(*x, reduction=a["reduction"], delta=a["delta"])),
    Row("binary_cross_entropy_with_logits", same_shapes("share"),
        lambda a, x: F.binary_cross_entropy_with_logits(*x, reduction=a["reduction"])),

    # A variance near zero multiplies roundings.
    Row("layer_norm", normalized(2),
        lambda a, x: F.layer_norm(x[0], a["shape"], *parameters_of(x, 1), a["eps"]), 100),
    Row("rms_norm", normalized(1), lambda a, x: rms_norm(x, a["shape"], a["eps"], None), 100),
    Row("rms_norm_partial", with_arguments(normalized(1), partial=lambda d: d.integer(1, 3)),
        lambda a, x: rms_norm(x, a["shape"], a["eps"], a["partial"]), 100),
    Row("batch_norm", channels(),
        lambda a, x: F.batch_norm(x[0], None, None, *parameters_of(x, 1), True, 0.1, a["eps"]), 1000),
    Row("batch_norm_given", with_statistics,
        lambda a, x: F.batch_norm(x[0], x[1].detach(), x[2].detach().exp(), None, None, False, 0.1, a["eps"])),
    Row("group_norm", channels(groups=True),
        lambda a, x: F.group_norm(x[0], a["groups"], *parameters_of(x, 1), a["eps"]), 1000),
    Row("dyt", saturating, dyt(lambda n: 1, lambda x, alpha, n: torch.tanh(alpha * x)), 10),
    Row("dyt_sqrtd", saturating, dyt(lambda n: n ** 0.5, lambda x, rho, n: torch.tanh(rho * x / n ** 0.5)), 10),
    Row("dyisru", saturating, dyt(lambda n: n ** 0.5, lambda x, log_c, n: x / (x.square() + log_c.exp()).sqrt()), 10),
    Row("rope", rotated, lambda a, x: rope(a, x[0])),
    Row("attention", attended, attention, 10),
]
