#!/usr/bin/env python3
"""A stand-in of Gradescope's harness: gradescope.py --prefix DIR [--base ROOT] [--release NAME] [aN]

It packs aN (default a4) with a key and its questions by `course gradescope`, unpacks it in a clean root of Debian or
Ubuntu that debootstrap makes (kept in ROOT), runs setup.sh there with a network, and then, without one, run_autograder for each
submission as Gradescope's contract says: /autograder/source, submission, results and submission_metadata.json, all in a fresh
copy of the root. Each time a valid results.json with the right score is wanted. Submissions are run twice: as on a machine
with user namespaces, and as in a container that has none and only Docker's capabilities, which is left to confine them.
Needs root, debootstrap and a network. Exit code: 0 when all holds, 1 when not, 77 (skipped) where it cannot be tried."""
import argparse, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time, zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "experiments/course" / folder) for folder in ("grading", "tests")]
import clean_root, course, questions, submissions as handed_in
from clean_root import expect, failures

WHO = "student@example.org"
HOSTILE = ["fork_bomb", "writes_results", "reads_hidden_tests"]


def invalid(results):
    """What Gradescope would not take, or None. https://gradescope-autograders.readthedocs.io/en/latest/specs/"""
    visibilities = ("hidden", "after_due_date", "after_published", "visible")
    formats = ("text", "html", "simple_format", "md", "ansi")
    number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) < 1e9
    wanted = {"score": number, "max_score": number, "execution_time": number, "output": lambda v: isinstance(v, str),
              "name": lambda v: isinstance(v, str), "number": lambda v: isinstance(v, str), "status": lambda v: v in ("passed", "failed"),
              "tags": lambda v: isinstance(v, list), "extra_data": lambda v: isinstance(v, dict), "leaderboard": lambda v: isinstance(v, list),
              "tests": lambda v: isinstance(v, list), **{f"{of}visibility": lambda v: v in visibilities for of in ("", "stdout_")},
              **{f"{of}_format": lambda v: v in formats for of in ("output", "test_output", "test_name", "name")}}
    for part in [results, *results.get("tests", [])]:
        for field, value in part.items():
            if field not in wanted or not wanted[field](value):
                return f"{field}: {str(value)[:60]}"
    return None if "score" in results and all("score" in test for test in results["tests"]) else "no score"


def installed(archive, layer):
    """Whether setup.sh held."""
    source = layer.upper / "autograder/source"
    with zipfile.ZipFile(archive) as packed:  # without modes, as many unpack it
        packed.extractall(source)
    (source / "setup.sh").chmod(0o755)
    layer.add_network()
    start = time.monotonic()
    code, said = layer.run(clean_root.MACHINE, "/autograder/source/setup.sh", network=True)
    last = (said.strip().splitlines() or [""])[-1]
    expect(code == 0, f"setup.sh ends with {code} after {time.monotonic() - start:.0f} s: {last if code == 0 else said[-1500:]}")
    return code == 0


def submissions(assignment, folder, asked, prefix, key):
    """(what it is, its folder, further options of grade, wanted score)"""
    right = "".join(f"{q.name} {0.5 * (q.least + q.most)!r}\n" for q in asked)
    for what, score in (("reference", 100 + len(asked)), ("stub", 0)):
        place = folder / what
        if what == "stub":
            course.release(assignment, place, key=key)
        else:
            handed = pathlib.Path(handed_in.reference(assignment, prefix, folder))
            shutil.copytree(handed, place, ignore=shutil.ignore_patterns("build", "*.h5", "*.safetensors", "*.svg"))
            (place / "answers.txt").write_text(right)
        yield what, place, [], score
    for name in HOSTILE:
        place = folder / name
        place.mkdir()
        made = handed_in.Submission(course.ROOT / f"hostile/{name}.cpp")
        made.assignment = assignment
        made.write(place, {"{results}": "/autograder/results/results.json", "{course}": "/autograder/source/course", "{victim}": "/autograder/run_autograder"})
        yield name, place, ["--any-name"], 0


def graded(layer, script, place, options):
    """(results.json or None, what was printed, seconds of wall clock and of CPU); over the installed layer, as in a new container."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = clean_root.Layer(pathlib.Path(folder) / "run", [layer.upper, *layer.below])
        autograder = fresh.upper / "autograder"
        shutil.copytree(place, autograder / "submission")
        (autograder / "results").mkdir()
        metadata = {"id": 1, "users": [{"email": WHO, "id": 2, "name": "S"}], "previous_submissions": []}
        (autograder / "submission_metadata.json").write_text(json.dumps(metadata))
        (autograder / "source").mkdir()
        words = (layer.upper / "autograder/source/arguments").read_text() + "".join(f"{option}\n" for option in options)
        (autograder / "source/arguments").write_text(words)
        before, start = os.times(), time.monotonic()
        said = fresh.run(script, "/bin/sh", "-c", "cd /autograder && exec ./run_autograder")[1]
        spent = os.times()
        file = autograder / "results/results.json"
        results = json.loads(file.read_text()) if file.exists() else None
        cpu = spent.children_user + spent.children_system - before.children_user - before.children_system
        return results, said, time.monotonic() - start, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="a4", metavar="aN")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--release", choices=["bookworm", "jammy"], default="bookworm")
    parser.add_argument("--base", type=pathlib.Path, help="where the bare root is kept")
    arguments = parser.parse_args()
    clean_root.needed()
    with tempfile.TemporaryDirectory(prefix="gradescope") as name:
        folder = pathlib.Path(name)
        base = arguments.base or folder / "base"
        clean_root.bare_root(arguments.release, base)
        key = folder / "key"
        key.touch(0o600)
        key.write_bytes(os.urandom(32))
        assignment = course.Assignment(arguments.name, key.read_bytes())
        asked = questions.questions(assignment.name, WHO, key.read_bytes())
        subprocess.run([course.ROOT / "course", "gradescope", assignment.name, "--prefix", arguments.prefix, "--out", folder / "aN.zip", "--key", key,
                        *(["--questions"] if asked else [])], check=True)
        layer = clean_root.Layer(folder / "installed", [base])
        if not installed(folder / "aN.zip", layer):
            return 1
        for what, place, options, score in submissions(assignment, folder, asked, course.prefix_of(arguments.prefix), key.read_bytes()):
            for where, script in (("machine", clean_root.MACHINE), ("container", clean_root.CONTAINER)):
                results, said, seconds, cpu = graded(layer, script, place, options)
                wrong = "no results.json" if results is None else invalid(results)
                wrong = wrong or (None if abs(results["score"] - score) < 1e-9 else f"wanted {score}")
                # Ubuntu 22.04's bubblewrap is too old to forbid namespaces inside of its own.
                by = "the container" if where == "container" or arguments.release == "jammy" else "bubblewrap"
                wrong = wrong or (None if re.search(f"tests pass.*{by}.*from the key", results["output"]) else f"wanted it built, {by} and the key")
                told = f"{results['score']:g} points, {seconds:.0f} s, {cpu:.0f} s of CPU" if results else said[-800:]
                expect(not wrong, f"{what}, as on a {where}: {wrong or 'valid'}; {told}" + (f"; {results['output'][:400]}; {[test['output'][:200] for test in results['tests'] if test['score'] == 0][:3]}" if wrong and results else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
