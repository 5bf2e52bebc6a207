"""Honest reports of runs score 100, and forged ones are refused, each by the case that it names (a11)."""
import json, pathlib, shutil, subprocess, tempfile
import pytest
import course

NAMES = [name for name in course.NAMES if course.Assignment(name).checker]
LEFT_OUT = shutil.ignore_patterns("build", "*.h5", "*.safetensors")


@pytest.fixture(scope="module")
def reports(prefix):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        honest = {name: course.module_of(name, "honest.py") for name in NAMES}
        yield {name: [module.made(layer, prefix, pathlib.Path(folder) / layer) for layer in module.LAYERS]
               for name, module in honest.items()}


def test_honest_reports_score_100(name, reports, graded):
    for place in reports[name]:
        verdict = json.loads((place / "runs/claim/summary.json").read_text())["claims"][0]["verdict"]
        assert graded(name, place)["score"] == 100, (place.name, verdict)


def test_forged_reports_are_refused(name, assignment, reports, prefix, folder):
    """Of the first honest report: the layer is the same, so programs are built and run once."""
    first, module, work, tree = reports[name][0], course.module_of(
        name, "forgeries.py"), folder / "work", folder / "tree"
    course.own_folder(work)
    course.own_folder(work / "tmp")
    course.release(assignment, tree)
    shutil.copy(first / f"{name}.cpp", tree)
    studies = assignment.checker.Studies(tree, prefix, work, 180)
    assert not any(assignment.checker.faults(assignment.checker.handed_in(first), studies).values())
    for number, (what, forge, *fails) in enumerate([*module.HONEST, *module.FORGERIES]):
        at = shutil.copytree(first, folder / str(number), ignore=LEFT_OUT)
        forge(at, lambda program, run, **changed: again(name, prefix, first, at, program, run, changed))
        found = assignment.checker.faults(assignment.checker.handed_in(at), studies)
        for case, word in [fails] if fails else []:
            assert word in (found[case] or ""), (what, found[case])
        assert fails or not any(found.values()), (what, found)


def again(name, prefix, first, at, program, run, changed):
    """Another run of the honest folder, with some flags changed."""
    module = course.module_of(name, "honest.py")
    flags = module.flags_of(program, prefix, first / "build")
    for flag, value in changed.items():
        if f"--{flag}" in flags:
            flags[flags.index(f"--{flag}") + 1] = value
        else:
            flags += [f"--{flag}", value]
    shutil.rmtree(at / "runs" / run)
    subprocess.run([*flags, "--out", f"runs/{run}"], check=True, cwd=at, stdout=subprocess.DEVNULL,
                   env=module.ENVIRONMENT)


def test_layers_made_to_look_right_lose_points(name, reports, folder, graded):
    """Of task 1, in the named words."""
    for number, (what, old, new, added, word) in enumerate(course.module_of(name, "forgeries.py").SOURCES):
        at = shutil.copytree(reports[name][0], folder / str(number), ignore=LEFT_OUT)
        for file, text in ((f"{name}.cpp", course.replaced((at / f"{name}.cpp").read_text(), old, new)),
                           ("report.md", (at / "report.md").read_text() + added)):
            (at / file).write_text(text)
        results = graded(name, at)
        assert any(test["score"] == 0 and "task 1" in test["name"] for test in results["tests"]), what
        assert word.lower() in (results["output"] + str(results["tests"])).lower(), what
