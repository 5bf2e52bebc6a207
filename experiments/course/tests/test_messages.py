"""./check says what the table of the student's README does, each message after its mistake, in a4."""
import os, pathlib, re, subprocess, tempfile
import pytest
import course, marked

# {a part of the message's row: the change of the reference}; None: the stubs.
CHANGES = {"not found": None, "does not build": "mean = sum / «width→»;", "to be written here": None,
           "wanted 1.5, got 1.25": "mean = sum / width«→ + 1»;",
           "holds f32": "LayerNorm out{«Tensor(x.shape(), Dtype::f64)→isobar::zeros(x.shape())»",
           "do not broadcast": "isobar::mean(isobar::square(x), {-1}«, true→»",
           "undefined behaviour": "rstds[n] = rstd; } «return out;→»",
           "not done after": "mean = sum / width;«→ while (squares == 0) sum += 1;»",
           "names [3] and [4]": '"layer_norm: wanted «weight and bias [{}], got {} and {}", width, '
                                'weight.shape(), bias.shape()→others"»',
           "refuse": r"// Task 2.«→\n#include <isobar/autograd/ops.h>\nTensor other(const Tensor& x) { return "
                     "isobar::softmax(x); }»",}
# Of the misuses of tensors, those whose words are a row, too.
CHANGES |= {said.removesuffix(": a4.cpp:"): change for _, said, change
            in course.module_of("a4", "mutants.py").MEMORY if "bytes" not in said}


def rows():
    text = (course.ROOT / "kit/README.md").read_text().split("| it says | look |")[1]
    return re.findall(r"(?m)^\| `(.*?)` \|", text)


def pattern_of(message):
    """As a student reads it: any numbers, any element, any shape."""
    exact = re.escape(message.replace("ASSIGNMENT", "a4"))
    return re.sub(r"\d+(\\\.\d+)?(,(\\ )?\d+)*", r"[-+\\de., ]+",
                  exact.replace("a4", "\0")).replace("\0", "a4")


@pytest.fixture(scope="module")
def tree():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        course.release(course.Assignment("a4"), tree)
        yield tree


@pytest.mark.parametrize("message", rows())
def test_check_says(message, tree, prefix):
    assignment = course.Assignment("a4")
    change, = [change for words, change in CHANGES.items() if words in message]
    (tree / "a4.cpp").write_text(course.changed(assignment.source.read_text(), change) if change
                                 else marked.stubs(assignment.source.read_text(), "a4.cpp"))
    script = (tree / "check").read_text()
    (tree / "check").write_text(script.replace("SECONDS = 30 ", "SECONDS = 1 "))
    place = "/nowhere" if "not found" in message else prefix
    done = subprocess.run([tree / "check"], env={**os.environ, "CMAKE_PREFIX_PATH": place},
                          capture_output=True, text=True, errors="replace")
    said = done.stdout + done.stderr
    assert re.search(pattern_of(message.replace("30 s", "1 s")), said), said[-600:]
