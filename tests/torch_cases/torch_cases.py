"""The ops of random programs (tests/random_programs) against PyTorch: values in f64 and f32, and gradients.

    /usr/bin/python3 torch_cases.py PROGRAM [--count 150] [--seed 1]

PROGRAM is build/bin/torch_cases; --seed is the first program, of so many. Exits with 1 when an op differs, with
77 when PyTorch is missing. PyTorch computes in float64."""
import argparse
import collections
import json
import math
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
import torch.nn.functional as F

# Roundings of the input's precision that a case may lose, relative to its largest number or to FLOOR; and what
# multiplies them: a variance near zero, 1 + tanh where x is negative.
TOLERANCE = {"y": 1e-11, "dx": 3e-11, "y32": 2e-5}
FLOOR = 1e-2
FACTOR = {"std_dev": 100, "layer_norm": 10, "rms_norm": 10, "rms_norm of a part": 10, "batch_norm": 10,
          "group_norm": 10, "norm": 10, "gelu": 5, "gelu_tanh": 5, "pow of two": 10, "pow": 10}


def heads(x):
    return x.reshape(1, -1, 1, 4)


def rope(x, start, interleaved):
    time, half = x.shape[1], x.shape[3] // 2
    angle = torch.outer(torch.arange(start, start + time).double(), 10 ** (-torch.arange(half).double() / half))
    turn = torch.polar(torch.ones_like(angle), angle)[:, None, :]
    if interleaved:
        z = torch.complex(x[..., 0::2], x[..., 1::2]) * turn
        return torch.stack([z.real, z.imag], -1).flatten(3)
    z = torch.complex(x[..., :half], x[..., half:]) * turn
    return torch.cat([z.real, z.imag], -1)


def attention(q, k, v, causal, softcap, scale):
    q, k, v = (heads(t).transpose(1, 2) for t in (q, k, v))
    logits = q @ k.transpose(2, 3) * scale
    if softcap:
        logits = softcap * torch.tanh(logits / softcap)
    if causal:
        hidden = torch.ones(logits.shape[2:], dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2])
        logits = logits.masked_fill(hidden, -math.inf)
    return (logits.softmax(-1) @ v).transpose(1, 2)


def saturating(scale, inner):
    """scale(d) · inner(x, number, d) · weight, d the number of normalized elements."""
    return lambda x, n: scale(x[1].numel()) * inner(x[0], x[1].mean(), x[1].numel()) * x[1]


def rms_norm(x, n, measured):
    return x * torch.rsqrt(x[..., :measured].square().mean(-1, keepdim=True) + 0.1)


def at(numbers):
    return torch.tensor(numbers, dtype=torch.long)


# x are the arguments and n the numbers of tests/random_programs/ops.cpp.
OPS = {name: lambda x, n, f=getattr(torch, name): f(*x) for name in (
    "tanh", "sigmoid", "erf", "relu", "sin", "cos", "expm1", "abs", "clone", "add", "subtract", "multiply", "minimum",
    "maximum", "matmul")}
OPS |= {
    "exp": lambda x, n: torch.exp(-x[0].square()),
    "log": lambda x, n: torch.log(x[0].square() + 0.5),
    "sqrt": lambda x, n: torch.sqrt(x[0].square() + 0.5),
    "reciprocal": lambda x, n: 1 / (x[0].square() + 1),
    "gelu": lambda x, n: F.gelu(x[0]),
    "gelu_tanh": lambda x, n: F.gelu(x[0], approximate="tanh"),
    "silu": lambda x, n: F.silu(x[0]),
    "mish": lambda x, n: F.mish(x[0]),
    "squared_relu": lambda x, n: x[0].relu().square(),
    "softcap": lambda x, n: 2 * torch.tanh(x[0] / 2),
    "softplus": lambda x, n: F.softplus(x[0], threshold=1e9),
    "log1p": lambda x, n: torch.log1p(x[0].square()),
    "pow cubed": lambda x, n: x[0] ** 3,
    "pow": lambda x, n: (x[0].square() + 0.5) ** -1.5,
    "pow of a number": lambda x, n: 1.5 ** x[0],
    "pow of two": lambda x, n: (x[0].square() + 0.5) ** x[1],
    "divide by a number": lambda x, n: x[0] / 3.7,
    "sign": lambda x, n: x[0].sign() * x[0],
    "clamp": lambda x, n: x[0].clamp(-0.5, 0.5),
    "where": lambda x, n: torch.where(x[0] < x[1], x[2], x[0]),
    "where above": lambda x, n: torch.where(x[0] > 0.3, x[0].square(), x[1]),
    "affine": lambda x, n: 1.5 - x[0] * 0.75,
    "divide": lambda x, n: x[0] / (x[1].square() + 1),
    "swiglu": lambda x, n: F.silu(x[0]) * x[1],
    "isru": lambda x, n: x[0] * torch.rsqrt(x[0].square() + x[1].square() + 0.5),
    "masks": lambda x, n: torch.where(x[0] > x[1], x[0] * 2, x[1]),
    "any and all": lambda x, n: torch.where((x[0] > 0.3).any(n[0], keepdim=True) | (x[0] >= 0.3).all(), x[0], x[0] * 2),

    "reshape": lambda x, n: x[0].reshape(n),
    "permute": lambda x, n: x[0].permute(n),
    "transpose": lambda x, n: x[0].transpose(-1, -2),
    "broadcast_to": lambda x, n: x[0].broadcast_to(n),
    "expand": lambda x, n: x[0].expand(n),
    "slice": lambda x, n: x[0].narrow(n[0], n[1], n[2] - n[1]),
    "concat": lambda x, n: torch.cat(x, 0),
    "stack": lambda x, n: torch.stack(x, -1),
    "split": lambda x, n: torch.split(x[0], 2, n[0])[-1],
    "pad": lambda x, n: F.pad(x[0], n, value=0.5),
    "flip": lambda x, n: x[0].flip(n),
    "tril": lambda x, n: x[0].tril(n[0]),
    "triu": lambda x, n: x[0].triu(n[0]),
    "index_select": lambda x, n: x[0].index_select(0, at(n)),
    "embedding": lambda x, n: x[0][at(n)],
    "index_add": lambda x, n: x[0].index_add(0, at(n), x[1]),
    "gather": lambda x, n: x[0].flatten().gather(0, at(n)),
    "scatter_add": lambda x, n: x[0].flatten().scatter_add(0, at(n), x[1].flatten()[:len(n)]),
    "contiguous": lambda x, n: x[0] * 1,
    "rounded": lambda x, n: x[0].float().double(),

    "sum": lambda x, n: x[0].sum(n),
    "mean": lambda x, n: x[0].mean(n, keepdim=True),
    "mean of all": lambda x, n: x[0].mean(),
    "max": lambda x, n: x[0].amax(n),
    "min": lambda x, n: x[0].amin(n),
    "sort": lambda x, n: x[0].sort(n[0]).values,
    "topk": lambda x, n: x[0].topk(1, n[0]).values,
    "argmax": lambda x, n: x[0].flatten()[x[0].argmax()].reshape(1),
    "cumsum": lambda x, n: x[0].cumsum(n[0]),
    "logsumexp": lambda x, n: x[0].logsumexp(n),
    "norm": lambda x, n: torch.linalg.vector_norm(x[0], 2, n, keepdim=True),
    "norm of cubes": lambda x, n: torch.linalg.vector_norm(x[0] + 4, 3),
    "std_dev": lambda x, n: x[0].std(n),
    "var": lambda x, n: x[0].var(n, unbiased=False, keepdim=True),
    "einsum": lambda x, n: torch.einsum("ij,kj->ki", *x),
    "einsum of one": lambda x, n: torch.einsum("abc->ca", *x),
    "linear": lambda x, n: F.linear(*x),
    "linear with bias": lambda x, n: F.linear(*x),
    "softmax": lambda x, n: x[0].softmax(-1),
    "log_softmax": lambda x, n: x[0].log_softmax(-1),
    "mse_loss": lambda x, n: F.mse_loss(*x),
    "l1_loss": lambda x, n: F.l1_loss(*x, reduction="none"),
    "huber_loss": lambda x, n: F.huber_loss(*x, delta=0.5),
    "binary_cross_entropy_with_logits": lambda x, n: F.binary_cross_entropy_with_logits(x[0], x[1].sigmoid()),
    "cross_entropy": lambda x, n: F.cross_entropy(x[0], at(n)),
    "linear_cross_entropy": lambda x, n: F.cross_entropy(x[1] @ x[0].T, at(n)),

    "layer_norm": lambda x, n: F.layer_norm(x[0], n, None, None, 0.1),
    "rms_norm": lambda x, n: rms_norm(x[0], n, n[0]) * x[1],
    "rms_norm of a part": lambda x, n: rms_norm(x[0], n, 1),
    "batch_norm": lambda x, n: torch.batch_norm(x[0], None, None, None, None, True, 0.1, 0.1, False),
    "group_norm": lambda x, n: torch.group_norm(x[0], 2, None, None, 0.1),
    "dyt": saturating(lambda d: 1, lambda x, a, d: torch.tanh(a * x)),
    "dyt_sqrtd": lambda x, n: saturating(math.sqrt, lambda x, a, d: torch.tanh(a * x / d ** 0.5))(x, n) + x[1],
    "dyisru": saturating(math.sqrt, lambda x, a, d: x * torch.rsqrt(x.square() + a.exp())),
    "derf": lambda x, n: torch.erf(x[1].mean() * x[0] + x[0].mean()) * x[1],
    "rope": lambda x, n: rope(heads(x[0]), 0, False),
    "rope interleaved": lambda x, n: rope(heads(x[0]), 2, True),
    "attention": lambda x, n: attention(*x, True, 0, 0.5),
    "attention with softcap": lambda x, n: attention(x[0], x[1], x[1], False, 2, 0.7),
}
NOT_COMPARED = {"dropout"}  # draws from streams of our own


def tensor(array):
    return torch.tensor(array["values"]).reshape(array["shape"])


def gradients(y, x, dy):
    found = torch.autograd.grad(y, x, dy, allow_unused=True) if y.requires_grad else [None] * len(x)
    return [torch.zeros_like(t) if g is None else g for t, g in zip(x, found)]


def difference(got, wanted, allowed):
    """What is wrong with one array, or None."""
    if got["shape"] != list(wanted.shape):
        return f"shape {got['shape']}, PyTorch {list(wanted.shape)}"
    wanted = wanted.detach()
    allowed *= max([FLOOR] + wanted.abs().flatten().tolist())
    apart = (tensor(got) - wanted).abs().flatten()
    for i in (~(apart <= allowed)).nonzero().flatten().tolist()[:1]:
        return f"element {i} is {got['values'][i]}, PyTorch {wanted.flatten()[i]}, allowed {allowed:.1e}"
    return None


def differences(case):
    f, n = OPS[case["op"]], case["numbers"]
    x = [tensor(array).requires_grad_() for array in case["inputs"]]
    y = f(x, n)
    pairs = [("y", case["y"], y), ("y32", case["y32"], f([t.detach().float().double() for t in x], n))]
    pairs += [("dx", got, wanted) for got, wanted in zip(case["dx"], gradients(y, x, tensor(case["dy"])))]
    for part, got, wanted in pairs:
        wrong = difference(got, wanted, TOLERANCE[part] * FACTOR.get(case["op"], 1))
        if wrong:
            yield f"{part}: {wrong}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=150, help="programs")
    parser.add_argument("--seed", type=int, default=1, help="the first program")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    run = subprocess.Popen([options.program, str(options.seed), str(options.count)], stdout=subprocess.PIPE, text=True)
    wrong, seen = 0, collections.Counter()
    for line in run.stdout:
        case = json.loads(line)
        if case["op"] in NOT_COMPARED:
            continue
        seen[case["op"]] += 1
        for text in differences(case):
            wrong += 1
            print(f"{case['op']} {case['numbers']} of {[array['shape'] for array in case['inputs']]}: {text}\n"
                  f"  REPLAY=--seed {case['seed']} --count 1")
    print(f"torch_cases: {wrong} of {seen.total()} cases differ, {len(seen)} of {len(OPS)} ops drawn, "
          f"PyTorch {torch.__version__}")
    return run.wait() != 0 or wrong > 0 or options.count >= 1000 and len(seen) < len(OPS)


if __name__ == "__main__":
    sys.exit(main())
