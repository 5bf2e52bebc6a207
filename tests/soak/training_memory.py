#!/usr/bin/env python3
"""Does a long training of train_lm stay within the memory that it had at step 1,000?

    training_memory.py build/bin                      # 10,000 steps of a net with some 5,000 parameters
    training_memory.py build/bin --steps 100000

Trains with log steps, evaluations and checkpoints on the way, and asks the kernel for the resident memory
(VmRSS of /proc/PID/status) from the warm-up on, some ten times a second. Held if no sample is more than
--growth KiB above the one at the warm-up, and all checkpoints have the same size but for the digits of their
step. Exit code 0 if it held, 1 if not."""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

TRAINING = ("--corpus text.txt --n_layer 1 --n_head 2 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 2 "
            "--warmup_iters 2 --eval_interval 250 --eval_iters 2 --log_interval 10 --checkpoint_interval 250 --keep 1000000 "
            "--dropout 0.1 --threads 2 --out run").split()


def resident_kib(pid):
    """Of a process; None where it has ended."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


class Lines:
    """How many lines a file has that grows."""

    def __init__(self, path):
        self.path, self.count, self.offset = path, 0, 0

    def update(self):
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self.offset)
                while block := file.read(1 << 20):
                    self.count += block.count(b"\n")
                    self.offset += len(block)
        return self.count


def samples_of(options, folder):
    """[(step, KiB), …] from the warm-up on. Both are asked twice where a step is done in between."""
    words = [options.programs.resolve() / "train_lm", *TRAINING, "--max_iters", str(options.steps)]
    samples, metrics = [], Lines(folder / "run/metrics.jsonl")
    with (folder / "out").open("wb") as out, subprocess.Popen(words, cwd=folder, stdout=out, stderr=out) as training:
        while training.poll() is None:
            step, kib = metrics.update(), resident_kib(training.pid)
            # After the last step the report is written, which needs memory of its own.
            if kib is not None and step >= options.warm_up and metrics.update() < options.steps:
                samples.append((step, kib))
            time.sleep(0.02 if step < options.warm_up else 0.1)
    if training.returncode != 0:
        sys.exit(f"train_lm: exit code {training.returncode}: {(folder / 'out').read_text()[-1000:]}")
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--warm_up", type=int, default=1000)
    parser.add_argument("--growth", type=int, default=64, help="KiB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="isobar_memory_") as name:
        folder = pathlib.Path(name)
        (folder / "text.txt").write_text("".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz \n", k=20_000)))
        samples = samples_of(options, folder)
        if len(samples) < 5:
            sys.exit(f"only {len(samples)} samples after step {options.warm_up}; take more --steps")
        sizes = {path.stat().st_size for path in (folder / "run/checkpoints").glob("step_*")}
    first, most = samples[0][1], max(kib for _, kib in samples)
    held = most - first <= options.growth and max(sizes) - min(sizes) <= 16
    print(f"train_lm: {options.steps} steps; resident {first} KiB at step {samples[0][0]}, {most - first:+d} KiB at most in "
          f"{len(samples)} later samples; checkpoints of {min(sizes)} to {max(sizes)} bytes: {'held' if held else 'NOT HELD'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
