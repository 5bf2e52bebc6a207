#!/usr/bin/env python3
"""Builds the Debian package of Debian 13 in a clean root of it: build_deb.py amd64|arm64 --out FOLDER [--base ROOT] [--log FILE]

That of arm64 is cross-compiled, and the library's quick tests, those that start no program, run under qemu.
Needs root, debootstrap and a network. Exit code: 0 when all holds, 1 when not, 77 (skipped) where it cannot be tried."""
import argparse, pathlib, shutil, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clean_root
from clean_root import expect, failures

BUILD = {"amd64": """set -e
cd /isobar
. .ci/common.sh
install_missing $packages file dpkg-dev >/dev/null  # CPack needs the last two
build deb build-deb
cpack --config build-deb/CPackConfig.cmake -B /deb
""", "arm64": """set -e
cd /isobar
. .ci/common.sh
export DEBIAN_FRONTEND=noninteractive PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig DEB_HOST_ARCH=arm64
dpkg --add-architecture arm64
apt-get -q update
libraries=$(for package in $packages; do  # of all architectures: headers alone
  case $package in lib*|zlib1g-dev|doctest-dev|nlohmann-json3-dev) ;; *) continue ;; esac
  if apt-cache show "$package:arm64" >/dev/null 2>&1; then echo "$package:arm64"; else echo "$package"; fi
done)
apt-get -qy --no-install-recommends install g++ g++-aarch64-linux-gnu cmake ninja-build pkg-config python3 qemu-user dpkg-dev file $libraries
cmake --preset deb -D ISOBAR_ARCH=armv8-a -D ISOBAR_TESTS=ON -D ISOBAR_MPI=OFF -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=aarch64 \\
  -D CMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -D CMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu \\
  -D "CMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/qemu-aarch64;-L;/" -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE=arm64
cmake --build build-deb --parallel "$(job_count)"
ctest --test-dir build-deb -L quick -LE program --no-tests=error --parallel "$(job_count)" --output-on-failure
cpack --config build-deb/CPackConfig.cmake -B /deb
"""}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("architecture", choices=BUILD)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where the package is put")
    parser.add_argument("--base", type=pathlib.Path, help="where the bare root is kept")
    parser.add_argument("--log", type=pathlib.Path, help="where all that was printed is kept")
    arguments = parser.parse_args()
    clean_root.needed()
    with tempfile.TemporaryDirectory() as name:
        base = (arguments.base or pathlib.Path(name) / "base").resolve()
        base.parent.mkdir(parents=True, exist_ok=True)
        clean_root.bare_root("trixie", base)
        # On the disk of the root: a temporary file system may be too small for a build.
        with tempfile.TemporaryDirectory(dir=base.parent) as layers:
            layer = clean_root.Layer(pathlib.Path(layers) / "layer", [base])
            layer.add_network()
            clean_root.tree_of(layer.upper / "isobar")
            code, said = layer.run(clean_root.MACHINE, "/bin/bash", "-c", BUILD[arguments.architecture], network=True)
            if arguments.log:
                arguments.log.write_text(said)
            made = list((layer.upper / "deb").glob("isobar_*.deb"))
            expect(code == 0 and len(made) == 1, f"the package of Debian 13 for {arguments.architecture}{'' if code == 0 else ': ' + said[-2500:]}")
            if not failures:
                arguments.out.mkdir(parents=True, exist_ok=True)
                shutil.copy(made[0], arguments.out)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
