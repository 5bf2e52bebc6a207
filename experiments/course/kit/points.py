"""What the tests of an assignment are worth, which of those that pass count, and a line for each task."""
import fractions

STUB = " is to be written here"
UNDERIVED = "a gradient counts where it passes the tests that no difference quotient passes"


def together(cases):
    """{task: its cases that must all pass for a third of its points}: no error's text, no clock, no report."""
    found = {}
    for i, case in enumerate(cases):
        if case["error"] is None and not case["times"] and case["call"] != "report":
            found.setdefault(case["task"], []).append(i)
    return {task: mine for task, mine in sorted(found.items()) if len(mine) > 1}


def third(points):
    """The tenths of a point that a task gives for all of its tests together."""
    return 10 * points // 3


def shares(points, cases):
    """How many tenths of a point each case is worth by itself, by weight; what rounding leaves goes to who lost
    most. A task's third is for all of its tests together, so that one mistake costs it, however few see it."""
    worth, thirds = [0] * len(cases), together(cases)
    for task in {case["task"] for case in cases}:
        mine = [i for i, case in enumerate(cases) if case["task"] == task]
        weights = [fractions.Fraction(cases[i]["weight"]) for i in mine]
        whole = 10 * points[task] - (third(points[task]) if task in thirds else 0)
        exact = [whole * w / sum(weights) for w in weights]
        left = whole - sum(map(int, exact))
        lost = sorted(range(len(mine)), key=lambda j: (int(exact[j]) - exact[j], j))
        for j, i in enumerate(mine):
            worth[i] = int(exact[j]) + (j in lost[:left])
    return worth


def counted(cases, faults):
    """The faults, and those of what passes and proves nothing. A gradient counts where it is derived, which its tests that
    no difference quotient passes tell. The answers of public tests, and of hidden ones that are
    the same for every key, can be written into the source: they count where a third of the same function's other tests
    pass. Whoever throws always is right where an error is wanted."""
    underived = {call for case, fault in zip(cases, faults) if fault for call in case["derives"]}
    faults = [fault or (UNDERIVED if case["call"] in underived and case["error"] is None and not case["times"] else None)
              for case, fault in zip(cases, faults)]
    drawn = {}
    for case, fault in zip(cases, faults):
        if not (case["known"] or case["times"] or case["call"] == "report") and case["error"] is None:
            drawn.setdefault(case["call"], []).append(not fault)
    by_heart = {call for call, passed in drawn.items() if 3 * sum(passed) < len(passed)}
    said = lambda case: ("a public test" if case["public"] else "a test that every term has") + (
        " counts where a third of the hidden tests of its function pass")
    faults = [fault or (said(case) if case["known"] and case["error"] is None and case["call"] in by_heart else None)
              for case, fault in zip(cases, faults)]
    right = {case["task"] for case, fault in zip(cases, faults) if case["error"] is None and not fault}
    return [fault if fault or case["error"] is None or case["task"] in right else "an error counts where "
            "another test of its task passes" for case, fault in zip(cases, faults)]


def is_stub(fault):
    """Whether a test fails because a function still is what the tree was handed out with."""
    return bool(fault) and STUB in fault


def lines(points, cases, faults):
    """A line for each task of these cases: how many of its tests pass, what they give, and which of its functions are
    not begun. Last, in one line, the tasks of which nothing is begun. `faults`: as counted() returns them."""
    worths, thirds, told, untouched = shares(points, cases), together(cases), [], []
    for task in sorted({case["task"] for case in cases}):
        mine = [i for i, case in enumerate(cases) if case["task"] == task]
        if all(is_stub(faults[i]) for i in mine):
            untouched.append(task)
            continue
        passed = [i for i in mine if not faults[i]]
        tenths = sum(worths[i] for i in passed)
        if task in thirds and not any(faults[i] for i in thirds[task]):
            tenths += third(points[task])
        stubs = dict.fromkeys(cases[i]["call"] for i in mine if is_stub(faults[i]))
        stubs = [call for call in stubs if all(is_stub(faults[i]) for i in mine if cases[i]["call"] == call)]
        told.append(f"task {task}: {len(passed)} of {len(mine)} pass, {tenths / 10:g} of {points[task]} points"
                    + (f"; {listed(stubs)} not begun" if stubs else ""))
    if untouched:
        told.append(f"task{'s' if len(untouched) > 1 else ''} {listed(untouched)} not begun, "
                    f"{sum(points[task] for task in untouched)} points")
    return told


def listed(words):
    """"1, 2 and 3"."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last
