#!/usr/bin/python3
"""Mutants of the engine, all in one build: each is chosen by the environment variable ISOBAR_MUTANT.

    tests/mutants/mutate.py BUILD [--count 800] [--seed 17]
    tests/mutants/mutate.py BUILD --studies --count 300    # of data and experiments, with the programs and all tests
    tests/mutants/mutate.py BUILD --sample 5 --of build    # five of the room optim, in seconds

copies the repository's files to BUILD/tree, rewrites core, autograd, nn and optim there, or data and experiments,
so that every mutant stands beside the original,

    (isobar_mutant(17) ? x - y : x + y)

and builds that tree in BUILD/build: for mutants of the engine libisobar, same_as_spec and isobar_tests of the tests
that need no file of experiments/, else everything. A mutant that does not compile is dropped. The table is BUILD/mutants.csv. Then
tests/mutants/run.py BUILD runs the tests. Needs Debian's python3-clang (libclang 14).

A sample is compiled alone and linked with the objects of the suite that another build has: .ci/run tries so
that this works."""
import argparse
import csv
import hashlib
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from sites import Mutant, find

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ENGINE = ("core", "autograd", "nn", "optim")
STUDIES = ("data", "experiments")
SAMPLED = "optim"
# They run before main() on CPUs of any kind, tell what was built, are a program's main(), stand in for
# another file, or need MPI.
LEFT_OUT = {"core/cpu_check.cpp", "core/version.h", "core/version.cpp", "nn/check/check_layer_main.cpp",
            "core/ranks/ranks_mpi.cpp"}
# The course's references have mutants of their own, and the live chapter's module is compiled for a browser.
LEFT_OUT_FOLDERS = ("experiments/course/", "experiments/page/live/")
FIELDS = ("id", "file", "line", "kind", "before", "after", "text", "begin", "end")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--count", type=int, default=800, help="about how many mutants are drawn (default: 800)")
    parser.add_argument("--seed", type=int, default=17, help="of the draw; the same gives the same mutants")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--studies", action="store_true", help=f"mutants of {' and '.join(STUDIES)}, not of the engine")
    parser.add_argument("--sample", type=int, metavar="N", help=f"draw N mutants of {SAMPLED} alone")
    parser.add_argument("--of", type=Path, metavar="FOLDER", help="with --sample: a build of the suite, in release")
    parser.add_argument("--only-list", action="store_true", help="write the table, build nothing")
    return parser.parse_args()


def sources():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name]


def flags(build, rooms):
    """What the compiler is given for a source of the rooms."""
    configured = build / "plain"
    programs = "ON" if rooms == STUDIES else "OFF"
    subprocess.run(["cmake", "-S", ROOT, "-B", configured, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DISOBAR_PROGRAMS={programs}", "-DISOBAR_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
    commands = json.loads((configured / "compile_commands.json").read_text())
    for entry in commands:
        if entry["file"].endswith("/core/tensor.cpp"):
            # What a single source is told, as core/ranks/ranks.cpp is of its plugins, does no harm to the others.
            told = [w for other in commands
                    for w in re.findall(r"-isystem \S+|\S+", " ".join(shlex.split(other["command"])))]
            words = [w for w in entry["command"].split() if re.match(r"-(std|march|f)", w)]
            words += sorted({w for w in told if re.match("-[DI]", w)} - {"-DNDEBUG"})
            words += [w for pair in sorted({w for w in told if w.startswith("-isystem ")}) for w in pair.split()]
            include = subprocess.run(["clang-14", "-print-resource-dir"], capture_output=True, text=True).stdout.strip()
            return [*words, "-xc++", "-std=c++20", "-w", *(["-isystem", include + "/include"] if include else [])]
    raise SystemExit("mutate: wanted core/tensor.cpp in compile_commands.json, found none")


def all_places(build, names, rooms, jobs):
    """What can be mutated in the files; kept in BUILD/places.json while they and sites.py stay the same."""
    digest = hashlib.sha256(b"".join((ROOT / n).read_bytes() for n in [*names, "tests/mutants/sites.py"])).hexdigest()
    kept = build / "places.json"
    if kept.exists() and (known := json.loads(kept.read_text()))["digest"] == digest:
        return [Mutant(**m) for m in known["mutants"]]
    words = flags(build, rooms)
    with multiprocessing.Pool(jobs) as pool:
        found = [m for part in pool.map(look, [(unit, words) for unit in units(names, rooms)], chunksize=1) for m in part]
    unique = {(m.file, m.begin, m.end, m.after): m for m in found}
    found = sorted(unique.values(), key=lambda m: (m.file, m.begin, -m.end, m.kind, m.after))
    kept.write_text(json.dumps({"digest": digest, "mutants": [vars(m) for m in found]}))
    return found


def look(job):
    names, words = job
    try:
        return find(ROOT, names, words)
    except RuntimeError as error:
        if len(names) == 1:
            print(f"{names[0]} is left out, clang 14 cannot read it: {error}", flush=True)
            return []
        return [mutant for name in names for mutant in look(([name], words))]  # sources of a unit may share a name


def units(names, rooms):
    """All headers in one unit, then the sources of each room, ten at a time; blas.cpp shares no unit."""
    headers = sorted((n for n in names if n.endswith(".h")), key=lambda n: rooms.index(n.split("/")[0]))
    result = [headers, [n for n in names if n == "core/blas.cpp"]]
    for room in rooms:
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
    if re.match(r"tests/(studies|claims|page|course|docs|programs)/", name):
        return True
    return (re.fullmatch(r"tests/((core|autograd|nn|optim|data)/)?\w+\.cpp", name)
            and re.search(rb'#include ".*/experiments/', (ROOT / name).read_bytes()))


def copy_tree(tree, rooms):
    for name in sources():
        mutated = name.split("/")[0] in rooms and name.endswith((".h", ".cpp"))
        if mutated or not (ROOT / name).is_file():
            continue
        content = (ROOT / name).read_bytes()
        if rooms == ENGINE and of_studies(name):
            (tree / name).unlink(missing_ok=True)
            continue
        if rooms == ENGINE and name == "tests/CMakeLists.txt":
            content = re.sub(rb"(?m)^ *tests_run\(.*$", b"", content)
            content = content.replace(b" isobar_parts ", b" isobar::data ")
            content = content.replace(b"message(FATAL_ERROR", b"message(VERBOSE")  # of tests left out here
            content = content.replace(b"add_subdirectory(readme)", b"")
            content = content.replace(b" random_programs verdict_cells)", b" random_programs)")
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


def link_with(objects, tree, build, jobs):
    """Compiles the sampled room of the tree and links isobar_tests of another build with it."""
    (build / "bin").mkdir(parents=True, exist_ok=True)
    entries = json.loads((objects / "compile_commands.json").read_text())
    words = next(shlex.split(e["command"]) for e in entries if "/isobar.dir/Unity/" in e["file"])
    compiler = words.index(next(w for w in words if w.endswith("++")))
    kept = [w for w in words[compiler:words.index("-o")] if not w.startswith("-O")]
    mutated = build / "mutated.o"
    run = subprocess.run([*kept, "-O1", "-w", "-include", HERE / "mutant.h", "-c", tree / "unit.cpp", "-o", mutated],
                         capture_output=True, text=True)
    if run.returncode == 0:
        # Of two definitions the linker takes the first; the library's second stands in a unit with other rooms'.
        link = subprocess.run(["ninja", "-C", objects, "-t", "commands", "-s", "bin/isobar_tests"], check=True,
                              capture_output=True, text=True).stdout
        link = link.replace("-o bin/isobar_tests",
                            f"-Wl,--allow-multiple-definition {mutated} -o {build}/bin/isobar_tests")
        run = subprocess.run(link.splitlines()[-1], shell=True, cwd=objects, capture_output=True, text=True)
    errors = re.findall(r"tree/([\w/.]+):(\d+):(\d+): error:", run.stderr)
    return run.returncode == 0, {(os.path.normpath(f), line, column) for f, line, column in errors}, run.stderr


def build_sample(options, chosen):
    tree, build = options.build / "tree", options.build / "build"
    names = sorted(n for n in sources() if n.startswith(SAMPLED + "/"))
    for room in {n.split("/")[0] for n in sources()} - {SAMPLED}:
        if (ROOT / room).is_dir() and not (tree / room).exists():
            tree.mkdir(parents=True, exist_ok=True)
            (tree / room).symlink_to(ROOT / room)
    units = [n for n in names if n.endswith(".cpp")] + [str(HERE / "mutant.cpp")]
    put(tree / "unit.cpp", "".join(f'#include "{n}"\n' for n in units).encode())
    return without_errors(options, chosen, names, lambda: link_with(options.of.resolve(), tree, build, options.jobs))


def without_errors(options, chosen, names, compiled, dropped=()):
    """Writes the sources and builds them, without mutants that do not compile. Returns the ids of these."""
    dropped = set(dropped)
    for _ in range(30):
        written = {n: write_file(options.build / "tree", n, [m for m in chosen if m.file == n and m.id not in dropped])
                   for n in names}
        good, errors, log = compiled()
        table(options.build / "mutants.csv", [m for m in chosen if m.id not in dropped])
        if good:
            return dropped
        guilty = {m.id for file, line, column in errors if file in written
                  for m in blamed(*written[file], int(line), int(column))}
        if not guilty:
            sys.exit("mutate: the build fails, and not in a mutant:\n" + log[-3000:])
        dropped |= guilty
        # So that a build that was stopped goes on.
        draw_of = [options.count, options.seed, len(chosen)]
        (options.build / "dropped.json").write_text(json.dumps({"draw": draw_of, "dropped": sorted(dropped)}))
        print(f"{len(guilty)} mutants do not compile and are dropped", flush=True)
    sys.exit("mutate: mutants that do not compile are left after 30 builds")


def build_all(options, chosen, rooms):
    tree, build = options.build / "tree", options.build / "build"
    copy_tree(tree, rooms)
    noted = options.build / "dropped.json"
    known = json.loads(noted.read_text()) if noted.exists() else {}
    dropped = known.get("dropped", []) if known.get("draw") == [options.count, options.seed, len(chosen)] else []
    names = sorted(n for n in sources() if n.split("/")[0] in rooms and n.endswith((".h", ".cpp")))
    for name in names:  # CMake looks for sources
        put(tree / name, (tree / name).read_bytes() if (tree / name).exists() else b"")
    configure(tree, build)
    for target in ("isobar", "isobar_tests", "check_layer", "same_as_spec") if rooms == ENGINE else ("programs", "all"):
        dropped = without_errors(options, chosen, names, lambda: build_once(build, target, options.jobs), dropped)
    return dropped


def main():
    options = arguments()
    options.build = options.build.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    rooms = (SAMPLED,) if options.sample else STUDIES if options.studies else ENGINE
    names = [n for n in sources() if n.split("/")[0] in rooms and n.endswith((".h", ".cpp")) and n not in LEFT_OUT and
             not n.startswith(LEFT_OUT_FOLDERS)]
    found = all_places(options.build, names, rooms, options.jobs)
    chosen = draw(found, options.count, options.seed)
    if options.sample:
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    print(f"{len(found)} places in {len({m.file for m in found})} files; {len(chosen)} drawn with seed {options.seed}",
          flush=True)
    table(options.build / "mutants.csv", chosen)
    if not options.only_list:
        dropped = build_sample(options, chosen) if options.sample else build_all(options, chosen, rooms)
        kept = len(chosen) - len(dropped)
        print(f"{kept} mutants in {options.build}/mutants.csv; next: tests/mutants/run.py {options.build}")


if __name__ == "__main__":
    main()
