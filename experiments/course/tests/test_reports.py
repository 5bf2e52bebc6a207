"""Honest reports of runs score 100, and reports that do not agree with their runs lose the case that is named (a11)."""
import json, pathlib, re, shutil, tempfile
import pytest
import course, submissions

NAMES = [name for name in course.NAMES if course.Assignment(name).checker]
LEFT_OUT = shutil.ignore_patterns("build", "*.h5", "*.safetensors")


def rewrite(file, old, new):
    """A change of a text that occurs in a file, at its first place."""
    def changed(at):
        text = (at / file).read_text()
        assert re.search(old, text), (file, old)
        (at / file).write_text(re.sub(old, new, text, count=1))
    return changed


def row(what, value):
    return rewrite("report.md", rf"(?m)^\| {re.escape(what)} \| \S+ \|", f"| {what} | {value} |")


def of_another_machine(by):
    """As if runs were made where sums differ by a part of `by`."""
    def changed(at):
        for run, path in (("signal", ("measured", "layer8.std_norm", "mean")), ("lm", ("measured", "val_loss", "mean"))):
            submissions.edited(at, f"runs/{run}/summary.json", ("environment", "blas_core"), lambda _: "another")
            submissions.edited(at, f"runs/{run}/summary.json", path, lambda v: v * (1 + by))
        course.module_of("a11", "honest.py").written("powernorm", at, course.Assignment("a11").checker.report)
    return changed


# (what was done to the reference's folder, how, the number of the case that must fail or None for none, a word of it); cases
# in the order of checker.faults().
CHANGED = [
    ("runs of another machine, a ten-millionth apart", of_another_machine(1e-7), None, ""),
    ("runs that no other machine has", of_another_machine(1e-2), 5, "another run of the same has"),
    ("a number of the report is another", row("last layer, mean", "1.234"), 0, "the run has"),
    ("a number and its run are others", submissions.number_and_run, 5, "another run of the same has"),
    ("rounded to two digits", row("rmsnorm, mean", "2.7"), 1, "wanted 3 digits"),
    ("a row is left out", rewrite("report.md", r"\| mine, sd .*\n", ""), 1, "wanted one row 'mine, sd', got 0"),
    ("the sentence is another", rewrite("claim.toml", "PN leads to a smaller", "PN may lead to a smaller"), 6, "quote"),
    ("the verdict is another", rewrite("report.md", "verdict: true", "verdict: false"), 3, "wanted a line 'verdict: true'"),
    ("bounds are widened after the run", rewrite("claim.toml", "at_most = 1.467", "at_most = 1.6"), 6, "bounds"),
    ("the claim is of another norm", rewrite("claim.toml", "--norm mine", "--norm rmsnorm"), 7, "no run has --norm mine")]


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


def test_reports_that_do_not_agree_with_their_runs_lose_a_case(name, assignment, reports, prefix, folder):
    """Of the first honest report: the layer is the same, so programs are built and run once."""
    first, work, tree = reports[name][0], folder / "work", folder / "tree"
    course.own_folder(work)
    course.own_folder(work / "tmp")
    course.release(assignment, tree)
    shutil.copy(first / f"{name}.cpp", tree)
    studies = assignment.checker.Studies(tree, prefix, work, 180)
    assert studies.complaint is None, studies.complaint
    for number, (what, change, case, word) in enumerate(CHANGED):
        at = shutil.copytree(first, folder / str(number), ignore=LEFT_OUT)
        change(at)
        found = list(assignment.checker.faults(assignment.checker.handed_in(at), studies).values())
        assert word in (found[case] or "") if case is not None else not any(found), (what, found)


def test_a_pasted_report_of_check_layer_and_another_layer_lose_points(name, reports, folder, graded):
    """Of task 1, in the named words."""
    for number, (old, new, word) in enumerate([
            ("rsqrt(q + 1e-5)", "rsqrt(q.detach() + 1e-5)", "wrong"),
            ("const Tensor q = mean(square(rows), {0});",
             "const Tensor q = mean(square(rows), {0}) * (x.numel() > 4000 ? 0.99 : 1.0);", "not as wanted"),
            ('#include "a11.h"', '#include "a11.h"\n#include <fstream>\nstatic std::ofstream file("out/summary.json");',
             "uses what a11 does not offer")]):
        at = shutil.copytree(reports[name][0], folder / str(number), ignore=LEFT_OUT)
        (at / f"{name}.cpp").write_text(course.replaced((at / f"{name}.cpp").read_text(), old, new))
        (at / "report.md").write_text((at / "report.md").read_text() + "PowerNorm on x [6, 7]: right, 22 checks\n")
        results = graded(name, at)
        assert any(test["score"] == 0 and "task 1" in test["name"] for test in results["tests"]), new
        assert word in (results["output"] + str(results["tests"])).lower(), new
