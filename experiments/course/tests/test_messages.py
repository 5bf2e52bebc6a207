"""./check says what the table of the student's README does, each message after its mistake, in a4."""
import os, pathlib, re, subprocess, tempfile
import pytest
import course, marked

LOOP = "const double mean = sum / width;"
MADE = "LayerNorm out{Tensor(x.shape(), Dtype::f64)"
SAID = "\"layer_norm: wanted weight and bias [{}], got {} and {}\", width, weight.shape(), bias.shape()"
RMS = "isobar::mean(isobar::square(x), {-1}, true)"

# {a part of the message's row: (a text of the reference, what becomes of it)}; None: the stubs.
CHANGES = {"not found": None, "does not build": (LOOP, "const double mean = sum / ;"),
           "to be written here": None, "wanted 1.5, got 1.25": (LOOP, "const double mean = sum / width + 1;"),
           "holds f32": (MADE, "LayerNorm out{isobar::zeros(x.shape())"),
           "do not broadcast": (RMS, RMS.replace(", true", "")),
           "undefined behaviour": ("rstds[n] = rstd;\n  }\n  return out;\n", "rstds[n] = rstd;\n  }\n"),
           "not done after": (LOOP, "const double mean = sum / width;\n    while (squares == 0) sum += 1;"),
           "names [3] and [4]": (SAID, "\"layer_norm: wanted others\""),
           "refuse": ("// Task 2.\n", "#include <isobar/autograd/ops.h>\nTensor other(const Tensor& x) { "
                      "return isobar::softmax(x); }\n"),}
# Of the misuses of tensors, those whose words are a row, too.
CHANGES |= {said.removesuffix(": a4.cpp:"): change for _, *change, said
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
    (tree / "a4.cpp").write_text(course.replaced(assignment.source.read_text(), *change) if change
                                 else marked.stubs(assignment.source.read_text(), "a4.cpp"))
    script = (tree / "check").read_text()
    (tree / "check").write_text(script.replace("SECONDS = 30 ", "SECONDS = 1 "))
    place = "/nowhere" if "not found" in message else prefix
    done = subprocess.run([tree / "check"], env={**os.environ, "CMAKE_PREFIX_PATH": place},
                          capture_output=True, text=True, errors="replace")
    said = done.stdout + done.stderr
    assert re.search(pattern_of(message.replace("30 s", "1 s")), said), said[-600:]
