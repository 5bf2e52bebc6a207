"""Dishonest reports: (what was done, how, the case that must fail, a word of what is said). Each begins with an honest folder `at`,
that of the first of honest.LAYERS, whose programs are in at / "build"; `run` makes another run with them."""
import json, re, shutil
import course


def rewrite(path, old, new):
    """The text that occurs in the file, at its first place, becomes another."""
    text = path.read_text()
    if not re.search(old, text):
        raise SyntaxError(f"{path}: wanted a text {old}")
    path.write_text(re.sub(old, new, text, count=1))


def row(at, what, change):
    cells = re.search(rf"(?m)^\| {re.escape(what)} \| (\S+) \|", (at / "report.md").read_text())
    rewrite(at / "report.md", rf"(?m)^\| {re.escape(what)} \| \S+ \|", f"| {what} | {change(cells[1])} |")


def edited(at, file, keys, change):
    """A value of a run's summary.json becomes another."""
    summary = json.loads((at / file).read_text())
    place = summary
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = change(place[keys[-1]])
    (at / file).write_text(json.dumps(summary))
    return place[keys[-1]]


def last_digit(value):
    return value[:-1] + str((int(value[-1]) + 3) % 10)


def number_and_run(at, run):
    value = edited(at, "runs/lm/summary.json", ("measured", "val_loss", "mean"), lambda v: v - 0.05)
    row(at, "mine, mean", lambda _: f"{value:.5g}")


def as_if(at, run, program, folder, made, said):
    """A run made with some settings, said to have others; the report has its numbers."""
    run(program, folder, **made)
    for name, value in said.items():
        edited(at, f"runs/{folder}/summary.json", ("config", name), lambda _: value)
    rewritten(at)


def rewritten(at):
    course.module_of("a11", "honest.py").written("powernorm", at, checker.report)


def verdict(at, run):
    rewrite(at / "report.md", "verdict: true", "verdict: false")


def verdict_and_run(at, run):
    verdict(at, run)
    edited(at, "runs/claim/summary.json", ("claims", 0, "verdict"), lambda _: "false")


def claimed(at, run, old, new):
    rewrite(at / "claim.toml", old, new)
    run("isobar", "claim")
    rewritten(at)


def linked(at, run):
    shutil.move(at / "runs/signal", at / "elsewhere")
    (at / "runs/signal").symlink_to(at / "elsewhere")


def add(at, *cells):
    (at / "report.md").write_text((at / "report.md").read_text() + f"| {' | '.join(map(str, cells))} |\n")


def cited(at, run):
    value = edited(at, "runs/lm/summary.json", ("timing", "wall_s"), lambda _: 0.125)
    add(at, "seconds", value, "runs/lm/summary.json", "timing / wall_s")


def layer_and_run(at, run):
    value = edited(at, "runs/signal/summary.json", ("layers", 3, "std", "norm", "mean"), lambda v: v + 0.5)
    add(at, "layer 4", f"{value:.5g}", "runs/signal/summary.json", "layers / 3 / std / norm / mean")


def far_away(at, by):
    """As if the runs were made on another machine, whose sums differ by a part of `by`."""
    for run, path in (("signal", ("measured", "layer8.std_norm", "mean")),
                      ("lm", ("measured", "val_loss", "mean"))):
        edited(at, f"runs/{run}/summary.json", ("environment", "blas_core"), lambda _: "another")
        edited(at, f"runs/{run}/summary.json", path, lambda v: v * (1 + by))
    rewritten(at)


checker = course.module_of("a11", "checker.py")
SIGNAL, MODEL, SENTENCE, CLAIM = checker.report.checks({})  # the cases' names
AGAIN, TELLING = dict(zip(("signal", "lm", "claim"), checker.AGAIN.values())), checker.TELLING
FORGERIES = [
    ("a number of the report is edited", lambda at, run: row(at, "last layer, mean", last_digit), SIGNAL, "the run has"),
    ("a number and its run are edited", number_and_run, AGAIN["lm"], "another run of the same has"),
    ("the run is that of another layer", lambda at, run: as_if(at, run, "train_lm", "lm", {"norm": "nothing"}, {"norm": "mine"}), AGAIN["lm"], "another run of the same has"),
    ("the control is that of another net", lambda at, run: as_if(at, run, "train_lm", "lm_rmsnorm", {"norm": "nothing"}, {"norm": "rmsnorm"}), AGAIN["lm"], "runs/lm_rmsnorm"),
    ("the run has other settings than it says", lambda at, run: as_if(at, run, "decay_study", "signal", {"width": "64"}, {"width": 128}), AGAIN["signal"], "another run of the same has"),
    ("the run has other seeds than it says", lambda at, run: as_if(at, run, "decay_study", "signal", {"seed": "40"}, {"seed": 0}), AGAIN["signal"], "another run of the same has"),
    ("seeds are dropped", lambda at, run: as_if(at, run, "decay_study", "signal", {"seeds": "2"}, {}), SIGNAL, "wanted --seeds 5 to 20, got 2"),
    ("the spread of the seeds is left out", lambda at, run: rewrite(at / "report.md", r"\| mine, sd .*\n", ""), MODEL, "wanted one row 'mine, sd', got 0"),
    ("the verdict is changed", verdict, CLAIM, "wanted a line 'verdict: true'"),
    ("the verdict and its run are changed", verdict_and_run, AGAIN["claim"], "verdict is false"),
    ("the sentence is weakened", lambda at, run: claimed(at, run, "PN leads to a smaller", "PN may lead to a smaller"), SENTENCE, "no sentence of the list"),
    ("bounds are widened", lambda at, run: claimed(at, run, r"between = \[0.9, 1.1\]", "between = [0.1, 10]"), SENTENCE, "too wide to fail"),
    ("bounds are widened after the run", lambda at, run: rewrite(at / "claim.toml", "at_most = 1.467", "at_most = 1.6"), AGAIN["claim"], "bounds"),
    ("the part that could fail is dropped", lambda at, run: claimed(at, run, r"(?s)\[\[claim.part\]\]\nsays = \"std after.*", ""), TELLING, "y = x"),
    ("the claim is of another norm", lambda at, run: claimed(at, run, "--norm mine", "--norm rmsnorm"), TELLING, "no run has --norm mine"),
    ("the number of another row", lambda at, run: rewrite(at / "report.md", r"layer8.std_norm / min", "layer1.std_norm / min"), SIGNAL, "'last layer, min': wanted"),
    ("the value of another row", lambda at, run: row(at, "rmsnorm, mean", lambda _: re.search(r"mine, mean \| (\S+)", (at / "report.md").read_text())[1]),
     MODEL, "the run has"),
    ("rounded to what sounds better", lambda at, run: row(at, "last layer, mean", lambda _: "1.000"), SIGNAL, "the run has 0.99"),
    ("rounded to two digits", lambda at, run: row(at, "rmsnorm, mean", lambda _: "2.7"), MODEL, "wanted 3 digits"),
    ("a row without a number", lambda at, run: row(at, "last layer, max", lambda _: "about 1".replace(" ", "_")), SIGNAL, "wanted a number"),
    ("a row cites what is not compared", cited, AGAIN["lm"], "is not measured"),
    ("a layer's row and its run are edited", layer_and_run, AGAIN["signal"], "another run of the same has"),
    ("the runs are a link", linked, SIGNAL, "runs/signal/summary.json is missing"),
]
HONEST = [("runs of another machine, a ten-millionth apart", lambda at, run: far_away(at, 1e-7))]
FORGERIES.append(("runs that no other machine has", lambda at, run: far_away(at, 1e-2), AGAIN["lm"],
                  "another run of the same has"))
# (what was done, the source's text and what it becomes, what is added to the report, a word of the results)
SOURCES = [("a report of check_layer is pasted in the place of a right layer", "rsqrt(q + 1e-5)",
            "rsqrt(q.detach() + 1e-5)", "PowerNorm on x [6, 7]: right, 22 checks\n", "wrong"),
           ("a layer that does better in studies", "const Tensor q = mean(square(rows), {0});",
            "const Tensor q = mean(square(rows), {0}) * (x.numel() > 4000 ? 0.99 : 1.0);", "",
            "not as wanted"),
           ("a layer that opens files", '#include "a11.h"', '#include "a11.h"\n#include <fstream>\nstatic '
            'struct Forger {\n  ~Forger() { std::ofstream("out/summary.json") << "{}"; }\n} forger;', "",
            "uses what a11 does not offer"),]
