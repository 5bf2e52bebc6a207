"""Grades the graders. For each assignment the reference and every alternative must pass all cases, and every
mutant of the reference must fail: some hidden case always, some public case in three of four. Prints a table
row each. Exit code: 0 when that holds.

With --sample N it takes N mutants of each assignment, drawn by --seed, and asks for hidden cases only;
without a seed it draws one, and prints REPLAY=… with what repeats it. With --mistakes it prints a page for
the staff instead: each mutant in words, its text, and which tests see it."""
import concurrent.futures, itertools, pathlib, random, re, subprocess, tempfile
import course, mistakes, ranks, tensors

WORDS = {"--only": dict(default="", metavar="TEXT", help="mutants whose name holds this"),
         "--sample": dict(type=int, metavar="N", help="only so many mutants of each assignment"),
         "--seed": dict(type=int, help="of the sample"),
         "--mistakes": dict(action="store_true", help="print a page of typical mistakes for the staff"), }
SECONDS = 600  # for all hidden or all public cases of one variant: only an endless loop takes so long
SLOW = "not done in time"


class Bench:
    """One program of many variants of one assignment's source. Each stands, with the header and the driver,
    in a namespace of its own, and the first argument chooses: what they include is compiled once, and a
    variant costs half a second."""

    def __init__(self, assignment, prefix, folder, variants):
        self.assignment, self.labels = assignment, list(variants)
        name, tree = assignment.name, pathlib.Path(folder) / "tree"
        course.release(assignment, tree)
        header, driver = (tree / f"{name}.h").read_text(), (tree / "driver.cpp").read_text()
        includes = {'#include "tensors.h"': None, '#include "driver.h"': None}
        parts = []
        for number, text in enumerate(variants.values()):
            parts.append(f"namespace v{number} {{")
            for file, body in ((f"{name}.h", header), (f"variant {self.labels[number]}", text),
                               ("driver.cpp", driver)):
                includes.update({line: None for line in body.split("\n") if line.startswith("#include <")})
                label = file.replace("\\", "").replace('"', "'")
                parts += [f'#line 1 "{label}"', re.sub(r"(?m)^#(include|pragma).*$", "", body)]
            parts.append("}")
        choices = "".join(f"  if (choice == {n}) return v{n}::main();\n" for n in range(len(variants)))
        (tree / "driver.cpp").write_text(
            "\n".join([*includes, *parts, '#line 1 "main"', "#include <cstdlib>",
                       "int main(int, char** words) {", "  const int choice = std::atoi(words[1]);",
                       choices + "  return 9;", "}"]))
        (tree / f"{name}.cpp").write_text((tree / "driver.cpp").read_text())  # which may be watched
        (tree / "driver.cpp").write_text("")
        sanitize = "ON" if assignment.watched else "OFF"
        self.program = course.built(tree, prefix, f"-DSANITIZE={sanitize}", "-DCMAKE_CXX_FLAGS=-w") / "driver"

    def faults(self, label):
        """What is wrong with public cases, and with hidden ones: lists of lines."""
        return [self.confirmed(label, [c for c in self.assignment.driven() if c["public"] == public])
                for public in (True, False)]

    def confirmed(self, label, cases):
        """All cases in one process, which is quick; then the first that fails must fail by itself, as `grade`
        runs it: a static that one case leaves to the next proves nothing."""
        faults, reached = self.run(label, cases)
        for case, fault in faults:
            alone = [(case, fault)] if fault == SLOW else self.run(label, [case])[0]
            if alone:
                return [f"{case['name']}: {fault}" for case, fault in alone]
        if reached < len(cases):
            return self.confirmed(label, cases[reached:])
        # Other cases' calls may shadow the call before a case's own: these are run by themselves, too.
        alone = [fault for case in cases if "warm" in case["inputs"] for fault in self.run(label, [case])[0]]
        return [f"{case['name']}: {fault}" for case, fault in alone]

    def seen(self, label):
        """All cases that see a variant. Where one ends the program, another begins with the next."""
        cases, seen = self.assignment.driven(), []
        while cases:
            faults, reached = self.run(label, cases)
            seen += [case for case, _ in faults]
            cases = cases[reached:] if not faults or faults[-1][1] != SLOW else []
        return seen

    def run(self, label, cases):
        """(case, what is wrong with it) of those that fail, and how many were reached: of the first cases, as
        long as either one process or several answer. The one that ends the program is the last."""
        of_many = lambda case: ranks.ranks_of(case) > 0
        cases = list(itertools.takewhile(lambda case: of_many(case) == of_many(cases[0]), cases))
        if cases and of_many(cases[0]):
            return self.run_ranks(label, cases)
        stdin = b"".join(tensors.request(c["call"], c["inputs"]) for c in cases)
        done, data = tensors.asked([self.program, str(self.labels.index(label))], stdin, timeout=SECONDS,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = SLOW if done is None else f"ended with {done.returncode}" if done.returncode else None
        found = tensors.answers(data)
        faults = [(case, course.fault(case, *answer)) for case, answer in zip(cases, found)]
        reached = len(found)
        if end or reached < len(cases):
            reached = min(reached + 1, len(cases))
            faults.append((cases[reached - 1], end or "ended before it had answered"))
        return [(case, fault) for case, fault in faults if fault], reached

    def run_ranks(self, label, cases):
        """As run(), of cases that several processes answer."""
        done = ranks.Local([self.program, str(self.labels.index(label))], cases, SECONDS / 10)
        faults = [(case, course.fault(case, *result)) for case, result in zip(cases, done.results)]
        if len(faults) < len(cases) and not faults[-1][1]:
            faults[-1] = (faults[-1][0], "a rank ended after its answer")
        return [(case, fault) for case, fault in faults if fault], len(faults)


def mutants_of(assignment):
    """(name, text) of each mutant, the equivalents' (name, reason), and the part of them that public cases
    must see. A row of MUTANTS is a name and the change of the reference; several mutants of one place are
    "name; name | «right→wrong→wrong»"."""
    module, right = course.module_of(assignment.name, "mutants.py"), assignment.source.read_text()
    mutants = [(name, course.changed(right, text, number, f"{assignment.name}, mutant '{name}'"))
               for names, text in course.rows_of(module.MUTANTS, 2)
               for number, name in enumerate(names.split("; "), 1)]
    return mutants, getattr(module, "EQUIVALENT", []), getattr(module, "SEEN", 0.75)


def print_mistakes(name, key, prefix):
    assignment, module = course.Assignment(name, key), course.module_of(name, "mutants.py")
    mutants, equivalent, _ = mutants_of(assignment)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        bench = Bench(assignment, prefix, folder, dict(mutants))
        seen = pool.map(bench.seen, bench.labels)
        found = [(what, assignment.source.read_text(), wrong,
                  cases) for (what, wrong), cases in zip(mutants, seen)]
    print(mistakes.page(assignment, found, equivalent, getattr(module, "MEMORY", [])), flush=True)


def check_words(arguments):
    if arguments.sample is None and arguments.seed is not None:
        raise course.Usage("--seed is of a sample: wanted --sample N too")
    if arguments.sample is not None and (arguments.sample < 1 or arguments.only):
        raise course.Usage("wanted --sample 1 or more, and no --only beside it")
    if arguments.mistakes and (arguments.sample or arguments.only):
        raise course.Usage("--mistakes is of all mutants: wanted neither --sample nor --only beside it")


def graded(assignment, arguments, seed):
    """Prints an assignment's row of the table, and above it what is wrong. Whether all holds."""
    right = assignment.solutions()
    mutants, equivalent, seen = mutants_of(assignment)
    mutants = [m for m in mutants if arguments.only in m[0]]
    if arguments.sample:
        mutants = random.Random(f"{seed} {assignment.name}").sample(
            mutants, min(arguments.sample, len(mutants)))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        bench = Bench(assignment, arguments.prefix, folder, right | dict(mutants))
        losses = list(pool.map(lambda name: sum(bench.faults(name), []), right))
        found = list(pool.map(lambda mutant: [bool(faults) for faults in bench.faults(mutant[0])], mutants))
    for name, lost in zip(right, losses):
        print("".join(f"{name} loses {line}\n" for line in lost), end="")
    for (what, _), (by_public, by_hidden) in zip(mutants, found):
        if not by_hidden:
            print(f"mutant '{what}' lives")
        elif not by_public:
            print(f"mutant '{what}' is seen by hidden tests only")
    lossless, public, hidden = losses.count([]), sum(p for p, _ in found), sum(h for _, h in found)
    print(f"| {assignment.name} | {len(assignment.cases)} ({len(assignment.public())}) | {len(mutants)} | "
          f"{hidden} | {public} ({100 * public // max(1, len(mutants))} %) | {len(equivalent)} | "
          f"{lossless - 1} of {len(right) - 1} |", flush=True)
    # A part of the mutants is too few for the rules of a whole set.
    few = len(mutants) < 20 or len(right) < 2 or public < seen * len(mutants)
    return lossless == len(right) and hidden == len(mutants) and (
        arguments.only or arguments.sample or not few)


def main(arguments):
    check_words(arguments)
    names = arguments.names or course.NAMES
    if arguments.mistakes:
        for name in names:
            print_mistakes(name, arguments.key, arguments.prefix)
        return 0
    seed = random.randrange(10 ** 6) if arguments.seed is None else arguments.seed
    if arguments.sample:
        print(f"REPLAY='--sample {arguments.sample} --seed {seed}'\n", flush=True)
    print("| assignment | cases (public) | mutants | killed by hidden | by public | equivalent | "
          "alternatives at 100 % |")
    print("|---|---|---|---|---|---|---|", flush=True)
    return 0 if all(
        [graded(course.Assignment(name, arguments.key), arguments, seed) for name in names]) else 1
