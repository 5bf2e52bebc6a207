#!/usr/bin/env python3
"""Installs the Debian package in a clean root, as a student does: deb.py isobar_….deb [--release NAME] [--base ROOT] [--native BUILD]

dpkg and apt install it there with what it depends on; then, without a network and as an ordinary user, a student's tree of each
of a few assignments is built and checked against /usr: the stubs fail, the reference passes all public tests. A program of the
package runs, and with --native trains a language model to the bytes of that build. A package of arm64 is unpacked beside arm64's
libraries, and qemu runs its programs. Needs root, debootstrap and a network. Exit code: 0 when all holds, 1 when not, 77 (skipped)
where it cannot be tried."""
import argparse, pathlib, re, shutil, subprocess, sys, tempfile, time

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
UNPACK = """set -e
export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture arm64
apt-get -q update
libraries=$(dpkg --field isobar.deb Depends | tr ',' '\\n' | sed -n 's/^ *\\(lib[^ ]*[0-9t]\\)\\( .*\\)*$/\\1:arm64/p' | grep -v -e -dev)
apt-get -qy --no-install-recommends install qemu-user $libraries
dpkg --extract isobar.deb /
"""
TRAINING = "--n_layer 2 --n_head 4 --n_embd 64 --block_size 32 --batch_size 8 --max_iters 60 --eval_interval 30 --eval_iters 2 --threads 2".split()
NUMBERS = ["metrics.jsonl", "modules.jsonl"]


def checked(layer, assignment, with_reference):
    """What ./check says of how many tests pass, as a student without a network sees it; else its last line."""
    tree = layer.upper / "home/student" / f"{assignment.name}{'_reference' if with_reference else ''}"
    course.release(assignment, tree)
    if with_reference:
        shutil.copy(assignment.source, tree)
    script = f"chown -R student ~student && exec setpriv --reuid student --regid student --clear-groups /home/student/{tree.name}/check"
    code, said = layer.run(clean_root.MACHINE, "/bin/sh", "-c", script)
    count = re.search(r"\d+ of \d+ tests pass", said)
    return code, count[0] if count else (said.strip().splitlines() or ["nothing"])[-1]


def trained(layer, program, native, folder, where):
    """A language model trains in the root, and by a build of this machine: the same bytes."""
    start = time.monotonic()
    code, said = layer.run(clean_root.MACHINE, *program, *TRAINING, "--out", "/run_of_package")
    there = time.monotonic() - start
    start = time.monotonic()
    subprocess.run([native / "bin/train_lm", *TRAINING, "--out", folder / "native"], check=True, stdout=subprocess.DEVNULL)
    here = time.monotonic() - start
    same = code == 0 and all((layer.upper / "run_of_package" / name).read_bytes() == (folder / "native" / name).read_bytes() for name in NUMBERS)
    expect(same, f"{program[-1]} {' '.join(TRAINING)} gives the bytes of a native build on {where}: {there:.1f} s, native {here:.1f} s" if same
           else f"the training differs from a native build's: {said[-1500:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deb", type=pathlib.Path)
    parser.add_argument("--release", choices=["bookworm", "trixie"], default="bookworm")
    parser.add_argument("--base", type=pathlib.Path, help="where the bare root is kept")
    parser.add_argument("--native", type=pathlib.Path, help="a build of this machine")
    arguments = parser.parse_args()
    clean_root.needed()
    foreign = arguments.deb.stem.endswith("_arm64")
    print(f"{arguments.deb.name} in a root of {arguments.release}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        base = (arguments.base or folder / "base").resolve()
        base.parent.mkdir(parents=True, exist_ok=True)
        clean_root.bare_root(arguments.release, base)
        layer = clean_root.Layer(folder / "layer", [base])
        layer.add_network()
        shutil.copy(arguments.deb, layer.upper / "isobar.deb")
        code, said = layer.run(clean_root.MACHINE, "/bin/sh", "-c", UNPACK if foreign else INSTALL, network=True)
        done = "unpacked beside its libraries" if foreign else "installed with all that it depends on, every file as packed"
        expect(code == 0, f"{done}{'' if code == 0 else ': ' + said[-1500:]}")
        emulated = ["qemu-aarch64"] if foreign else []
        code, said = layer.run(clean_root.MACHINE, *emulated, "/usr/bin/isobar", "--version")
        expect(code == 0, f"isobar --version: {said.strip()[:100]}")
        if arguments.native and not failures:
            trained(layer, [*emulated, "/usr/bin/train_lm"], arguments.native, folder, f"{arguments.release} {'arm64, qemu' if foreign else 'amd64'}")
        for name in ASSIGNMENTS if not failures and not foreign else []:
            assignment = course.Assignment(name)
            count = len(assignment.public())
            code, last = checked(layer, assignment, with_reference=False)
            expect(code == 1 and last == f"0 of {count} tests pass", f"{name}, ./check of the stubs: {last}")
            code, last = checked(layer, assignment, with_reference=True)
            expect(code == 0 and last == f"{count} of {count} tests pass", f"{name}, ./check of the reference: {last}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
