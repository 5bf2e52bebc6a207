"""Grades a class: the results of each submission, one table, and which mistakes were frequent. What has results
already is not graded again, as long as it is the same submission, graded by the same course with the same options."""
import collections, csv, hashlib, io, json, os, pathlib, re, subprocess, sys, tempfile
import course, grade, mutate, points, questions
from folders import printable

SHOWN = 20  # frequent mistakes that are printed
SEEN = ".mutants.json"  # in --out: which tests see which mutant
NAMED = 3   # so many mutants of the same tests, and none of them names a mistake
FAILED = ("The grader itself failed", "The grader was ended")  # results of no grade
FORWARDED = ["seconds", "build_seconds", "confine", "public", "questions"]


def labels_of(name, submissions):
    """{what a submission is called: its path}: its folder's name, or its file's."""
    found = {}
    for path in map(pathlib.Path, submissions):
        label = path.resolve().parent.name if path.name == f"{name}.cpp" else path.name.removesuffix(".cpp")
        if label in found:
            raise course.Usage(f"wanted submissions of different names, got {found[label]} and {path}; rename one")
        found[label] = path
    return found


def bytes_of(path):
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= grade.SUBMISSION_BYTES else b""
    except OSError:
        return b""


def fingerprint(arguments, submission=None):
    """Changes where a submission, if one is given, the course, the library, the key or an option does."""
    name, folders = arguments.assignment.name, ["kit", "grading", arguments.assignment.name]
    files = [path for folder in folders for path in sorted((course.ROOT / folder).rglob("*")) if path.suffix in (
        ".py", ".cpp", ".h", ".md", ".cmake", ".txt")] + [course.library_of(arguments.prefix)]
    handed_in = [] if submission is None else [submission] if submission.is_file() else [
        submission / file for file in (f"{name}.cpp", "answers.txt", "key")]
    found = hashlib.sha256(repr([questions.fingerprint(arguments.key), *words_of(arguments)]).encode())
    for path in [*files, *handed_in]:
        found.update(hashlib.sha256(path.read_bytes() if path in files else bytes_of(path)).digest())
    return found.hexdigest()


def words_of(arguments):
    """The options of grade that are each submission's."""
    words = ["--key", os.path.abspath(arguments.key_file)] if arguments.key_file else []
    for option in FORWARDED:
        value = getattr(arguments, option)
        flag = f"--{option.replace('_', '-')}"
        words += [flag] if value is True else [flag, str(value)] if value else []
    return words


def driver_object(arguments, work):
    """The driver, compiled once for all, or None: then each submission's grader says why."""
    tree, place = work / "tree", course.own_folder(work / "work")
    course.release(arguments.assignment, tree)
    if course.configure(tree, arguments.prefix, place, 180) or course.make(tree, arguments.prefix, place, "calls", 180):
        return None
    return place / "build/CMakeFiles/calls.dir/driver.cpp.o"


def grade_one(arguments, submission, out, mark, driver):
    """What is wrong, in a line, where there is no grade; else None, and `out` holds the results. An earlier grade
    of this student's, which stands there, counts the attempts at written questions."""
    part = out.with_name(f".{out.name}.part")
    part.unlink(missing_ok=True)
    words = ["--earlier", out] if out.exists() else []
    words += ["--driver-object", driver] if driver else []
    done = subprocess.run([sys.executable, course.ROOT / "course", "grade", arguments.assignment.name, submission, "--prefix",
                           arguments.prefix, "--out", part, *words_of(arguments), *words], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    results = json.loads(part.read_text()) if part.exists() else {"output": ""}
    part.unlink(missing_ok=True)
    if done.returncode or results["output"].startswith(FAILED):
        said = (done.stderr.strip() or results["output"] or f"grade ended with {done.returncode}").splitlines()[-1]
        return printable(said).removeprefix("grade: ")
    results["extra_data"]["graded"] = mark
    grade.write(out, results)
    return None


def kept(out, mark):
    """The results of before, where they are of the same submission, course and options; else None."""
    try:
        results = json.loads(out.read_text())
        return results if results["extra_data"]["graded"] == mark else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


# --- mistakes
def was_run(results):
    """Whether it was built and its names were not refused."""
    return "tests pass." in results["output"].partition("\n")[0]


def failing(assignment, results):
    """{call: places of its cases that fail}, of functions that are begun. What only does not count is no failure."""
    found = {}
    if not was_run(results):
        return found
    for place, (case, test) in enumerate(zip(assignment.cases, results["tests"])):
        if test["status"] == "failed" and not points.is_stub(test["output"]) and not any(
                words in test["output"] for words in (points.UNDERIVED, "counts where")):
            found.setdefault(case["call"], set()).add(place)
    return found


def mutants_seen(arguments, out):
    """{mutant: {call: places of cases that see it}}, which takes some minutes and is kept in `out`."""
    mark = fingerprint(arguments)
    before = kept(out / SEEN, mark)
    if before:
        return {label: {call: set(places) for call, places in calls.items()} for label, calls in before["seen"].items()}
    print("looking which mistakes were frequent: some minutes, once for a class", flush=True)
    found = run_mutants(arguments.assignment, arguments.prefix)
    grade.write(out / SEEN, {"extra_data": {"graded": mark}, "seen": {
        label: {call: sorted(places) for call, places in calls.items()} for label, calls in found.items()}})
    return found


def run_mutants(assignment, prefix):
    mutants = dict(mutate.mutants_of(assignment)[0])
    places = {case["name"]: place for place, case in enumerate(assignment.cases)}
    with tempfile.TemporaryDirectory() as folder:
        bench, found = mutate.Bench(assignment, prefix, folder, mutants), {}
        for label in bench.labels:
            for case in bench.seen(label):
                found.setdefault(label, {}).setdefault(case["call"], set()).add(places[case["name"]])
    return found


def mistake(assignment, call, calls, seen, said):
    """A mistake in words: the mutants that the same tests of a function see, or, where these are none or many, its
    first test that fails, and how a program ended there. Where all of its tests fail, which any gross mistake does, a
    mutant is named if tests of other functions fail, too, and are just those that see it."""
    places = calls[call]
    whole = {place for place, case in enumerate(assignment.cases) if case["call"] == call and case["error"] is None}
    alike = [label for label, theirs in seen.items() if theirs.get(call) == places and (
        not whole <= places or theirs == calls and len(calls) > 1)]
    ended = said.startswith("the program")
    unset = re.search(r"\bnan\b", said)  # such as memory that nobody set, which is no mutant's mistake
    if 0 < len(alike) <= NAMED and not (ended or unset):
        return f"{call}: {' or '.join(alike)}"
    return f"{call}: wrong in '{assignment.cases[min(places)]['name']}'" + (
        f": {re.sub(r':? [^ ]*[.]cpp.*', '', said)}" if ended else "")


def mistakes_of(arguments, graded, out):
    """{label: its mistakes}"""
    assignment = arguments.assignment
    wrong = {label: failing(assignment, results) for label, results in graded.items()}
    seen = mutants_seen(arguments, out) if any(wrong.values()) and not assignment.checker else {}
    found = {}
    for label, calls in wrong.items():
        said = lambda places: graded[label]["tests"][min(places)]["output"].partition("\n")[0].partition(": ")[2]
        whole = graded[label]["output"].splitlines()[0].rstrip(":")
        found[label] = [] if was_run(graded[label]) else [whole]
        found[label] += [mistake(assignment, call, calls, seen, said(places)) for call, places in calls.items()]
    return found


# --- the table
def cell(text):
    """A text that no spreadsheet takes for a formula."""
    text = " ".join(printable(str(text)).split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def table(assignment, submissions, graded, wrong, mistakes):
    """The class as CSV, a row for each submission."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["submission", "student", "score", *(f"task {task}" for task in assignment.points), "questions",
                   "tests passed", "tests", "mistakes", "not graded"])
    for label in submissions:
        if label not in graded:
            rows.writerow([cell(label), *[""] * (len(assignment.points) + 6), cell(wrong[label])])
            continue
        results = graded[label]
        earned = collections.Counter()
        for test in results["tests"]:
            earned[test["number"].partition(".")[0]] += test["score"]
        numbers = [results["score"], *(earned[str(task)] for task in assignment.points), earned[assignment.name]]
        rows.writerow([cell(label), cell(results["extra_data"].get("student", "")), *(f"{round(number, 1):g}" for number in numbers),
                       results["extra_data"]["passed"], results["extra_data"]["cases"], cell("; ".join(mistakes[label])), ""])
    return text.getvalue()


def main(arguments):
    if arguments.student or arguments.earlier or arguments.driver_object or arguments.any_name:
        raise course.Usage("wanted none of --student, --earlier, --driver-object and --any-name for several submissions: the "
                           "file key of each says whose it is; grade one alone, or leave the option out")
    assignment, out = arguments.assignment, pathlib.Path(arguments.out or "results")
    submissions = labels_of(assignment.name, arguments.submission)
    if out.exists() and not out.is_dir():
        raise course.Usage(f"wanted a folder by --out for several submissions, {out} is a file; name another")
    out.mkdir(parents=True, exist_ok=True)
    graded, wrong = {}, {}
    with tempfile.TemporaryDirectory(prefix="class", ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder)
        work.chmod(0o711)
        grade.confine(assignment, arguments.key_file, arguments.prefix, arguments.confine, work)
        drivers = []
        for label, submission in submissions.items():
            place, mark = out / f"{label}.json", fingerprint(arguments, submission)
            before = kept(place, mark)
            if not before:
                drivers = drivers or [driver_object(arguments, work)]
                wrong[label] = grade_one(arguments, submission, place, mark, drivers[0])
            if before or not wrong[label]:
                graded[label] = before or json.loads(place.read_text())
            score = f"{graded[label]['score']:g} points" if label in graded else f"not graded: {wrong[label]}"
            print(printable(f"{label}: {score}{' (graded before)' if before else ''}"), flush=True)
    mistakes = mistakes_of(arguments, graded, out)
    (out / "class.csv").write_text(table(assignment, submissions, graded, wrong, mistakes))
    print(f"{out / 'class.csv'}: {len(graded)} graded, {len(submissions) - len(graded)} not")
    told = collections.Counter(mistake for found in mistakes.values() for mistake in set(found))
    for text, count in sorted(told.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]:
        print(printable(f"{count} of {len(graded)}: {text}"))
    for student, count in collections.Counter(results["extra_data"].get("student") for results in graded.values()).items():
        if student and count > 1:
            print(printable(f"{count} submissions are of one student, {student}: the same file key was handed in with each"))
    return 0 if len(graded) == len(submissions) else 1
