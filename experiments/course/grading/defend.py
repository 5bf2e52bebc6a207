"""Asks three questions on a student's own lines: a line of the submission is changed in one place, as with = for +=. Which public
test that passes now fails first, and what does it say? The answers are computed: the changed programs are built and run,
confined as grade does, and an answer that two runs do not agree on is not asked for. Changes that no public test notices are
left out, and each question is on another function, as long as there are so many.

NAME.questions.md is the student's page, NAME.answers.md the teacher's; both are in the folder --out. The same submission gets
the same questions, with another --key others.

Exit code: 0 when there are three questions for each submission, 1 when there are fewer, 2 for wrong usage."""
import hashlib, hmac, pathlib, random, re, tempfile
import changes, classes, course, grade, marked, sandbox, tensors
from folders import printable

WORDS = {"submission": dict(nargs="+"),
         "--out": dict(default="defend", type=pathlib.Path, metavar="DIR", help="where the pages are written (defend)"),
         "--confine": dict(choices=[*sandbox.CONFINED, "any"], help="by what (bwrap; any: else container)"),
         "--build-seconds": dict(type=float, default=180, help="for building each program (180)")}
QUESTIONS = 3
FUNCTIONS, TRIES = 6, 3  # so many functions are changed, each so often
SECONDS = 30             # for the public tests of a program, in one process
ASSIGNMENTS = [*(f"a{number}" for number in range(1, 9)), "a12"]


class Program:
    """A source and changes of it, in one program that is watched by sanitizers, as ./check builds it; it runs the public tests."""

    def __init__(self, assignment, prefix, work, seconds):
        self.assignment, self.prefix, self.work, self.seconds = assignment, prefix, work, seconds
        self.tree, self.place, self.driver = work / "tree", course.own_folder(work / "work"), work / "watched"
        self.scratch, self.cases = course.own_folder(work / "scratch"), [c for c in assignment.driven() if c["public"]]
        course.release(assignment, self.tree)
        cmake = self.tree / "CMakeLists.txt"  # what the compiler has seen is kept for grade, not for this
        cmake.write_text(cmake.read_text().partition("# The compiler keeps")[0])
        complaint = course.configure(self.tree, prefix, self.place, seconds)
        if complaint:
            raise course.Usage(f"cannot configure a build: {complaint.splitlines()[-1]}")

    def build(self, text, made):
        """Those of the changes `made` that compile. Throws Usage where the source does not."""
        file = self.assignment.source.name
        while True:
            (self.tree / file).write_text(changes.all_in_one(text, made, file))
            complaint = course.make(self.tree, self.prefix, self.place, "watched", self.seconds)
            if complaint is None:
                self.driver.write_bytes((self.place / "build/watched").read_bytes())
                self.driver.chmod(0o755)
                return made
            wrong = {int(number) for number in re.findall(rf"(?m)^[^ \n]*\bv(\d+)/{re.escape(file)}:\d+:\d+: (?:fatal )?error: ", complaint)}
            if not wrong:
                first = next((line for line in complaint.splitlines() if "error" in line), complaint)
                raise course.Usage(f"the submission does not build: {first.strip()[:300]}; ./check says more")
            made = [change for number, change in enumerate(made, 1) if number not in wrong]

    def first_fault(self, number, cases):
        """(the first test that fails with this change, what is wrong with it), or None. All are run in one process, which is
        quick."""
        requests = b"".join(tensors.request(case["call"], case["inputs"]) for case in cases)
        done = sandbox.run([str(self.driver)], requests, str(self.scratch), [str(self.driver)], sandbox.Limits(
            seconds=SECONDS, memory=grade.MEMORY, address_space=False), environment=self.environment(number),
            system=sandbox.alone(str(self.driver)))
        try:
            answers = tensors.answers(done.answer)
        except ValueError:
            answers = []
        for case, answer in zip(cases, answers):
            fault = course.fault(case, *answer)
            if fault:
                return case, printable(fault)
        ended = cases[len(answers):][:1]
        return (ended[0], self.fault(number, ended[0])) if ended else None

    def fault(self, number, case):
        """What ./check says of one test, which runs in a process of its own."""
        found = grade.fault_of(case, self.driver.with_name("watched"), self.scratch, sandbox.Limits(
            seconds=SECONDS, memory=grade.MEMORY, address_space=False), self.environment(number))
        return found and printable(found[1])

    @staticmethod
    def environment(number):
        return {**sandbox.WATCHED, "CHANGE": str(number)}


def drawn(text, given, key):
    """Some changes of some functions, function by function."""
    draw = random.Random(hmac.new(key, text.encode(), hashlib.sha256).digest())
    functions = {}
    for change in changes.of_source(text, given):
        functions.setdefault(change.body, {}).setdefault(change.line, []).append(change)
    # Of each line one change, and of more than so many functions some.
    of_lines = [[draw.choice(of_line) for of_line in lines.values()] for lines in functions.values()]
    of_lines = draw.sample(of_lines, min(FUNCTIONS, len(of_lines)))
    return [change for found in of_lines for change in draw.sample(found, min(TRIES, len(found)))]


def asked(program, text, given, key):
    """[(change, the first test that fails, what it says)], at most QUESTIONS: of a function each, then of any."""
    made = program.build(text, drawn(text, given, key))
    passing = [case for case in program.cases if not program.fault(0, case)]
    found = []
    for again in (False, True):
        for number, change in enumerate(made, 1):
            functions, lines = ({getattr(other, part) for other, *_ in found} for part in ("body", "line"))
            if len(found) < QUESTIONS and change.line not in lines and (again or change.body not in functions):
                answer = answered(program, number, passing)
                found += [(change, *answer)] if answer else []
    return found


def answered(program, number, passing):
    """(the first test that fails, what it says) of those that pass without the change; None where nothing notices it, it has
    no end, or two runs differ."""
    first = program.first_fault(number, passing)
    if not first or not first[1] or "not done after" in first[1]:
        return None
    # The second run: each test in a process of its own, as ./check does.
    before = passing[:passing.index(first[0])]
    same = program.fault(number, first[0]) == first[1] and not any(program.fault(number, case) for case in before)
    return first if same else None


def question(number, file, change):
    return [f"{number}. Line {change.line} of `{file}`, in `{change.function}`, is", "", f"       {change.before}", "",
            f"   With `{change.new}` for `{change.old}` it is", "", f"       {change.after}", "",
            "   Which public test that passes now fails first, and what does it say? Why?", ""]


def pages(assignment, label, found):
    """(the student's page, the teacher's)"""
    file = assignment.source.name
    asked = [f"# {assignment.name}: your own lines, {label}", ""]
    answers = [f"# {assignment.name}: answers on the lines of {label}", "", "For the staff alone. Two runs gave each of them.", ""]
    for number, (change, case, said) in enumerate(found, 1):
        asked += question(number, file, change)
        answers += question(number, file, change)
        indented = said.replace("\n", "\n       ")
        answers += [f"   **Answer**: task {case['task']}, {case['name']}:", "", f"       {indented}", ""]
        answers += [f"   The test's hint: {case['hint']}.", ""] if case["hint"] else []
    missing = QUESTIONS - len(found)
    if missing:
        answers.append(f"{missing} of {QUESTIONS} questions could not be made: no other change that was tried is noticed by a "
                        "public test that passes now.\n")
    return "\n".join(asked), "\n".join(answers)


def main(arguments):
    assignment = arguments.assignment
    if assignment.name not in ASSIGNMENTS:
        raise course.Usage(f"wanted one of {', '.join(ASSIGNMENTS)}, got {assignment.name}: its lines are not the student's "
                           "own, or its tests run no function of one")
    submissions = classes.labels_of(assignment.name, arguments.submission)
    arguments.out.mkdir(parents=True, exist_ok=True)
    given = {line.strip() for line in marked.stubs(assignment.source.read_text(), assignment.source.name).split("\n")}
    few = False
    for label, submission in submissions.items():
        with tempfile.TemporaryDirectory(prefix="defend", ignore_cleanup_errors=True) as folder:
            work = pathlib.Path(folder)
            work.chmod(0o711)
            text = grade.submitted_file(assignment.source.name, submission).decode("utf-8-sig", errors="replace")
            grade.confine(assignment, arguments.key_file, arguments.prefix, arguments.confine, work)
            program = Program(assignment, arguments.prefix, work, arguments.build_seconds)
            found = asked(program, text, given, arguments.key)
        for word, page in zip(("questions", "answers"), pages(assignment, label, found)):
            (arguments.out / f"{label}.{word}.md").write_text(page)
        few |= len(found) < QUESTIONS
        print(printable(f"{label}: {len(found)} questions in {arguments.out / f'{label}.questions.md'}, "
                        f"answers in {arguments.out / f'{label}.answers.md'}"), flush=True)
    return 1 if few else 0
