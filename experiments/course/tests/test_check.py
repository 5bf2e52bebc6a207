"""./check meets accidents (no library, garbage, a damaged file, …) with a line that says the repair."""
import os, re, shutil, subprocess
import course


def accidents(tree, folder, prefix):
    """(what happens, ./check's arguments, environment, a word of its line); each is set up when asked for."""
    right = {"PATH": os.environ["PATH"], "CMAKE_PREFIX_PATH": prefix}
    tools = folder / "tools"  # a PATH of chosen tools
    tools.mkdir()

    def with_tools(*names):
        for link in tools.iterdir():
            link.unlink()
        for name in ("env", "python3", "sh", "uname", *names):
            (tools / name).symlink_to(shutil.which(name))
        return {**right, "PATH": str(tools)}

    def answer(words):
        driver = tree / "build/driver"
        driver.unlink()
        driver.write_text(f"#!/bin/sh\n{words}\n")
        driver.chmod(0o755)
        os.utime(driver, (2 ** 32 - 1, 2 ** 32 - 1))  # newer than its parts: it is not built anew
        return right
    yield "an unknown task", ["9"], right, "wanted a task of 1 to 5 or -v, got 9"
    yield "an unknown word", ["foo"], right, "got foo"
    yield "no library", [], {"PATH": right["PATH"]}, "export CMAKE_PREFIX_PATH=DIR"
    yield ("a library in another place", [], {**right, "CMAKE_PREFIX_PATH": "/nowhere"},
           "isobar is not found (CMAKE_PREFIX_PATH is /nowhere)")
    yield "no cmake", [], with_tools(), "install the package cmake"
    yield "no ninja", [], with_tools("cmake"), "install the package ninja-build"
    yield "no compiler", [], with_tools("cmake", "ninja"), "install the package g++"
    yield "a compiler that is none", [], {**right,
                                          "CXX": "/bin/false"}, "compiles nothing; name another in CXX"
    yield "tests that fail", ["1"], right, ""
    yield "a full disk below the output", ["1"], {**right, "stdout": "/dev/full"}, "the disk is full"
    for what, words in [("no answer", "exit 0"), ("a crash", "kill -SEGV $$"),
                        ("garbage", "echo garbage >&3; echo end >&3"),
                        ("half a tensor", "echo 'tensor y f64 1 x' >&3; echo 1 >&3; echo end >&3"),
                        ("bytes that are no text", "printf '\\377\\0\\nend\\n' >&3"),
                        ("two answers", "printf 'end\\nend\\n' >&3")]:
        yield f"a program of {what}", ["1"], answer(words), ""
    script = tree / "check"
    script.write_text(script.read_text().replace("SECONDS = 30 ", "SECONDS = 1 "))
    yield "a program without an end", ["1"], answer("exec sleep 9"), ""
    for what, text in [("no", None), ("an empty", ""), ("a cut", '[{"name": "x"'),
                       ("another", '[1, {"a": 2}]'), ("a strange", '{"inputs": 3}')]:
        (tree / "public.json").unlink(missing_ok=True)
        if text is not None:
            (tree / "public.json").write_text(text)
        yield f"{what} public.json", [], right, "take it from the tree"
    (tree / "tensors.py").write_text("def")
    yield "a damaged tensors.py", [], right, "take it from the tree"


def test_each_accident_is_one_line_with_the_repair(prefix, folder):
    tree = folder / "tree"
    course.release(course.Assignment("a1"), tree)
    for what, arguments, environment, word in accidents(tree, folder, prefix):
        environment = dict(environment)
        with open(environment.pop("stdout", folder / "stdout"), "w") as out:
            done = subprocess.run([tree / "check", *arguments], env=environment, stdout=out,
                                  stderr=subprocess.PIPE, text=True)
        shown = "" if out.name == "/dev/full" else (folder / "stdout").read_text()
        told = (what, done.returncode, done.stderr, shown[-500:])
        assert "Traceback" not in done.stderr + shown, told
        if word:
            assert done.stderr.startswith("check: ") and done.stderr.count(
                "\n") == 1 and word in done.stderr, told
            assert done.returncode == 2, told
        else:  # the tests are run, and fail
            failed = int(re.search(r"\n0 of (\d+) tests pass; ", shown)[1])
            assert shown.count("FAIL task 1") == (1 if what == "tests that fail" else failed) > 0, told
            assert done.returncode == 1 and not done.stderr, told
        if what.endswith("without an end"):
            assert shown.count("not done after 1 s") == 1 and shown.count("not run: ") == shown.count(
                "FAIL") - 1 > 0, told


def test_a_copied_tree_is_judged_by_its_own_file(prefix, folder):
    """Both ways to copy: the tree that it came from stays, or it was moved."""
    tree, copy = folder / "a1", folder / "copy"
    course.release(course.Assignment("a1"), tree)
    check = lambda place: subprocess.run([place / "check"], env={**os.environ, "CMAKE_PREFIX_PATH": prefix}, capture_output=True,
                                         text=True)
    assert "\n0 of " in check(tree).stdout
    shutil.copytree(tree, copy, symlinks=True)
    (copy / "a1.cpp").write_text((course.ROOT / "a1/a1.cpp").read_text())
    assert check(copy).returncode == 0 and check(tree).returncode == 1
    copy.rename(folder / "moved")
    shutil.rmtree(tree)
    assert check(folder / "moved").returncode == 0


def test_a_name_of_the_library_is_refused_as_by_the_grader(prefix, folder, graded):
    tree = folder / "a1"
    course.release(course.Assignment("a1"), tree)
    (tree / "a1.cpp").write_text((course.ROOT / "a1/a1.cpp").read_text() + """
#include <cstdio>
#include <isobar/autograd/ops.h>
static const bool printed = std::puts("printed by a1.cpp") > 0;
isobar::Tensor other(const isobar::Tensor& x) { return isobar::softmax(x); }
""")
    done = subprocess.run([tree / "check"], env={**os.environ, "CMAKE_PREFIX_PATH": prefix},
                          capture_output=True, text=True)
    results = graded("a1", tree)
    assert done.returncode == 1 and "it uses isobar::softmax" in done.stdout.splitlines()[-1]
    assert "isobar::softmax" in results["output"] and results["score"] == 0
    cases = len(course.Assignment("a1").public())
    assert f"{cases} of {cases} tests pass; " in done.stdout and "printed by a1.cpp" in done.stdout
