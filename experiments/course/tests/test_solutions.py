"""Stubs score 0 and fail as what is to be written, references score 100, and neither a solution nor a hidden
test is in a built student's tree or in the installed package."""
import os, re, subprocess
import course, leaks, submissions


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
