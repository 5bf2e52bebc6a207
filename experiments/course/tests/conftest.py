"""What the course's tests share. `course selftest TOPIC [NAME …] --prefix DIR` runs them."""
import functools, json, pathlib, subprocess, sys, tempfile
import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "grading")]
import course


def pytest_addoption(parser):
    parser.addoption("--chosen", default="",
                     help="assignments, or submissions of hostile/, one word (default: all)")
    parser.addoption("--prefix", default="", help="where isobar is installed")


def pytest_configure(config):
    """What nobody is about would pass with nothing run."""
    config.inicfg["empty_parameter_set_mark"] = "fail_at_collect"


def pytest_generate_tests(metafunc):
    """A test of `name` is one of each assignment that is named and that its module, by `NAMES`, is about."""
    if "name" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--chosen").split() or course.NAMES
        about = getattr(metafunc.module, "NAMES", course.NAMES)
        metafunc.parametrize("name", [name for name in about if name in chosen])


@functools.cache
def assignment_of(name):
    return course.Assignment(name)


@pytest.fixture
def assignment(name):
    return assignment_of(name)


@pytest.fixture(scope="session")
def prefix(pytestconfig):
    return course.prefix_of(pytestconfig.getoption("--prefix"))


@pytest.fixture
def folder():
    """A new folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as place:
        pathlib.Path(place).chmod(0o755)
        yield pathlib.Path(place)


@pytest.fixture
def graded(prefix, folder):
    """Grades a submission: its results.json. Ours are confined by the best means that works here."""
    def run(name, submission, *options):
        out = folder / "results.json"
        subprocess.run([course.ROOT / "course", "grade", name, submission, "--prefix", prefix, "--out", out,
                        "--confine", "any", *options], check=True, stdout=subprocess.DEVNULL)
        results = json.loads(out.read_text())
        assert 0 <= results["score"] <= 100 and all({"name", "score", "max_score",
                                                     "output"} <= set(t) for t in results["tests"])
        assert abs(sum(test["score"] for test in results["tests"]) - results["score"]) < 1e-3
        return results
    return run
