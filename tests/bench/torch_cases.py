"""The cases of bench, in PyTorch: the same work, sizes and kinds of numbers, as a user would write it there.

    python3 torch_cases.py rmsnorm_fwdbwd_4096x512 --threads 2
    python3 torch_cases.py lm_babygpt --threads 2 --adamw fused --attention plain --compile

prints one JSON object with the keys of bench's. `--variants` prints the flags with which the installed
PyTorch can run a case: compare_torch.py takes the fastest of them, in the environment that suits PyTorch. N
rows, B batch, T time, C channels, H heads, V vocabulary."""
import argparse
import json
import math
import re
import resource
import statistics
import time

try:
    import torch
except ImportError as error:
    raise SystemExit(f"torch_cases: this Python has no PyTorch ({error}); on Debian: apt-get install python3-torch")
import torch.nn.functional as F
from torch import nn


# How the case runs: set by the command line. The first value of a flag is its default.
FLAGS = {
    "adamw": ["foreach", "loop", "fused"],  # over all tensors at a time, over one tensor at a time, one kernel
    "rms_norm": ["chain", "own"],  # of ops; F.rms_norm
    "attention": ["fused", "grouped", "plain"],  # fused with each head's own keys, or with fewer; products and softmax
}
ADAMW_OPTIONS = {"foreach": {"foreach": True}, "loop": {"foreach": False}, "fused": {"fused": True}}
how = argparse.Namespace(**{flag: values[0] for flag, values in FLAGS.items()}, compile=False)


def trainable(tensor):
    return tensor.requires_grad_()


def maybe_compiled(f):
    return torch.compile(f) if how.compile else f


def step_of(f, trained, dy):
    """A step that runs y = f(), sends dy back, and forgets the gradients."""
    f = maybe_compiled(f)

    def step():
        f().backward(dy)
        for tensor in trained:
            tensor.grad = None
    return step


# --- norms: x (N, C). DyT and DyISRU are chains of PyTorch's ops, and so is RMSNorm in PyTorch before 2.4.

def rms_norm(x, weight):
    if how.rms_norm == "own":
        return F.rms_norm(x, weight.shape, weight, 1e-5)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight


def norm(name, n, c):
    x, weight, bias = trainable(torch.randn(n, c)), trainable(torch.ones(c)), trainable(torch.zeros(c))
    alpha, log_c = trainable(torch.full((1,), 0.5)), trainable(torch.ones(1))
    forward, trained = {
        "rmsnorm": (lambda: rms_norm(x, weight), [x, weight]),
        "layernorm": (lambda: F.layer_norm(x, (c,), weight, bias), [x, weight, bias]),
        "dyt": (lambda: torch.tanh(alpha * x) * weight + bias, [x, alpha, weight, bias]),
        "dyisru": (lambda: math.sqrt(c) * x * torch.rsqrt(x.square() + log_c.exp()) * weight + bias,
                   [x, log_c, weight, bias]),
    }[name]
    return step_of(forward, trained, torch.randn(n, c))


# --- activations, cross-entropy, the chain of additions

def activation(name, n, c):
    x = trainable(torch.randn(n, c))
    f = {"relu": F.relu, "silu": F.silu, "mish": F.mish, "softmax": lambda x: F.softmax(x, -1),
         "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}[name]
    return step_of(lambda: f(x), [x], torch.randn(n, c))


def swiglu(n, c):
    gate, up = trainable(torch.randn(n, c)), trainable(torch.randn(n, c))
    return step_of(lambda: F.silu(gate) * up, [gate, up], torch.randn(n, c))


def cross_entropy(n, v):
    logits, targets = trainable(torch.randn(n, v)), torch.randint(v, (n,))
    return step_of(lambda: F.cross_entropy(logits, targets), [logits], None)


def conv2d(n, c, height, width):
    x, conv = trainable(torch.randn(n, c, height, width)), nn.Conv2d(c, 2 * c, 3, padding=1)
    return step_of(lambda: conv(x), [x, *conv.parameters()], torch.randn(n, 2 * c, height, width))


def chain_add(count):
    w, x = trainable(torch.randn(16, 16)), torch.randn(16, 16)

    def forward():
        y = x
        for _ in range(count):
            y = y + w
        return y
    return step_of(forward, [w], torch.ones(16, 16))


# --- nets of Linear(512) and ReLU

def net(depth):
    layers = []
    for _ in range(depth):
        linear = nn.Linear(512, 512)
        nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers)


def study8(watched):
    model, x, dy = net(8), torch.randn(32, 512), torch.randn(32, 512)
    trained = list(model.parameters())
    if not watched:
        return step_of(lambda: model(x), trained, dy)

    stds, gradient_norms = [], []

    def watch(_module, _x, y):
        stds.append(y.std().item())
        y.register_hook(lambda dy: gradient_norms.append(dy.norm().item()))

    for module in model.modules():
        module.register_forward_hook(watch)

    def step():
        stds.clear()
        gradient_norms.clear()
        model(x).backward(dy)
        for tensor in trained:
            gradient_norms.append(tensor.grad.norm().item())
            tensor.grad = None
    return step


def training_step(model, x, targets, optimizer):
    model = maybe_compiled(model)

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = model(x)
        F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1)).backward()
        optimizer.step()
    return step


def mlp(depth, batch):
    model = net(depth).append(nn.Linear(512, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **ADAMW_OPTIONS[how.adamw])
    return training_step(model, torch.randn(batch, 512), torch.randint(10, (batch,)), optimizer)


def adamw(tensors, elements):
    weights = [trainable(torch.randn(elements)) for _ in range(tensors)]
    for weight in weights:
        weight.grad = torch.randn(elements)
    return torch.optim.AdamW(weights, **ADAMW_OPTIONS[how.adamw]).step


# --- language models

class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return rms_norm(x, self.weight)


class LayerNorm(nn.Module):  # without bias, which nn.LayerNorm of 1.13 cannot be
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, None, 1e-5)


class SwiGLU(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def rotate(x, cos, sin):
    """x (B, H, T, D): channel j and j + D/2 are a pair."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def attend(q, k, v, mask):
    """q (B, H, T, D); k and v may have fewer heads, each for as many of q's."""
    if how.attention == "grouped":
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    if k.shape[1] != q.shape[1]:
        k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], 1) for y in (k, v))
    if how.attention == "fused":
        fused = getattr(F, "scaled_dot_product_attention", None)
        if fused is not None:
            return fused(q, k, v, is_causal=True)
        early = getattr(F, "_scaled_dot_product_attention", None)  # 1.13
        if early is not None:
            return early(q, k, v, is_causal=True)[0]
    logits = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(logits.masked_fill(mask, -math.inf), -1) @ v


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads, time, rope):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.mask = torch.ones(time, time, dtype=torch.bool).triu(1)
        self.rope = rope
        if rope:
            angles = torch.outer(torch.arange(time), 1e4 ** (-torch.arange(0, self.size, 2) / self.size))
            self.cos, self.sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)

    def forward(self, x):
        b, t, c = x.shape
        heads = self.qkv(x).view(b, t, -1, self.size).transpose(1, 2)
        q, k, v = heads.split([self.heads, self.kv_heads, self.kv_heads], 1)
        if self.rope:
            q, k = rotate(q, self.cos, self.sin), rotate(k, self.cos, self.sin)
        return self.o(attend(q, k, v, self.mask).transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        self.attention, self.ffn, self.norm1, self.norm2 = attention, ffn, norm1, norm2

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, layers, heads, width, time, vocabulary, kv_heads=None, hidden=None):
        super().__init__()
        llama = hidden is not None  # else nanoGPT's parts
        norm = RMSNorm if llama else LayerNorm
        self.symbols = nn.Embedding(vocabulary, width)
        self.positions = None if llama else nn.Embedding(time, width)
        ffn = (lambda: SwiGLU(width, hidden)) if llama else (lambda: nn.Sequential(
            nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False)))
        self.blocks = nn.Sequential(*(Block(Attention(width, heads, kv_heads or heads, time, llama), ffn(),
                                            norm(width), norm(width)) for _ in range(layers)))
        self.norm = norm(width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0, 0.02)
        for block in self.blocks:  # the last matrices of the branches, as GPT-2's
            for last in (block.attention.o.weight, (block.ffn.down if llama else block.ffn[2]).weight):
                nn.init.normal_(last, 0, 0.02 / math.sqrt(2 * layers))

    def forward(self, symbols):
        x = self.symbols(symbols)
        if self.positions is not None:
            x = x + self.positions.weight[:symbols.shape[1]]
        return F.linear(self.norm(self.blocks(x)), self.symbols.weight)


def adamw_of(model):
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.99), **ADAMW_OPTIONS[how.adamw])


def language_model(batch, time, vocabulary, **sizes):
    model = LanguageModel(time=time, vocabulary=vocabulary, **sizes)
    optimizer = adamw_of(model)
    symbols, targets = (torch.randint(vocabulary, (batch, time)) for _ in range(2))
    return training_step(model, symbols, targets, optimizer)


LANGUAGE_MODELS = {
    "lm_nanogpt_cpu": dict(layers=4, heads=4, width=128, time=64, batch=12, vocabulary=65),
    "lm_babygpt": dict(layers=6, heads=6, width=384, time=256, batch=16, vocabulary=65),
    "lm_minimind_small": dict(layers=8, heads=8, kv_heads=2, width=512, hidden=1408, time=256, batch=4,
                              vocabulary=6400),
}

# Pattern of a case's name → its step; groups of digits are given as numbers. None: the whole process is the case.
CASES = {
    r"(rmsnorm|layernorm|dyt|dyisru)_fwdbwd_(\d+)x(\d+)": norm,
    r"(relu|silu|mish|gelu_tanh|softmax)_fwdbwd_(\d+)x(\d+)": activation,
    r"swiglu_fwdbwd_(\d+)x(\d+)": swiglu,
    r"cross_entropy_fwdbwd_(\d+)x(\d+)": cross_entropy,
    r"conv2d_fwdbwd_(\d+)x(\d+)x(\d+)x(\d+)": conv2d,
    r"chain_add_(\d+)_16x16_fwdbwd": chain_add,
    r"study8_(stats_)?fwdbwd": study8,
    r"mlp_d(\d+)_b(\d+)_adamw": mlp,
    r"opt_adamw_(\d+)x(\d+)": adamw,
    # A batch that we cut into pieces PyTorch takes whole.
    r"(lm_\w+?)(?:_pieces\d+)?": lambda name: language_model(**LANGUAGE_MODELS[name]),
    r"process_blog8": lambda: study8(True),
}


def make_step(name):
    for pattern, make in CASES.items():
        match = re.fullmatch(pattern, name)
        if match:
            return make(*(int(g) if g is not None and g.isdigit() else g for g in match.groups()))
    raise SystemExit(f"torch_cases: no case {name}")


def can_fuse_adamw():
    """PyTorch 1.13 has no fused AdamW, later ones have had one for GPUs first."""
    weight = trainable(torch.zeros(1))
    weight.grad = torch.zeros(1)
    try:
        torch.optim.AdamW([weight], fused=True).step()
    except (TypeError, RuntimeError):
        return False
    return True


def can_group_heads():
    """PyTorch 2.5 and later have enable_gqa."""
    q, kv = torch.zeros(1, 2, 1, 4), torch.zeros(1, 1, 1, 4)
    try:
        F.scaled_dot_product_attention(q, kv, kv, enable_gqa=True)
    except (AttributeError, TypeError, RuntimeError):
        return False
    return True


def can_compile():
    """PyTorch 2 has torch.compile; it needs a C++ compiler where it runs."""
    if not hasattr(torch, "compile"):
        return False
    try:
        torch.compile(lambda x: x + 1)(torch.zeros(2))
    except Exception:  # whatever stands in its way
        return False
    return True


def variants(name):
    """The values that each flag of a case can have, the default first, and whether torch.compile can take the case."""
    model, flags = LANGUAGE_MODELS.get(name.partition("_pieces")[0]), {}
    if model or "adamw" in name:
        flags["adamw"] = [kind for kind in FLAGS["adamw"] if kind != "fused" or can_fuse_adamw()]
    if name.startswith("rmsnorm") or model and "hidden" in model:
        flags["rms_norm"] = [kind for kind in FLAGS["rms_norm"] if kind != "own" or hasattr(F, "rms_norm")]
    if model:
        flags["attention"] = [kind for kind in FLAGS["attention"]
                              if kind != "grouped" or "kv_heads" in model and can_group_heads()]
    # Not compiled: 10000 additions unrolled, hooks, a single step of a process, and the optimizer by itself.
    compiles = not name.startswith(("chain_", "study8_stats", "process_", "opt_")) and can_compile()
    return {"flags": flags, "compile": compiles}


def warm_up(step):
    """Seconds of the last step. Memory that malloc keeps takes a dozen steps to settle: goes on until two in
    a row touch no new pages."""
    settled = 0
    for i in range(15):
        faults, start = page_faults(), time.perf_counter()
        step()
        last = time.perf_counter() - start
        new_pages = page_faults() - faults
        settled = settled + 1 if new_pages < 100 else 0
        if i >= 2 and settled >= 2:
            break
    return last


def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def measure(step, min_seconds, repetitions):
    """Seconds per step of each repetition, at least min_seconds long, and page faults a step."""
    last = warm_up(step)
    count = max(1, math.ceil(min_seconds / last))
    seconds, faults = [], page_faults()
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(count):
            step()
        seconds.append((time.perf_counter() - start) / count)
    return seconds, (page_faults() - faults) / (count * repetitions)


def compile_bits():
    """The bits of a register in what torch.compile makes: 0 where it finds no vector instructions."""
    try:
        from torch._inductor import cpu_vec_isa
        return cpu_vec_isa.pick_vec_isa().bit_width()
    except (ImportError, AttributeError, TypeError):  # before 2.3, and where there is none
        return 0


def description():
    """The version, the instructions in use, and the files of the BLAS libraries that it has loaded."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        files = {line.split()[-1] for line in maps if re.search(r"/lib(open)?blas|/libmkl", line)}
    return {"torch": torch.__version__, "torch_blas": ", ".join(sorted(files)) or "its own",
            "torch_kernels": torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, "cpu") else "unknown",
            "torch_compile_bits": compile_bits()}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs="?", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--min-time", type=float, default=0.2)
    parser.add_argument("--repetitions", type=int, default=5)
    for flag, values in FLAGS.items():
        parser.add_argument(f"--{flag}", choices=values, default=values[0])
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--variants", action="store_true", help="print the flags of this case and stop")
    parser.add_argument("--list", action="store_true", help="print the cases, as regular expressions, and stop")
    parser.add_argument("--describe", action="store_true", help="print what this PyTorch is and stop")
    return parser.parse_args()


def run(arguments):
    global how
    if arguments.compile and not hasattr(torch, "compile"):
        raise SystemExit(f"torch_cases: --compile: PyTorch {torch.__version__} has no torch.compile; 2.0 and later have it")
    how = arguments
    torch.manual_seed(0)
    torch.set_num_threads(arguments.threads)
    step = make_step(arguments.case)
    if arguments.case.startswith("process_"):
        step()  # compare_torch.py times the process
        seconds, faults = [math.nan], page_faults()
    else:
        seconds, faults = measure(step, arguments.min_time, arguments.repetitions)
    return {"bench": arguments.case, "threads": arguments.threads, "median_ms": 1e3 * statistics.median(seconds),
            "min_ms": 1e3 * min(seconds), "page_faults": faults,
            "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main():
    arguments = parse()
    if arguments.list:
        print(json.dumps(list(CASES)))
    elif arguments.describe:
        print(json.dumps(description()))
    elif arguments.variants:
        print(json.dumps(variants(arguments.case)))
    else:
        print(json.dumps(run(arguments)))


if __name__ == "__main__":
    main()
