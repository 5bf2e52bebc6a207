#!/usr/bin/env python3
"""Prints full.json: the verdicts of a finished `isobar verify --full`, with the day, for those that later runs leave open.

    experiments/claims/keep_full.py runs/verify >experiments/claims/full.json
"""
import datetime
import json
import os
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)
path = os.path.join(sys.argv[1], "summary.json")
with open(path, encoding="utf-8") as file:
    summary = json.load(file)
if summary.get("scale") != "full":
    sys.exit(f"{path}: not a run of isobar verify --full")
undone = [run["name"] for run in summary["runs"] if not run["done"]]
if undone:
    sys.exit(f"{path}: these runs were not made: {', '.join(undone)}")
day = datetime.date.fromtimestamp(os.path.getmtime(path)).isoformat()
fields = ("verdict", "reason", "reason_zh")
part_fields = ("says", "wanted", "measured", "outcome")
claims = {}
for claim in summary["claims"]:
    claims[claim["id"]] = {field: claim[field] for field in fields}
    claims[claim["id"]]["parts"] = [{field: part[field] for field in part_fields} for part in claim["parts"]]
cpu = summary["environment"].get("cpu", "")
json.dump({"date": day, "cpu": cpu, "claims": claims}, sys.stdout, ensure_ascii=False, indent=1)
print()
