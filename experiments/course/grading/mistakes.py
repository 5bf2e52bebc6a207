"""A page for the staff: each mutant in words, its text, and which tests see it. It holds solutions."""
import collections, os


def task_of(seen):
    """The task that most of the tests belong to that see a mutant; the lowest of equals."""
    tasks = collections.Counter(case["task"] for case in seen)
    return max(sorted(tasks), key=tasks.get) if seen else 0


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def code(text):
    return f"`` {cell(text)} ``" if text.split() else "nothing"


def difference(old, new, around=24, most=110):
    """Where two texts differ, with some of what stands around it."""
    old, new = " ".join(old.split()), " ".join(new.split())
    begin = len(os.path.commonprefix([old, new]))
    end = min(len(os.path.commonprefix([old[::-1], new[::-1]])), len(old) - begin, len(new) - begin)
    begin = 0 if begin <= around else max(0, old.rfind(" ", 0, begin - around + 1))
    stops = [(text + " ").find(" ", len(text) - max(0, end - around)) for text in (old, new)]
    return [code(text[begin:stop] if stop - begin <= most else text[begin:begin + most] + " …")
            for text, stop in zip((old, new), stops)]


def page(assignment, found, equivalent, memory):
    """`found`: (name, right text, wrong text, cases that see it)."""
    count = lambda public: sum(case["public"] == public for case in assignment.cases)
    hidden_only = sum(not any(case["public"] for case in seen) for *_, seen in found)
    lines = [f"# {assignment.name}: typical mistakes", "", "For the staff alone: it holds solutions and "
             f"names hidden tests. {len(found)} wrong forms of `{assignment.source.name}`, each run against "
             f"{count(True)} public and {count(False)} hidden tests; {hidden_only} are seen by hidden tests "
             "only (0 in the second column). The last column is the first test that tells, a public one "
             "where there is one. Made by `course mutate --mistakes`."]
    for task in sorted({task_of(seen) for *_, seen in found}):
        lines += ["", f"## Task {task}" if task else "## Seen by no test", "",
                  "| mistake | public | hidden | right text | wrong text | told by |",
                  "|---|---|---|---|---|---|"]
        for name, old, new, seen in found:
            if task_of(seen) == task:
                public = [case for case in seen if case["public"]]
                right, wrong = difference(old, new)
                lines.append(f"| {cell(name)} | {len(public)} | {len(seen) - len(public)} | {right} | "
                             f"{wrong} | {cell((public or seen or [{'name': 'no test'}])[0]['name'])} |")
    if memory:
        lines += ["", "## Misuse of tensors", "", "Right numbers by luck; `./check` and the grader tell:", "",
                  "| mistake | what is said |", "|---|---|"]
        lines += [f"| {cell(name)} | {cell(said)} |" for name, said, _ in memory]
    if equivalent:
        lines += ["", "## No mistakes", "", "What looks wrong and is not, as far as any test can tell:", ""]
        lines += [f"- {cell(name)}: {cell(reason)}" for name, reason in equivalent]
    return "\n".join(lines) + "\n"
