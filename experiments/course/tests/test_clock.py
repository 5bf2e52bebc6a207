"""The references and alternatives about speed pass the clock; what is slow or cheats does not."""
import course, sandbox, speed
from test_names import refused

NAMES = [name for name in course.NAMES if "clocked.cpp" in course.Assignment(name).student]


def reached(assignment, text, prefix, folder):
    """How many times as fast as the baseline a program is measured to be, and a line of it."""
    assert not sandbox.choose()
    course.release(assignment, folder / "tree")
    (folder / "tree" / assignment.source.name).write_text(text)
    build = course.built(folder / "tree", prefix, target="measured")
    times, said, fault = speed.measured(build, course.own_folder(folder / "scratch"), 4)
    return times, said or fault


def test_the_clock(name, assignment, prefix, folder):
    """Right programs are four times as fast; SLOW forms of the reference reach no more than they say."""
    module = course.module_of(name, "mutants.py")
    source = "#include <unistd.h>\n#include <thread>\n" + assignment.source.read_text()
    right = assignment.solutions()
    variants = [(label, text, 4, 99) for label, text in right.items()]
    baseline = assignment.completed((assignment.folder / "baseline.cpp").read_text())
    variants.append(("baseline.cpp", baseline, 0, 1.25))
    variants += [(what, course.changed(source, change), 0, most) for most, what, change in module.SLOW]
    first = None  # the reference's
    for number, (what, text, least, most) in enumerate(variants):
        place = folder / str(number)
        place.mkdir()
        times, said = reached(assignment, text, prefix, place)
        first = first or times
        assert least <= times <= (1.2 * first if most == "reference" else float(most)), (what, said)
    for what, text in module.REFUSED:
        assert refused(text, assignment.forbidden), what
    assert not any(refused(text, assignment.forbidden) for text in right.values())
