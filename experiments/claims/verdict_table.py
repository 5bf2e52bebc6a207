#!/usr/bin/env python3
"""Prints the README's table: one part of some of the claims, as full.json has them.

    experiments/claims/verdict_table.py
"""
import json
import os
import tomllib

# The part that stands for the claim, 0 the first.
ROWS = {"D01": 0, "D06": 0, "D12": 0, "D08": 0, "D09": 7, "D10": 0, "D13": 1, "D07": 1, "D18": 3, "D29": 2, "D14": 1, "D20": 2,
        "A13": 0, "D21": 0, "C07": 0, "F08": 0, "F10": 2, "F16": 5, "F20": 4, "F21": 0}

folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "full.json"), encoding="utf-8") as file:
    full = json.load(file)["claims"]
says = {}
for name in ("000", "001", "002", "003", "004"):
    with open(os.path.join(folder, name + ".toml"), "rb") as file:
        for claim in tomllib.load(file)["claim"]:
            says[claim["id"]] = (name, claim["says"])
print("| text, claim | says | measured | asked | verdict |\n|---|---|---|---|---|")
for claim_id, place in ROWS.items():
    text, sentence = says[claim_id]
    part = full[claim_id]["parts"][place]
    print(f"| {text} {claim_id} | {sentence} | {part['says']}: {part['measured']} | {part['wanted']} | "
          f"{full[claim_id]['verdict']} |")
