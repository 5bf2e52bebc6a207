"""Written questions with numbers for answers: drawn for each student, and graded (README.md).

aN/questions.py yields (text, wanted value) and perhaps options. answers.txt has lines `a4.3 0.0185`
(answered.py). An answer counts when it is within 1 % (or as the options say: tolerance=0.002, whole=True, or least=…
and most=…)."""
import hashlib, hmac, json, math, pathlib, random, re
import answered, folders

ATTEMPTS, POINTS = 2, 1
EXAMPLE = "example"  # the key of a tree that is made for nobody


class Question:
    def __init__(self, name, text, wanted, tolerance=None, whole=False, least=None, most=None):
        self.name, self.text, self.wanted = name, text, wanted
        room = tolerance if tolerance is not None else 1e-9 if whole else 0.01 * abs(wanted)
        self.least, self.most = least if least is not None else wanted - room, most if most is not None else wanted + room
        if not math.isfinite(wanted) or not (whole or tolerance is not None or abs(wanted) > 1e-4):
            raise SyntaxError(f"{name}: {wanted} cannot be asked for within 1 %")

    def fault(self, answer):
        """None, "too large" or "too small"."""
        return "too small" if answer < self.least else "too large" if answer > self.most else None


def questions(name, student, key=b""):
    """An assignment's questions for this student; none where it asks none."""
    if not (folders.ROOT / name / "questions.py").exists():
        return []
    seed = hmac.new(key, f"questions of {name} for {student}".encode(), hashlib.sha256).digest()
    drawn = folders.module_of(name, "questions.py").questions(random.Random(seed))
    return [Question(f"{name}.{i}", text, wanted,
                     **dict(*options)) for i, (text, wanted, *options) in enumerate(drawn, 1)]


def fingerprint(key):
    """What tells a term's key from others, and does not tell the key."""
    return "key " + hmac.new(key, b"fingerprint", hashlib.sha256).hexdigest()[:16] if key else "no key"


def tree_of(text):
    """(the student, the fingerprint of the key) that a tree's file `key` says its questions were drawn for; "" for
    what it does not say."""
    student, _, drawn = text.partition("\n")
    return student.strip(), drawn.strip()


def check_student(name, wanted, of_tree, answers):
    """Whose questions are graded: the student `wanted` by --student, or of the submission's file key (`of_tree`). Throws
    Usage where the two differ, and where answers are given and neither says whose they are."""
    if wanted and of_tree and wanted != of_tree and (answers or of_tree != EXAMPLE):
        raise folders.Usage(f"wanted the tree of {wanted} by --student, this one was released to {of_tree[:100]}: each "
                            "student has other questions; grade the tree of that student, or correct --student")
    if not (wanted or of_tree) and answers:
        raise folders.Usage(f"the answers of {name} are of a student whose name is not given; add --student NAME, or hand "
                            "in the tree's file key beside answers.txt")
    return wanted or of_tree or EXAMPLE


def check_key(name, drawn, key, file):
    """Throws Usage unless a tree whose questions were drawn with the key of this fingerprint is graded with `key`."""
    if drawn in ("", fingerprint(key)):
        return
    had, repair = ("without a key", f"leave --key out, or release it again: course release {name} DIR --student "
                   f"NAME --key {file}") if drawn == fingerprint(b"") else (f"with {drawn[:40]}", "grade it with --key "
                                                                            "and the file of that key")
    got = f"{file} is {fingerprint(key)}" if key else "no --key is given"
    raise folders.Usage(f"this tree of {name} was released {had}, but {got}: its right answers would count as wrong; {repair}")


def page(name, student, asked):
    lines = [f"# {name}: written questions for {student}", "", "Write your answers into `answers.txt`, a "
             f"line each: `{name}.1 0.25`. A number counts within 1 % unless the question says otherwise; "
             "give four digits. You have two attempts: to a wrong answer you are told \"too large\" or "
             "\"too small\". `./check questions` shows what is still open.", ""]
    return "\n".join(lines + [f"{i}. {q.text}" for i, q in enumerate(asked, 1)]) + "\n"


def earlier(path, name, student=None):
    """({question: [answers tried before]}, whose they are) from an earlier results.json or submission_metadata.json of the
    assignment `name`. Throws Usage for results that say that they are another assignment's or student's."""
    if path is None:
        return {}, student
    try:
        data = json.loads(pathlib.Path(path).read_text())
        runs = [run.get("results") or {} for run in data.get("previous_submissions", [])] or [data]
        tried = {}
        others = {(run.get("extra_data") or {}).get("assignment", name) for run in runs} - {name}
        for run in runs:
            for question, values in ((run.get("extra_data") or {}).get("answers") or {}).items():
                tried[question] = tried.get(question, []) + [
                    float(v) for v in values if float(v) not in tried.get(question, [])]
        whose = (data.get("extra_data") or {}).get("student", student)
    except (OSError, ValueError, AttributeError, TypeError) as e:
        raise folders.Usage(f"cannot read earlier results from {path}: {e}") from None
    if others:
        raise folders.Usage(f"wanted earlier results of {name} by --earlier, {path} holds those of {str(min(others, key=str))[:20]}; "
                            f"name this student's results of {name}")
    if student is not None and whose != student:
        raise folders.Usage(f"wanted earlier results of {student} by --earlier, {path} holds those of {str(whose)[:100]}: "
                            "attempts are counted for each student; name that student's results")
    return tried, whose


def graded(asked, text, tried, note=""):
    """(Gradescope's tests, {question: all that was tried}); `note`: why there are no answers."""
    given, bad = answered.read(text, asked[0].name.partition(".")[0]) if asked else ({}, [])
    tests, now = [], {}
    for question in asked:
        values = tried.get(question.name, [])[:ATTEMPTS]
        if question.name in given and given[question.name] not in values:
            values = values + [given[question.name]]
        now[question.name] = values
        right = any(question.fault(v) is None for v in values[:ATTEMPTS])
        if right:
            said = ""
        elif question.name not in given and not values:
            meant = [line for line in bad if re.match(rf"\s*{re.escape(question.name)}\b", line)] or bad
            said = "no answer" + (f"; {answered.why(meant[0][:80], question.name)}" if bad else f"; {note}" if note else "")
        elif len(values) > ATTEMPTS:
            said = f"{ATTEMPTS} attempts were made before: this one does not count"
        else:
            said = f"{values[-1]:g} is {question.fault(values[-1])}; attempt {len(values)} of {ATTEMPTS}"
        tests.append({"number": question.name, "name": f"question {question.name}",
                      "score": POINTS if right else 0, "max_score": POINTS,
                      "status": "passed" if right else "failed", "output": said, "visibility": "visible"})
    return tests, now
