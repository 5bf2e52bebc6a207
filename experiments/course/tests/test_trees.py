"""In a student's tree of a1 the examples of its header and of the page of C++ run."""
import re, subprocess
import course


def test_the_page_of_cpp_prints_what_it_says(prefix, folder):
    """In a student's tree of a1, where the page is cpp.md."""
    tree = folder / "a1"
    course.release(course.Assignment("a1"), tree)
    blocks = re.findall(r"(?s)```cpp\n(.*?)```", (tree / "cpp.md").read_text())
    (tree / "a1.cpp").write_text("")
    (tree / "driver.cpp").write_text("\n".join([
        '#include "a1.h"', *blocks, "int main() {",
        *(f"{name}();" for name in re.findall(r"(?m)^void (\w+)\(\) \{", "".join(blocks))), "}"]))
    printed = subprocess.run([course.built(tree, prefix) / "driver"], capture_output=True, text=True).stdout
    said = re.findall(r"// prints (.*)", "".join(blocks))
    assert len(blocks) == 5 and printed.splitlines() == said, printed


def test_the_example_of_a_header_gives_what_it_says(prefix, folder):
    tree = folder / "a1"
    course.release(course.Assignment("a1"), tree)
    lines = re.findall(r"(?m)^//   (.*)$", (tree / "a1.h").read_text().split("#pragma once")[0])
    (tree / "a1.cpp").write_text((course.ROOT / "a1/a1.cpp").read_text())
    (tree / "driver.cpp").write_text("\n".join(['#include "a1.h"', "double example() {", *lines, "}",
                                                "int main() { return static_cast<int>(example()); }"]))
    assert subprocess.run([course.built(tree, prefix) / "driver"]).returncode == 5
