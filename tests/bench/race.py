#!/usr/bin/env python3
"""The race to a validation loss of 1.91: Isobar's records and PyTorch's nanoGPT, in turn.

    tests/bench/race.py --torch-root DIR --rounds 3

measures each record of experiments/race/ anew and writes it with the least times of all rounds. PyTorch trains
nanoGPT's setting for a CPU, op by op and through torch.compile, in the environment that suits it."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TARGET, BATCH, TIME = 1.91, 12, 64
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def rate(step, steps, warmup=100, most=1e-3, least=1e-4):
    """nanoGPT's get_lr."""
    if step < warmup:
        return most * (step + 1) / (warmup + 1)
    return least + 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) * (most - least)


def train(arguments):
    """One training in this Python's PyTorch, as a record."""
    import torch
    import torch_cases
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    text = (ROOT / "data/tinyshakespeare.txt").read_text()
    symbols = {c: i for i, c in enumerate(sorted(set(text)))}
    tokens = torch.tensor([symbols[c] for c in text])
    training, validation = tokens[:len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10:]

    def batch(part, generator=None):
        starts = torch.randint(len(part) - TIME, (BATCH, 1), generator=generator)
        blocks = part[starts + torch.arange(TIME + 1)]
        return blocks[:, :-1].contiguous(), blocks[:, 1:].contiguous()

    torch_cases.adamw_options = torch_cases.ADAMW[arguments.adamw]
    model = torch_cases.LanguageModel(layers=4, heads=4, width=128, time=TIME, vocabulary=len(symbols))
    optimizer = torch_cases.adamw_of(model)

    def loss_of(forward, x, y):
        return torch.nn.functional.cross_entropy(forward(x).flatten(0, 1), y.flatten())

    @torch.no_grad()
    def validation_loss():
        fixed = torch.Generator().manual_seed(0)
        return sum(loss_of(model, *batch(validation, fixed)).item() for _ in range(200)) / 200

    began = time.perf_counter()
    trained = torch.compile(model) if arguments.compile else model
    loss_of(trained, *batch(training)).backward()  # here it is compiled
    compile_s = time.perf_counter() - began
    loss, step, wall, processor = math.inf, 0, 0.0, 0.0
    while step < arguments.steps and loss > TARGET:
        began, processor_began = time.perf_counter(), time.process_time()
        for step in range(step + 1, step + 51):
            for group in optimizer.param_groups:
                group["lr"] = rate(step - 1, arguments.steps)
            optimizer.zero_grad(set_to_none=True)
            loss_of(trained, *batch(training)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        wall += time.perf_counter() - began
        processor += time.process_time() - processor_began
        if step >= arguments.steps * 3 // 4:
            loss = validation_loss()
    return {"program": f"PyTorch {torch.__version__.split('+')[0]}{', compiled' if arguments.compile else ''}",
            "flags": f"--adamw {arguments.adamw} --seed {arguments.seed}", "steps": step, "val_loss": loss, "hash": "",
            "train_s": wall, "train_cpu_s": processor, "environment": {"threads": arguments.threads}} | (
                {"compile_s": compile_s} if arguments.compile else {})


def fast_path(torch, settings):
    """The vector instructions of torch.compile. Without libsleef's headers it finds none and says nothing."""
    code = "from torch._inductor import cpu_vec_isa; print(cpu_vec_isa.pick_vec_isa() or '')"
    words = [*torch.inside, "/usr/bin/env", *(f"{key}={value}" for key, value in settings.items()), torch.program[0]]
    found = subprocess.run([*words, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    if not found.stdout.strip():
        sys.exit("race: torch.compile found no vector instructions; install libsleef-dev where PyTorch is")
    return {"vectors": found.stdout.strip()}


def rival(arguments, how, choices):
    """How to measure PyTorch, op by op or compiled, in the environment and on the number of threads that are the
    fastest for it: on a busy machine threads that wait for each other are slower than one."""
    import compare_torch
    torch = compare_torch.Torch(arguments.torch_root and arguments.torch_root.resolve(), how)
    work = [compare_torch.Work("lm_nanogpt_cpu", count, 0.3, 3) for count in range(1, arguments.threads + 1)]
    best = min(work, key=lambda one: torch.measure(one, *choices.of(torch, one))["min_ms"])
    settings, variant = choices.of(torch, best)
    found = fast_path(torch, settings) if how == "compiled" else {}
    torch.program[-1] = str(torch.program[-1]).replace("torch_cases.py", "race.py")

    def measure():
        record = torch.run("--train", "--seed", str(arguments.seed), "--steps", str(arguments.steps), "--threads",
                           str(best.threads), *variant, settings=settings)
        record["environment"] |= settings | found
        return record
    return measure


def own(arguments, flags):
    """How to measure a record of Isobar."""
    def measure():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "new.json"
            environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
            subprocess.run([ROOT / "build/bin/isobar", "race", "--threads", str(arguments.threads), "--add", file, "--",
                            *flags.split()], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
            return json.loads(file.read_text())
    return measure


def run_rounds(arguments):
    import compare_torch
    folder = arguments.tree / "experiments/race"
    records = {file: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
    racers = {file: own(arguments, record["flags"]) for file, record in records.items()
              if record["program"] == "train_lm"}
    for how in ("eager", "compiled"):
        racers[folder / f"pytorch_{how}.json"] = rival(arguments, how, compare_torch.Choices(arguments.choices))
    best = {}
    for _ in range(arguments.rounds):
        for file, measure in racers.items():
            load = os.getloadavg()[0]
            record = measure() | {"load": load, "date": time.strftime("%Y-%m-%d", time.gmtime())}
            print(f"{file.stem:<20} {record['steps']:5} steps  {record['val_loss']:.4f}  {record['train_s']:7.2f} s  "
                  f"{record['train_cpu_s']:7.2f} s of processors  load {load:.1f}", flush=True)
            known = best.setdefault(file, record)
            if record["hash"] != known["hash"]:
                sys.exit(f"race: {file.stem} gave another hash in another round")
            for key in ("train_s", "train_cpu_s"):
                record[key] = min(record[key], known[key])
            best[file] = record
            file.write_text(json.dumps(record, indent=2) + "\n")
    print("The records are renewed. Build again; experiments/duel/README.md shows what isobar race prints.")


def main():
    parser = argparse.ArgumentParser(description="The race to 1.91: Isobar and PyTorch, in turn.")
    parser.add_argument("--torch-root", type=pathlib.Path, metavar="DIR", help="as of compare_torch.py")
    parser.add_argument("--choices", type=pathlib.Path, metavar="FILE", help="as of compare_torch.py")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT, help="whose records are renewed [this one]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="of Isobar, and at most of PyTorch [2]")
    parser.add_argument("--seed", type=int, default=1, help="of PyTorch [1]")
    parser.add_argument("--steps", type=int, default=2000, help="of PyTorch, with its schedule [2000]")
    parser.add_argument("--train", action="store_true", help="train in this Python's PyTorch, and print the record")
    parser.add_argument("--adamw", choices=["foreach", "loop", "fused"], default="foreach")
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    if arguments.train:
        print(json.dumps(train(arguments)))
    else:
        run_rounds(arguments)


if __name__ == "__main__":
    main()
