"""course defend asks three questions on each assignment's own lines, and a student who makes the change sees the answer."""
import os, re, subprocess
import pytest
import changes, course, defend, marked, mutate

NAMES = defend.ASSIGNMENTS
QUESTION = re.compile(r"(?m)^\d\. Line (\d+) of `(a\d+\.cpp)`, in `([\w:]+)`, is\n\n {7}(.*)\n\n   With `.*` for `.*` it is\n\n {7}(.*)\n")
ANSWER = re.compile(r"\*\*Answer\*\*: task (\d), (.*):\n\n((?: {7}.*\n)+)")
# Wrong in a function or two: the first mutant whose name begins so.
WRONG = {"a3": "", "a4": "LN: the sample's variance", "a7": ""}


def checked(tree, text, prefix):
    """What ./check prints of a text: {(task, test): what it says} of those that fail, in order."""
    (tree / f"{tree.name}.cpp").write_text(text)
    done = subprocess.run([tree / "check"], capture_output=True, text=True, env={**os.environ, "CMAKE_PREFIX_PATH": prefix})
    assert done.returncode < 2, done.stderr
    return {(task, name): said for task, name, said in re.findall(
        r"(?m)^FAIL task (\d): (.*)\n((?: {5}.*\n)+)", done.stdout)}


def verified(name, text, prefix, folder):
    """The number of questions on a submission; each answer is what ./check says when the change is made by hand."""
    submission, tree = folder / f"mine/{name}.cpp", folder / name
    submission.parent.mkdir()
    submission.write_text(text)
    subprocess.run([course.ROOT / "course", "defend", name, submission, "--prefix", prefix, "--confine", "any", "--out",
                    folder / "pages"], stdout=subprocess.DEVNULL)
    page, answers = ((folder / f"pages/mine.{word}.md").read_text() for word in ("questions", "answers"))
    asked = QUESTION.findall(page)
    assert QUESTION.findall(answers) == asked and "Answer" not in page
    course.release(course.Assignment(name), tree)
    before = checked(tree, text, prefix)
    for (line, file, function, old, new), (task, test, said) in zip(asked, ANSWER.findall(answers), strict=True):
        lines = text.split("\n")
        assert file == f"{name}.cpp" and lines[int(line) - 1].strip() == old != new
        lines[int(line) - 1] = new
        now = checked(tree, "\n".join(lines), prefix)
        first, shown = next((key, shown) for key, shown in now.items() if key not in before)
        told = [line.strip() for line in said.splitlines()]
        assert first == (task, test) and [line.strip() for line in shown.splitlines()][:len(told)] == told, (first, shown, said)
    return asked


def test_three_questions_on_the_reference_are_answered_as_check_answers(name, assignment, prefix, folder):
    asked = verified(name, assignment.source.read_text(), prefix, folder)
    assert len(asked) == 3 and len({function for _, _, function, *_ in asked}) == 3, asked


@pytest.mark.parametrize("of", WRONG)
def test_questions_on_a_wrong_submission_are_about_what_passes(of, prefix, folder):
    mutants = mutate.mutants_of(course.Assignment(of))[0]
    text = next(text for label, text in mutants if label.startswith(WRONG[of]))
    assert len(verified(of, text, prefix, folder)) == 3


def test_lines_that_were_given_are_not_asked_about(name, assignment):
    text = assignment.source.read_text()
    stubs = marked.stubs(text, "")
    given = {line.strip() for line in stubs.split("\n")}
    assert not changes.of_source(stubs, given)
    found = changes.of_source(text, given)
    assert len({change.function for change in found}) >= 3 and all(change.before not in given for change in found)
    for change in found:
        differ = [(a, b) for a, b in zip(text.split("\n"), change.apply(text).split("\n"), strict=True) if a != b]
        assert [(a.strip(), b.strip()) for a, b in differ] == [(change.before, change.after)], change


def test_changes_are_of_values_and_not_of_types_comments_or_texts():
    text = """#include <vector>
// a + b
namespace { struct Pair { double first; }; }
template <class T> double f(const T* x, std::vector<int> y) {
  const char* said = "a + b";
  double* p = static_cast<double*>(nullptr); /* 1 + 1 */
  auto g = [&](int a, int b) { return a + b; };
  for (int i = 0; i < 4; ++i, x += 2) p[i] -= x[i] * -1.5e-3 / g(i, i);
  return p[0];
}
int constant = 1 + 1;
"""
    assert [(change.line, change.old, change.new) for change in changes.of_source(text, set())] == [
        (7, "+", "-"), (8, "<", "<="), (8, "-=", "+="), (8, "*", "+"), (8, "/", "*")]
    assert {change.function for change in changes.of_source(text, set())} == {"f"}
    methods = "void A::f(int& x) { x += 1; }\nvoid B::f(int& x) { x += 2; }\n"
    assert {change.function for change in changes.of_source(methods, set())} == {"A::f", "B::f"}
