"""The numbers of a handout: each is computed again, from what the reference answers.

After a paragraph or table stands a comment, which a student's tree does not get:

    The first output is 1.6667, the row's neighbours get 3/54.
    <!-- 1.6667 = layer_norm(X)[0]; 3/54 = dx(X)[1]; given 0.5 -->

Left of "=" are texts as printed, as many as the expression on the right has values; an expression may use what aN/handout_numbers.py
defines, where ask(call, **inputs) is the reference's answer. "given" names numbers that are chosen, not found. Every number
with a point or a fraction bar must be in the comment that follows it."""
import fractions, math, pathlib, re, subprocess, tempfile
import course, ranks, tensors

COMMENT = re.compile(r"<!--(.*?)-->\n?", re.S)
PRINTED = re.compile(r"(?<![\w.])\d+(?:\.\d+|/\d+(?![\w.]))")


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
        (self.tree / assignment.source.name).write_text(source.replace(*self.change) if self.change else source)
        for command in (["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.driver.parent, "-DSANITIZE=OFF", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                        ["cmake", "--build", self.driver.parent]):
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                raise course.Usage(f"the reference of {self.name} does not build:\n{done.stdout}")

    def ask(self, call, **inputs):
        """Tensors by name; the same question is asked once."""
        if not self.driver.exists():
            self.build()
        request = tensors.request(call, inputs)
        if request not in self.known and "ranks" in inputs:
            case = {"call": call, "inputs": {name: tensors.array(value) for name, value in inputs.items()}}
            self.known[request] = ranks.Local([self.driver], [case], 60).results[0]
        if request not in self.known:
            with tempfile.TemporaryFile() as out:
                subprocess.run(["sh", "-c", 'exec "$0" 3>&1 >/dev/null', self.driver], input=request, stdout=out, check=True)
                out.seek(0)
                self.known[request] = tensors.answer(out.read())
        found, error = self.known[request]
        if error is not None:
            raise course.Usage(f"{call}: {error}")
        return found


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


def faults(text, space):
    """What is wrong with a handout's numbers, a line each; and how many are right."""
    wrong, right, start = [], 0, 0
    stretches = []
    for comment in COMMENT.finditer(text):
        stretches.append((text[start:comment.start()], comment[1], text[:comment.start()].count("\n") + 1))
        start = comment.end()
    stretches.append((text[start:], "", text.count("\n")))
    for printed, comment, line in stretches:
        covered, printed = set(), plain(printed)
        for item in filter(str.strip, comment.split(";")):
            words, equals, expression = item.partition("=")
            names = words.split()
            if not equals:
                covered |= set(map(plain, names[1:])) if names[0] == "given" else {wrong.append(f"line {line}: {item.strip()} is no equation")}
                continue
            found = eval(expression, space)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            if len(found) != len(names):
                wrong.append(f"line {line}: {len(names)} numbers are printed, {expression.strip()} has {len(found)}")
                continue
            for name, exact in zip(names, found):
                value, room = value_of(name)
                covered.add(plain(name).lstrip("-"))
                if not re.search(rf"(?<![\w.]){re.escape(plain(name).lstrip('-'))}(?![\d/]|\.\d)", printed):
                    wrong.append(f"line {line}: the text before it does not print {name}")
                elif math.isnan(exact) or abs(value - exact) > room:
                    wrong.append(f"line {line}: {name} is printed, {exact:.6g} is right ({expression.strip()})")
                else:
                    right += 1
        for name in PRINTED.findall(re.sub(r"`[^`\n]*`|\]\([^)]*\)|https?:\S*|arXiv:\S*", "", printed)):
            if name not in covered:
                wrong.append(f"line {line}: nothing computes {name}, printed before")
    return wrong, right


_asked = None  # the reference whose handout is read


def ask(call, **inputs):
    """The answer of the reference whose handout is read, for aN/handout_numbers.py."""
    return _asked.ask(call, **inputs)


def space_of(reference):
    """What expressions may use."""
    global _asked
    _asked, file = reference, course.ROOT / reference.name / "handout_numbers.py"
    return vars(course.module_of(reference.name, file.name)) if file.exists() else {}


def pictures(name, space, draw):
    """Draws an assignment's pictures, or tells which of them are drawn otherwise by now: by more than a pixel."""
    wrong = []
    for file, drawn in (space["pictures"]() if "pictures" in space else {}).items():
        path = course.ROOT / name / file
        if draw:
            path.write_text(drawn)
        kept = path.read_text() if path.exists() else ""
        number = r"-?\d+(?:\.\d+)?"
        apart = [abs(float(a) - float(b)) for a, b in zip(re.findall(number, kept), re.findall(number, drawn))]
        if re.sub(number, "0", kept) != re.sub(number, "0", drawn) or max(apart, default=0) > 1:
            wrong.append(f"{file} is drawn otherwise by now; --draw draws it anew")
    return wrong
