"""./check names each planted misuse of a tensor, and the grader takes points for the same public tests, and for hidden
ones of the same function."""
import os, re, subprocess
import course

MISUSES = {name: getattr(course.module_of(name, "mutants.py"), "MEMORY", []) for name in course.NAMES}
NAMES = [name for name, misuses in MISUSES.items() if misuses]


def test_check_and_the_grader_see_the_same(name, assignment, prefix, folder, graded):
    for what, said, change in MISUSES[name]:
        tree = folder / what
        course.release(assignment, tree)
        (tree / f"{name}.cpp").write_text(course.changed(assignment.source.read_text(), change))
        done = subprocess.run([tree / "check"], env={**os.environ, "CMAKE_PREFIX_PATH": prefix},
                              stdout=subprocess.PIPE, text=True)
        assert done.returncode == 1 and said in done.stdout, what
        results = graded(name, tree)
        lost = [test["name"].replace(", public", "") for test in results["tests"] if test["score"] == 0
                and "public" in test["name"]]
        assert re.findall(r"(?m)^FAIL (task .*)$", done.stdout) == lost and results["score"] < 100, what
        # The cause that ./check names, the grader names, where numbers are wrong too.
        assert any(said in test["output"] for test in results["tests"] if "public" in test["name"]), what
        if "the program was stopped" in done.stdout:
            assert any("hidden" in test["name"] and "the program was stopped" in test["output"] for test in results["tests"]), what
