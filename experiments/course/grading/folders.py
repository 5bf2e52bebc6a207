"""Where the assignments are, and their Python files."""
import importlib.util, pathlib, sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "kit"), str(ROOT / "grading")]
NAMES = sorted((path.parent.name for path in ROOT.glob("a*/cases.py")), key=lambda name: int(name[1:]))


LONGEST = 4000  # characters of what a student's program says


def printable(text):
    """What a student's program or files say, without control characters, at most LONGEST of it."""
    clean = "".join(c if c.isprintable() or c == "\n" else "�" for c in text[:LONGEST])
    return clean + ("…" if len(text) > LONGEST else "")


class Usage(Exception):
    """One line for whoever typed the command; names of files that stand in it may be a student's."""

    def __init__(self, text):
        super().__init__(printable(str(text).replace("\n", "�")))


def module_of(name, file):
    spec = importlib.util.spec_from_file_location(f"{name}_{file[:-3]}", ROOT / name / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
