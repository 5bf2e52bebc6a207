"""A class is graded into one table, which goes on where it was killed and names frequent mistakes."""
import csv, json, os, re, signal, subprocess, time, types
import pytest
import classes, course, marked, mutate

MISTAKE = "the walk forgets the start"


@pytest.fixture
def trees(folder):
    """Submissions of a1: all right, two of one mistake, task 1 alone, one that does not build, one without its file."""
    a1 = course.Assignment("a1")
    right, wrong = a1.source.read_text(), dict(mutate.mutants_of(a1)[0])[MISTAKE]
    stubs = marked.stubs(right, "a1.cpp")
    first = right.partition("// Task 2")[0] + "// Task 2" + stubs.partition("// Task 2")[2]
    for label, text in {"ada": right, "bob": wrong, "cyd": wrong, "dan": first, "eve": f"{right}\nint f() {{ return g; }}\n",
                        "=fay": None}.items():
        place = folder / "class" / label
        place.mkdir(parents=True)
        if text is not None:
            (place / "a1.cpp").write_text(text)
    return folder / "class"


def command(trees, prefix, *options, more=()):
    return [course.ROOT / "course", "grade", "a1", *sorted(trees.iterdir()), *more, "--prefix", prefix, "--confine", "any", "--out",
            trees.parent / "results", *options]


def test_a_class_is_graded_into_one_table_and_goes_on_where_it_was_killed(trees, prefix, folder):
    out = folder / "results"
    with subprocess.Popen(command(trees, prefix), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as killed:
        end = time.monotonic() + 600
        while not (out / "ada.json").exists() and time.monotonic() < end:
            time.sleep(0.1)
        os.killpg(killed.pid, signal.SIGKILL)
    assert (out / "ada.json").exists() and not (out / "class.csv").exists()
    first = (out / "ada.json").stat().st_mtime_ns
    done = subprocess.run(command(trees, prefix), capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr  # one has no grade
    assert (out / "ada.json").stat().st_mtime_ns == first and "ada: 100 points (graded before)" in done.stdout
    # The mutant that they are, beside others that the same tests see.
    assert re.search(rf"(?m)^2 of 5: walk: (.* or )?{re.escape(MISTAKE)}( or .*)?$", done.stdout), done.stdout
    assert "=fay: not graded: the submission" in done.stdout
    rows = {row["submission"]: row for row in csv.DictReader((out / "class.csv").open())}
    assert list(rows) == ["'=fay", "ada", "bob", "cyd", "dan", "eve"]
    assert (rows["ada"]["score"], rows["ada"]["task 4"], rows["ada"]["mistakes"]) == ("100", "35", "")
    assert rows["bob"]["score"] == rows["cyd"]["score"] and 20 < float(rows["bob"]["score"]) < 60
    assert rows["dan"]["score"] == rows["dan"]["task 1"] == "10" and rows["dan"]["mistakes"] == ""
    assert rows["eve"]["score"] == "0" and rows["eve"]["mistakes"] == "does not build"
    assert rows["'=fay"]["score"] == "" and "holds no a1.cpp" in rows["'=fay"]["not graded"]
    for label, row in rows.items():
        if row["score"]:
            tasks = [float(value) for head, value in row.items() if head.startswith("task ")]
            assert abs(sum(tasks) - float(row["score"])) < 0.06, row
            lines = json.loads((out / f"{label}.json").read_text())["output"].splitlines()
            assert ("tasks 2, 3, 4 and 5 not begun, 90 points" in lines) == (label == "dan")
            assert ("task 1: 6 of 6 pass, 10 of 10 points" in lines) == (label != "eve"), lines
    # What is handed in anew is graded anew, and nothing else; no mutant is run again.
    seen, printed = (out / classes.SEEN).stat().st_mtime_ns, re.findall(r"(?m)^\d of \d: .*", done.stdout)
    (trees / "dan/a1.cpp").write_text((course.ROOT / "a1/a1.cpp").read_text())
    (trees / "=fay").rmdir()
    done = subprocess.run(command(trees, prefix), capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("(graded before)") == 4 and "dan: 100 points\n" in done.stdout
    assert (out / classes.SEEN).stat().st_mtime_ns == seen and re.findall(r"(?m)^\d of \d: .*", done.stdout) == printed


def test_names_that_cannot_be_told_apart_and_options_of_one_student_are_refused(trees, prefix):
    for words, more, said in [(["--student", "ada"], [], "wanted none of --student"), ([], [trees / "ada/a1.cpp"], "of different names")]:
        done = subprocess.run(command(trees, prefix, *words, more=more), capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_where_all_tests_of_a_function_fail_a_mutant_is_named_that_other_functions_show():
    a12 = course.Assignment("a12")
    places = {place for place, case in enumerate(a12.cases) if case["call"] == "instance_norm" and case["error"] is None}
    some = {min(places)}
    seen = {"instances: in place": {"instance_norm": places}, "another": {"instance_norm": some}}
    named = lambda calls: classes.mistake(a12, "instance_norm", calls, seen, "")
    assert named({"instance_norm": places}).startswith("instance_norm: wrong in '")
    assert named({"instance_norm": places, "batch_norm": {0}}).startswith("instance_norm: wrong in '")
    assert named({"instance_norm": some}) == "instance_norm: another"
    # Of other functions just those tests that see it fail: it is named.
    seen["instances: in place"]["batch_norm"] = {0}
    assert named({"instance_norm": places, "batch_norm": {0}}) == "instance_norm: instances: in place"


def test_no_cell_is_a_formula():
    for text in ("=1+1", "+1", "-1", "@SUM(A1)"):
        assert classes.cell(text) == f"'{text}"
    assert classes.cell("a\nb\x1b[2K") == "a b�[2K"


def test_numbers_that_are_none_are_not_a_mutants_mistake():
    cases = [{"name": name, "call": "f", "error": None} for name in ("one", "two")]
    found = [classes.mistake(types.SimpleNamespace(cases=cases), "f", {"f": {0}}, {"a mutant": {"f": {0}}}, said)
             for said in ("dx[0]: wanted 1, got nan", "the dominant term is missing")]
    assert found == ["f: wrong in 'one'", "f: a mutant"]
