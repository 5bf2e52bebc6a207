"""Honest submissions: a layer, its runs, its claim, and a report written from them."""
import json, os, subprocess
import course

# layer: (how the claim reads the paper's sentence, the net it is measured in, parts: what, key, rule, why). The
# first is the reference.
LAYERS = {
    "powernorm": (
        "in a deep net the gradient grows less from layer to layer than with batch normalization, with a "
        "signal of the same size", "--depth 8",
        [("growth of the squared gradient norm per layer", "output_grad_norm.squared_growth",
          'rule = "mean"\nat_most = 1.467', "batch normalization has π/(π − 1) = 1.467"),
         ("std after layer 8", "layer8.std_norm", 'rule = "mean"\nbetween = [0.9, 1.1]',
          "batch normalization has 1; a tenth to either side")]),
    "pixelnorm": (
        "after the layer a row of 128 channels has length 1, so that its numbers have mean square 1/128",
        "--depth 8",
        [("std after layer 8", "layer8.std_norm", 'rule = "mean"\nbetween = [0.08, 0.097]',
          "1/√128 = 0.0884; a tenth to either side. The formula divides by the root of the mean, not of the "
          "sum: 1 if that is what is meant")]),
    "rezero": (
        "with the gate every block is the identity at first: the signal neither grows nor shrinks",
        "--topology pre --depth 16",
        [("std after 16 blocks over that after the first", "std.last_over_first",
          'rule = "every_seed"\nbetween = [0.999999, 1.000001]', "an identity: nothing but rounding is left")])}
CLAIM = """[source]
id = "{layer}"
title = "unknown"
author = "unknown"
date = "unknown"
address = "unknown"
[run.net]
study = "decay_study"
flags = "--norm mine {net} --init he_normal --loss random --dtype f64"
quick = "--width 128 --batch 64 --seeds 20"
full = "--width 1024 --seeds 30"
[[claim]]
id = "C1"
quote = "{quote}"
says = "{says}"
"""
PART = """[[claim.part]]
says = "{}"
run = "net"
key = "{}"
{}
why = "{}"
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
SIGNAL_FLAGS = ("--norm mine --depth 8 --width 128 --batch 64 --init he_normal --loss random --seeds 5 "
                "--dtype f64").split()


def built(layer, prefix, tree):
    assignment = course.Assignment("a11")
    course.release(assignment, tree)
    right = assignment.solutions()
    (tree / "a11.cpp").write_text(right.get(layer, right["a11.cpp"]))
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


def claim_of(layer):
    says, net, parts = LAYERS[layer]
    quote = course.Assignment("a11").checker.report.SENTENCES[layer]
    return CLAIM.format(layer=layer, net=net, quote=quote, says=says) + "".join(
        PART.format(*part) for part in parts)


def made(layer, prefix, tree):
    """The tree with all that is handed in; of the reference for None."""
    layer = layer or next(iter(LAYERS))
    built(layer, prefix, tree)
    (tree / "claim.toml").write_text(claim_of(layer))
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
