"""Computes every number of every handout again, from what the reference answers.

After a paragraph or table stands a comment, which a student's tree does not get:

    The first output is 1.6667, the row's neighbours get 3/54.
    <!-- 1.6667 = layer_norm(X)[0]; 3/54 = dx(X)[1]; given 0.5 -->

Left of "=" are texts as printed, as many as the expression on the right has values; an expression may use
what aN/study.py defines, where ask(call, **inputs) is the reference's answer. "given" names numbers that are
chosen, not found. Every number with a point or a fraction bar must be in the comment that follows it. A
number that differs, or that nothing computes, is a line. So is a picture that the reference would draw
otherwise.

Each blank has an answer in the comment that follows it, in the blanks' order. "answer = expression" is a value,
"answer formula = expression" a formula whose value must be that of the expression, "answer own" is what students
find by themselves; "let name = expression" defines what formulas use.

Exit code: 0 when all is right, 1 when something is not, 2 for wrong usage."""
import fractions, math, pathlib, re, subprocess, tempfile
import chart, course, marked, ranks, tensors

WORDS = {"--draw": dict(action="store_true", help="draws the pictures anew"),
         "--change": dict(nargs=2, metavar=("OLD", "NEW"),
                          help="changes the references' source: then numbers must be wrong"),
         "--constants": dict(action="store_true", help="changes each constant of the references, one at a "
                             "time, and tells which changes leave the handout right"), }
COMMENT = re.compile(r"<!--(.*?)-->\n?", re.S)
PRINTED = re.compile(r"(?<![\w.])\d+(?:\.\d+|/\d+(?![\w.]))")

BLANK = "______"
SECONDS = 60  # for one question


def stretches(text):
    """(text, the comment after it, the comment's line)"""
    start = 0
    for comment in COMMENT.finditer(text):
        yield text[start:comment.start()], comment[1], text[:comment.start()].count("\n") + 1
        start = comment.end()
    yield text[start:], "", text.count("\n")


def without_comments(text):
    return COMMENT.sub("", text)


class Reference:
    """The reference solution of an assignment, built when it is first asked."""

    def __init__(self, name, prefix, folder, change=None):
        self.name, self.prefix, self.change, self.known = name, prefix, change, {}
        self.tree = pathlib.Path(folder) / "tree"
        self.driver = self.tree / "build/driver"

    def build(self):
        assignment = course.Assignment(self.name)
        course.release(assignment, self.tree)
        source = assignment.source.read_text()
        if self.change and self.change[0] not in source:
            raise course.Usage(f"wanted a text of {assignment.source.name}, got '{self.change[0]}'")
        self.put(source.replace(*self.change) if self.change else source)

    def put(self, source):
        if not self.tree.exists():
            self.build()
        self.known = {}
        (self.tree / f"{self.name}.cpp").write_text(source)
        course.built(self.tree, self.prefix)

    def ask(self, call, **inputs):
        """Tensors by name; the same question is asked once."""
        if not self.driver.exists():
            self.build()
        request = tensors.request(call, inputs)
        if request not in self.known and "ranks" in inputs:
            case = {"call": call, "inputs": {name: tensors.array(value) for name, value in inputs.items()}}
            self.known[request] = ranks.Local([self.driver], [case], 60).results[0]
        if request not in self.known:
            done, data = tensors.asked([self.driver], request, stdout=subprocess.DEVNULL, check=True,
                                       timeout=SECONDS)
            if done is None:
                raise course.Usage(f"{call}: wanted an answer within {SECONDS} s")
            self.known[request] = tensors.answer(data)
        found, error = self.known[request]
        if error is not None:
            raise course.Usage(f"{call}: {error}")
        return found


def constants(source):
    """(line, text of the line, the whole source with this one constant changed) of each constant in a
    solution: decimals, whole numbers from 2 on, and a 1 that something is divided by, added to or taken from;
    not extents, and not what only checks."""
    lines = source.split("\n")
    inside = {number for begin, end, _ in marked.solutions(source)
              for number in range(source.count("\n", 0, begin), source.count("\n", 0, end))}
    for number, line in enumerate(lines):
        code = line.partition("//")[0]
        for found in re.finditer(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)(?![\w.])",
                                 code) if number in inside and "check(" not in code else []:
            before, text, after = code[:found.start()], found[0], code[found.end():]
            one = text == "1" and re.match(r" [-+*/] ", after)
            extent = re.search(r"size\(-?$|\{[\w, ]*$", before) and re.match(r"[\w, ]*[)}]", after)
            if float(text) == 0 or text == "1" and not one or text.isdigit() and extent or before.count(
                    '"') % 2:
                continue
            other = str(int(text) + 1) if text.isdigit() else repr(float(text) * 1.25)
            yield number + 1, line.strip(), "\n".join([*lines[:number], before + other + line[found.end():],
                                                       *lines[number + 1:]])


def unseen(reference, text):
    """The constants of a reference that may change unseen by its handout: (how many are seen, lines)."""
    lines, seen = [], 0
    source = (course.ROOT / reference.name / f"{reference.name}.cpp").read_text()
    listed = [(source[:source.index(old)].count("\n") + 1, old,
               source.replace(old, new)) for old, new in space_of(reference).get("CHANGES", [])]
    for number, line, changed in [*constants(source), *listed]:
        try:
            reference.put(changed)
            space = space_of(reference)
            wrong = faults(text, space)[0] or pictures(reference.name, space, False)
        except (course.Usage, SyntaxError, subprocess.SubprocessError, ArithmeticError, ValueError,
                AssertionError) as e:
            wrong = [str(e)]
        seen += bool(wrong)
        lines += [] if wrong else [f"{reference.name}.cpp:{number}: a constant changes unseen: {line}"]
    return seen, lines


def plain(text):
    return text.replace("−", "-").replace("{,}", "")


def value_of(text):
    """(the number a text prints, the most by which rounding may have moved it)"""
    text = plain(text)
    if "/" in text:
        return float(fractions.Fraction(text)), 1e-9
    digits, _, exponent = text.partition("e")
    after = len(digits.partition(".")[2])
    return float(text), 0.5000001 * 10.0 ** (int(exponent or 0) - after)


def answers(comment, space):
    """(text, what is wrong with it or None) of each blank before a comment."""
    space, flat = dict(space), lambda value: list(value) if isinstance(value, (list, tuple)) else [value]
    for item in map(str.split, comment.split(";")):
        if item[:1] == ["let"]:
            exec(" ".join(item[1:]), space)
        if item[:1] != ["answer"]:
            continue
        formula, _, expression = " ".join(["", *item[1:]]).partition(" = ")
        formula = formula.strip()
        if formula == "own":
            yield "the student's own", None
            continue
        found = flat(eval(expression.strip(), space))
        given = flat(eval(formula, space)) if formula else found
        same = len(given) == len(found) and all(
            a == b if isinstance(a, str) else math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-9)
            for a, b in zip(given, found))
        yield (formula.replace("**", "^") or ", ".join(v if isinstance(v, str) else f"{v:.6g}" for v in found),
               None if same else f"the answer {formula} is {given}, {expression.strip()} is {found}")


def faults(text, space):
    """What is wrong with a handout's numbers and answers, a line each; and how many numbers are right."""
    wrong, right = [], 0
    for printed, comment, line in stretches(text):
        told = list(answers(comment, space))
        wrong += [f"line {line}: {fault}" for _, fault in told if fault]
        if len(told) != printed.count(BLANK):
            wrong.append(f"line {line}: {printed.count(BLANK)} blanks before it, {len(told)} answers")
        covered, printed = set(), plain(printed)
        for item in filter(str.strip, comment.split(";")):
            words, equals, expression = item.partition("=")
            names = words.split()
            if names[0] in ("answer", "let"):
                continue
            if not equals:
                covered |= set(map(plain, names[1:])) if names[0] == "given" else {
                    wrong.append(f"line {line}: {item.strip()} is no equation")}
                continue
            found = eval(" ".join(expression.split()), space)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            if len(found) != len(names):
                wrong.append(
                    f"line {line}: {len(names)} numbers are printed, {expression.strip()} has {len(found)}")
                continue
            for name, exact in zip(names, found):
                value, room = value_of(name)
                covered.add(plain(name).lstrip("-"))
                if not re.search(rf"(?<![\w.]){re.escape(plain(name).lstrip('-'))}(?![\d/]|\.\d)", printed):
                    wrong.append(f"line {line}: the text before it does not print {name}")
                elif math.isnan(exact) or abs(value - exact) > room:
                    wrong.append(
                        f"line {line}: {name} is printed, {exact:.6g} is right ({expression.strip()})")
                else:
                    right += 1
        for name in PRINTED.findall(re.sub(r"`[^`\n]*`|\]\([^)]*\)|https?:\S*|arXiv:\S*", "", printed)):
            if name not in covered:
                wrong.append(f"line {line}: nothing computes {name}, printed before")
    return wrong, right


def space_of(reference):
    if not (course.ROOT / reference.name / "study.py").exists():
        return {}
    module = course.module_of(reference.name, "study.py")
    module.ask = reference.ask
    return vars(module)


def pictures(name, space, draw):
    """Draws an assignment's charts, or tells which are drawn otherwise by now, by more than a pixel."""
    wrong = []
    for file, drawn in (space["pictures"]() if "pictures" in space else {}).items():
        path = course.ROOT / name / file
        if draw:
            path.write_text(drawn)
        kept = path.read_text() if path.exists() else ""
        number = r"-?\d+(?:\.\d+)?"
        apart = [abs(float(a) - float(b)) for a, b in zip(re.findall(number, kept),
                                                          re.findall(number, drawn))]
        if re.sub(number, "0", kept) != re.sub(number, "0", drawn) or max(apart, default=0) > 1:
            wrong.append(f"{file} is drawn otherwise by now; --draw draws it anew")
    return wrong


def studied(space):
    """What is wrong with the study that a student's ./study runs; here the reference runs it. One that wants
    arguments is left out."""
    wrong = []
    for drawn in space["charts"](space["ask"]) if "charts" in space and "ARGUMENTS" not in space else []:
        if isinstance(drawn, str):
            continue
        lost = [name for name, line in drawn["curves"] if not line
                or not all(math.isfinite(v) for point in line for v in point)]
        if lost or not (chart.text(**drawn) and chart.svg(**drawn)):
            wrong.append(f"the study's chart '{drawn['title']}' has no finite curve of {lost}")
    return wrong


def main(arguments):
    bad = 0
    for name in arguments.names or course.NAMES:
        with tempfile.TemporaryDirectory() as folder:
            reference = Reference(name, arguments.prefix, folder, arguments.change)
            text = (course.ROOT / name / "handout.md").read_text()
            if arguments.constants:
                seen, wrong = unseen(reference, text)
                good, said = seen > 0, f"{seen} of {seen + len(wrong)} changed constants make its handout wrong"
            else:
                space = space_of(reference)
                wrong, right = faults(text, space)
                wrong += pictures(name, space, arguments.draw) + ([] if arguments.change else studied(space))
                wrong = [f"{name}/handout.md: {fault}" for fault in wrong]
                good, said = not wrong, f"{right} numbers of its handout are right"
        print("\n".join([*wrong, f"{'ok  ' if good else 'FAIL'} {name}: {said}"]), flush=True)
        bad += not good
    return 1 if bad else 0
