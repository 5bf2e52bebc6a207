"""Stubs score 0 and fail as what is to be written, references score 100, the examples of a1.h and of the page
of C++ run, and neither a solution nor a hidden test is in a built student's tree or in the installed package."""
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


def test_the_page_of_cpp_prints_what_it_says(prefix, folder):
    """In a student's tree of a1, where the page is cpp.md."""
    tree = folder / "a1"
    course.release(course.Assignment("a1"), tree)
    blocks = re.findall(r"(?s)```cpp\n(.*?)```", (tree / "cpp.md").read_text())
    (tree / "a1.cpp").write_text("")
    (tree / "driver.cpp").write_text("\n".join([
        '#include "a1.h"', *blocks, "int main() {",
        *(f"{name}();" for name in re.findall(r"(?m)^void (\w+)\(\) \{", "".join(blocks))), "}"]))
    printed = subprocess.run([course.built(tree, prefix) / "driver"], capture_output=True, text=True).stdout
    said = re.findall(r"// prints (.*)", "".join(blocks))
    assert len(blocks) == 5 and printed.splitlines() == said, printed


def test_the_example_of_a_header_gives_what_it_says(prefix, folder):
    tree = folder / "a1"
    course.release(course.Assignment("a1"), tree)
    lines = re.findall(r"(?m)^//   (.*)$", (tree / "a1.h").read_text().split("#pragma once")[0])
    (tree / "a1.cpp").write_text((course.ROOT / "a1/a1.cpp").read_text())
    (tree / "driver.cpp").write_text("\n".join(['#include "a1.h"', "double example() {", *lines, "}",
                                                "int main() { return static_cast<int>(example()); }"]))
    assert subprocess.run([course.built(tree, prefix) / "driver"]).returncode == 5
