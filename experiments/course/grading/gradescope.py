"""Makes Gradescope's autograder of an assignment. The zip holds setup.sh, run_autograder, a Dockerfile that
does the same, what grade needs (no solution, no mutant), the installed isobar of --prefix with the fmt and
TBB that it was built with (Debian's), and the term's key. With --questions the written questions are graded
too: those of the e-mail address that Gradescope knows (course release aN DIR --student ADDRESS)."""
import os, pathlib, re, subprocess, zipfile
import course, marked

WORDS = {"--out": dict(metavar="aN.zip", type=pathlib.Path, required=True),
         "--questions": dict(action="store_true", help="grade the written questions too"),}
BESIDE = ["libfmt-dev", "libfmt9", "libtbb-dev", "libtbb12", "libtbbmalloc2", "libtbbbind-2-5"]  # Debian 12's
PORTABLE = re.compile("-march=x86-64(-v[123])?[;\"]")


def files_of_course(assignment):
    """(place in the zip, path) of what grade needs."""
    folders = [*(course.ROOT / name for name in ("kit", "grading", "cpp")), assignment.folder]
    paths = [course.ROOT / "course"] + [
        path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    kept_here = {assignment.source, assignment.folder / "mutants.py"}
    return [(f"course/{path.relative_to(course.ROOT)}", path) for path in paths if path not in kept_here]


def files_of_library(prefix):
    """The installed library without programs and data, and the libraries beside it; links are ldconfig's."""
    config = course.config_of(prefix)
    chosen = [*sorted((prefix / "include/isobar").rglob("*")), *sorted(config.parent.iterdir()),
              *sorted(course.library_of(prefix).parent.glob("libisobar*.a"))]
    found = [(f"prefix/{path.relative_to(prefix)}", path) for path in chosen]
    listed = subprocess.run(["dpkg", "-L", *(f"{package}:amd64" for package in BESIDE)], capture_output=True,
                            text=True)
    if listed.returncode:
        raise course.Usage(f"wanted Debian 12's packages {' '.join(BESIDE)}, got: "
                           f"{listed.stderr.splitlines()[0]}; pack where isobar was built")
    beside = [pathlib.Path(line) for line in sorted(set(listed.stdout.splitlines()))
              if re.match("/usr/(include|lib)/", line)]
    return [(place, path) for place, path in found + [(f"prefix/{p.relative_to('/usr')}", p) for p in beside]
            if path.is_file() and not path.is_symlink()]


def refuse_local(prefix):
    """An isobar that was built for this machine's CPU and libraries would fail on Gradescope's."""
    targets = "".join(path.read_text() for path in course.config_of(prefix).parent.glob("isobar-[pt]*.cmake"))
    if not PORTABLE.search(targets):
        raise course.Usage(f"wanted an isobar for other machines, {prefix} holds one for this machine's CPU; make one with: "
                               "cmake --preset deb && cmake --build build-deb && DESTDIR=DIR cmake "
                               "--install build-deb, then --prefix DIR/usr")


def pack(out, files, texts):
    """A zip that depends on nothing but what is in it."""
    part = out.with_name(out.name + ".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
        for place, data, mode in [(place, path.read_bytes(),
                                   path.stat().st_mode) for place, path in files] + texts:
            entry = zipfile.ZipInfo(place)
            entry.external_attr, entry.compress_type = (0o100000 | mode & 0o777) << 16, zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)
    os.replace(part, out)


def main(arguments):
    assignment, key, prefix = arguments.assignment, arguments.key, pathlib.Path(arguments.prefix)
    if assignment.checker:
        raise course.Usage(f"wanted an assignment that the library alone can grade; {assignment.name} makes "
                           "runs with isobar's programs, which the zip does not hold; grade it on a machine "
                           "of your own: course grade " + assignment.name)
    refuse_local(prefix)
    words = [assignment.name] + (["--key", "/autograder/source/key"] if key else []) + (
        ["--questions"] if arguments.questions else [])
    autograder = course.ROOT / "autograder"
    files = [(path.name, path) for path in sorted(autograder.iterdir())] + files_of_course(
        assignment) + files_of_library(prefix)
    stubs = marked.stubs(assignment.source.read_text(), assignment.source.name)
    texts = [("arguments", "\n".join(words) + "\n", 0o644),
             (f"course/{assignment.name}/{assignment.source.name}", stubs, 0o644)]
    pack(arguments.out, files, texts + ([("key", key, 0o600)] if key else []))
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.1f} MB; hidden inputs "
          f"{'drawn from the key' if key else 'of the public repository'}")

