"""Grades a submission: aN.cpp, or a folder that holds it. Nothing else of the folder is used, but by
--questions answers.txt and key. The program is built against the installed isobar, under limits, and answers
each test in a process of its own. What it answers is compared here. results.json has Gradescope's format and
is written whatever the submission does.

Of several submissions, as in `course grade a4 DIR/*`, each gets its results in the folder --out, and class.csv there
a row for each; mistakes that were frequent are printed. Run again, it goes on where it was ended.

Exit code: 0 when there is a grade for each, 1 when a class has submissions without one, 2 for wrong usage."""
import importlib, json, os, pathlib, re, shutil, signal, sys, tempfile, traceback
import answered, course, points, questions, ranks, reports, sandbox, speed, tensors, together
from folders import printable

WORDS = {"submission": dict(nargs="+"),
         "--out": dict(type=pathlib.Path, help="results.json, or, for several submissions, a folder: results"),
         "--seconds": dict(type=float, help="for each test"),
         "--build-seconds": dict(type=float, default=180, help="for building it (180)"),
         "--driver-object": dict(help="the driver, compiled before: half the time (selftest)"),
         "--any-name": dict(action="store_true", help="do not check the names that it uses (selftest)"),
         "--confine": dict(choices=[*sandbox.CONFINED, "any"], help="by what (bwrap; any: else container)"),
         "--public": dict(action="store_true", help="run only the public tests"),
         "--questions": dict(action="store_true", help="grade the written questions too, a point each"),
         "--student": dict(help="whose questions they are (default: as the submission's file key says)"),
         "--earlier": dict(metavar="FILE", help="this student's last results.json, or Gradescope's "
                           "submission_metadata.json: attempts"),}
SECONDS, MEMORY = 10, 2 << 30  # of one test; an assignment that trains asks for more
SLOW = 2                       # so many tests of a function over their time, and its others are not run
NOT_RUN = f"not run: {SLOW} tests of this function took too long already"
WATCHED = 6                    # times as long may it take under sanitizers
SUBMISSION_BYTES = 1 << 20
PROBES = 8                     # times that sanitizers must work, which on some machines fail now and then
PROBE = course.ROOT / "grading/watched.cpp"


def write(path, results):
    """At once or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(results, indent=1))
    os.replace(part, path)


def results_of(assignment, faults, text):
    """Gradescope's results.json: a test for each case, then one for each task's third; the sum is 100."""
    tests = []
    worths = points.shares(assignment.points, assignment.cases)
    for number, (case, wrong, worth) in enumerate(zip(assignment.cases, faults, worths), 1):
        kind = "public" if case["public"] else "hidden"
        tests.append({"number": f"{case['task']}.{number}",
                      "name": f"task {case['task']}, {kind}: {case['name']}", "max_score": worth / 10,
                      "score": 0 if wrong else worth / 10, "status": "failed" if wrong else "passed",
                      "output": "" if wrong is None else wrong if wrong.startswith("task ")
                      else f"task {case['task']}: {wrong}", "visibility": "visible"})
    for task, mine in points.together(assignment.cases).items():
        worth, first = points.third(assignment.points[task]) / 10, next((i for i in mine if faults[i]), None)
        fault = first is not None and tests[first]["output"].splitlines()[0].partition("; hint: ")[0]
        tests.append({"number": f"{task}.all", "name": f"task {task}, all of its tests together",
                      "max_score": worth, "score": 0 if fault else worth,
                      "status": "failed" if fault else "passed", "visibility": "visible",
                      "output": f"a third of the points of task {task}: {fault.removeprefix(f'task {task}: ')} "
                      f"in '{assignment.cases[first]['name']}'" if fault else ""})
    passed = sum(not wrong for wrong in faults)
    return {"score": round(sum(test["score"] for test in tests), 1), "output": text, "tests": tests,
            "visibility": "visible",
            "extra_data": {"assignment": assignment.name, "passed": passed, "cases": len(faults)}}


def submitted_file(name, submission):
    """The text that is handed in, as bytes. Throws Usage where there is none: a typing error is no submission."""
    path = pathlib.Path(submission)
    if not os.path.lexists(path):
        raise course.Usage(f"the submission {path} does not exist: there is no such file or folder; correct the path")
    if not path.is_dir():
        return of_assignment(name, path)
    try:
        held = sorted(entry.name for entry in path.iterdir())
    except OSError as e:
        raise course.Usage(f"the submission {path} cannot be read: {e.strerror}; repair: chmod -R u+rX {path}") from None
    if name not in held:
        below = next((entry for entry in held if (path / entry / name).is_file()), None)
        raise course.Usage(f"the submission {path} holds no {name}, but " + (
            f"{', '.join(held[:5])}{', …' if len(held) > 5 else ''}" if held else "nothing at all") + (
            f"; grade {path / below}" if below else f"; hand in {name} itself, or a folder that holds it"))
    return of_assignment(name, path / name)


def of_assignment(name, path):
    """The bytes of a text file. Throws Usage for the source of another assignment, which its header tells."""
    text, wanted = course.text_of(path, SUBMISSION_BYTES), name.partition(".")[0]
    headers = re.findall(rb'(?m)^[ \t]*#[ \t]*include[ \t]*"(a\d+)\.h"', text) if name.endswith(".cpp") else []
    others = [header.decode() for header in headers if header.decode() in course.NAMES]
    if others and wanted not in others:
        raise course.Usage(f"wanted a submission of {wanted}, {path} is {others[0]}'s: it includes {others[0]}.h; grade it "
                           f"with: course grade {others[0]} {path}")
    return text


def withdraw_named(words):
    """As withdraw(), of a command's words, before anything else can go wrong, and be it a mistyped option."""
    given = {flag: pathlib.Path(value) for word, following in zip(words, [*words[1:], ""])
             for flag in ("--out", "--earlier") for value in [word.removeprefix(f"{flag}=") if word.startswith(f"{flag}=")
                                                              else following if word == flag else ""] if value}
    if "--out" in given:
        withdraw(given["--out"], given.get("--earlier"))


def withdraw(out, earlier):
    """Removes results of an earlier submission where this one has none: they would be taken for its own. Not the file
    that --earlier names, which counts attempts."""
    try:
        ours = "tests" in json.loads(out.read_text())
    except (OSError, ValueError, TypeError):
        return
    if ours and not (earlier and os.path.exists(earlier) and out.samefile(earlier)):
        out.unlink()


def told(case, fault):
    """What a student reads: of a public test all, of a hidden one what kind of fault it is, in our words."""
    if fault is None:
        return None
    kind, text = fault
    if not case["public"]:
        text = {"todo": f"task {case['task']}{points.STUB}",
                "wrong": "not as wanted"}.get(kind, kind)
    return printable(text) + (f"; hint: {case['hint']}" if case["hint"] else "")


def seen_by_sanitizers(numbered, driver, scratch, seconds):
    """[(place, fault)]: those of these cases, all of one function, that a program under sanitizers does not answer as wanted.
    They are run in one process. The first that is not answered rightly there, be it that the program was stopped or that it
    ended, is run once more, alone, which counts; those after it are run in another process."""
    limits = lambda most: sandbox.Limits(seconds=most, memory=MEMORY, address_space=False)
    together, found, left, late = WATCHED * min(seconds, SECONDS), [], numbered, 0
    while left and late < SLOW:
        done = sandbox.run([str(driver)], b"".join(tensors.request(case["call"], case["inputs"]) for _, case in left), str(scratch),
                           [str(driver)], limits(together), environment=sandbox.WATCHED, system=sandbox.alone(str(driver)))
        right = [fault_of_answer(case, *answer) is None
                 for (_, case), answer in zip(left, ranks.answers_in(done.answer))]
        if all(right) and len(right) == len(left) and not done.code:
            return found
        reached = min(right.index(False) if False in right else len(right), len(left) - 1)
        place, case = left[reached]
        fault = fault_of(case, driver, scratch, limits(max(together, seconds)))
        late += "not done after" in fault[0] if fault else 0
        found += [(place, fault)] if fault else []
        left = left[reached + 1:]
    return found + [(place, (NOT_RUN,) * 2) for place, _ in left]


def run_cases(cases, driver, scratch, seconds, watched, unwatched, reported):
    """What is wrong with each; `watched` says which are run under sanitizers too, `unwatched` which of the others are
    run so once they pass, `reported` what is wrong with those that no driver answers. Public ones are run
    first: what a hidden one might leave behind, none of them can show."""
    slow, faults = {}, [None] * len(cases)
    for place, case in sorted(enumerate(cases), key=lambda numbered: not numbered[1]["public"]):
        if case["times"]:
            continue
        if case["call"] == "report":
            faults[place] = reported[case["name"]] and printable(reported[case["name"]])
            continue
        if slow.get(case["call"], 0) >= SLOW:
            faults[place] = NOT_RUN
            continue
        fault = fault_of(case, driver, scratch, sandbox.Limits(seconds=seconds, memory=MEMORY))
        slow[case["call"]] = slow.get(case["call"], 0) + ("not done after" in fault[0] if fault else 0)
        if watched(case) and not (fault and (fault[0] == "todo" or "not done after" in fault[0])):
            seen = fault_of(case, driver.with_name("watched"), scratch, sandbox.Limits(
                seconds=WATCHED * seconds, memory=MEMORY, address_space=False))
            # What a sanitizer says is the cause, where numbers are wrong too.
            fault = seen if not fault or seen and seen[0] == "the program was stopped" else fault
        faults[place] = told(case, fault)
    # A test may pass although its function writes past the end of an array.
    quiet = [(place, case) for place, case in enumerate(cases) if unwatched(case) and not faults[place]]
    for call in dict.fromkeys(case["call"] for _, case in quiet):
        for place, fault in seen_by_sanitizers([(place, case) for place, case in quiet if case["call"] == call],
                                               driver.with_name("watched"), scratch, seconds):
            faults[place] = told(cases[place], fault)
    for place, fault in speed.faults(cases, faults, driver.parent, scratch).items():
        faults[place] = fault
    return points.counted(cases, faults)


def fault_of(case, driver, scratch, limits, environment=sandbox.WATCHED):
    """None when it passes, else (what kind of fault it is, in our words; all that is known of it)."""
    if ranks.ranks_of(case):
        done = together.run([str(driver)], case, str(scratch), [str(driver)], limits)
    else:
        done = sandbox.run([str(driver)], tensors.request(case["call"], case["inputs"]), str(scratch),
                           [str(driver)], limits, environment=environment,
                           system=sandbox.alone(str(driver)))
    if driver.name == "watched" and done.code == sandbox.STOPPED:
        return "the program was stopped", "the program was stopped: " + "\n".join(
            reports.of_program(done.output))
    if done.code or done.why:
        why = done.why or "no reason known"
        return f"the program ended: {why}", f"the program ended with {done.code}: {why}\n{done.output[-1500:]}"
    try:
        found, error = tensors.answer(done.answer)
    except ValueError:
        return ("the program ended without an answer",) * 2
    return fault_of_answer(case, found, error)


def fault_of_answer(case, found, error):
    """As fault_of(), of what a driver has answered."""
    try:
        wrong = course.fault(case, found, error)
    except Exception:  # a judge reads what the student's program has made
        return "wrong", "the program's answer cannot be judged"
    kind = "todo" if error and f"{points.STUB}: " in error else "wrong"
    return None if wrong is None else (kind, wrong)


def complaint_of(assignment, text, prefix, tree, place, arguments):
    """Builds a source, or the stubs where `text` is None, with all that is run. The compiler's complaint, or None."""
    course.release(assignment, tree)
    if text is not None:
        (tree / f"{assignment.name}.cpp").write_bytes(text)
    if arguments.driver_object:
        shutil.copy(arguments.driver_object, tree / "driver.o")
        cmake = tree / "CMakeLists.txt"
        cmake.write_text(cmake.read_text().replace("$<TARGET_OBJECTS:calls>", "${CMAKE_SOURCE_DIR}/driver.o"))
    return course.build(tree, prefix, course.own_folder(place), arguments.build_seconds) or (
        course.make(tree, prefix, place, "measured", arguments.build_seconds) if measured_by(assignment) else None)


def measured_by(assignment):
    """The programs that the clock starts, where there is one."""
    return course.CLOCKED if "clocked.cpp" in assignment.student else []


def build(assignment, text, prefix, work, arguments):
    """(driver, None), or (None, what is wrong). Throws Usage where this machine builds not even the stubs."""
    place, measured = work / "work", measured_by(assignment)
    complaint = complaint_of(assignment, text, prefix, work / "tree", place, arguments)
    if complaint is not None:
        ours = complaint_of(assignment, None, prefix, work / "stubs", work / "ours", arguments)
        if ours is not None:
            said = next((line for line in ours.splitlines() if "rror" in line), ours.splitlines()[0] if ours else "nothing")
            raise course.Usage(f"the stubs of {assignment.name} do not build on this machine either, by {course.compiler()} with "
                               f"{prefix} in {arguments.build_seconds:g} s: {said.strip()[:300]}; correct CXX, --prefix or "
                               "--build-seconds")
        return None, f"does not build:\n{printable(complaint)}"
    objects = [place / f"build/CMakeFiles/{program}.dir/{assignment.name}.cpp.o"
               for program in ("driver", "watched", *measured[:1])]
    names, texts = ([], []) if arguments.any_name else (
        [name[:100] for name in course.refused_names(assignment, objects, prefix)],
        course.refused_texts(assignment, text.decode(errors="replace"), objects))
    if names or texts:
        return None, printable(f"uses what {assignment.name} does not offer: {', '.join((names + texts)[:5])}\n"
                               f"{course.symbols.repairs(names, texts)}").strip()
    for program in ("driver", "watched", *measured):
        shutil.copyfile(place / "build" / program, work / program)  # out of the build's reach
        (work / program).chmod(0o755)
    return work / "driver", None


def unwatchable(prefix, work):
    """Why no program can be watched by sanitizers here, or None. A program of ours is asked, under the limits of a
    test: what a submission prints proves nothing."""
    place, source = course.own_folder(work / "probe"), work / PROBE.name
    course.own_folder(place / "tmp")
    shutil.copyfile(PROBE, source)  # the course may be root's alone
    source.chmod(0o644)
    complaint = course.confined(
        [course.compiler(), "-fsanitize=address,undefined", "-fno-sanitize-recover=all", str(source), "-o",
         str(place / "watched")], source, prefix, place, 60)
    if complaint:
        return complaint.strip().splitlines()[-1]

    def run(*words):
        program = [str(place / "watched"), *words]
        return sandbox.run(program, b"", str(place), program[:1], sandbox.Limits(
            seconds=60, memory=MEMORY, address_space=False), environment=sandbox.WATCHED)
    for done in (run() for _ in range(PROBES)):
        if done.code or done.why:
            return (done.output.strip().splitlines() or [done.why or f"ends with {done.code}"])[0]
    return None if run("past").code == sandbox.STOPPED else "a read past the end goes unseen"


def grade(assignment, prefix, work, cases, arguments, text, obstacle):
    """(what is wrong with each case, what to say above all)"""
    def everything(wrong):
        first = wrong.splitlines()[0].rstrip(":")
        return [first + (" (see above)" if "\n" in wrong else "")] * len(
            cases), f"{wrong}\nIsolation: {sandbox.describe()}."
    driver, complaint = build(assignment, text, prefix, work, arguments)
    if complaint is not None:
        return everything(complaint)
    seconds = arguments.seconds or assignment.seconds or SECONDS
    reported = {}
    if assignment.checker:
        reported = assignment.checker.graded(arguments.submission, work / "tree", prefix, work / "work",
                                             arguments.build_seconds)
    watched = lambda case: not obstacle and (case["public"] or assignment.watched)
    unwatched = lambda case: not (obstacle or watched(case) or case["times"] or case["call"] == "report" or ranks.ranks_of(case))
    faults = run_cases(cases, driver, course.own_folder(work / "scratch"), seconds, watched, unwatched, reported)
    passed = sum(not fault for fault in faults)
    memory = f" Nothing is watched by sanitizers, which do not work on this machine: {obstacle}." if obstacle else ""
    return faults, f"{passed} of {len(faults)} tests pass. Isolation: {sandbox.describe()}.{memory}"


def text_beside(name, submission):
    """A text that may be in a submission's folder, "" where it is not."""
    if not pathlib.Path(submission).is_dir() or not os.path.lexists(pathlib.Path(submission) / name):
        return ""
    text = submitted_file(name, submission).decode("utf-8-sig", errors="replace")
    return re.sub("\r\n?", "\n", text)


def no_answers(submission, given):
    """Why a submission holds no answers, in words; "" where it holds some, or needs none."""
    if any(given) or not pathlib.Path(submission).is_dir():
        return ""
    held = sorted(os.listdir(submission))
    alike = [name for name in held if name != "answers.txt" and re.fullmatch(r"answers?([._ -]?txt)*", name, re.I)]
    if "answers.txt" in held:
        return "answers.txt holds no answer" + (f", and {alike[0]} is not read" if alike else "")
    return f"{alike[0]} is not read; its name must be answers.txt" if alike else ""


def add_questions(results, assignment, answers, student, tried, key, told, note):
    """`told`: how the grader knows the student, in words; `note`: why there are no answers."""
    tests, tried = questions.graded(questions.questions(assignment.name, student, key), answers, tried, note)
    results["tests"] += [{**test, "output": printable(test["output"])} for test in tests]
    right = sum(test["score"] for test in tests)
    results["score"] += right
    results["output"] += f" Questions: {right} of {len(tests)}, those of {printable(student[:100])}{told}." + (
        f" Answers: {printable(note)}." if note else "")
    results["extra_data"] |= {"answers": tried, "student": printable(student)}


def confine(assignment, key_file, prefix, asked, work):
    """Chooses what confines submissions; Usage when hidden files are not kept from them."""
    obstacle = sandbox.choose(asked)
    if obstacle:
        raise course.Usage(f"wanted bubblewrap to confine submissions, got {obstacle}; install it, allow "
                           "user namespaces, or grade each submission in a container of its own with --confine container (operating.md)")
    files = course.hidden_files(assignment) + ([pathlib.Path(key_file).resolve()] if key_file else [])
    seen = course.readable_to_submissions(files, [prefix, str(work)])
    if seen:
        repair = f"chmod 700 {course.ROOT}" if sandbox.chosen == "container" else (
            f"keep the course outside of {prefix} and of the system's folders")
        raise course.Usage(f"wanted hidden files that submissions cannot read, got {seen[0]}; {repair}")


def main(arguments):
    if len(arguments.submission) > 1 or arguments.out and arguments.out.is_dir():
        return importlib.import_module("classes").main(arguments)
    arguments.submission, arguments.out = arguments.submission[0], arguments.out or pathlib.Path("results.json")
    assignment, prefix, key = arguments.assignment, arguments.prefix, arguments.key
    if arguments.public:
        assignment.cases = assignment.public()
    cases = assignment.cases
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("grade: told to end"))
    with tempfile.TemporaryDirectory(prefix="grade", ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder)
        work.chmod(0o711)
        # First whatever makes that nothing can be graded: it ends with 2, and is no grade.
        submitted = submitted_file(f"{assignment.name}.cpp", arguments.submission)
        if assignment.checker:
            assignment.checker.handed_in(arguments.submission)
        answers = text_beside("answers.txt", arguments.submission) if arguments.questions else ""
        of_tree, drawn = questions.tree_of(text_beside("key", arguments.submission))
        questions.check_key(assignment.name, drawn, key, arguments.key_file)
        asked = arguments.questions and questions.questions(assignment.name, questions.EXAMPLE)
        given = answered.read(answers, assignment.name) if asked else ({}, [])
        note = no_answers(arguments.submission, given) if asked else ""
        student = questions.check_student(assignment.name, arguments.student, of_tree, any(given))
        told = "" if arguments.student else ", as the submission's file key says (no --student)" if of_tree else ""
        if asked and any(given) and not of_tree:
            told = ": whose answers they are, --student alone says, since no file key was handed in"
            print(f"grade: warning{told}", file=sys.stderr)
        tried, whose = questions.earlier(arguments.earlier, assignment.name, student if asked else None)
        confine(assignment, arguments.key_file, prefix, arguments.confine, work)
        obstacle = unwatchable(prefix, work)
        if obstacle and assignment.watched:
            raise course.Usage(f"wanted sanitizers, without which {assignment.name} cannot be graded, got: {obstacle}; "
                               "grade it on another machine, or try: sysctl vm.mmap_rnd_bits=28")
        faults, text = ["the grader was ended before this test"] * len(cases), "The grader was ended."
        write(arguments.out, results_of(assignment, faults, text))  # stands even if we are killed
        try:
            faults, text = grade(assignment, prefix, work, cases, arguments, submitted, obstacle)
        except course.Usage:
            raise
        except Exception:
            traceback.print_exc()
            text = "The grader itself failed; its log says why."
    text += " Hidden inputs: " + (
        "drawn from the key." if key else "those of the public repository (no --key).")
    if arguments.public:
        text = f"This is no grade: only the public tests were run (--public). {text}"
    results = results_of(assignment, faults, text)
    total = f"{results['score']:g} of 100" + (" by public tests alone" if arguments.public else "")
    if arguments.questions:
        add_questions(results, assignment, answers, student, tried, key, told, note)
    elif tried:  # the next submission's attempts are counted from these results
        results["extra_data"] |= {"answers": tried} | ({"student": printable(str(whose))} if whose else {})
    ran = None in faults or len(set(faults)) > 1
    of_tasks = points.lines(assignment.points, cases, faults) if ran else []
    said = results["output"].splitlines()[0]
    results["output"] += "".join(f"\n{line}" for line in of_tasks)
    write(arguments.out, results)
    print(f"{assignment.name}: {total}; {said}")
    for test in results["tests"]:
        if test["status"] == "failed" and not points.is_stub(test["output"]):
            print(f"  {test['name']}\n    {test['output'].splitlines()[0]}")
    print("".join(f"{line}\n" for line in of_tasks), end="")
