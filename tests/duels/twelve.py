#!/usr/bin/env python3
"""Is a duel right about layers that it was not made for? Twelve formulas beside RMSNorm, each in a duel with the default
settings, and each judged by 35 to 60 other pairs of seeds at an error rate of 1e-10: that is called the truth here.

    tests/duels/twelve.py build/bin/isobar             writes twelve.tsv beside this file; goes on where it was stopped
    tests/duels/twelve.py build/bin/isobar --known     pairs of which the answer is known: known.tsv

The list and what was expected of each were committed before the first run. Trainings of RMSNorm are shared."""
import argparse, json, pathlib, subprocess, sys

HERE = pathlib.Path(__file__).parent
RMS = "sqrt(mean(x^2) + 1e-5)"
# name: (formula, what was expected)
LAYERS = {
    "three_fold": (f"3 * x / {RMS} * w", "better"),
    "eps_01": ("x / sqrt(mean(x^2) + 0.01) * w", "equal"),
    "centred_eps_01": ("(x - mean(x)) / sqrt(mean((x - mean(x))^2) + 0.01) * w", "equal"),
    "fourth_power": ("x / ((mean(x^4) + 1e-5)^0.5)^0.5 * w", "equal"),
    "half_of_each": (f"(0.5 * x + 0.5 * x / {RMS}) * w", "equal"),
    "a_third": (f"x / {RMS} / 3 * w", "worse"),
    "twice_divided": ("x / (mean(x^2) + 1e-5) * w", "worse"),
    "relu": ("relu(x) * w", "worse"),
    "a_tenth": ("0.1 * x * w", "worse"),
    "sign": ("x / (abs(x) + 0.01) * w", "worse"),
    "bell": ("exp(0 - x^2) * w", "worse"),
    "steep_tanh": ("tanh(10 * x) * w", "worse")}
# name: (A, B, the answer)
KNOWN = {
    "dyt_sqrtd": ("dyt", "dyt_sqrtd", "worse"),
    "layernorm": ("layernorm", "rmsnorm", "equal"),
    "written_out": (f"x / {RMS} * w", "rmsnorm", "the same function")}
OTHER_SEEDS = ["--seed", "5000", "--share", "1e-8", "--max_pairs", "60"]
COLUMNS = ["layer", "formula", "expected", "truth", "truth_low", "truth_high", "truth_pairs", "duel", "low", "high", "pairs"]


def duel(isobar, folder, a, b, *flags):
    """Its summary, of a finished run or of one that is made now."""
    if not (folder / "summary.json").exists():
        subprocess.run([isobar, "duel", a, b, "--settings", "one", "--out", folder, *flags], check=True, stdout=subprocess.DEVNULL)
    summary = json.loads((folder / "summary.json").read_text())
    outcome = summary["outcome"] if summary["likeness"] == "different" else "the same function"
    numbers = [f"{value:.4f}" if isinstance(value, float) else value for value in summary["interval"]]
    return outcome, *numbers, len(summary["measured"]["a_minus_b"]["values"])


def write(path, columns, rows):
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in [columns, *rows]))
    print(*rows[-1], sep="  ", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isobar")
    parser.add_argument("--known", action="store_true", help="the known pairs instead")
    parser.add_argument("--out", default="runs/twelve", type=pathlib.Path, help="the folder of the duels' runs")
    given = parser.parse_args()
    rows = []
    if given.known:
        for name, (a, b, answer) in KNOWN.items():
            rows.append([name, a, b, answer, *duel(given.isobar, given.out / f"known_{name}", a, b)])
            write(HERE / "known.tsv", ["pair", "a", "b", "answer", "duel", "low", "high", "pairs"], rows)
        return sum(row[3] != row[4] for row in rows)
    wrong = 0
    for name, (formula, expected) in LAYERS.items():
        shared = ["--shared", given.out / "rmsnorm.jsonl"]
        asked = duel(given.isobar, given.out / name, formula, "rmsnorm", *shared)
        truth = duel(given.isobar, given.out / f"{name}_truth", formula, "rmsnorm", *shared, *OTHER_SEEDS)
        rows.append([name, formula, expected, *truth, *asked])
        write(HERE / "twelve.tsv", COLUMNS, rows)
        wrong += {asked[0], truth[0]} - {"undecided"} not in (set(), {asked[0]}, {truth[0]})
    decided = sum(row[7] != "undecided" for row in rows)
    print(f"{decided} of {len(rows)} are decided, {wrong} wrongly")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
