#!/usr/bin/env python3
"""Kills a training run with kill -9 at random instants, again and again, and resumes it each time.

    tests/crash/crash.py build/bin/train_lm                    # 500 kills, some 10 minutes
    tests/crash/crash.py build/bin/train_lm --kills 20

A tiny model learns from a random text and saves after every step, so that many kills strike inside a save:
those leave a temporary file behind and are counted. Each resume takes 1 or 2 threads. In the end weights,
moments, series and summary must be those of a run that nobody killed, byte for byte but for the summary's
timing and environment, and no resume may have met a checkpoint that it could not read. Exit code 0 if so,
else 1."""
import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ranks"))
import runs

STEPS_A_KILL = 4  # on average; some more are done while the kill is on its way


def training(folder, steps, rng):
    text = folder / "text.txt"
    text.write_text("".join(rng.choice("abcdefghijklmnopqrst") for _ in range(20_000)))
    flags = {"corpus": text, "n_layer": 1, "n_head": 1, "n_kv_head": 1, "n_embd": 8, "block_size": 8, "batch_size": 2,
             "max_iters": steps, "warmup_iters": 2, "eval_interval": 10, "eval_iters": 2, "log_interval": 10,
             "dropout": 0.1, "checkpoint_interval": 1, "keep": 2}
    return [word for name, value in flags.items() for word in (f"--{name}", str(value))]


def newest_step(run):
    steps = [int(path.stem[5:]) for path in (run / "checkpoints").glob("step_*.safetensors")]
    return max(steps, default=0)


def differences(whole, run, steps):
    last = f"checkpoints/step_{steps:06}.safetensors"  # all weights, moments and series
    files = ["loss.csv", "layers.csv", "metrics.jsonl", "summary.json", last, "checkpoints/best.safetensors"]
    return list(runs.files_apart(whole, run, files))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train_lm")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    print(f"REPLAY='--kills {chosen.kills} --seed {chosen.seed}'", flush=True)
    steps = (STEPS_A_KILL + 2) * chosen.kills + 200  # a busy machine kills late
    with tempfile.TemporaryDirectory(prefix="isobar_crash_") as name:
        folder = pathlib.Path(name)
        whole, run = folder / "whole", folder / "killed"
        words = training(folder, steps, rng)
        subprocess.run([chosen.train_lm, *words, "--out", whole], check=True, stdout=subprocess.DEVNULL)

        inside, unreadable, kills = 0, 0, 0
        while True:
            more = ["--resume", run] if newest_step(run) else [*words, "--out", run]
            target = newest_step(run) + rng.randint(1, 2 * STEPS_A_KILL - 1)
            with open(folder / "log", "w+", encoding="utf-8") as log:
                command = [chosen.train_lm, *more, "--threads", str(rng.randint(1, 2))]
                with subprocess.Popen(command, stdout=log, stderr=log) as program:
                    if kills < chosen.kills:
                        while program.poll() is None and newest_step(run) < target:
                            time.sleep(0.0002)
                        time.sleep(rng.uniform(0, 0.05))
                        program.send_signal(signal.SIGKILL)
                log.seek(0)
                said = log.read()
            unreadable += said.count("going back to the checkpoint before")
            if program.returncode != -signal.SIGKILL:
                break
            kills += 1
            inside += any((run / "checkpoints").glob("*.tmp"))
        if program.returncode != 0:
            sys.exit(f"the last run ended with exit code {program.returncode}:\n{said}")
        if kills < chosen.kills:
            sys.exit(f"the run ended after {kills} of {chosen.kills} kills")
        wrong = differences(whole, run, steps)
        print(f"{kills} kills, {inside} of them inside a save; {unreadable} unreadable checkpoints; "
              f"{'all equal' if not wrong else 'different: ' + ', '.join(wrong)}")
        sys.exit(bool(wrong or unreadable))


if __name__ == "__main__":
    main()
