#!/usr/bin/env python3
"""Prints full.json: all verdicts and judged values of a finished `isobar verify --full`, with the commit that was built, the
machine and the day, and the seconds that each run took, there and in a finished `isobar verify --quick`.

    experiments/claims/keep_full.py runs/full runs/quick COMMIT >experiments/claims/full.json
"""
import datetime
import json
import os
import sys

if len(sys.argv) != 4:
    sys.exit(__doc__)


def summary_in(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def finished(folder, scale):
    summary = summary_in(folder)
    if summary.get("scale") != scale:
        sys.exit(f"{folder}: not a run of isobar verify --{scale}")
    undone = [run["name"] for run in summary["runs"] if not run["done"]]
    if undone:
        sys.exit(f"{folder}: these runs were not made: {', '.join(undone)}")
    return summary


def seconds_of(folder, summary):
    return {run["name"]: round(summary_in(os.path.join(folder, run["folder"]))["timing"]["wall_s"], 1)
            for run in summary["runs"]}


folders = {"full": sys.argv[1], "quick": sys.argv[2]}
summaries = {scale: finished(folder, scale) for scale, folder in folders.items()}
full = summaries["full"]
day = datetime.date.fromtimestamp(os.path.getmtime(os.path.join(folders["full"], "summary.json"))).isoformat()
fields = ("verdict", "reason", "reason_zh")
part_fields = ("says", "run", "key", "wanted", "measured", "outcome", "value", "interval", "n", "theory")
claims = {}
for claim in full["claims"]:
    claims[claim["id"]] = {field: claim[field] for field in fields}
    claims[claim["id"]]["parts"] = [{field: part[field] for field in part_fields if part.get(field) is not None} for part in claim["parts"]]
seconds = {scale: seconds_of(folders[scale], summaries[scale]) for scale in ("quick", "full")}
machine = {field: full["environment"][field] for field in ("cpu", "threads", "compiler", "blas", "blas_core")}
json.dump({"date": day, "commit": sys.argv[3], **machine, "seconds": seconds, "claims": claims}, sys.stdout, ensure_ascii=False, indent=1)
print()
