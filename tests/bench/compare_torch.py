#!/usr/bin/env python3
"""Isobar beside an installed PyTorch (Debian: python3-torch), case by case.

    tests/bench/compare_torch.py                                  every case, one and two threads: half an hour
    tests/bench/compare_torch.py --filter '^rmsnorm' --threads 1 --rounds 5
    tests/bench/compare_torch.py --markdown

Both run in processes of their own, in turn, `rounds` times; a row has the medians over the rounds, of either's time
and of the ratio of two that ran next to each other. PyTorch gets the environment (see settings_for) and the variant
(see torch_cases.variants: kinds of AdamW, torch.compile where it has it) that the first round finds fastest.
OPENBLAS_CORETYPE is unset for both. Rows in which PyTorch is faster are marked with !!.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

def clean_environment():
    return {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}


# glibc's malloc gives large blocks back to the kernel and takes them again in every step, unless told to keep them.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184",
               "MALLOC_TOP_PAD_": "67108864"}


def settings_for(threads):
    """Environments of PyTorch to choose from. Debian's takes its products from the system's OpenBLAS, whose threads
    are not OpenMP's: with several, the two pools can be in each other's way, the more so while OpenMP's threads spin.
    And its kernels are those for AVX2 unless it is asked for more."""
    many, wide = {"OPENBLAS_NUM_THREADS": str(threads)}, {"ATEN_CPU_CAPABILITY": "avx512"}
    choices = [many, many | wide]
    if threads > 1:
        single = {"OPENBLAS_NUM_THREADS": "1"}
        choices += [single | wide, many | wide | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}]
    return choices


def run(command, environment):
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"compare_torch: {' '.join(map(str, command))}: ended with {done.returncode}")
    return done.stdout


def run_bench(bench, case, threads, min_time):
    lines = run([bench, "--filter", f"^{case}$", "--threads", str(threads), "--min-time", str(min_time), "--json"],
                clean_environment()).splitlines()
    return json.loads(lines[1])


def torch_command(case, *flags):
    return [sys.executable, HERE / "torch_cases.py", case, *flags]


def run_torch(case, threads, min_time, settings, variant):
    start = time.perf_counter()
    out = run(torch_command(case, "--threads", str(threads), "--min-time", str(min_time), *variant),
              clean_environment() | KEEP_MEMORY | settings)
    seconds = time.perf_counter() - start
    result = json.loads(out)
    if case.startswith("process_"):
        result["median_ms"] = 1e3 * seconds
    return result


def fastest(case, threads, min_time):
    """The first round of PyTorch: (result, environment, variant) of the fastest environment, and in it the fastest
    variant."""
    variants = json.loads(run(torch_command(case, "--variants"), clean_environment()))
    tried = [(run_torch(case, threads, min_time, settings, variants[0]), settings, variants[0])
             for settings in settings_for(threads)]
    best = min(tried, key=lambda one: one[0]["median_ms"])
    tried = [best] + [(run_torch(case, threads, min_time, best[1], variant), best[1], variant)
                      for variant in variants[1:]]
    return min(tried, key=lambda one: one[0]["median_ms"])


def compare(bench, case, threads, rounds, min_time):
    ours, theirs = [run_bench(bench, case, threads, min_time)], []
    first, settings, variant = fastest(case, threads, min_time)
    theirs.append(first)
    for _ in range(rounds - 1):
        ours.append(run_bench(bench, case, threads, min_time))
        theirs.append(run_torch(case, threads, min_time, settings, variant))

    our_ms, torch_ms = (statistics.median(r["median_ms"] for r in results) for results in (ours, theirs))
    ratio = statistics.median(theirs[i]["median_ms"] / ours[i]["median_ms"] for i in range(rounds))
    middle = min(ours, key=lambda r: abs(r["median_ms"] - our_ms))
    return {"bench": case, "threads": threads, "ours_ms": our_ms, "torch_ms": torch_ms, "ratio": ratio,
            "share": middle["share"], "mark": "!!" if ratio < 1 else "",
            "ours_peak_mib": max(r["peak_rss_mib"] for r in ours),
            "torch_peak_mib": max(r["peak_rss_mib"] for r in theirs),
            "torch_settings": " ".join([f"{key}={value}" for key, value in settings.items()] + variant)}


HEADING = ["case", "threads", "ours ms", "PyTorch ms", "ratio", "share of limit", "", "ours MiB", "PyTorch MiB"]


def cells(row):
    share = "–" if row["share"] is None else f"{100 * row['share']:.0f} %"
    return [row["bench"], str(row["threads"]), f"{row['ours_ms']:.4g}", f"{row['torch_ms']:.4g}",
            f"{row['ratio']:.2f}×", share, row["mark"], f"{row['ours_peak_mib']:.0f}",
            f"{row['torch_peak_mib']:.0f}"]


WIDTHS = [32, 7, 10, 10, 8, 14, 2, 8, 11]


def print_row(words, markdown):
    if markdown:
        print("| " + " | ".join(words) + " |", flush=True)
    else:
        print("  ".join([words[0].ljust(WIDTHS[0])] + [w.rjust(n) for w, n in zip(words[1:], WIDTHS[1:])]), flush=True)


def describe(bench, as_json):
    environment = json.loads(run([bench, "--filter", "^limit_fma$", "--steps", "1", "--json"],
                                 clean_environment()).splitlines()[0])
    import torch
    environment |= {"torch": torch.__version__, "torch_blas": torch_blas(torch)}
    if as_json:
        print(json.dumps(environment), flush=True)
        return
    for key in ("cpu", "version", "compiler", "blas", "blas_core", "torch", "torch_blas"):
        print(f"{key:<11}{environment[key]}")
    print(flush=True)


def torch_blas(torch):
    """The files of the BLAS libraries that this PyTorch has loaded."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        files = {line.split()[-1] for line in maps if re.search(r"/lib(open)?blas|/libmkl", line)}
    return ", ".join(sorted(files)) or "its own"


def main():
    parser = argparse.ArgumentParser(description="Isobar beside an installed PyTorch, case by case.")
    parser.add_argument("--bench", type=pathlib.Path, default=HERE.parent.parent / "build/bin/bench")
    parser.add_argument("--filter", default="", help="regular expression that a case's name must hold")
    parser.add_argument("--threads", default="1,2", help="numbers of threads [1,2]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds of a repetition; there are five [0.1]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    if not arguments.bench.is_file():
        print(f"compare_torch: no {arguments.bench}; build it first, or name it with --bench", file=sys.stderr)
        sys.exit(2)
    try:
        import torch_cases
    except ImportError as error:
        print(f"compare_torch: {sys.executable} has no PyTorch ({error}); on Debian: apt-get install python3-torch",
              file=sys.stderr)
        sys.exit(2)

    names = run([arguments.bench, "--list"], clean_environment()).split()
    chosen = [name for name in names if torch_cases.has_case(name) and re.search(arguments.filter, name)]
    if not chosen:
        print(f"compare_torch: no case matches '{arguments.filter}'; bench --list prints all", file=sys.stderr)
        sys.exit(2)
    describe(arguments.bench, arguments.json)
    if not arguments.json:
        print_row(HEADING, arguments.markdown)
    if arguments.markdown:
        print_row(["---"] + ["---:"] * 5 + ["---"] + ["---:"] * 2, True)
    for case in chosen:
        for threads in map(int, arguments.threads.split(",")):
            row = compare(arguments.bench, case, threads, arguments.rounds, arguments.min_time)
            if arguments.json:
                print(json.dumps(row), flush=True)
            else:
                print_row(cells(row), arguments.markdown)


if __name__ == "__main__":
    main()
