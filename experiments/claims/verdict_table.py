#!/usr/bin/env python3
"""Prints tables of the verdicts in full.json, the last full run.

    experiments/claims/verdict_table.py                       the README's table: one part of some of the claims
    experiments/claims/verdict_table.py --study decay_study   all parts that this study measures
    experiments/claims/verdict_table.py --renew               writes the studies' tables into their pages
"""
import argparse
import json
import os
import pathlib
import re
import tomllib

# The part that stands for the claim, 0 the first.
ROWS = {"D01": 0, "D06": 0, "D12": 0, "D08": 0, "D09": 7, "D10": 0, "D13": 1, "D07": 1, "D18": 0, "D29": 2, "D36": 2, "D34": 2,
        "A13": 0, "B12": 3, "B13": 1, "F08": 3, "F10": 2, "F16": 5, "F20": 4, "G06": 0}

folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "full.json"), encoding="utf-8") as file:
    full = json.load(file)
texts = {}
for name in ("000", "001", "002", "003", "004", "005"):
    with open(os.path.join(folder, name + ".toml"), "rb") as file:
        texts[name] = tomllib.load(file)


def readme_table():
    says = {claim["id"]: (name, claim["says"]) for name, text in texts.items() for claim in text["claim"]}
    lines = ["| text, claim | says | measured | asked | verdict |", "|---|---|---|---|---|"]
    for claim_id, place in ROWS.items():
        text, sentence = says[claim_id]
        claim = full["claims"][claim_id]
        part = claim["parts"][place]
        lines.append(f"| {text} {claim_id} | {sentence} | {part['says']}: {part['measured']} | {part['wanted']} | "
                     f"{claim['verdict']} |")
    return "\n".join(lines) + "\n"


def row(*cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def study_table(study):
    """A row for each part that a run of this study measures; the claim's sentence stands in its first row."""
    lines = [f"Full run of {full['date']}, commit {full['commit']}, on {full['cpu']}; `experiments/claims/verdict_table.py --renew` writes this table.",
             "", "| claim | says | part | measured | asked | outcome |", "|---|---|---|---|---|---|"]
    for name, text in texts.items():
        for claim in text["claim"]:
            kept = full["claims"][claim["id"]]
            first = True
            for part, result in zip(claim.get("part", []), kept["parts"]):
                if text["run"][part["run"]]["study"] != study:
                    continue
                head = (f"{name} {claim['id']}: {kept['verdict']}", claim["says"]) if first else ("", "")
                lines.append(row(*head, part["says"], result["measured"], result["wanted"], result["outcome"]))
                first = False
    return "\n".join(lines) + "\n"


def renew():
    """Each page says where its table goes: <!-- verdicts: decay_study --> … <!-- end of verdicts -->."""
    block = re.compile(r"(<!-- verdicts: (\w+) -->\n).*?(<!-- end of verdicts -->)", re.S)
    for page in sorted(pathlib.Path(folder).parent.rglob("*.md")):
        old = page.read_text(encoding="utf-8")
        new = block.sub(lambda found: found[1] + study_table(found[2]) + found[3], old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(page)


def main():
    parser = argparse.ArgumentParser(description="Tables of the verdicts of the last full run.")
    parser.add_argument("--study", choices=sorted({run["study"] for text in texts.values() for run in text["run"].values()}))
    parser.add_argument("--renew", action="store_true", help="write the studies' tables into their pages")
    arguments = parser.parse_args()
    if arguments.renew:
        renew()
    else:
        print(study_table(arguments.study) if arguments.study else readme_table(), end="")


if __name__ == "__main__":
    main()
