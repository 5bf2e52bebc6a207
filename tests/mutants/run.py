#!/usr/bin/python3
"""Runs the tests against each mutant that mutate.py has built, and tells which mutants no test notices.

    tests/mutants/run.py                      goes on where the last run stopped
    tests/mutants/run.py --again              runs the survivors again, after tests have been added
    tests/mutants/run.py --only 17            one mutant, with the output of the test that fails
    tests/mutants/run.py --report             the results so far

First each test case runs once without a mutant: it must pass, and tells which mutants it reaches. Then for
each mutant the cases that reach it run, the cheapest and those that killed its neighbours first, up to the
first that fails. All mutants run against the label `quick`; those that survive it, against the label `slow`,
and mutants of the engine against the definition (same_as_spec).
A case that uses three times its usual CPU time and 5 s more has failed. Results are appended to
BUILD/results.csv. Mutants that no run can tell from the original are listed with reasons in equivalent.toml.
"""
import argparse
import csv
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# They run for many seconds, compare times, or look at the sources and documents, which mutants do not change.
LEFT_OUT = {"report_test", "norm_speed_test", "links_test", "floors_test", "bench_test",
            "version_test", "cpu_check_test"}
# What the definition in tests/spec computes too.
DEFINED = ("core/", "autograd/", "nn/", "optim/")
RESULTS = ("id", "file", "line", "kind", "before", "after", "text", "result", "stage", "by", "seconds")
ADDRESS_SPACE = 8 << 30


@dataclass
class Case:
    name: str
    file: str
    cpu: float = 0.0
    wall: float = 0.0
    passed: bool = False
    reached: set = field(default_factory=set)

    def pattern(self):
        return re.sub(rb"[^\w ]", b"?", self.name.encode()).decode()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, nargs="?", default=ROOT / "build-long" / "mutants",
                        help="the folder that mutate.py has filled; is filled if nothing is there")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="run the survivors again")
    parser.add_argument("--only", type=int, metavar="ID", help="run one mutant and print what fails")
    parser.add_argument("--tests", nargs="+", metavar="NAME", help="these test files alone, for a sample of mutants")
    parser.add_argument("--report", action="store_true", help="print the results so far")
    return parser.parse_args()


# --- running the test program
def limits(cpu):
    def apply():
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 3))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def run_cases(program, cases, environment, cpu, wall):
    names = ",".join(sorted({case.pattern() for case in cases}))
    return run_program([program, f"--test-case={names}", "--abort-after=1", "--no-intro"], environment, cpu, wall)


def run_program(command, environment, cpu, wall):
    """Exit code (None after `wall` seconds), output, CPU seconds."""
    with tempfile.TemporaryDirectory(prefix="isobar_mutants.") as folder:
        (Path(folder) / "tmp").mkdir()
        (Path(folder) / "work").mkdir()
        own = dict(os.environ, TMPDIR=f"{folder}/tmp", **environment)
        with open(f"{folder}/out", "w+b") as out:
            process = subprocess.Popen(command, env=own, cwd=f"{folder}/work", stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=out, start_new_session=True, preexec_fn=limits(cpu))
            code, used = wait(process, wall)
            out.seek(max(0, out.seek(0, 2) - 20000))
            return code, out.read().decode(errors="replace"), used


def wait(process, wall):
    end = time.monotonic() + wall
    pause = 0.002
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > end:
            os.killpg(process.pid, signal.SIGKILL)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = None
            break
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    code = process.returncode
    process.returncode = 0 if code is None else code
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what it left behind
    except ProcessLookupError:
        pass
    return code, usage.ru_utime + usage.ru_stime


# --- recording
def list_cases(program):
    listed = subprocess.run([program, "--list-test-cases", "--reporters=xml"], check=True, capture_output=True).stdout
    cases = {}
    for node in xml.etree.ElementTree.fromstring(listed).iter("TestCase"):
        stem = Path(node.get("filename")).stem
        if stem not in LEFT_OUT and node.get("skipped") != "true":
            cases.setdefault(node.get("name"), Case(node.get("name"), stem))
    return list(cases.values())


def record_case(program, case):
    with tempfile.TemporaryDirectory(prefix="isobar_mutants.") as folder:
        file = Path(folder) / "reached"
        begin = time.monotonic()
        code, output, case.cpu = run_cases(program, [case], {"ISOBAR_MUTANT_REACHED": str(file)}, 120, 400)
        case.wall = time.monotonic() - begin
        case.passed = code == 0
        if file.exists():
            case.reached = {int(line) for line in file.read_text().split()}
    return case, output


def record(build, program, jobs, files):
    """Every case of the test files once, without a mutant. Kept in reached.jsonl."""
    path = build / "reached.jsonl"
    kept = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            kept[row["name"]] = Case(**{**row, "reached": set(row["reached"])})
    wanted = [case for case in list_cases(program) if case.file in files]
    missing = [case for case in wanted if case.name not in kept]
    with ThreadPoolExecutor(jobs) as pool, open(path, "a") as out:
        for count, (case, output) in enumerate(pool.map(lambda c: record_case(program, c), missing), 1):
            kept[case.name] = case
            out.write(json.dumps({**case.__dict__, "reached": sorted(case.reached)}) + "\n")
            out.flush()
            if not case.passed:
                print(f"left out, it fails without a mutant: {case.file}: {case.name}", flush=True)
            if count % 100 == 0:
                print(f"{count} of {len(missing)} test cases recorded", flush=True)
    return [kept[case.name] for case in wanted if kept[case.name].passed]


def test_files(build, names):
    """The test files of each label, or those that are named."""
    if names:
        return {"quick": set(names)}
    files = {}
    for label in ("quick", "slow"):
        shown = subprocess.run(["ctest", "--test-dir", build / "build", "-L", f"^{label}$", "--show-only=json-v1"],
                               capture_output=True, text=True, check=True).stdout
        files[label] = {test["name"] for test in json.loads(shown)["tests"]}
    return files


# --- one mutant
class Runner:
    def __init__(self, program, kills):
        self.program = program
        self.cases = []
        self.kills = kills  # of a source file: how often each case killed

    def batches(self, mutant):
        """The cases that reach the mutant, the likely and cheap ones first, each batch three times as long as the last."""
        kills = self.kills[mutant["file"]]
        order = sorted((c for c in self.cases if mutant["id"] in c.reached),
                       key=lambda c: (c.cpu + 0.02) / (1 + 8 * kills[c.name]))
        batch, most = [], 0.3
        for case in order:
            batch.append(case)
            if sum(c.cpu for c in batch) > most:
                yield batch
                batch, most = [], most * 3
        if batch:
            yield batch

    def run(self, mutant, stage, before="not reached"):
        """The row of results, and what the last batch printed. `before`: the result of the stage before."""
        begin = time.monotonic()
        result, by, output = before, "", ""
        for batch in self.batches(mutant):
            result = "survived"
            usual = sum(case.cpu for case in batch)
            code, output, _ = run_cases(self.program, batch, {"ISOBAR_MUTANT": str(mutant["id"])}, 3 * usual + 5,
                                        8 * usual + 40)
            if code != 0:
                by = self.killer(batch, output)
                self.kills[mutant["file"]][by] += 1
                result = self.kind(code)
                break
        if stage == "slow" and not by and mutant["file"].startswith(DEFINED):
            code, output, _ = run_program([self.program.parent / "same_as_spec"], {"ISOBAR_MUTANT": str(mutant["id"])},
                                          60, 300)
            if code != 0:
                result, by = self.kind(code), "same_as_spec"
        seconds = round(time.monotonic() - begin, 2)
        return {**mutant, "result": result, "stage": stage, "by": by, "seconds": seconds}, output

    def killer(self, batch, output):
        named = re.findall(r"^TEST CASE:\s*(.*)$", output, re.M)
        known = [c.name for c in batch if named and c.name.startswith(named[-1].strip()[:60])]
        return known[0] if known else batch[0].name if len(batch) == 1 else f"one of {len(batch)} cases"

    def kind(self, code):
        if code is None or code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "killed: time"
        return f"killed: {signal.Signals(-code).name}" if code < 0 else "killed"


# --- results
def squeezed(text):
    return " ".join(text.split())


def read_results(path, mutants):
    """The rows of results.csv that are of these mutants."""
    rows = {}
    if path.exists():
        for row in csv.DictReader(open(path, newline="")):
            mutant = mutants.get(int(row["id"]))
            if mutant and all(str(mutant[k]) == row[k] for k in ("file", "before", "after", "line")):
                rows[int(row["id"])] = {**row, "id": int(row["id"])}
    return rows


def equivalents():
    """The file, line and what the mutant writes, of each row. A line that is gone ends the program with 2."""
    files = tomllib.loads((HERE / "equivalent.toml").read_text())
    rows = {(name, squeezed(e["text"]), squeezed(e["after"])) for name in files for e in files[name]}
    for name, text, _ in rows:
        lines = (ROOT / name).read_text().splitlines() if (ROOT / name).exists() else []
        if text not in map(squeezed, lines):
            print(f"equivalent.toml: {name} has no line '{text}'; drop the row, or follow the line", file=sys.stderr)
            sys.exit(2)
    return rows


def key(row):
    return row["file"], squeezed(row["text"]), squeezed(row["after"])


def report(rows, mutants, known):
    table = defaultdict(Counter)
    alive = []
    for row in rows.values():
        what = f"killed {row['stage']}" if killed(row) else "equivalent" if key(row) in known else row["result"]
        if what in ("survived", "not reached"):
            alive.append(row)
        for place in (row["file"].split("/")[0], "all"):
            table[place][what] += 1
    for row in sorted(alive, key=lambda r: (r["file"], int(r["line"]))):
        print(f"{row['result']}: #{row['id']} {row['file']}:{row['line']}  {squeezed(row['before'])[:110]}  →  "
              f"{squeezed(row['after'])[:110]}   REPLAY=--only {row['id']}")
    print("\n| room | mutants | equivalent | killed by quick tests | by slow tests | survived | never reached | killed |\n"
          "|---|---|---|---|---|---|---|---|")
    for place in sorted(table, key=lambda p: (p == "all", p)):
        c = table[place]
        all_killed = c["killed quick"] + c["killed slow"]
        judged = c.total() - c["equivalent"]
        share = f"{100 * all_killed / max(1, judged):.1f} %"
        print(f"| {place} | {c.total()} | {c['equivalent']} | {c['killed quick']} | {c['killed slow']} | {c['survived']} | "
              f"{c['not reached']} | {share} |")
    waiting = sum(not killed(row) and row["stage"] == "quick" for row in rows.values())
    print(f"\n{len(rows)} of {len(mutants)} mutants have run, {waiting} of them not yet against the slow tests; "
          f"{all_killed} of {judged} that are not equivalent were killed, {share}")


def killed(row):
    return row["result"].startswith("killed")


def to_run(row, stage):
    """Whether the stage is the next one of a mutant with this row of results."""
    return row is None if stage == "quick" else row is not None and not killed(row) and row["stage"] == "quick"


def run_stage(runner, jobs, stage, todo, rows, writer, out):
    def run(mutant):
        return runner.run(mutant, stage, rows[mutant["id"]]["result"] if mutant["id"] in rows else "not reached")

    with ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(run, mutant) for mutant in todo]
        for done, one in enumerate(as_completed(runs), 1):
            row, _ = one.result()
            writer.writerow(row)
            out.flush()
            rows[row["id"]] = row
            print(f"{stage} {done}/{len(todo)}: #{row['id']} {row['file']}:{row['line']} {row['result']} {row['by']} "
                  f"({row['seconds']} s)", flush=True)


def run_one(build, runner, options, files, mutant):
    for stage in files:
        runner.cases = record(build, runner.program, options.jobs, files[stage])
        row, output = runner.run(mutant, stage)
        if killed(row):
            break
    print(output)
    print(f"#{row['id']} {row['file']}:{row['line']}  {row['before']}  →  {row['after']}\n{row['result']} {row['by']}")
    print(f"REPLAY=tests/mutants/run.py {build} --only {row['id']}")


def main():
    options = arguments()
    known = equivalents()
    build = options.build.resolve()
    program = build / "build" / "bin" / "isobar_tests"
    if not program.exists():
        subprocess.run([HERE / "mutate.py", build], check=True)
    mutants = {int(r["id"]): {**r, "id": int(r["id"])} for r in csv.DictReader(open(build / "mutants.csv", newline=""))}
    path = build / "results.csv"
    rows = read_results(path, mutants)
    if options.report:
        return report(rows, mutants, known)
    kills = defaultdict(Counter)
    for row in rows.values():
        if killed(row):
            kills[row["file"]][row["by"]] += 1
    runner = Runner(program, kills)
    files = test_files(build, options.tests)
    if options.only:
        return run_one(build, runner, options, files, mutants[options.only])
    if options.again:
        rows = {i: row for i, row in rows.items() if killed(row)}
    with open(path, "a", newline="") as out:
        writer = csv.DictWriter(out, RESULTS, extrasaction="ignore")
        if out.tell() == 0:
            writer.writeheader()
        for stage in files:
            runner.cases = record(build, program, options.jobs, files[stage])
            print(f"{len(runner.cases)} test cases of the label {stage}", flush=True)
            todo = [m for i, m in mutants.items() if to_run(rows.get(i), stage)]
            random.Random(1).shuffle(todo)  # so that a part of the run is a fair sample
            run_stage(runner, options.jobs, stage, todo, rows, writer, out)
    report(rows, mutants, known)


if __name__ == "__main__":
    main()
