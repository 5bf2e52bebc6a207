"""Convolutions and pools of random settings against PyTorch: values and gradients, f32 and f64.

    /usr/bin/python3 window_cases.py PROGRAM [--count 300] [--seed 1]

PROGRAM is build/bin/window_cases. Exits with 1 when a case differs, with 77 when PyTorch is missing. PyTorch computes
in float64, from the same numbers."""
import argparse
import collections
import json
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
import torch.nn.functional as F

# Roundings that a sum of some hundred terms may lose, relative to the largest number of the array.
TOLERANCE = {"f32": 2e-5, "f64": 1e-12}


def tensor(array):
    return torch.tensor(array["values"], dtype=torch.float64).reshape(array["shape"])


def one_sample(case, i):
    """PyTorch 1.13 refuses an empty batch in some pools: what it gives for a batch of one, without its sample."""
    x = tensor(case["inputs"][0])
    return x if x.shape[0] > 0 else torch.zeros([1, *x.shape[1:]], dtype=torch.float64)


def differences(case):
    empty = case["inputs"][0]["shape"][0] == 0
    x = [one_sample(case, 0).requires_grad_()] + [tensor(a).requires_grad_() for a in case["inputs"][1:]]
    y = getattr(F, case["op"])(*x, **case["settings"])
    dy = torch.zeros_like(y) if empty else tensor(case["dy"])
    pairs = [("y", case["y"], y)]
    pairs += [(f"dx[{i}]", got, wanted) for i, (got, wanted) in
              enumerate(zip(case["dx"], torch.autograd.grad(y, x, dy)))]
    for part, got, wanted in pairs:
        wanted = wanted.detach()
        if empty and part in ("y", "dx[0]"):
            wanted = wanted[:0]
        if got["shape"] != list(wanted.shape):
            yield f"{part}: shape {got['shape']}, PyTorch {list(wanted.shape)}"
        elif wanted.numel() > 0:
            apart = (tensor(got) - wanted).abs().max().item()
            allowed = TOLERANCE[case["dtype"]] * max(wanted.abs().max().item(), 1e-2)
            if not apart <= allowed:
                yield f"{part}: differs by {apart}, allowed {allowed:.1e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="the first case")
    options = parser.parse_args()
    torch.set_num_threads(1)
    run = subprocess.Popen([options.program, str(options.seed), str(options.count)], stdout=subprocess.PIPE, text=True)
    wrong, seen = 0, collections.Counter()
    for line in run.stdout:
        case = json.loads(line)
        seen[case["op"]] += 1
        for text in differences(case):
            wrong += 1
            print(f"{case['op']} {case['settings']} of {[a['shape'] for a in case['inputs']]} {case['dtype']}: {text}\n"
                  f"  REPLAY=--seed {case['seed']} --count 1")
    print(f"window_cases: {wrong} parts of {seen.total()} cases differ ({dict(seen)}), PyTorch {torch.__version__}")
    return run.wait() != 0 or wrong > 0 or seen.total() != options.count


if __name__ == "__main__":
    sys.exit(main())
