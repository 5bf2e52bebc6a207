"""Every task has public and hidden cases, points add up to 100 and stand so in the README; one wrong test costs
a third of its task; a key draws hidden inputs, the same ones each time, and leaves the public ones as they are;
no formula of a solution stands in a handout, header, stub or hint, not in other names either. What they say of a
section names it. Needs no prefix."""
import re, time
import answered, course, grade, leaks, points, symbols, tensors


def requests(cases):
    return [tensors.request(case["call"], case["inputs"]) for case in cases if case["call"] != "report"]


def test_points_add_up_and_stand_in_the_readme(name, assignment):
    for cases in (assignment.cases, assignment.public(), course.Assignment(name, b"a key, its bytes").cases):
        whole = sum(assignment.points[task] for task in {case["task"] for case in cases})
        thirds = sum(points.third(assignment.points[task]) for task in points.together(cases))
        assert sum(points.shares(assignment.points, cases)) + thirds == 10 * whole
    readme = (course.ROOT / "README.md").read_text()
    row = re.search(rf"(?m)^\| {name} \| \[[^|]*\|([^|]*)\|$", readme)[1]
    assert [int(number) for number in re.findall(r" (\d+)\b", row)] == list(assignment.points.values())


def test_one_mistake_costs_a_third_of_its_task_however_few_tests_see_it(assignment):
    none = [None] * len(assignment.cases)
    assert grade.results_of(assignment, none, "")["score"] == 100
    for task, mine in points.together(assignment.cases).items():
        for i in mine:
            lost = 100 - grade.results_of(assignment, none[:i] + ["not as wanted"] + none[i + 1:], "")["score"]
            # Of a8's training, which weighs 3 of 6, half of the rest too.
            assert assignment.points[task] / 3 - 0.1 <= lost <= 0.6 * assignment.points[task], (task, lost)


def test_answers_that_are_written_down_without_the_key_give_nothing(name, assignment):
    """Those of public tests and of hidden ones that two keys have in common, errors' too; a test of a report or the
    clock, and a name, is no answer of a formula."""
    chosen = lambda of: [case for case in of.cases if case["call"] not in ("report", "name")]
    cases, others = chosen(course.Assignment(name, b"a key, its bytes")), chosen(course.Assignment(name, b"another"))
    written = [case["public"] or one == other
               for case, one, other in zip(cases, requests(cases), requests(others), strict=True)]
    faults = points.counted(cases, [None if mine and not case["times"] else "not as wanted"
                                   for case, mine in zip(cases, written)])
    assert any(written) and all(faults), [case["name"] for case, fault in zip(cases, faults) if not fault]
    cases = chosen(assignment)
    assert points.counted(cases, [None] * len(cases)) == [None] * len(cases)
    alone = assignment.public()
    assert points.counted(alone, [None] * len(alone)) == [None] * len(alone)  # grade --public


def test_a_gradient_that_is_not_derived_gives_nothing(assignment):
    """Nor does what is measured with it: errors' texts alone are left of its calls."""
    gradients = {case["call"] for case in assignment.cases if case["call"].endswith("_backward")}
    assert gradients <= {call for case in assignment.cases for call in case["derives"]}
    for beyond in (case for case in assignment.cases if case["derives"]):
        assert not beyond["public"], beyond["name"]
        faults = points.counted(assignment.cases, ["not as wanted" if case is beyond else None for case in assignment.cases])
        for case, fault in zip(assignment.cases, faults):
            if case["error"] is None and not case["times"]:
                assert bool(fault) == (case["call"] in beyond["derives"]), (beyond["name"], case["name"])


def test_a_right_function_that_fails_some_hidden_tests_keeps_its_public_ones(assignment):
    for call in {case["call"] for case in assignment.driven()}:
        mine = [case for case in assignment.driven() if case["call"] == call and case["error"] is None]
        hidden = [case["name"] for case in mine if not case["public"]]
        wrong = hidden[:len(hidden) // 2]
        faults = points.counted(mine, ["not as wanted" if case["name"] in wrong else None for case in mine])
        assert not any(fault for case, fault in zip(mine, faults) if case["name"] not in wrong), call


def test_each_task_has_its_line_and_those_that_are_not_begun_share_one(assignment):
    """Of the lines' points, the sum is the score; tests of a stub of a begun task name its function."""
    cases, worth = assignment.cases, assignment.points
    stub = lambda case: f"task {case['task']}{points.STUB}"
    assert points.lines(worth, cases, [None] * len(cases)) == [
        f"task {task}: {n} of {n} pass, {worth[task]} of {worth[task]} points"
        for task in worth for n in [sum(case["task"] == task for case in cases)]]
    alone, = points.lines(worth, cases, list(map(stub, cases)))
    assert alone == f"task{'s' if len(worth) > 1 else ''} {points.listed(worth)} not begun, 100 points"
    for call in {case["call"] for case in cases}:
        faults = points.counted(cases, [stub(case) if case["call"] == call else None for case in cases])
        lines = points.lines(worth, cases, faults)
        score = sum(float(re.search(r", ([\d.]+) of \d+ points", line)[1]) for line in lines if ":" in line)
        assert abs(score - grade.results_of(assignment, faults, "")["score"]) < 0.01, lines
        touched = {case["task"] for case in cases if case["call"] != call}
        whole = [task for task in worth if task not in touched]
        alone = [line for line in lines if ":" not in line]
        assert alone == ([f"task{'s' if len(whole) > 1 else ''} {points.listed(whole)} not begun, "
                          f"{sum(worth[task] for task in whole)} points"] if whole else [])
        for task in {case["task"] for case in cases if case["call"] == call} & touched:
            assert any(line.startswith(f"task {task}: ") and line.endswith(f"; {call} not begun") for line in lines), lines


def test_each_task_has_public_and_hidden_cases(assignment):
    for task in assignment.points:
        cases = [case for case in assignment.cases if case["task"] == task]
        if not all(case["times"] for case in cases):  # ./speed measures as the grader does
            assert {case["public"] for case in cases} == {True, False}, task


def test_a_key_draws_hidden_inputs_and_no_others(name, assignment):
    keyed, again, other = (
        course.Assignment(name, key) for key in (b"a key, its bytes", b"a key, its bytes", b"another"))
    assert requests(keyed.cases) == requests(again.cases)
    assert requests(assignment.public()) == requests(keyed.public()) == requests(other.public())
    hidden = [[case for case in of.driven() if not case["public"]] for of in (assignment, keyed, other)]
    drawn = [len(set(same)) for same in zip(*map(requests, hidden))]
    fixed = [case["name"] for case, texts in zip(hidden[0], drawn) if texts == 1]
    assert drawn.count(3) >= 0.6 * len(drawn), fixed


def test_no_formula_of_a_solution_stands_in_what_a_student_reads(assignment):
    assert not leaks.given_away(assignment, leaks.read_by_students(assignment))
    for formula in leaks.formulas(assignment).values():  # each would be found there
        assert leaks.given_away(assignment, {"planted": f"Then {formula.replace('*', '·')}."}), formula


def test_a_reference_to_a_section_names_its_title(name, assignment):
    texts = leaks.read_by_students(assignment)
    titles = dict(re.findall(r"(?m)^## (\d)\. (.*)$", texts["handout.md"]))
    texts["questions"] = "\n".join(asked.text for asked in course.questions.questions(name, "Ann"))
    for file, text in texts.items():
        text = " ".join(re.sub(r"\n *//", "\n", text.partition("## To read")[0]).split())
        for number, title in re.findall(r"[Ss]ections? (\d)\b(?: \((.*?)\))?", text):
            assert title and titles[number].startswith(title), f"{file}: section {number} ({title})"


def test_a_formula_is_found_in_other_names():
    for text in ("dx = g · (u − mean u − s · mean(u · s))",
                 r"$$dx_i = r\,(dz_i - \overline{dz} - z_i\,\overline{dz\,z})$$"):
        assert leaks.given_away(course.Assignment("a4"), {"planted": text}), text


def test_texts_that_could_be_taken_apart_in_many_ways_are_read_at_once():
    """A search that tries all of them would take hours, and no signal ends it."""
    many, start = 10 ** 6, time.process_time()
    for text in ("\n/**/" * (many // 5), "\n" * many, "\n# " * (many // 3), "\n#" + " " * many, "\n# 1" + "1" * many,
                 "\n# /*" * (many // 5)):
        symbols.FORGED.search(text)
    for line in ("a4.1 " + "1" * many + "x", "a4.1" + " " * many, "a4." + "1" * many, "a4.1 1e" + "1" * many):
        assert answered.read(line, "a4")[0] == {}
    case = {"error": [[3, 4], 7], "inputs": {}}
    for text in ("[3, 4" + " " * many, "[" + "3, " * many, "7 [" + "3" * many, "3" + " " * many + "4"):
        assert tensors.fault(case, *tensors.answer(f"error {text}\nend\n".encode())) is not None
    assert time.process_time() - start < 10
