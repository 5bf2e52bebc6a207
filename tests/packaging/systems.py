#!/usr/bin/env python3
"""Builds and tries Isobar on another system: systems.py SYSTEM,COMPILER --hashes FILE [--base FOLDER] [--log FILE]

In a clean root of the system (bookworm, trixie, sid), made by debootstrap, with one of its compilers:

  build    the README's first command, ./run.sh --build-only, which installs what is missing; a warning in our code fails it
  quick    ctest -L quick
  programs the tests of command lines, and of the values that every study measures
  spec     same_as_spec: the bytes of every op that differ from the definition; 0 are wanted
  hashes   same_as_spec --hashes 20: the rows of FILE, which another system printed, are wanted

and prints a row with the versions that it found. Needs root, debootstrap and a network. Exit code: 0 when all holds,
1 when not, 77 (skipped) where it cannot be tried."""
import argparse, pathlib, re, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clean_root
from clean_root import expect, failures

# Of each system the packages of its compilers; N is the largest number that the system has.
SYSTEMS = {"bookworm": {"g++": "g++", "clang": "clang"},
           "trixie": {"g++": "g++", "g++-13": "g++-13", "clang": "clang-N"},
           "sid": {"g++": "g++-N", "clang": "clang-N"}}
PREPARE = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
newest() { apt-cache pkgnames "$1" | grep -xE "${1//+/[+]}[0-9]+" | sort -V | tail -n 1; }
package=$1
[ "${package%N}" = "$package" ] || package=$(newest "${package%N}")
apt-get -qy --no-install-recommends install "$package" g++ python3
# Debian's g++-13 brings a libstdc++.so of its own, and Debian 13's libraries ask for what is new in that of g++ 14, which
# every program loads. (In Ubuntu 24.04 both are one.)
library=/usr/lib/gcc/x86_64-linux-gnu/${package##*-}/libstdc++.so
[ ! -e "$library" ] || ln -sf /usr/lib/x86_64-linux-gnu/libstdc++.so.6 "$library"
echo "package $package"
"""
TRY = """set -e
cd /isobar
export HOME=/root CXX=$1
. .ci/common.sh
install_missing $packages >/dev/null 2>&1
echo "version $($CXX --version | sed -n '1{s/ *([^)]*) */ /;p}')"
for package in cmake libhdf5-dev libfmt-dev libtbb-dev libopenblas-dev libspdlog-dev nlohmann-json3-dev; do
  echo "version $package $(dpkg-query --show --showformat='${Version}' $package)"
done
# Of sources that are compiled together clang sees one's local name shadow another's unnamed namespace.
cmake --preset release --log-level=WARNING -D CMAKE_COMPILE_WARNING_AS_ERROR=ON -D CMAKE_CXX_FLAGS=-Wno-error=shadow
./run.sh --build-only
cmake --build build --parallel "$(job_count)"
echo "step quick"
ctest --test-dir build -L quick --no-tests=error --parallel "$(job_count)" --output-on-failure
echo "step programs"
ctest --test-dir build -R '^(bounds|duel|options|outputs|pretokenize|studies)_test$' --no-tests=error --output-on-failure
echo "step spec"
build/bin/same_as_spec
echo "step hashes"
build/bin/same_as_spec --hashes 20
"""


def rows_of(text):
    """The rows of same_as_spec --hashes."""
    return re.findall(r"^.+\t[0-9a-f]+$", text, re.MULTILINE)


def shown(said, length=2500):
    """The end of what was printed, from the first compiler's error on where there is one."""
    error = re.search("^.*error: .*", said, re.MULTILINE)
    return said[error.start():][:length] if error else said.strip()[-length:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [f"{system},{compiler}" for system, compilers in SYSTEMS.items() for compiler in compilers]
    parser.add_argument("where", choices=every, metavar="SYSTEM,COMPILER")
    parser.add_argument("--hashes", type=pathlib.Path, required=True)
    parser.add_argument("--base", type=pathlib.Path, help="where the bare roots are kept")
    parser.add_argument("--log", type=pathlib.Path, help="where all that was printed is kept")
    arguments = parser.parse_args()
    system, compiler = arguments.where.split(",")
    clean_root.needed()
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.base.resolve() if arguments.base else pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        clean_root.bare_root(system, folder / system)
        # On the disk of the roots: a temporary file system may be too small for a build.
        with tempfile.TemporaryDirectory(dir=folder) as layers:
            layer = clean_root.Layer(pathlib.Path(layers) / "layer", [folder / system])
            layer.add_network()
            code, said = layer.run(clean_root.MACHINE, "/bin/bash", "-c", PREPARE, "prepare", SYSTEMS[system][compiler], network=True)
            if code:
                expect(False, f"{arguments.where}: its packages: {shown(said)}")
                return 1
            package = re.findall("^package (.*)", said, re.MULTILINE)[-1]
            clean_root.tree_of(layer.upper / "isobar")
            code, said = layer.run(clean_root.MACHINE, "/bin/bash", "-c", TRY, "try", re.sub("^clang", "clang++", package), network=True)
    if arguments.log:
        arguments.log.write_text(said)
    found = re.split(r"^step (\w+)\n", said, flags=re.MULTILINE)
    parts = {"build": found[0], **dict(zip(found[1::2], found[2::2]))}
    quick, programs = (re.search(r"\d+% tests passed, (\d+) tests failed out of (\d+)", parts.get(name, "")) for name in ("quick", "programs"))
    spec = re.search(r"^all +(\d+) runs +(\d+) bytes +(\d+) differ", parts.get("spec", ""), re.MULTILINE)
    wanted, got = rows_of(arguments.hashes.read_text()), rows_of(parts.get("hashes", ""))
    expect("quick" in parts, "built without a warning" if "quick" in parts else f"the build: {shown(said)}")
    if "quick" in parts:
        expect(quick and quick[1] == "0", quick[0] if quick and quick[1] == "0" else f"quick tests: {shown(parts['quick'])}")
    if "programs" in parts:
        expect(programs and programs[1] == "0", programs[0] if programs and programs[1] == "0" else f"programs: {shown(parts['programs'])}")
    if "spec" in parts:
        expect(spec and spec[3] == "0", spec[0] if spec else f"same_as_spec: {shown(said)}")
    if "hashes" in parts:
        other = [row for row in got if row not in wanted]
        expect(wanted and got and not other and code == 0, f"{len(got)} hashes, {len(other)} of them of other bits{': ' if other else ''}{'; '.join(other)}")
    versions = [re.sub(r"\S*[/]", "", line).replace("-dev", "").replace("version ", "") for line in re.findall(r"^version .*", said, re.MULTILINE)]
    if not failures:
        print(f"row {quick[2]} quick tests, {programs[2]} of programs; {spec[1]} runs, {spec[2]} bytes, 0 differ; {len(got)} hashes as here; {', '.join(versions)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
