#!/usr/bin/env python3
"""Lets one call after the other fail in a training, its resume, prepare, export, report and verify.

    tests/failing_calls/failing_calls.py build/bin build/tests/failshim.so              # all, some forty minutes
    tests/failing_calls/failing_calls.py build/bin build/tests/failshim.so --sample 1   # one n of each
    … --only export --call fsync --how EIO --n 3                                     # one again

A first run of each program counts its calls of write, pwrite, fsync, rename, ftruncate, close (on files below
its folder), mmap and malloc (failshim.cpp). Then every n-th call fails, with EIO and ENOSPC, and writes may
be short; of malloc, 200 drawn n's. After each run:

  - it ended with 0, and then every result is that of a run that nothing disturbed; or with 1 or 2 (verify: 3 too,
    where a study could not be run), and then with one line on stderr beside warnings; and by no signal;
  - each result is absent, the one from before, or whole; metrics.jsonl and modules.jsonl may end early, after a whole line;
  - the same command again (a training: --resume where it has checkpoints) meets nothing that it cannot read, gives
    the results of a run that nothing disturbed, and leaves nothing temporary.

A library may end a program that gets no memory: such ends are counted with the library's name. Exit code 0 if
all of this held, else 1."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = {"write": ["EIO", "ENOSPC", "short"], "pwrite": ["EIO", "ENOSPC", "short"], "fsync": ["EIO"],
         "rename": ["EIO", "ENOSPC"], "ftruncate": ["EIO", "ENOSPC"], "close": ["EIO", "ENOSPC"], "mmap": ["ENOMEM"],
         "malloc": ["ENOMEM"]}
MALLOCS = 200
STEPS, HALF = 20, 10
TRAINING = ("--corpus text.txt --n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 8 --block_size 8 --batch_size 2 "
            "--warmup_iters 2 --eval_interval 10 --eval_iters 2 --log_interval 5 --dropout 0.1 "
            f"--checkpoint_interval 5 --keep 9 --max_iters {STEPS} --out run --threads 2").split()
CLAIMS = """[source]
id = "t"
title = "t"
author = "t"
date = "2026-01-31"
address = "https://example.org/t"
[run.one]
study = "decay_study"
flags = "--depth 3 --width 8 --seeds 2"
[[claim]]
id = "T01"
quote = "q"
says = "s"
[[claim.part]]
says = "p"
run = "one"
key = "layer1.std"
rule = "mean"
between = [0.01, 5]
why = "w"
"""


class Wrong(Exception):
    pass


def plain(path):
    """A result's bytes, without what differs from run to run."""
    data = path.read_bytes()
    if path.name == "summary.json":
        summary = json.loads(data)
        for expectation in summary.get("expectations", []):
            expectation.pop("detail")  # of verify: what a study said, warnings too
        for key in ("timing", "environment", "runs"):
            summary.pop(key, None)
        return json.dumps(summary)
    if path.suffix == ".html":
        return re.sub(rb'"(timing|environment)": ?\\?{[^{}]*}', b"", data)
    return data


class Program:
    def __init__(self, name, words, results, template, old=(), earlier=()):
        self.name, self.words, self.results, self.template, self.old = name, words, results, template, old
        self.earlier = earlier  # results that are written as the work goes on, and say how far it is
        self.whole, self.counts = {}, {}

    def again(self, folder):
        """The command after one that failed."""
        if self.name in ("train", "resume") and (folder / "run/summary.json").exists():
            return None
        if self.name in ("train", "resume") and any((folder / "run/checkpoints").glob("step_*")):
            return ["train_lm", "--resume", "run", "--threads", "2"]
        return self.words + (["--force"] if self.old or self.name == "verify" else [])

    def results_in(self, folder):
        paths = [path for pattern in self.results for path in sorted(folder.glob(pattern))
                 if path.is_file() and ".partial" not in path.name and ".tmp" not in path.name]
        return {str(path.relative_to(folder)): plain(path) for path in paths}


class Trials:
    def __init__(self, chosen, base):
        self.bin, self.shim, self.base = chosen.bin.resolve(), chosen.shim.resolve(), base
        self.deaths = collections.Counter()

    def run(self, words, folder, **fail):
        environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
        if fail:
            environment |= {"LD_PRELOAD": str(self.shim), "FAIL_UNDER": str(folder), "FAIL_LOG": str(folder) + ".log"}
            environment |= {f"FAIL_{key.upper()}": str(value) for key, value in fail.items()}
        try:
            done = subprocess.run([self.bin / words[0], *words[1:]], cwd=folder, env=environment, capture_output=True,
                                  text=True, errors="replace", timeout=120, check=False)
        except subprocess.TimeoutExpired as error:
            raise Wrong("it did not end within 120 s") from error
        return done.returncode, done.stderr

    def fresh(self, program, folder, with_old):
        shutil.rmtree(folder, ignore_errors=True)
        pathlib.Path(str(folder) + ".log").unlink(missing_ok=True)
        shutil.copytree(program.template, folder)
        for name in program.old if with_old else ():
            (folder / name).write_text("old")

    def log(self, folder):
        path = pathlib.Path(str(folder) + ".log")
        return path.read_text().splitlines() if path.exists() else []

    def undisturbed(self, program, calls):
        folder = self.base / "whole"
        for call in calls:
            self.fresh(program, folder, False)
            code, said = self.run(program.words, folder, call=call, n=0)
            if code != 0:
                sys.exit(f"{program.name}: {code}: {said}")
            program.counts[call] = max(int(line.split()[1]) for line in self.log(folder) if line.startswith("calls"))
        program.whole = program.results_in(folder)

    def check_results(self, program, folder, code, with_old, but=()):
        for name, value in program.results_in(folder).items():
            if name in but:
                continue
            whole = program.whole.get(name)
            old = with_old and name in program.old and value in (b"old", "old")
            if value == whole or (code != 0 and old):
                continue
            if code != 0 and name.endswith(".jsonl") and whole.startswith(value) and value[-1:] in (b"", b"\n"):
                continue
            if code != 0 and name in program.earlier:  # plain() has read it as JSON
                continue
            raise Wrong(f"{name} is not that of a run that nothing disturbed")
        missing = program.whole.keys() - program.results_in(folder).keys()
        if code == 0 and missing:
            raise Wrong(f"exit code 0 without {', '.join(sorted(missing))}")

    def check_again(self, program, folder):
        command = program.again(folder)
        if command is not None:
            code, said = self.run(command, folder)
            if code != 0 or "going back" in said:
                raise Wrong(f"the run after it: exit code {code}: {said}")
            # A resumed run makes the objects of run.h5 in another order; checkpoints have the same series.
            self.check_results(program, folder, 0, False, ["run/run.h5"] if "--resume" in command else [])
        left = [path.name for path in folder.rglob("*") if ".tmp" in path.name or ".partial" in path.name]
        if left:
            raise Wrong(f"left: {', '.join(left)}")

    def trial(self, program, call, how, n, worker):
        folder = self.base / f"trial{worker}"
        with_old = n % 2 == 1
        self.fresh(program, folder, with_old)
        words = program.words + (["--force"] if with_old and program.old else [])
        code, said = self.run(words, folder, call=call, how=how, n=n)
        log = self.log(folder)
        told = [line for line in said.splitlines() if not line.startswith("warning: ")]
        death = next((line.split(" ", 2)[2] for line in log if line.startswith("died in")), None)
        who = next((line.split(" ", 1)[1] for line in log if line.startswith("at ")), "nobody")
        one_each = len(told) == len({line.split(":")[0] for line in told}) > 0  # verify starts a study
        ended_well = code == 0 or (code in (1, 2) and one_each) or (code == 3 and program.name == "verify")
        if not ended_well and call == "malloc" and "lib" in (death or who) and "libisobar" not in (death or who):
            self.deaths[f"{death or who} ({'signal' if death else f'exit code {code}'})"] += 1
        elif not ended_well:
            raise Wrong(f"exit code {code}, refused to {who}, died in {death}, it said: {said}")
        self.check_results(program, folder, code, with_old)
        self.check_again(program, folder)
        return code


def programs_of(trials):
    text = trials.base / "text"
    text.mkdir()
    rng = random.Random(0)
    (text / "text.txt").write_text("".join(rng.choice("abcdefghijklmnopqrst") for _ in range(20_000)))
    (text / "mine.toml").write_text(CLAIMS)
    trained, half = trials.base / "trained", trials.base / "half"
    shutil.copytree(text, trained)
    code, said = trials.run(["train_lm", *TRAINING], trained)
    if code != 0:
        sys.exit(said)
    # As a run leaves it that was killed after half of its steps.
    shutil.copytree(trained, half)
    for path in (half / "run").rglob("*"):
        step = re.fullmatch(r"step_(\d+)", path.stem)
        stays = path.stem == "best" or path.suffix == ".jsonl" or (step and int(step[1]) <= HALF)
        if path.is_file() and not stays:
            path.unlink()
    run = ["run/*.h5", "run/*.csv", "run/*.json*", "run/checkpoints/*"]
    return [
        Program("train", ["train_lm", *TRAINING], run, text),
        Program("resume", ["train_lm", "--resume", "run", "--threads", "2"], run, half),
        Program("prepare", ["isobar", "prepare", "text.txt", "-o", "tokens", "--threads", "2"], ["tokens"], text,
                old=["tokens"]),
        Program("export", ["isobar", "export", "run", "-o", "out.safetensors"], ["out.safetensors", "config.json"],
                trained, old=["out.safetensors", "config.json"]),
        Program("report", ["isobar", "report", "run", "-o", "page.html"], ["page.html"], trained,
                old=["page.html"]),
        Program("verify", ["isobar", "verify", "mine.toml", "--out", "out", "--threads", "2"],
                ["out/claims.csv", "out/summary.json", "out/one/*.csv", "out/one/run.h5"], text,
                earlier=["out/claims.csv", "out/summary.json"]),
    ]


def drawn(call, count, rng, sample):
    every = range(1, count + 1)
    if sample:
        return rng.sample(every, min(sample, count))
    if call != "malloc":
        return every
    # As many early ones, where programs and libraries begin, as of the whole run.
    early = {int(count ** rng.random()) for _ in range(MALLOCS // 2)}
    return sorted(early | set(rng.sample(every, min(MALLOCS - len(early), count))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("shim", type=pathlib.Path, help="failshim.so")
    parser.add_argument("--sample", type=int, help="so many n's of each program, call and kind of failure alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="this program alone")
    parser.add_argument("--call", choices=CALLS)
    parser.add_argument("--how")
    parser.add_argument("--n", type=int)
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory(prefix="isobar_failing_") as name:
        trials = Trials(chosen, pathlib.Path(name))
        jobs = []
        for program in programs_of(trials):
            if chosen.only not in (None, program.name):
                continue
            calls = [chosen.call] if chosen.call else list(CALLS)
            trials.undisturbed(program, calls)
            for call in calls:
                for how in [chosen.how] if chosen.how else CALLS[call]:
                    numbers = [chosen.n] if chosen.n else drawn(call, program.counts[call], rng, chosen.sample)
                    jobs += [(program, call, how, n) for n in numbers]
        codes, wrong = collections.Counter(), 0
        free = [0, 1]

        def one(job):
            worker = free.pop()
            try:
                return trials.trial(*job, worker)
            except (Wrong, ValueError) as error:  # a summary that is no JSON
                return error
            finally:
                free.append(worker)

        with concurrent.futures.ThreadPoolExecutor(len(free)) as pool:
            for (program, call, how, n), result in zip(jobs, pool.map(one, jobs)):
                if isinstance(result, Exception):
                    wrong += 1
                    print(f"{program.name}: {result}\nREPLAY='{' '.join(sys.argv[:3])} --only {program.name} "
                          f"--call {call} --how {how} --n {n}'", flush=True)
                else:
                    codes[result] += 1
    for library, count in sorted(trials.deaths.items()):
        print(f"without memory: {count} ended in {library}")
    ends = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items()))
    print(f"{len(jobs)} failing calls: {ends}; {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
