"""What must not reach a student: solutions in a tree's files, the line to be written in what one reads.

A text gives a line away in other names and signs too: `dx = r · (dz − m − z · n)` tells `g * (d[c] - a - z * b)`. So formulas are
compared as the order in which their names come again, without indices, signs and layout."""
import functools, pathlib, re
import marked

SHORT = 5       # names and numbers: a formula of fewer is everybody's, such as x · w + b
ARITHMETIC = re.compile(r"[\w)\]] *[-+*/·−] *[\w(]|\b(?:exp|log|sqrt|tanh|pow|max)\(")


def secrets(assignment):
    """Lines of the solutions (no heads of loops and functions), and the hidden tests' names."""
    lines = [line for line in marked.solution_lines(assignment.source.read_text())
             if len(line) >= 30 and not line.startswith("for (") and not line.endswith("override {")]
    return [s.encode() for s in lines + [c["name"] for c in assignment.cases if not c["public"]]]


def found_in(folder, words):
    found = set()
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            found |= {f"{path.name}: {w.decode()}" for w in words if w in data}
    return sorted(found)


def names_in(text):
    """Names, numbers and commas, one after the other; what is written as x_{i}, x_i, x[i] or raw::x is x."""
    text = re.sub(r"\\overline\b", "mean ", text.replace("\u0304", ""))
    text = re.sub(r"\b(?:std|isobar|raw|numbers)::|(?:static|bit)_cast<\w+>|\[[^\]\n]*\]|_\{[^}\n]*\}|_[a-z0-9](?![A-Za-z0-9])|\\[a-z]+|\\,", " ", text)
    return re.findall(r"[A-Za-zα-ω]+|\d+(?:\.\d+)?|,", text.replace("_", " "))


def renamed(names):
    """Names by the order of their first use, so that formulas with other names compare equal; numbers and commas stay."""
    first = {}
    return tuple(name if name == "," or name[0].isdigit() else first.setdefault(name, len(first)) for name in names)


@functools.cache
def formulas(assignment):
    """{names: text} of the formulas that only right solutions hold, their comments' too."""
    given = {line.strip() for line in marked.stubs(assignment.source.read_text(), "").split("\n")}
    found = {}
    for text in (assignment.source.read_text(), *assignment.alternatives.values()):
        for line in text.split("\n"):
            if line.strip() in given or re.match(r" *(?:for \(|#|const [\w&]+ \w+\(|\w+ \w+\(const)", line):
                continue
            for part in re.split(r"[;{}]|//|(?<![=<>!])=(?!=)|\breturn\b", re.sub(r'"[^"]*"', "", line)):
                if len(names_in(part.replace(",", " "))) >= SHORT and ARITHMETIC.search(part):
                    found.setdefault(tuple(names_in(part)), part.strip())
    return found


def read_by_students(assignment):
    """{name: text}: the handout, the header, the stub, the hints."""
    return {"handout.md": re.sub(r"(?s)<!--.*?-->", "", (assignment.folder / "handout.md").read_text()),
            f"{assignment.name}.h": (assignment.folder / f"{assignment.name}.h").read_text(),
            assignment.source.name: marked.stubs(assignment.source.read_text(), ""),
            "hints": "\n".join(case["hint"] or "" for case in assignment.cases)}


def given_away(assignment, texts):
    """Formulas of solutions in a text, in the same names, or in others where three or more come again."""
    found = []
    for file, text in texts.items():
        words = names_in(text)
        for names, formula in formulas(assignment).items():
            again = len(names) - names.count(",") - len(set(names) - {","}) >= 3
            for start in range(len(words) - len(names) + 1):
                window = words[start:start + len(names)]
                if tuple(window) == names or again and renamed(window) == renamed(names):
                    found.append(f"{file}: {' '.join(window)} ({formula})")
                    break
    return found
