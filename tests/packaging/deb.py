#!/usr/bin/env python3
"""Installs the Debian package in a clean root of Debian 12, as a student does: deb.py isobar_….deb [--base ROOT]

dpkg and apt install it there with what it depends on; then, without a network and as an ordinary user, a student's tree of each
of a few assignments is built and checked against /usr: the stubs fail, the reference passes all public tests. A program of the
package runs. Needs root, debootstrap and a network. Exit code: 0 when all holds, 1 when not, 77 (skipped) where it cannot be tried."""
import argparse, pathlib, shutil, sys, tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments/course/grading"))
import clean_root, course
from clean_root import expect, failures

ASSIGNMENTS = ["a1", "a4"]
INSTALL = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -qy --no-install-recommends install ./isobar.deb
dpkg --verify isobar
useradd -m student
"""


def checked(layer, assignment, with_reference):
    """What ./check prints last, as a student without a network sees it."""
    tree = layer.upper / "home/student" / f"{assignment.name}{'_reference' if with_reference else ''}"
    course.release(assignment, tree)
    if with_reference:
        shutil.copy(assignment.source, tree)
    script = f"chown -R student ~student && exec setpriv --reuid student --regid student --clear-groups /home/student/{tree.name}/check"
    code, said = layer.run(clean_root.MACHINE, "/bin/sh", "-c", script)
    return code, (said.strip().splitlines() or ["nothing"])[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deb", type=pathlib.Path)
    parser.add_argument("--base", type=pathlib.Path, help="where the bare root is kept")
    arguments = parser.parse_args()
    clean_root.needed()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        base = arguments.base or folder / "base"
        clean_root.bare_root("bookworm", base)
        layer = clean_root.Layer(folder / "layer", [base])
        layer.add_network()
        shutil.copy(arguments.deb, layer.upper / "isobar.deb")
        code, said = layer.run(clean_root.MACHINE, "/bin/sh", "-c", INSTALL, network=True)
        expect(code == 0, f"installed with all that it depends on, every file as packed{'' if code == 0 else ': ' + said[-1500:]}")
        code, said = layer.run(clean_root.MACHINE, "/usr/bin/isobar", "--version")
        expect(code == 0, f"isobar --version: {said.strip()[:100]}")
        for name in ASSIGNMENTS if not failures else []:
            assignment = course.Assignment(name)
            count = len(assignment.public())
            code, last = checked(layer, assignment, with_reference=False)
            expect(code == 1 and last == f"0 of {count} tests pass", f"{name}, ./check of the stubs: {last}")
            code, last = checked(layer, assignment, with_reference=True)
            expect(code == 0 and last == f"{count} of {count} tests pass", f"{name}, ./check of the reference: {last}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
