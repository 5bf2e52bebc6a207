#!/usr/bin/python3
"""Mutants of the engine, all in one build: each is chosen by the environment variable ISOBAR_MUTANT.

    tests/mutants/mutate.py BUILD [--count 800] [--seed 17]

copies the repository's files to BUILD/tree, rewrites core, autograd, nn and optim there, so that every mutant stands
beside the original,

    (isobar_mutant(17) ? x - y : x + y)

and builds libisobar of that tree in BUILD/build, and isobar_tests of the tests that need no file of experiments/. A mutant
that does not compile is dropped. The table is BUILD/mutants.csv. Then tests/mutants/run.py BUILD runs the tests. Needs
Debian's python3-clang (libclang 14).
"""
import argparse
import csv
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from sites import Mutant, find

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ROOMS = ("core", "autograd", "nn", "optim")
# They run before main() on CPUs of any kind, tell what was built, are a program's main(), or stand in for another file.
LEFT_OUT = {"core/cpu_check.cpp", "core/version.h", "core/version.cpp", "nn/check/check_layer_main.cpp",
            "core/thread_pool_std.cpp"}
FIELDS = ("id", "file", "line", "kind", "before", "after", "text", "begin", "end")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--count", type=int, default=800, help="about how many mutants are drawn (default: 800)")
    parser.add_argument("--seed", type=int, default=17, help="of the draw; the same gives the same mutants")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-list", action="store_true", help="write the table, build nothing")
    return parser.parse_args()


def sources():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name]


def flags(build):
    """What the compiler is given for a source of the library."""
    configured = build / "plain"
    subprocess.run(["cmake", "-S", ROOT, "-B", configured, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DISOBAR_PROGRAMS=OFF", "-DISOBAR_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
    for entry in json.loads((configured / "compile_commands.json").read_text()):
        if entry["file"].endswith("/core/tensor.cpp"):
            words = [w for w in entry["command"].split() if re.match(r"-(std|march|D|f|I|isystem)", w)]
            words = [w for w in words if not w.startswith("-DNDEBUG")]
            include = subprocess.run(["clang-14", "-print-resource-dir"], capture_output=True, text=True).stdout.strip()
            return [*words, "-xc++", "-std=c++20", "-w", *(["-isystem", include + "/include"] if include else [])]
    raise SystemExit("mutate: wanted core/tensor.cpp in compile_commands.json, found none")


def all_places(build, names, jobs):
    """What can be mutated in the files; kept in BUILD/places.json while they and sites.py stay the same."""
    digest = hashlib.sha256(b"".join((ROOT / n).read_bytes() for n in [*names, "tests/mutants/sites.py"])).hexdigest()
    kept = build / "places.json"
    if kept.exists() and (known := json.loads(kept.read_text()))["digest"] == digest:
        return [Mutant(**m) for m in known["mutants"]]
    words = flags(build)
    with multiprocessing.Pool(jobs) as pool:
        found = [m for part in pool.map(look, [(unit, words) for unit in units(names)], chunksize=1) for m in part]
    unique = {(m.file, m.begin, m.end, m.after): m for m in found}
    found = sorted(unique.values(), key=lambda m: (m.file, m.begin, -m.end, m.kind, m.after))
    kept.write_text(json.dumps({"digest": digest, "mutants": [vars(m) for m in found]}))
    return found


def look(job):
    names, words = job
    return find(ROOT, names, words)


def units(names):
    """All headers in one unit, then the sources of each room, ten at a time; blas.cpp shares no unit."""
    headers = sorted((n for n in names if n.endswith(".h")), key=lambda n: ROOMS.index(n.split("/")[0]))
    result = [headers, ["core/blas.cpp"]]
    for room in ROOMS:
        own = [n for n in names if n.startswith(room + "/") and n.endswith(".cpp") and n not in result[1]]
        result += [own[i:i + 10] for i in range(0, len(own), 10)]
    return [unit for unit in result if unit]


def draw(found, count, seed):
    """`count` of the mutants: of each file in proportion to what it has, of each kind by turns."""
    files = defaultdict(list)
    for mutant in found:
        files[mutant.file].append(mutant)
    chosen = []
    for name, mutants in sorted(files.items()):
        rng = random.Random(f"{seed} {name}")
        kinds = defaultdict(list)
        for mutant in mutants:
            kinds[mutant.kind.split()[0]].append(mutant)
        for group in kinds.values():
            rng.shuffle(group)
        groups = sorted(kinds.items())
        rng.shuffle(groups)
        turns = [g[i] for i in range(max(len(g) for _, g in groups)) for _, g in groups if i < len(g)]
        wanted = max(2, round(count * len(mutants) / len(found)))
        chosen += sorted(turns[:wanted], key=lambda m: (m.begin, -m.end, m.kind))
    for number, mutant in enumerate(chosen, 1):
        mutant.id = number
    return chosen


# --- writing
def render(text, mutants, begin, end, places, out):
    """text[begin:end] with `mutants` (all inside) written in; where each stands is added to `places`."""
    at = begin
    while mutants:
        outer = min(mutants, key=lambda m: (m.begin, -m.end))
        same = [m for m in mutants if (m.begin, m.end) == (outer.begin, outer.end)]
        inside = [m for m in mutants if m not in same and m.begin < outer.end]
        mutants = [m for m in mutants if m not in same and m not in inside]
        out.extend(text[at:outer.begin])
        gone = same[0].after == "(void)0"
        for mutant in same:
            start = len(out)
            out.extend(f"(isobar_mutant({mutant.id}) ? ({mutant.after}) : ".encode())
            places.append((start, len(out), mutant))
        cast = any(m.after == "(void)0" for m in same)
        out.extend(b"(void)(" if cast and gone else b"(")
        render(text, inside, outer.begin, outer.end, places, out)
        out.extend(b")" * (len(same) + 1))
        at = outer.end
    out.extend(text[at:end])


def write_file(tree, name, mutants):
    """Writes one mutated source; returns for each line the mutants that stand in it, by columns."""
    text = (ROOT / name).read_bytes()
    places, out = [], bytearray()
    render(text, mutants, 0, len(text), places, out)
    put(tree / name, bytes(out))
    starts = [0] + [m.end() for m in re.finditer(rb"\n", out)]
    return starts, places


def blamed(starts, places, line, column):
    """The mutants that an error at line:column is of: the innermost one there, else all of that line."""
    offset = starts[line - 1] + column - 1
    inside = [p for p in places if p[0] <= offset < p[1]]
    if inside:
        return [min(inside, key=lambda p: p[1] - p[0])[2]]
    end = starts[line] if line < len(starts) else 1 << 60
    return [p[2] for p in places if p[0] < end and p[1] > starts[line - 1]]


def put(target, content):
    """Writes a file unless it has this content: what did not change is not compiled again."""
    if not target.exists() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def of_studies(name):
    """Whether a source of the tests needs the experiments: mutants are tried against the engine's own tests."""
    uses = rb'"(../)+experiments/|"(study|built_study|decay_nets)\.h"'
    return re.fullmatch(r"tests/\w+\.cpp", name) and re.search(uses, (ROOT / name).read_bytes()) is not None


def copy_tree(tree):
    for name in sources():
        mutated = name.split("/")[0] in ROOMS and name.endswith((".h", ".cpp"))
        if mutated or not (ROOT / name).is_file():
            continue
        content = (ROOT / name).read_bytes()
        if of_studies(name):
            (tree / name).unlink(missing_ok=True)
            continue
        if name == "tests/CMakeLists.txt":
            content = re.sub(rb"(?m)^add_dependencies\(isobar_tests .*$", b"", content)
            content = content.replace(b" isobar_parts ", b" isobar::data ")
        put(tree / name, content)
        shutil.copymode(ROOT / name, tree / name)
    put(tree / "core" / "mutant.cpp", (HERE / "mutant.cpp").read_bytes())


def configure(tree, build):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -fPIC",
                    f"-DCMAKE_CXX_FLAGS=-w -include {HERE}/mutant.h", *launcher],
                   check=True, stdout=subprocess.DEVNULL)


def build_once(build, target, jobs):
    run = subprocess.run(["nice", "-n", "5", "ninja", "-C", build, f"-j{jobs}", "-k0", target], capture_output=True,
                         text=True)
    (build / f"{target}.log").write_text(run.stdout + run.stderr)
    errors = re.findall(r"^(?:[^\s:]*/)?tree/([\w/.]+):(\d+):(\d+): error:", run.stdout, re.M)
    return run.returncode == 0, {(os.path.normpath(f), line, column) for f, line, column in errors}, run.stdout


def table(path, mutants):
    with open(path, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(FIELDS)
        for m in mutants:
            writer.writerow([getattr(m, field) for field in FIELDS])


def build_all(options, chosen):
    tree, build = options.build / "tree", options.build / "build"
    copy_tree(tree)
    noted = options.build / "dropped.json"  # so that a build that was stopped goes on
    draw_of = [options.count, options.seed, len(chosen)]
    known = json.loads(noted.read_text()) if noted.exists() else {}
    dropped = set(known.get("dropped", [])) if known.get("draw") == draw_of else set()
    names = sorted(n for n in sources() if n.split("/")[0] in ROOMS and n.endswith((".h", ".cpp")))
    for target in ("isobar", "isobar_tests", "check_layer"):
        for attempt in range(1, 30):
            written = {}
            for name in names:
                written[name] = write_file(tree, name, [m for m in chosen if m.file == name and m.id not in dropped])
            if attempt == 1:
                configure(tree, build)
            good, errors, log = build_once(build, target, options.jobs)
            table(options.build / "mutants.csv", [m for m in chosen if m.id not in dropped])
            if good:
                break
            guilty = {m.id for file, line, column in errors if file in written
                      for m in blamed(*written[file], int(line), int(column))}
            if not guilty:
                sys.exit("mutate: the build fails, and not in a mutant:\n" + log[-3000:])
            dropped |= guilty
            noted.write_text(json.dumps({"draw": draw_of, "dropped": sorted(dropped)}))
            print(f"{target}: {len(guilty)} mutants do not compile and are dropped", flush=True)
    return [m for m in chosen if m.id not in dropped]


def main():
    options = arguments()
    options.build = options.build.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    names = [n for n in sources() if n.split("/")[0] in ROOMS and n.endswith((".h", ".cpp")) and n not in LEFT_OUT]
    found = all_places(options.build, names, options.jobs)
    chosen = draw(found, options.count, options.seed)
    print(f"{len(found)} places in {len({m.file for m in found})} files; {len(chosen)} drawn with seed {options.seed}",
          flush=True)
    table(options.build / "mutants.csv", chosen)
    if not options.only_list:
        kept = build_all(options, chosen)
        print(f"{len(kept)} mutants in {options.build}/mutants.csv; next: tests/mutants/run.py {options.build}")


if __name__ == "__main__":
    main()
