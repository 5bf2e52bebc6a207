#!/usr/bin/env python3
"""questions_test.py SOURCE: the written questions of the course are answered, told and closed as their grader says."""
import json, pathlib, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "experiments/course/grading"))
import course  # which tells where the others are
import answered, questions, course_answers  # the last stands beside this file

asking = [name for name in course.NAMES if questions.questions(name, "Ada")]
assert {f"a{n}" for n in range(1, 9)} <= set(asking), asking


answers = lambda asked, change=lambda value: value: "".join(f"{q.name} {change(q.wanted)!r}\n" for q in asked)


def score(asked, text, tried=None):
    tests, now = questions.graded(asked, text, tried or {})
    return sum(test["score"] for test in tests), [test["output"] for test in tests], now


for name in asking:
    ada, bob = questions.questions(name, "Ada"), questions.questions(name, "Bob")
    again, keyed = questions.questions(name, "Ada"), questions.questions(name, "Ada", b"a term's secret")
    wanted = lambda asked: [q.wanted for q in asked]
    assert wanted(ada) == wanted(again) and wanted(ada) != wanted(bob) and wanted(ada) != wanted(keyed), name
    drawn = sum(len({q.text for q in same}) > 1 for same in zip(*(questions.questions(name, str(s)) for s in range(30))))
    assert drawn >= len(ada) - 4, f"{name}: only {drawn} questions have other numbers for other students"
    for student in range(40):
        asked = questions.questions(name, str(student))
        assert score(asked, answers(asked))[0] == len(asked), (name, student)
        four = "".join(f"{q.name} {q.wanted if q.most - q.least < 1e-8 else float(f'{q.wanted:.4g}')!r}\n" for q in asked)
        assert score(asked, four)[0] == len(asked), (name, student, "four digits, but whole numbers whole")
        near = {q.name for q in asked if q.wanted and "(Within " not in q.text and "(Any " not in q.text}
        right = {test["number"] for test in questions.graded(asked, answers(asked, lambda v: v * 1.03), {})[0] if test["score"]}
        assert not right & near, (right & near, "3 % off is wrong")
        for question, way in zip(asked, course_answers.SECOND[name], strict=True) if name in course_answers.SECOND else []:
            assert abs(way(question.text) - question.wanted) <= 0.002 * abs(question.wanted), (question.text, question.wanted, way(question.text))
    points, said, now = score(ada, answers(ada, lambda v: v + 1 + abs(v)))
    assert points == 0 and all("is too large; attempt 1 of 2" in text for text in said), said
    points, said, now = score(ada, answers(ada, lambda v: v - 1 - abs(v)), now)
    assert points == 0 and all("is too small; attempt 2 of 2" in text for text in said), said
    points, said, now = score(ada, answers(ada), now)
    assert points == 0 and all("does not count" in text for text in said), said
    assert score(ada, answers(ada), {q.name: [q.wanted + 1 + abs(q.wanted)] for q in ada})[0] == len(ada), "the second attempt counts"
    assert score(ada, answers(ada, lambda v: v + 1 + abs(v)), {q.name: [q.wanted] for q in ada})[0] == len(ada), "a right answer stays"
    assert score(ada, "")[1] == ["no answer"] * len(ada)

for key in (b"", b"a term's secret"):
    student, drawn = questions.tree_of(f"Ada\n{questions.fingerprint(key)}\n")
    assert student == "Ada"
    questions.check_key("a4", drawn, key, "key")
    for other in (b"", b"another term's"):
        try:
            assert other == key or questions.check_key("a4", drawn, other, "key"), "another key's tree must be refused"
        except course.Usage as refused:
            assert "its right answers would count as wrong" in str(refused)
questions.check_key("a4", questions.tree_of("Ada\n")[1], b"a term's secret", "key")

assert answered.read("a4.1 0,25  # mine\na4.2 x\na4.3\na4.4 nan\na4.5 1 2\n", "a4") == (
    {"a4.1": 0.25}, ["a4.2 x", "a4.4 nan", "a4.5 1 2"])
for line in ("a4.3 0.5", "a4.3: 0.5", "a4.3:0.5", "a4.3=0.5", "a4.3 = .5", "A4.3 5e-1", "a4.3\t0,5", "3 0.5", "3. 0.5", "3) 0.5.",
             "a4.3) 0.5", "* a4.3 0.5", "- a4.3 ≈0.5", "  a4.3  +0.5 "):
    for end in ("", "\n", "\r\n", "\r"):
        assert answered.read(line + end, "a4") == ({"a4.3": 0.5}, []), line
assert answered.read("a4.3 −2", "a4") == ({"a4.3": -2.0}, [])
for line in ("a3.3 0.5", "a4.3 half", "3.5", "a4.3 1e999", "a4.3 1/2", "a4.3 0.5 nats"):
    assert answered.read(line, "a4") == ({}, [line]), line
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "earlier.json"
    file.write_text(json.dumps({"extra_data": {"answers": {"a4.1": [1, 2]}}}))
    assert questions.earlier(file, "a4") == ({"a4.1": [1.0, 2.0]}, None)
    file.write_text(json.dumps({"previous_submissions": [{"results": {"extra_data": {"answers": {"a4.1": [v]}}}} for v in (1, 1, 3)] + [{}]}))
    assert questions.earlier(file, "a4") == ({"a4.1": [1.0, 3.0]}, None)

# By hand: the row (9, 1, 3, 3).
a4 = course.module_of("a4", "questions.py")
near = lambda value, wanted: abs(value - wanted) < 1e-9
assert near(a4.layer([9, 1, 3, 3])[0], 5 / 3) and near(a4.slopes([9, 1, 3, 3], 0)[0], 1 / 54) and near(a4.first_share([9, 1, 3, 3], 0), 1 / 18)
assert near(a4.layer([9, 1, 3, 3], 7.0)[0], 1.25)
print(f"questions of {', '.join(asking)}: right")
