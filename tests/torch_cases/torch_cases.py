"""Random cases of Isobar's ops against PyTorch: values, gradients and second derivatives.

    /usr/bin/python3 torch_cases.py PROGRAM [--count 2000] [--seed 1] [--case 17] [--op pad]

PROGRAM is build/bin/torch_cases. Case number i of a seed is always the same: --case replays one and prints
it. Exits with 1 when a case differs, with 77 when PyTorch is missing. PyTorch computes in float64 whatever
the case's dtype."""
import argparse
import json
import math
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

from draws import Draw
from rows import ROWS

# Roundings of the input's precision that a case may lose, and the smallest number that counts as one:
# gradients may cancel to nothing. A row multiplies it with its own factor.
TOLERANCE = {"f32": 2e-5, "f64": 1e-11}
FLOOR = 1e-2


def array_of(tensor, dtype, layout="plain"):
    if tensor.dtype == torch.int64:
        return {"shape": list(tensor.shape), "dtype": dtype, "layout": "plain", "values": tensor.reshape(-1).tolist()}
    return {"shape": list(tensor.shape), "dtype": dtype, "layout": layout,
            "values": tensor.detach().reshape(-1).tolist()}


def rounded(tensor, dtype):
    """float64 numbers that the dtype holds exactly."""
    return tensor.float().double() if dtype == "f32" and tensor.is_floating_point() else tensor


def gradients(y, leaves, dy):
    """d (Σ dy · y) / d leaf, zeros where y does not depend on it; differentiable again."""
    if not y.requires_grad:
        return [torch.zeros_like(x) for x in leaves]
    found = torch.autograd.grad(y, leaves, dy, create_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, found)]


def make_case(seed, number, only=None):
    """The question for the program, and PyTorch's answer."""
    draw = Draw(seed * 1000003 + number)
    rows = [row for row in ROWS if only is None or row.op == only]
    row = draw.one_of(rows)
    dtype = draw.one_of(["f32", "f64"])
    second = draw.one_of([False, True])
    inputs, arguments = row.draw(draw)
    inputs = [rounded(x, dtype) for x in inputs]
    leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()]
    y = row.torch(arguments, inputs)
    dy = rounded(draw.normal(y.shape), dtype).requires_grad_()
    if not y.is_floating_point():  # masks and positions have no gradient
        second = False
    dx = gradients(y, leaves, dy)
    case = {"op": row.op, "arguments": arguments, "dy": array_of(dy, dtype), "directions": [],
            "inputs": [array_of(x, dtype if x.is_floating_point() else draw.one_of(["i32", "i64"]),
                                draw.one_of(["plain", "columns first", "every second"])) for x in inputs]}
    wanted = {"y": [y], "dx": dx} if y.is_floating_point() else {"y": [y.double()]}
    if second:
        directions = [rounded(draw.normal(x.shape), dtype) for x in leaves]
        case["directions"] = [array_of(v, dtype) for v in directions]
        along = sum((g * v).sum() for g, v in zip(dx, directions))
        wanted["ddx"] = gradients(along, leaves + [dy], None)
    return row, dtype, case, wanted


def difference(got, wanted, tolerance):
    """What is wrong with one array, or None."""
    if got["shape"] != list(wanted.shape):
        return f"shape {got['shape']}, PyTorch {list(wanted.shape)}"
    # The sum has a storage, which a gradient of zeros may lack.
    numbers = (torch.zeros(wanted.shape) + wanted.detach()).reshape(-1).tolist()
    finite = [abs(w) for w in numbers if math.isfinite(w)]
    allowed = tolerance * max([FLOOR] + finite)
    for i, (g, w) in enumerate(zip(got["values"], numbers)):
        g = math.nan if g is None else g  # JSON has no NaN
        if math.isnan(w) != math.isnan(g) or abs(g - w) > allowed:
            return f"element {i} is {g}, PyTorch {w}, allowed {allowed:.1e}"
    return None


def differences(row, dtype, wanted, answer):
    if "error" in answer:
        return ["error: " + answer["error"]]
    found = []
    for part, arrays in wanted.items():
        got = [answer[part]] if part == "y" else answer[part]
        for i, (g, w) in enumerate(zip(got, arrays)):
            # Each derivative may multiply a rounding.
            wrong = difference(g, w, TOLERANCE[dtype] * row.factor * {"y": 1, "dx": 3, "ddx": 30}[part])
            if wrong:
                found.append(f"{part}[{i}]: {wrong}")
    return found


def described(case):
    inputs = ", ".join(f"{x['dtype']} {x['shape']} {x['layout']}" for x in case["inputs"])
    return f"{case['op']} {json.dumps(case['arguments'])} of {inputs}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    parser.add_argument("--op")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    program = subprocess.Popen([options.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    numbers = [options.case] if options.case is not None else range(options.count)
    print(f"torch_cases: seed {options.seed}, {len(numbers)} cases, PyTorch {torch.__version__}", flush=True)
    wrong, seen = 0, {}
    for number in numbers:
        row, dtype, case, wanted = make_case(options.seed, number, options.op)
        program.stdin.write(json.dumps(case) + "\n")
        program.stdin.flush()
        line = program.stdout.readline()
        answer = json.loads(line) if line else {"error": "the program ended"}
        found = differences(row, dtype, wanted, answer)
        seen[row.op] = seen.get(row.op, 0) + 1
        wrong += bool(found)
        if found or options.case is not None:
            print(f"case {number}: {described(case)}")
            for text in found:
                print("  " + text)
            if found:
                print(f"  REPLAY=--seed {options.seed} --case {number}" + (f" --op {options.op}" if options.op else ""))
        if options.case is not None:
            print(json.dumps(case), line, sep="\n")
        if not line:
            break
    program.stdin.close()
    program.wait()
    unseen = sorted({row.op for row in ROWS} - set(seen))
    print(f"torch_cases: {wrong} of {len(numbers)} cases differ, {len(seen)} of {len(seen) + len(unseen)} ops drawn")
    if options.case is None and options.op is None and len(numbers) >= 2000 and unseen:
        print("torch_cases: never drawn:", ", ".join(unseen))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
