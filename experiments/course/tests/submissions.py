"""What is handed in to try the graders: references, and the texts of hostile/. None of these may gain a point,
tell what a hidden test is given, or leave anything, and each must leave a valid results.json. The first line, which goes on after a
comma, says what a text, after first.h, is appended to, and what it deserves (the statements past_the_end; and differences; are
past_the_end.h and differences.h):

    // with: reference of a1 [without f g] [, a forged run] [, names not checked] [, builds for ever]
    // [, deserves 100] [, at start]

`deserves all but its errors`: the points of a reference whose errors' texts count for nothing; `deserves 5 more
than without`: 5 more than those of a reference that lacks the functions named after `without`.

With `names not checked` the check of names is off, as for a submission that does without them by inline
assembly; what holds it then is the sandbox. `without` calls functions of the reference own_f and own_g: the
file has its own. `a forged run`: a report of a training whose loss is said to be less than it was is handed
in too. `builds for ever`: ended after 10 s, for once. `at start`, `at end`: the statements below are those of
a constructor or a destructor of the program. {results}, {course} and {victim} become the paths of
results.json, of the course's folder and of a file that belongs to the grader's user."""
import json, pathlib, re
import course, grade, marked, points

FIRST = (course.ROOT / "hostile/first.h").read_text()
TEXTS = {f"{name};": (course.ROOT / f"hostile/{name}.h").read_text() for name in ("past_the_end", "differences")}


def reference(assignment, prefix, folder):
    """What is graded as the reference: its folder, or one with a report and its runs."""
    if not assignment.checker:
        return assignment.folder
    return course.module_of(assignment.name, "honest.py").made(None, prefix, pathlib.Path(folder) / "honest")


def edited(at, file, keys, change):
    """A value of a run's summary.json becomes another: it."""
    summary = json.loads((at / file).read_text())
    place = summary
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = change(place[keys[-1]])
    (at / file).write_text(json.dumps(summary))
    return place[keys[-1]]


def number_and_run(at):
    """The loss of a training of a11, in the run and in the report, is said to be less than it was."""
    value, report = edited(at, "runs/lm/summary.json", ("measured", "val_loss", "mean"), lambda v: v - 0.05), at / "report.md"
    report.write_text(re.sub(r"(?m)^\| mine, mean \| \S+ \|", f"| mine, mean | {value:.5g} |", report.read_text()))


class Submission:
    def __init__(self, path):
        self.name, text = path.stem, path.read_text()
        head = re.fullmatch(r"// with: (reference|stubs) of (a\d+)(?: without ([\w ]+))?(, a forged run)?(, names not checked)?"
                            r"(, builds for ever)?(?:, deserves (\d+|all but its errors|5 more than without))?(?:, at (start|end))?", text.replace(",\n//", ",").split("\n")[0])
        self.base, self.assignment, self.without, self.forged = head[1], course.Assignment(head[2]), (
            head[3] or "").split(), bool(head[4])
        self.options = (["--any-name"] if head[5] else []) + ["--build-seconds", "10" if head[6] else "60"]
        if head[8]:
            before, statements = re.fullmatch(r"((?:(?://|#include).*\n|\n)*)((?s:.*))", text).groups()
            kind = "constructor" if head[8] == "start" else "destructor"
            text = f"{before}[[gnu::{kind}]] void hostile() {{\n{statements}}}\n"
        deserved = head[7] or "0"
        self.deserves = int(deserved) if deserved.isdigit() else (
            self.all_but_errors() if deserved.startswith("all") else 5 + self.without_functions())
        for word, meant in TEXTS.items():
            text = text.replace(word, meant)
        self.text = text

    def all_but_errors(self):
        cases = self.assignment.cases
        worth = points.shares(self.assignment.points, cases)
        return (1000 - sum(tenths for case, tenths in zip(cases, worth) if case["error"] is not None)) / 10

    def without_functions(self):
        """The points of a reference whose functions that the text has are not written: wrong in every test."""
        cases = self.assignment.cases
        missing = ["not as wanted" if case["call"] in self.without and case["error"] is None else None for case in cases]
        return grade.results_of(self.assignment, points.counted(cases, missing), "")["score"]

    def write(self, folder, places):
        source = self.assignment.source.read_text()
        if self.base == "stubs":
            source = marked.stubs(source, self.assignment.source.name)
        for name in self.without:
            source = re.sub(rf"\b{name}\(", f"own_{name}(", source)
        text = self.text
        for word, place in places.items():
            text = text.replace(word, str(place))
        (folder / f"{self.assignment.name}.cpp").write_text(f"{source}\n{FIRST}{text}")
        return folder
