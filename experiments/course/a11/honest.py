"""Honest submissions: a layer, its runs, its claim, and a report written from them."""
import json, os, pathlib, shutil, subprocess
import course

HERE = pathlib.Path(__file__).parent
LAYERS = ["powernorm", "pixelnorm", "rezero"]  # the first is the reference
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
SIGNAL_FLAGS = ["--norm", "mine", "--depth", "8", "--width", "128", "--batch", "64", "--init", "he_normal",
                "--loss", "random", "--seeds", "5", "--dtype", "f64"]


def built(layer, prefix, tree):
    assignment = course.Assignment("a11")
    course.release(assignment, tree)
    path = assignment.source if layer == LAYERS[0] else HERE / f"alternatives/{layer}.cpp"
    (tree / "a11.cpp").write_text(assignment.source_of(path))
    for command in (["cmake", "-G", "Ninja", "-S", tree, "-B", tree / "build",
                     f"-DCMAKE_PREFIX_PATH={prefix}"],
                    ["cmake", "--build", tree / "build", "--target", "studies"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


def flags_of(program, prefix, build):
    """The words of an honest run, but for --out."""
    report = course.Assignment("a11").checker.report
    return {"decay_study": [build / program, *SIGNAL_FLAGS],
            "train_lm": [build / program, "--norm", "mine", *report.MODEL_FLAGS],
            "isobar": [f"{prefix}/bin/isobar", "verify", "claim.toml", "--programs", build]}[program]


def made(layer, prefix, tree):
    """The tree with all that is handed in; of the reference for None."""
    layer = layer or LAYERS[0]
    built(layer, prefix, tree)
    shutil.copy(HERE / f"honest/{layer}.toml", tree / "claim.toml")
    for program, run, change in (("decay_study", "signal", []), ("train_lm", "lm", []),
                                 ("train_lm", "lm_rmsnorm", ["--norm", "rmsnorm"]), ("isobar", "claim", [])):
        words = flags_of(program, prefix, tree / "build")
        if change:
            words[1:3] = change
        subprocess.run([*words, "--out", f"runs/{run}"], check=True, cwd=tree, stdout=subprocess.DEVNULL,
                       env=ENVIRONMENT)
    written(layer, tree, course.Assignment("a11").checker.report)
    return tree


def written(layer, tree, report):
    """report.md, each value with five digits."""
    summaries = {
        name: json.loads((tree / name).read_text()) for name in report.FILES if name.endswith(".json")}
    lines = [f"layer: {layer}", f"verdict: {summaries[report.CLAIM]['claims'][0]['verdict']}", "",
             "| what | value | file | path |", "|---|---|---|---|"]
    for what, file, path in [row for task in (2, 3, 4) for row in report.required(task, summaries)]:
        value = report.at(summaries, file, path)
        lines.append(f"| {what} | {value if isinstance(value, int) else format(value, '.5g')} | {file} | "
                     f"{path} |")
    (tree / "report.md").write_text("\n".join(lines) + "\n")
