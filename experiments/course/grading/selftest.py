"""Tests the course itself, by pytest: a topic, or all of them.

"""
import ast, importlib.util, subprocess, sys
import course

FILES = {path.stem.removeprefix("test_"): path for path in sorted(course.ROOT.glob("tests/test_*.py"))}
__doc__ += "\n".join(
    f"{topic}: {ast.get_docstring(ast.parse(path.read_text()))}" for topic, path in FILES.items())
WORDS = {"topic": dict(choices=[*FILES, "all"]),
         "names": dict(nargs="*", metavar="NAME",
                       help="assignments, or submissions of hostile/ (default: all)"),
         "--prefix": dict(metavar="DIR", help="where isobar is installed (default: $CMAKE_PREFIX_PATH)"),}


def main(arguments):
    python = sys.executable if importlib.util.find_spec("pytest") else "/usr/bin/python3"  # Debian's
    if subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode:
        raise course.Usage("pytest is not found; install the Debian package python3-pytest")
    files = [FILES[arguments.topic]] if arguments.topic in FILES else FILES.values()
    # 3 stays taken: programs answer there.
    return subprocess.run([python, "-B", "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider",
                           "--rootdir", course.ROOT / "tests", *files, "--chosen", " ".join(arguments.names),
                           "--prefix", arguments.prefix or ""], pass_fds=[3]).returncode
