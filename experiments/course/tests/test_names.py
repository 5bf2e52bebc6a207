"""The driver's names are nobody's: a helper of a student's may have any."""
import re, subprocess
import course, symbols

IDENTIFIER = re.compile(r"_Z(?:T[ISV]|GV)?N?[VKRO]*(\d+)(\w+)")


def test_the_driver_defines_no_name_but_those_of_the_header(name, assignment, prefix, folder):
    tree = folder / name
    course.release(assignment, tree)
    driver = course.built(tree, prefix, target="calls") / "CMakeFiles/calls.dir/driver.cpp.o"
    listed = subprocess.run(["nm", "-P", "-g", "--defined-only", driver], capture_output=True, text=True, check=True)
    given = set(re.findall(r"\w+", "".join((tree / file).read_text() for file in (f"{name}.h", "tensors.h", "todo.h"))))
    mangled = [name for name, _ in symbols.listed(listed.stdout) if name.startswith("_Z")]
    own = {found[2][:int(found[1])] for found in map(IDENTIFIER.match, mangled) if found}
    assert len(mangled) > 100 and own - given - {"fmt", "isobar", "__gnu_cxx"} == set()


def test_a_helper_with_a_name_of_the_driver_costs_nothing(folder, graded):
    (folder / "a4.cpp").write_text((course.ROOT / "a4/a4.cpp").read_text() + """
struct Answer {
  std::vector<double> terms;
  double sum = 0;
};
struct Request {
  std::string call_[7];
};
double serve(const Answer& answer, const Request&) { return Answer(answer).sum; }
""")
    assert graded("a4", folder)["score"] == 100
