#!/usr/bin/env python3
"""How often are verdicts wrong, through the program? By hand:

    tests/verdict_rates/through_verify.py build/bin [--trials 1000]

Ten cells of the table that verdict_rates prints. Each trial is a claim of one part, at its bound; the values
stand in the summary of a finished run, where `isobar verify` finds them, and grow by half for each of four
looks into the same folder. Prints for each cell, in percent, what was refuted and what was confirmed after
four looks, and exits with 1 where more than 1 % and four standard errors of true claims were refuted, or of
false ones at the bound confirmed."""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

DIGITS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]  # images of each in MNIST's test set


def normal(r):
    return r.gauss(0, 1)


def student(r):  # 3 degrees of freedom
    return normal(r) / math.sqrt(r.gammavariate(1.5, 2) / 3)


def accuracy(r):
    return sum(r.random() < 0.9 for _ in range(2000)) / 2000


CELLS = [  # name, rule, a seed, the mean, log, seeds
    ("mean, normal", "mean", normal, 0, False, 3),
    ("mean, normal, mean 10 sd", "mean", lambda r: 10 + normal(r), 10, False, 5),
    ("mean, log-normal with log", "mean", lambda r: math.exp(normal(r)), 1, True, 5),
    ("mean, Student's t", "mean", student, 0, False, 3),
    ("mean, accuracy", "mean", accuracy, 0.9, False, 10),
    ("mean, guessing nets", "mean", lambda r: r.choice(DIGITS) / 1e4, 0.1, False, 5),
    ("mean, exponential", "mean", lambda r: r.expovariate(1), 1, False, 10),
    ("mean, one in five fails", "mean", lambda r: 0.0 if r.random() < 0.2 else r.gauss(1, 0.01), 0.8, False, 20),
    ("one_more_seed, normal", "one_more_seed", normal, 0, False, 5),
    ("one_more_seed, Student's t", "one_more_seed", student, 0, False, 10),
]

HEAD = """[source]
id = "sim"
title = "Simulated"
author = "unknown"
date = "unknown"
address = "unknown"

[run.sim]
study = "decay_study"
flags = "--depth 2 --width 4 --seeds 2"
"""


def claim(name, key, rule, bound, log):
    return f"""
[[claim]]
id = "{name}"
quote = "a"
says = "a"
[[claim.part]]
says = "a"
run = "sim"
key = "{key}"
rule = "{rule}"
{bound}
log = {str(log).lower()}
why = "a"
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--trials", type=int, default=1000)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    out = folder / "run"
    files = [folder / f"cell{c}.toml" for c in range(len(CELLS))]  # verify reads no file above 1 MiB

    def verify(files):
        done = subprocess.run([f"{options.programs}/isobar", "verify", *map(str, files), "--out", str(out)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads((out / "summary.json").read_text())["claims"]

    files[0].write_text(HEAD + claim("N0", "layer1.std", "mean", "at_least = 0", False))
    verify(files[:1])
    random_numbers = random.Random(31)
    seeds, cell_of = {}, {}
    for c, (_, rule, draw, mean, log, _) in enumerate(CELLS):
        text = HEAD.replace('"sim"', f'"sim{c}"', 1)
        for trial in range(options.trials):
            key = f"cell{c}.trial{trial}"
            printed = draw(random_numbers)
            bound = f"at_least = {float(mean)!r}" if rule == "mean" else f"printed = {printed!r}"
            name = f"S{c}{trial:05}"
            text += claim(name, key, rule, bound, log)
            seeds[key], cell_of[name] = [], c
        files[c].write_text(text)
    refuted, confirmed, doubted = (
        [set() for _ in CELLS], [set() for _ in CELLS], [0] * len(CELLS))
    path = out / "sim" / "summary.json"
    counts = [cell[5] for cell in CELLS]
    for look in range(4):
        summary = json.loads(path.read_text())
        for key, values in seeds.items():
            c = int(key[4:key.index(".")])
            while len(values) < counts[c]:
                values.append(CELLS[c][2](random_numbers))
            summary["measured"][key] = {"values": values}
        path.write_text(json.dumps(summary))
        for row in verify(files):
            c = cell_of[row["id"]]
            assert len(row["parts"][0]["looks"]) == look + 1, row
            if row["verdict"] == "refuted":
                refuted[c].add(row["id"])
            if row["verdict"] == "confirmed" and CELLS[c][1] == "mean":
                confirmed[c].add(row["id"])
            doubted[c] += look == 0 and row["verdict"] == "rule does not hold"
        counts = [n + (n + 1) // 2 for n in counts]
    most = 0.01 + 4 * math.sqrt(0.01 * 0.99 / options.trials)
    kept = True
    for c, cell in enumerate(CELLS):
        shares = [100 * len(found[c]) / options.trials for found in (refuted, confirmed)]
        kept &= max(shares) <= 100 * most
        print(f"{cell[0]}, {cell[5]} seeds: refuted {shares[0]:.1f} %, confirmed {shares[1]:.1f} %, "
              f"rule does not hold {100 * doubted[c] / options.trials:.1f} % at the first look")
    print(f"allowed {100 * most:.2f} %: {'kept' if kept else 'NOT KEPT'}")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
