"""The report of a11 against its runs, and the runs against runs of the grader's own: the same programs, built with the
student's layer, the same settings, and so bit-identical values where the machine is the same, else the same numbers within
TOLERANCE. The claim is judged again by `isobar verify`.

The layer is part of the programs that measure, and could write what it wants: what finds that is a person who reads a11.cpp."""
import json, math, os, pathlib, re, shutil
import course, sandbox
from folders import module_of

SECONDS, MEMORY = 60, 2 << 30  # of one run
TOLERANCE = {"signal": 1e-6, "lm": 1e-3, "lm_rmsnorm": 1e-3, "claim": 1e-3}  # f64, or f32
MACHINE = ["version", "compiler", "cpu", "blas", "blas_core"]  # of a summary's environment
AGAIN = {2: "the signal: another run gives the same", 3: "the language model: another run gives the same",
         4: "the claim: another run gives the same"}
TELLING = "the claim: a layer that does nothing does not fulfil it too"
LARGEST = 1 << 20  # bytes of a file
report = module_of("a11", "report.py")


class Studies:
    """Makes runs with a student's layer, confined as tests are; the same run is made once."""

    def __init__(self, tree, prefix, work, seconds):
        """Builds the programs of the tree in `work`; complaint is the compiler's, or None. They are kept beside it."""
        self.prefix, self.work, self.known = prefix, work.parent, {}
        place = str(work / "studies")
        self.complaint = course.confined(
            ["cmake", "-G", "Ninja", "-S", str(tree), "-B", place, "-DSANITIZE=OFF", f"-DCMAKE_PREFIX_PATH={prefix}"],
            tree, prefix, work, seconds) or course.confined(["ninja", "-C", place, "-j2", "studies"], tree, prefix, work, seconds)
        self.programs = self.work / "programs"
        if self.complaint is None:
            self.programs.mkdir()
            for name in ("decay_study", "train_lm"):
                shutil.copyfile(work / "studies" / name, self.programs / name)
                (self.programs / name).chmod(0o755)

    def run(self, argv, files=()):
        """The summary.json that the program writes; Wrong with its last line where it writes none."""
        question = (*argv, *(f"{name}\n{text}" for name, text in files))
        if question not in self.known:
            place = course.own_folder(self.work / f"run{len(self.known)}")
            for name, text in files:
                (place / name).write_text(text)
            limits = sandbox.Limits(seconds=SECONDS, memory=MEMORY, processes=128)
            done = sandbox.run([*argv, "--out", "out"], b"", str(place), [str(self.programs), self.prefix], limits,
                               [str(place)], {"HOME": str(place), "TMPDIR": str(place)})
            try:
                self.known[question] = json.loads(course.text_of(place / "out/summary.json", LARGEST))
            except (course.Usage, ValueError):
                said = done.why or (done.output.strip().splitlines() or [f"it ended with {done.code}"])[-1]
                self.known[question] = report.Wrong(
                    f"another run of {pathlib.Path(argv[0]).name} writes no results: {said[:300]}")
        found = self.known[question]
        if isinstance(found, Exception):
            raise found
        return found

    def signal(self, config):
        flags = [
            word for name, value in config.items() if name != "preset" for word in (f"--{name}", str(value))]
        return self.run([str(self.programs / "decay_study"), *flags])

    def model(self, norm):
        return self.run([str(self.programs / "train_lm"), "--norm", norm, *report.MODEL_FLAGS])

    def claim(self, toml):
        summary = self.run([f"{self.prefix}/bin/isobar", "verify", "claim.toml", "--programs",
                            str(self.programs)], [("claim.toml", toml)])
        for claim in summary["claims"]:
            if claim["verdict"] == "not tested":  # a wrong flag or key
                raise report.Wrong(claim["reason"])
        return summary


def numbers(value, path=""):
    """(path, number or word) of all that a run has measured."""
    if isinstance(value, dict):
        return [found for name in sorted(value)
                for found in numbers(value[name], f"{path} / {name}".removeprefix(" / "))]
    if isinstance(value, list):
        return [found for i, one in enumerate(value) for found in numbers(one, f"{path} / {i}")]
    return [(path, value)]


def measured(kind, summary):
    """What must be the same in another run, and what a report may cite: {path: value}."""
    if kind != "claim":
        return dict(numbers({name: value for name, value in summary.items()
                             if name not in ("environment", "timing", "plots", "expectations", "files")}))
    told = ("id", "quote", "claim", "note", "verdict")
    part = ("says", "run", "key", "value", "interval", "n", "rule", "bounds", "outcome")
    return dict(numbers({"claims": [{**{name: claim[name] for name in told},
                                     "parts": [{name: one[name] for name in part} for one in claim["parts"]]}
                                    for claim in summary["claims"]]}))


def check_same(file, rows, handed, again):
    """Wrong names the first value that another run does not have, or a row that cites no such value."""
    kind = pathlib.Path(file).parent.name
    here = all(handed["environment"].get(name) == again["environment"].get(name) for name in MACHINE)
    ours, theirs = measured(kind, again), measured(kind, handed)
    if set(ours) != set(theirs):
        raise report.Wrong(f"runs/{kind}: another run has other values, such as "
                           f"{sorted(set(ours) ^ set(theirs))[0]}")
    for path, value in ours.items():
        got = theirs[path]
        number = isinstance(value, float) and isinstance(got, (int, float))
        if value != got and (here or not number or not math.isclose(value, got, rel_tol=TOLERANCE[kind],
                                                                    abs_tol=TOLERANCE[kind] * 1e-3)):
            raise report.Wrong(f"runs/{kind}: {path} is {got}, another run of the same has {value}")
    for what, _, cited, path in rows:
        if cited == file and path not in ours:
            raise report.Wrong(f"report.md, '{what[:60]}': {path[:80]} is not measured; wanted a number that "
                               "another run has too")


def check_again(task, studies, texts):
    heads, rows, summaries = report.opened(task, texts)
    if task == 2:
        report.check_signal(heads, summaries)
        again = [studies.signal(summaries[report.SIGNAL]["config"])]
    elif task == 3:
        report.check_models(heads, summaries)
        again = [studies.model("mine"), studies.model("rmsnorm")]
    else:
        again = [studies.claim(texts["claim.toml"])]
    for file, run in zip(report.OF_TASK[task], again, strict=True):
        check_same(file, rows, summaries[file], run)


def check_telling(studies, texts):
    """Of the parts that hold, one must not hold with a layer that does nothing."""
    without = re.sub(r"--norm\s+mine\b", "--norm nothing", texts["claim.toml"])
    if without == texts["claim.toml"]:
        raise report.Wrong("claim.toml: no run has --norm mine: it says nothing of your layer")
    mine, nothing = (studies.claim(toml)["claims"][0]["parts"] for toml in (texts["claim.toml"], without))
    holding = [(one["says"], other["outcome"]) for one, other in zip(mine, nothing, strict=True)
               if one["outcome"] == "holds"]
    if holding and all(outcome == "holds" for _, outcome in holding):
        raise report.Wrong(f"claim.toml: '{holding[0][0][:80]}' holds as well where the layer is y = x: it "
                           "says nothing of yours")


def faults(texts, studies):
    """{case's name: what is wrong, or None} of all the cases of tasks 2 to 4."""
    found = report.checks(texts)
    for task, name in AGAIN.items():
        found[name] = report.wrong_of(lambda task=task: check_again(task, studies, texts))
    found[TELLING] = report.wrong_of(lambda: report.opened(4, texts) and check_telling(studies, texts))
    return found


def handed_in(submission):
    """The texts of the files that count, by name. Throws Usage for one that is there and is no text."""
    root, texts = pathlib.Path(submission).resolve(), {}
    for name in report.FILES if root.is_dir() else []:
        if (root / name).parent.resolve() == (root / name).parent:  # no link on the way
            if os.path.lexists(root / name):
                texts[name] = course.text_of(root / name, LARGEST).decode(errors="replace")
    return texts


def graded(submission, tree, prefix, work, seconds):
    texts = handed_in(submission)
    studies = Studies(tree, prefix, work, seconds) if texts else None
    if studies and studies.complaint is not None:
        return dict.fromkeys([*report.checks(texts), *AGAIN.values(), TELLING],
                             f"the studies do not build: {studies.complaint.splitlines()[-1][:200]}")
    return faults(texts, studies)
