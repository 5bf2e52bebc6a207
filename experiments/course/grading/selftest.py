"""Tests the course itself, by pytest: one topic, or all of them.

  points    every task has public and hidden cases, points add up to 100 and stand so in handout and README; a key draws
            hidden inputs, the same ones each time, and leaves the public ones as they are; no formula of a solution stands in a
            handout, header, stub or hint, not in other names either (needs no prefix)
  check     ./check meets accidents (no library, no compiler, garbage, a damaged file, …) with one line that says the repair
  messages  ./check says what stands in the table of the student's README, each message after its mistake
  memory    ./check names each planted misuse of a tensor, and the grader takes points for the same public tests
  trees     stubs score 0 and fail as what is to be written, the reference scores 100, the example of a1.h compiles, and neither
            a solution nor a hidden test is in a built student's tree or in the installed package; confined by the best means
            that works here, since these submissions are our own
  hostile   every submission of hostile/ leaves a valid results.json, gains nothing, tells nothing and leaves nothing, by
            every means of confinement that works here and, where root runs this, as nobody and as an ordinary user
  reports   honest reports of runs score 100 and forged ones are refused (a11)
  clock     the references and alternatives about speed pass the clock, what is slow or cheats does not
  bits      the references' answers have the same bits under g++ and clang++, with 1 and 2 threads"""
import importlib.util, subprocess, sys
import course

TOPICS = [line.split()[0] for line in __doc__.splitlines() if line.startswith("  ") and line[2] != " "]
WORDS = {
    "topic": dict(choices=[*TOPICS, "all"]),
    "names": dict(nargs="*", metavar="NAME", help="assignments, or submissions of hostile/ (default: all)"),
    "--prefix": dict(metavar="DIR", help="where isobar is installed (default: $CMAKE_PREFIX_PATH)"),
}


def main(arguments):
    python = sys.executable if importlib.util.find_spec("pytest") else "/usr/bin/python3"  # Debian's
    if subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode:
        raise course.Usage("pytest is not found; install the Debian package python3-pytest")
    files = [course.ROOT / f"tests/test_{topic}.py" for topic in (TOPICS if arguments.topic == "all" else [arguments.topic])]
    # 3 stays taken: programs answer there.
    return subprocess.run([python, "-B", "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider",
                           "--rootdir", course.ROOT / "tests", *files, "--chosen", " ".join(arguments.names),
                           "--prefix", arguments.prefix or ""], pass_fds=[3]).returncode
