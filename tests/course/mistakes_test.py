#!/usr/bin/env python3
"""mistakes_test.py SOURCE: the staff's page of typical mistakes has each mutant once, in a table that stands, and what sees it."""
import pathlib, re, sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "experiments/course/grading"))
import course, mistakes, mutate

for name in course.NAMES:
    assignment, module = course.Assignment(name), course.module_of(name, "mutants.py")
    # The first mutant is seen by nothing, the second by hidden cases only, the others by one case of each kind.
    public, hidden = ([case for case in assignment.cases if case["public"] == kind] for kind in (True, False))
    seen = lambda i: [] if i == 0 else hidden[:2] if i == 1 else [hidden[i % len(hidden)], public[i % len(public)]]
    mutants, equivalent, _ = mutate.mutants_of(assignment)
    found = [(what, assignment.source.read_text(), wrong, seen(i)) for i, (what, wrong) in enumerate(mutants)]
    page = mistakes.page(assignment, found, equivalent, getattr(module, "MEMORY", []))
    rows = [re.split(r"(?<!\\) ?\| ?", line)[1:-1] for line in page.splitlines() if re.search(r"\| \d+ \| \d+ \|", line)]
    told = {row[0]: (row[1:3], row[5]) for row in rows}
    assert all(len(row) == 6 for row in rows) and len(rows) == len(told) == len(found), (name, len(rows), len(found))
    words = [mistakes.cell(mutant[0]) for mutant in found]
    assert told[words[0]] == (["0", "0"], "no test") and page.count("## Seen by no test") == 1, name
    assert told[words[1]] == (["0", "2"], mistakes.cell(hidden[0]["name"])), told[words[1]]
    assert told[words[2]] == (["1", "1"], mistakes.cell(public[2 % len(public)]["name"])), told[words[2]]
    assert all(row[3] != row[4] for row in rows if "…" not in row[3] + row[4]), "right and wrong text differ"
    assert all(mistakes.cell(reason) in page for _, reason in equivalent), name
print(f"pages of typical mistakes of {', '.join(course.NAMES)}: right")
