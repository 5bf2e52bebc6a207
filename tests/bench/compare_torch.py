#!/usr/bin/env python3
"""Isobar beside PyTorch, case by case.

    tests/bench/compare_torch.py                                  every case, one and two threads: half an hour
    tests/bench/compare_torch.py --filter '^rmsnorm' --threads 1 --rounds 5
    tests/bench/compare_torch.py --torch-root DIR                 PyTorch of a system in a folder, see README.md

Both run in processes of their own, in turn, `rounds` times; a row has the medians over the rounds, of
either's time and of the ratio of two that ran next to each other, with the smallest and the largest ratio.
PyTorch gets the environment (see environments) and the variant (see torch_cases.variants: kinds of AdamW, of
attention and of RMSNorm, op by op or by torch.compile) that a search before the rounds finds fastest; the row names
it. OPENBLAS_CORETYPE is unset for both."""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

# Our folder and the kernel's file systems, bound for one command into a mount namespace of its own: nothing
# stays mounted when the command has ended, however it ends.
IN_ROOT = """for folder in /proc /dev; do mount --rbind $folder "$0$folder"; done
mount --bind "$1" "$0/mnt" && shift && exec chroot "$0" "$@" """

# glibc's malloc gives large blocks back to the kernel and takes them again in every step, unless told to keep them.
KEEP_MEMORY = {"GLIBC_TUNABLES": ":".join(["glibc.malloc.hugetlb=1", "glibc.malloc.mmap_max=0",
                                           "glibc.malloc.mmap_threshold=17179869184",
                                           "glibc.malloc.trim_threshold=17179869184",
                                           "glibc.malloc.top_pad=67108864"])}


def clean_environment():
    return {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}


def stop(message):
    print(f"compare_torch: {message}", file=sys.stderr)
    sys.exit(2)


class ChildFailed(Exception):
    pass


def run(command, environment):
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise ChildFailed(f"{' '.join(map(str, command))}: ended with {done.returncode}")
    return done.stdout


class Torch:
    """PyTorch of this machine, or of the system in the folder `root`."""

    def __init__(self, root, how):
        self.root, self.how = root, how
        if root is None:
            self.inside, self.program = [], [sys.executable, HERE / "torch_cases.py"]
            return
        if not (root / "usr/bin/python3").is_file():
            stop(f"--torch-root: {root} holds no /usr/bin/python3; tests/bench/README.md says how to make one")
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        self.inside = ["unshare", "--mount", *user, "sh", "-ec", IN_ROOT, root, HERE.parent.parent]
        self.program = ["/usr/bin/python3", "/mnt/tests/bench/torch_cases.py"]

    def run(self, *words, settings):
        settings = [f"{key}={value}" for key, value in (KEEP_MEMORY | settings).items()]
        return json.loads(run([*self.inside, "/usr/bin/env", *settings, *self.program, *words], clean_environment()))

    def environments(self, threads):
        """Environments to choose from: kernels for AVX-512 or for AVX2 (Debian 12's takes AVX2 unless it is
        asked for more), and the threads of OpenBLAS. Its OpenMP build shares one pool with PyTorch. Any other
        build has threads of its own: with several, the two pools can be in each other's way, the more so
        while OpenMP's threads spin."""
        wide, narrow = {"ATEN_CPU_CAPABILITY": "avx512"}, {"ATEN_CPU_CAPABILITY": "avx2"}
        many = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        base = self.root or pathlib.Path("/")
        for sleef in base.glob("usr/lib/*/libsleef.so.3"):
            many["LD_PRELOAD"] = f"/{sleef.relative_to(base)}"  # what torch.compile makes calls it, but is not linked to it
        one_pool = list(base.glob("usr/lib/*/openblas-openmp"))
        for folder in one_pool:
            many["LD_LIBRARY_PATH"] = f"/{folder.relative_to(base)}"
        choices = [many | wide, many | narrow]
        if threads > 1:
            choices.append(many | wide | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"})
        if threads > 1 and not one_pool:
            choices.append(many | wide | {"OPENBLAS_NUM_THREADS": "1"})
        return choices

    def measure(self, work, settings, variant):
        start = time.perf_counter()
        result = self.run(work.case, *work.flags(), *variant, settings=settings)
        if work.case.startswith("process_"):
            result["median_ms"] = result["min_ms"] = 1e3 * (time.perf_counter() - start)
        return result

    def fastest(self, work):
        """The fastest Choice op by op and by torch.compile, and so the fastest of both, as --torch asks for. None where
        there is none. First the fastest environment, then flag by flag the fastest value."""
        known = self.run(work.case, "--variants", settings=self.environments(1)[0])
        ways = {"eager": ["eager"], "compiled": ["compiled"], "best": ["eager", "compiled"]}[self.how]
        if not known["compile"]:
            ways = [way for way in ways if way == "eager"]
        found = [self.fastest_way(work, way, known["flags"]) for way in ways]
        if not found:
            return None
        best = min(found, key=lambda choice: choice.milliseconds)
        best.searched = {choice.way: choice.milliseconds for choice in found}
        return best

    def fastest_way(self, work, way, flags):
        short = dataclasses.replace(work, repetitions=2)

        def timed(settings, values):
            choice = Choice(way, settings, values)
            try:
                choice.milliseconds = self.measure(short, settings, choice.flags())["min_ms"]
            except ChildFailed as failure:  # as torch.compile's code for AVX-512 does beside kernels for AVX2
                print(f"compare_torch: left out: {failure}", file=sys.stderr)
            return choice
        first = {flag: values[0] for flag, values in flags.items()}
        best = min((timed(settings, first) for settings in self.environments(work.threads)),
                   key=lambda choice: choice.milliseconds)
        for flag, values in flags.items():
            others = [timed(best.settings, best.values | {flag: value}) for value in values[1:]]
            best = min([best, *others], key=lambda choice: choice.milliseconds)
        return best


@dataclasses.dataclass
class Choice:
    """How PyTorch runs a case: "eager" or "compiled", environment, values of flags; and the milliseconds of the search."""
    way: str
    settings: dict
    values: dict
    milliseconds: float = math.inf
    searched: dict = dataclasses.field(default_factory=dict)  # by way

    def flags(self):
        return [text for flag, value in self.values.items() for text in (f"--{flag}", value)] + \
            ["--compile"] * (self.way == "compiled")

    def name(self):
        """"compiled, adamw fused, avx512"."""
        words = [self.way] + [f"{flag} {value}" for flag, value in self.values.items()]
        words.append(self.settings["ATEN_CPU_CAPABILITY"])
        return ", ".join(words + ["passive"] * ("OMP_WAIT_POLICY" in self.settings))


@dataclasses.dataclass
class Work:
    """A case, how many threads it has, and how long it is measured."""
    case: str
    threads: int
    min_time: float
    repetitions: int

    def flags(self):
        return ["--threads", str(self.threads), "--min-time", str(self.min_time),
                "--repetitions", str(self.repetitions)]


def run_bench(bench, work):
    return json.loads(run([bench, "--filter", f"^{work.case}$", *work.flags(), "--json"],
                          clean_environment()).splitlines()[1])


class Choices:
    """What `fastest` has found, kept in a file for the next time: finding it compiles every model."""

    def __init__(self, file):
        self.file = file
        self.known = json.loads(file.read_text()) if file is not None and file.is_file() else {}

    def of(self, torch, work):
        key = f"{work.case} {work.threads} {torch.how}"
        if key not in self.known:
            found = torch.fastest(work)
            self.known[key] = found and dataclasses.asdict(found)
            if self.file is not None:
                self.file.write_text(json.dumps(self.known, indent=1) + "\n")
        return self.known[key] and Choice(**self.known[key])


def compare(bench, torch, work, rounds, choices):
    """The row, or None where PyTorch cannot run the case in the way that --torch asks for."""
    choice = choices.of(torch, work)
    if choice is None:
        return None
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(run_bench(bench, work))
        theirs.append(torch.measure(work, choice.settings, choice.flags()))
    ratios = [their["median_ms"] / our["median_ms"] for our, their in zip(ours, theirs)]
    shares = [our["share"] for our in ours]

    def median(results, key):
        return statistics.median(result[key] for result in results)
    return {"bench": work.case, "threads": work.threads, "ours_ms": median(ours, "median_ms"),
            "torch_ms": median(theirs, "median_ms"), "ratio": statistics.median(ratios), "ratio_min": min(ratios),
            "ratio_max": max(ratios), "share": None if None in shares else statistics.median(shares),
            "ours_peak_mib": max(r["peak_rss_mib"] for r in ours),
            "torch_peak_mib": max(r["peak_rss_mib"] for r in theirs),
            "torch_page_faults": median(theirs, "page_faults"),
            "torch_choice": choice.name(), "torch_searched_ms": choice.searched,
            "torch_settings": " ".join([f"{key}={value}" for key, value in choice.settings.items()] + choice.flags())}


def share_text(row):
    return "–" if row["share"] is None else f"{100 * row['share']:.0f} %"


def ratio_text(row):
    return f"{row['ratio']:.2f}× ({row['ratio_min']:.2f} to {row['ratio_max']:.2f})"


def peaks_text(rows):
    return " / ".join(f"{max(row[key] for row in rows):.0f}" for key in ("ours_peak_mib", "torch_peak_mib"))


def choices_text(rows):
    names = [row["torch_choice"] for row in rows]
    return names[0] if len(set(names)) == 1 else "; ".join(names)


def print_row(words):
    print("| " + " | ".join(words) + " |", flush=True)


def heading(threads):
    print_row(["case"] + [text for n in threads for text in (f"{n} thread{'s' * (n > 1)}", "ratio", "share")] +
              ["peak MiB", "PyTorch's fastest"])
    print_row(["---"] + ["---:"] * (3 * len(threads) + 1) + ["---"])


def row_of_case(rows):
    """One case, with the columns of each number of threads side by side."""
    cells = [text for row in rows for text in
             (f"{row['ours_ms']:.4g} / {row['torch_ms']:.4g}", ratio_text(row), share_text(row))]
    print_row([f"`{rows[0]['bench']}`"] + cells + [peaks_text(rows), choices_text(rows)])


def describe(bench, torch, as_json):
    environment = json.loads(run([bench, "--filter", "^limit_sgemm_512$", "--steps", "1", "--json"],
                                 clean_environment()).splitlines()[0])
    environment |= torch.run("--describe", settings=torch.environments(1)[0])
    if environment["torch_compile_bits"] == 0 and torch.how != "eager":
        print("compare_torch: torch.compile finds no vector instructions: wanted a C++ compiler and libsleef-dev",
              file=sys.stderr)
    if as_json:
        print(json.dumps(environment), flush=True)
        return
    for key in ("cpu", "version", "compiler", "blas", "blas_core", "torch", "torch_blas", "torch_kernels",
                "torch_compile_bits"):
        print(f"{key:<19}{environment[key]}")
    print(flush=True)


def parse():
    parser = argparse.ArgumentParser(description="Isobar beside PyTorch, case by case.")
    parser.add_argument("--bench", type=pathlib.Path, default=HERE.parent.parent / "build/bin/bench")
    parser.add_argument("--torch-root", type=pathlib.Path, metavar="DIR",
                        help="folder of a system with python3-torch [this machine's own]")
    parser.add_argument("--torch", choices=["eager", "compiled", "best"], default="best",
                        help="PyTorch op by op, through torch.compile, or the faster of the two [best]")
    parser.add_argument("--filter", default="", help="regular expression that a case's name must hold")
    parser.add_argument("--threads", default="1,2", help="numbers of threads [1,2]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds of a repetition [0.1]")
    parser.add_argument("--repetitions", type=int, default=5, help="repetitions in a round [5]")
    parser.add_argument("--choices", type=pathlib.Path, metavar="FILE",
                        help="keep here which settings of PyTorch are the fastest, and use what is kept")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser.parse_args()


def main():
    arguments = parse()
    if not arguments.bench.is_file():
        stop(f"no {arguments.bench}; build it first, or name it with --bench")
    threads = [int(word) for word in arguments.threads.split(",")]
    torch = Torch(arguments.torch_root and arguments.torch_root.resolve(), arguments.torch)
    known = torch.run("--list", settings={})
    names = run([arguments.bench, "--list"], clean_environment()).split()
    chosen = [name for name in names if any(re.fullmatch(pattern, name) for pattern in known) and
              re.search(arguments.filter, name)]
    if not chosen:
        stop(f"no case matches '{arguments.filter}'; bench --list prints all")

    describe(arguments.bench, torch, arguments.json)
    choices = Choices(arguments.choices)
    if not arguments.json:
        heading(threads)
    for case in chosen:
        rows = []
        for count in threads:
            row = compare(arguments.bench, torch, Work(case, count, arguments.min_time, arguments.repetitions),
                          arguments.rounds, choices)
            if row is None:
                break
            rows.append(row)
            if arguments.json:
                print(json.dumps(rows[-1]), flush=True)
        if rows and not arguments.json:
            row_of_case(rows)


if __name__ == "__main__":
    try:
        main()
    except ChildFailed as failure:
        stop(failure)
