"""Stubs score 0 and fail as what is to be written, references score 100, no judge passes answers without numbers, and
neither a solution nor a hidden test is in a built student's tree or in the installed package."""
import math, os, re, subprocess
import course, grade, leaks, submissions, tensors


def test_stubs_score_0_the_reference_100_and_nothing_leaks(name, assignment, prefix, folder, graded):
    tree = folder / name
    subprocess.run([course.ROOT / "course", "release", name, tree], check=True, stdout=subprocess.DEVNULL)
    stub = graded(name, tree)
    assert stub["score"] == 0
    open_tasks = set(re.findall(r"\btodo\((\d)\);", (tree / f"{name}.cpp").read_text()))
    for test in stub["tests"]:
        if test["number"].split(".")[0] in open_tasks:
            assert re.search(r"\btask \d is to be written here", test["output"]), test["name"]
    assert graded(name, submissions.reference(assignment, prefix, folder))["score"] == 100
    done = subprocess.run([tree / "check"], env={**os.environ, "CMAKE_PREFIX_PATH": prefix},
                          capture_output=True, text=True)
    shown = re.findall(r"(?s)```\n(FAIL.*?)```", (tree / "handout.md").read_text())
    assert done.returncode == 1 and all(
        text in done.stdout for text in ["FAIL task 1", *shown]), "as the handout shows"
    secrets = leaks.secrets(assignment)  # the tree's objects are looked through too
    assert leaks.found_in(assignment.folder, secrets), "the search finds no solution where there is one"
    assert not leaks.found_in(tree, secrets) + leaks.found_in(prefix, secrets)


def test_no_judge_passes_numbers_that_are_none(name, assignment, prefix, folder):
    judged = [case for case in assignment.cases if case["judge"]]
    if not judged:
        return
    tree = folder / name
    course.release(assignment, tree)
    (tree / f"{name}.cpp").write_text(assignment.source.read_text())
    driver = course.built(tree, prefix, target="driver") / "driver"
    for case, answer in zip(judged, course.answered(driver, judged, 1), strict=True):
        found, error = tensors.answer(answer)
        assert grade.fault_of_answer(case, found, error) is None, case["name"]
        for what, changed in [("NaN", lambda t: tensors.Array(t.shape, [math.nan] * len(t.values), t.dtype)),
                              ("0", lambda t: tensors.Array(t.shape, [0.0] * len(t.values), t.dtype)),
                              ("no numbers", lambda t: tensors.Array((0,), [], t.dtype))]:
            other = {name: changed(tensor) for name, tensor in found.items()}
            assert grade.fault_of_answer(case, other, None) is not None, f"{case['name']} passes {what}"
