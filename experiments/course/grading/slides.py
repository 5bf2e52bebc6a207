"""Makes the first lecture: one HTML file of slides with notes for the speaker. It needs no network.

lecture.html holds the words. Its numbers and pictures are found, not typed: what a text printed and what was
measured (kept in experiments/claims), a verdict by the installed isobar, a0's report by ./check, a1's values by its
reference, the pictures of the tape by headless Chromium. In a browser → goes on, n shows the notes;
slides.html#notes prints with them."""
import base64, datetime, html, json, os, pathlib, re, statistics, subprocess, tempfile, tomllib
import chart, course, handouts, stills, tensors

WORDS = {"--out": dict(metavar="FILE", default="slides.html", help="default: slides.html")}
CLAIMS = course.ROOT.parent / "claims"
RUNS = 20  # of the program that prints the right numbers

g = lambda value, digits=4: f"{value:.{digits}g}"
cells = lambda kind, values: "".join(f"<{kind}>{value}</{kind}>" for value in values)
row = lambda *values: f"<tr>{cells('td', values)}</tr>"


def picture(svg):
    """Inside the page, with a style of its own."""
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'


def printed_of(claim):
    """What text 003 printed: (key of a measurement, number)."""
    claims = tomllib.loads((CLAIMS / "texts/003.toml").read_text())["claim"]
    return [(part["key"], part["printed"]) for c in claims if c["id"] == claim for part in c["part"]]


def of_the_text(prefix, folder):
    kept = json.loads((CLAIMS / "full.json").read_text())
    run = next(run for run in kept["runs"] if run["name"] == "blog8")
    of = {entry["key"]: entry for entry in kept["values"] if entry["run"] == "blog8"}
    claimed = printed_of("D01")
    entries, printed = [of[key] for key, _ in claimed], [value for _, value in claimed]
    measured = [statistics.geometric_mean(entry["values"]) for entry in entries]
    theory = [entry["theory"] for entry in entries]
    lines = lambda values: list(enumerate(values, 1))
    decay = chart.svg("The std after each layer", ("layer", "std"),
                      [("printed", lines(printed)), ("measured", lines(measured)),
                       ("predicted", lines(theory))],
                      log=(False, True), ends=(None, (0.01, 1)), dots=("printed", "measured"))
    done = subprocess.run([f"{prefix}/bin/isobar", "verify", "--claim", "D06"], cwd=folder, text=True,
                          stdout=subprocess.PIPE)
    verdict = re.search(r"(?ms)^D06 .*?(?=\n\n)", done.stdout)
    if done.returncode or not verdict:
        raise course.Usage(f"{prefix}/bin/isobar verify --claim D06 gave no verdict: {done.stdout[-300:]}")
    return {"printed": printed, "measured": measured, "decay": picture(decay), "measured_on": run["date"],
            "width": run["config"]["width"], "seeds": len(entries[0]["values"]),
            "tiny": f"{printed_of('D06')[0][1]:.6f}",
            "spread": g(max(100 * statistics.stdev(e["values"]) / m for e, m in zip(entries, measured)), 2),
            "agree": max(abs(100 * m / t - 100) for m, t in zip(measured, theory)),
            "factor": max(p / m for p, m in zip(printed, measured)),
            "ratios": lambda values: ", ".join(g(b / a, 2) for a, b in zip(values, values[1:])),
            "rows": "".join(row(l, p, g(m, 3), g(t, 3), f"{p / m:.1f}")
                            for l, (p, m, t) in enumerate(zip(printed, measured, theory), 1)),
            "verdict": html.escape(verdict[0]), "verdict_seeds": re.search(r"(\d+) seeds", verdict[0])[1]}


def of_a0(prefix, folder):
    tree = folder / "a0"
    course.release(course.Assignment("a0"), tree)
    source = (tree / "a0.cpp").read_text()
    driver = course.built(tree, prefix, into=tree / "plain") / "driver"
    request = tensors.request("moving_average", {"x": [1.0, 2.0, 4.0], "width": 1})
    ask = lambda: tensors.answer(tensors.asked([driver], request, check=True)[1])[0]["y"].values
    answers = [ask() for _ in range(RUNS)]
    said = subprocess.run([tree / "check", "1"], env={**os.environ, "CMAKE_PREFIX_PATH": prefix}, text=True,
                          stdout=subprocess.PIPE).stdout
    report = re.search(r"(?m)^FAIL .*\n.*\n.*", said)[0]
    return {"source": html.escape(re.search(r"(?ms)^Tensor moving_average.*?^\}", source)[0]),
            "plain": " ".join(map(g, answers[0])), "times": answers.count(answers[0]), "runs": RUNS,
            "report": html.escape(report), "block": int(re.search(r"end of (\d+) bytes", report)[1]),
            "where": re.search(r"a0\.cpp:\d+, in \w+", report)[0]}


def of_a1(prefix, folder):
    reference = handouts.Reference("a1", prefix, folder / "a1")
    page, space = stills.page_of(reference), handouts.space_of(reference)
    loss = lambda x: space["gradients"](space["ask"], space["DIAMOND"], [x])["v3"].values[0]
    numeric = lambda h: (loss(3 + h) - loss(3 - h)) / (2 * h)
    diamond = (course.ROOT / "a1/diamond.svg").read_text()
    assert all(f"= {g(space['value'](i))}<" in diamond for i in range(4)), "the picture's numbers"
    ops = space["STILL"] - 1
    with stills.browsing() as window:
        tape = [picture(stills.still(window, page, step)) for step in (ops, ops + 1, 2 * ops)]
    return {**{name: space[name] for name in ("value", "slope", "overwritten")}, "tape": tape,
            "diamond": picture(diamond),
            "differences": "".join(row(g(h), f"{numeric(h):.9f}", f"{abs(numeric(h) - space['slope']()):.1e}")
                                   for h in (1, 0.1, 1e-3, 1e-5, 1e-8, 1e-11))}


def term():
    rows = re.findall(r"(?m)^\| (a\d+) \| \[([^\]]*)\]", (course.ROOT / "README.md").read_text())
    return "".join(row(name, title) for name, title in rows)


hours = lambda name: re.search(r"Estimate: ([^(.]*?) \(", (course.ROOT / name / "handout.md").read_text())[1]


def main(arguments):
    stills.check_tools()  # before a minute of other work
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        values = {"g": g, "cells": cells, "hours": hours, "term": term(),
                  "today": datetime.date.today().isoformat()}
        for found in (of_the_text, of_a0, of_a1):
            values |= found(arguments.prefix, folder)
    text = (course.ROOT / "lecture.html").read_text()
    begin = text.index("<body>")
    made = re.sub(r"\{\{(.*?)\}\}", lambda found: str(eval(found[1].strip(), values)), text[begin:])
    pathlib.Path(arguments.out).write_text(re.sub(r"<!--.*?-->\n", "", text[:begin], flags=re.S) + made)
    print(f"{arguments.out}: {made.count('<section>')} slides")
