"""An assignment: its files, its cases, a student's tree made of it, a submission built and run."""
import errno, json, os, pathlib, re, shutil, stat, subprocess
from folders import NAMES, ROOT, Usage, module_of
import marked, oracle, questions, ranks, sandbox, symbols, tensors

DEFINED = r"^[A-Za-z][\w:<>&* ]* ([\w:]+)\("  # a function of a source, by its name
CLOCKED = ["clocked", "baseline"]  # programs that are measured (clock.py)


class Assignment:
    """aN: the folder, its one marked source aN.cpp, the rest of what a student gets, the cases.

    `key` is a term's secret, from which hidden inputs are drawn; b"" is the public repository's."""

    def __init__(self, name, key=b""):
        if name not in NAMES:
            raise Usage(f"wanted one of {', '.join(NAMES)}, got {name}")
        self.name, self.folder = name, ROOT / name
        self.source = self.folder / f"{name}.cpp"
        module = module_of(name, "cases.py")
        self.cases = cases_of(module, key)
        # Of each task, as its handout says; they sum to 100.
        self.points = {int(task): int(points) for task, points in re.findall(
            r"(?m)^\| (\d) .*\| (\d+) \|$", (self.folder / "handout.md").read_text())}
        # What aN may use of the library beside its tensors (symbols.TENSORS), or None for everything.
        self.allowed = getattr(module, "ALLOWED", [])
        self.watched = getattr(module, "WATCHED", False)  # whether sanitizers watch hidden cases too
        # (what a source may not hold, its name)
        self.forbidden = symbols.FORBIDDEN + symbols.UNSEEN * self.watched + getattr(module, "FORBIDDEN", [])
        self.seconds = getattr(module, "SECONDS", None)  # for one test
        self.student = getattr(module, "STUDENT", [])  # more files that a student gets
        self.alternatives = getattr(module, "ALTERNATIVES", {}) | {
            path.name: path.read_text() for path in sorted(self.folder.glob("alternatives/*.cpp"))}
        # checker.py, where there is one, answers the cases of the call "report" in place of the driver.
        self.checker = module_of(name, "checker.py") if (self.folder / "checker.py").exists() else None
        names = [case["name"] for case in self.cases]
        if len(set(names)) < len(names):
            raise SyntaxError(f"{name}: two cases of one name")
        if set(self.points) != {case["task"] for case in self.cases} or sum(self.points.values()) != 100:
            raise SyntaxError(f"{name}/handout.md: wanted points for each task, in sum 100, got {self.points}")

    def public(self):
        return [c for c in self.cases if c["public"]]

    def solutions(self):
        """{name: text} of what is right: the reference, then alternatives, which are built otherwise."""
        return {self.source.name: self.source.read_text(),
                **{name: self.completed(text) for name, text in self.alternatives.items()}}

    def completed(self, text):
        """A source: what this text does not define is the reference's."""
        own = re.findall(DEFINED, text, re.M)
        return text + re.sub(DEFINED + r"(?:.*\}\n|(?s:.*?)^\}\n)", lambda found: "" if found[1] in own
                             else found[0], self.source.read_text(), flags=re.M)

    def driven(self):
        return [c for c in self.cases if c["call"] != "report" and not c["times"]]


# What is handed in instead of a text: (the first bytes, what it is, the repair).
NO_TEXT = [(b"PK\3\4", "a zip archive", "unpack it"), (b"PK\5\6", "an empty zip archive", "ask for the file"),
           (b"\x1f\x8b", "a gzip archive", "unpack it"), (b"BZh", "a bzip2 archive", "unpack it"),
           (b"\xfd7zXZ\0", "an xz archive", "unpack it"), (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it"),
           (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"), (b"Rar!", "a rar archive", "unpack it"),
           (b"%PDF-", "a PDF", "ask for the source"), (b"{\\rtf", "a text of a word processor", "save it as plain text"),
           (b"\x7fELF", "a program", "ask for the source"),
           (b"\xff\xfe", "in UTF-16", "save it as UTF-8"), (b"\xfe\xff", "in UTF-16", "save it as UTF-8")]


def text_of(path, most):
    """A text file's bytes, read once: a link, a device or a pipe does no harm. Throws Usage for whatever is no
    text file, and names the repair."""
    path = pathlib.Path(path)
    refuse = lambda what, repair: Usage(f"the submission's {path.name} {what}; {repair}")
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise refuse("is no file, but a pipe or a device", "hand in a text file")
            text = file.read(most + 1)
    except OSError as e:
        raise refuse(*{errno.ELOOP: ("is a link", "hand in the file itself"),
                       errno.EISDIR: ("is a folder", "hand in a text file"),
                       errno.EACCES: ("cannot be read: permission denied", f"repair: chmod u+r {path}"),
                       errno.ENXIO: ("is no file, but a socket or a device", "hand in a text file")}.get(
                           e.errno, (f"cannot be read: {e.strerror}", "hand in a text file"))) from None
    for first, what, repair in NO_TEXT:
        if text.startswith(first):
            raise refuse(f"is {what}", repair)
    if text[257:262] == b"ustar":
        raise refuse("is a tar archive", "unpack it")
    if len(text) > most:
        raise refuse(f"is larger than {most >> 10} KiB", "hand in what you have written, without data")
    if b"\0" in text:
        raise refuse("is no text: it holds bytes of value 0", "save it as UTF-8")
    return text


def replaced(text, old, new, what="it"):
    """The text with `old`, which occurs once, replaced; any white space stands for any other."""
    found = list(re.finditer(r"\s+".join(map(re.escape, re.split(r"\s+", old))), text))
    if len(found) != 1:
        raise SyntaxError(f"{what}: its text occurs {len(found)} times: {old}")
    return text[:found[0].start()] + new + text[found[0].end():]


def changed(source, text, number=1, what="it"):
    """The source in which a text that occurs once becomes another: it is written «right→wrong→wrong» where it
    changes, and \\n stands where a line must end."""
    form = lambda number: re.sub("«(.*?)»", lambda found: found[1].split("→")[number], text)
    return replaced(source, form(0), form(number).replace(r"\n", "\n"), what)


def rows_of(text, cells):
    """A text's rows, each so many cells with " | " between them; a row goes on in indented lines."""
    return [row.split(" | ", cells - 1) for row in re.sub(r"\n +", " ", text).strip().split("\n")]


def cases_of(module, key):
    """The public cases, the same for every key, and the hidden ones drawn from this key. A case is "known" where its
    answer can be written into a source without the key: it is public, or is asked the same with another key."""
    def drawn_with(key):
        oracle.use_key(key)
        cases = list(module.cases())
        oracle.use_key(b"")
        return cases
    given = drawn_with(b"")
    drawn, other = (drawn_with(key), given) if key else (given, drawn_with(b"any other key"))
    asked = lambda case: tensors.request(case["call"], case["inputs"])
    return [{**(g if g["public"] else d), "known": g["public"] or asked(d) == asked(o)}
            for g, d, o in zip(given, drawn, other, strict=True)]


def key_of(file):
    """The bytes of a key file; b"" for none."""
    if file is None:
        return b""
    how = f"make one with: (umask 077; head -c 32 /dev/urandom > {file})"
    try:
        key, mode = pathlib.Path(file).read_bytes(), os.stat(file).st_mode
    except OSError as e:
        raise Usage(f"cannot read the key {file}: {e.strerror}; {how}") from None
    if len(key) < 16:
        raise Usage(f"wanted a key of 16 bytes or more, {file} has {len(key)}; {how}")
    if mode & 0o077:
        raise Usage(f"other users can read or change the key {file}; repair: chmod 600 {file}")
    return key


def case(task, call, name, inputs, expect=None, hint="", *, public=False, rtol=1e-9, atol=1e-12, bounds=None,
         error=None, judge=None, weight=None, times=None, derives=()):
    """One test. `expect` holds tensors by name, `bounds` (low, high) by name, `error` the shapes (lists) and
    numbers that an error's text must name, in whatever words; `judge` takes the answer's tensors and returns
    what is wrong, or None (hidden cases only: it cannot be written to a file). `times` is how many times as
    fast as baseline.cpp the call must be (clock.py). `weight` is its share of its task's points beside those
    of the task's other cases: 1, but 1/2 of an error's text. `derives` names the calls whose points are given
    where this case passes: it asks for a gradient that no difference quotient of the forward pass has."""
    if not (expect or bounds or error is not None or judge or times):
        raise SyntaxError(f"{name}: a case that wants nothing cannot fail")
    if public and judge:
        raise SyntaxError(f"{name}: a public case cannot have a judge")
    return dict(name=name, task=task, call=call, inputs={k: tensors.array(v) for k, v in inputs.items()},
                expect={k: tensors.array(v) for k, v in (expect or {}).items()}, public=public,
                hint=hint or ("nothing of an earlier call may be left" if "warm" in inputs else ""),
                rtol=rtol, atol=atol, bounds=bounds or {}, error=error, judge=judge, times=times,
                derives=tuple(derives), weight=weight or (1 if error is None else 0.5))


def fault(case, found, error):
    wrong = tensors.fault(case, found, error)
    if wrong is None and case["judge"]:
        wrong = case["judge"](found)
    return wrong


# --- a student's tree
def release(assignment, folder, student="", key=b""):
    """Writes the student's tree into a new folder. Nothing of solutions or hidden tests is in it; written
    questions are drawn for this student."""
    folder = pathlib.Path(folder)
    if folder.exists() and any(folder.iterdir()):
        raise Usage(f"wanted a new or empty folder, {folder} holds files already")
    folder.mkdir(parents=True, exist_ok=True)
    name = assignment.name
    (folder / f"{name}.cpp").write_text(marked.stubs(assignment.source.read_text(), assignment.source.name))
    kit = ["driver.h", "todo.h", "tensors.h", "tensors.py", "symbols.py", "reports.py", "answered.py", "points.py",
           "check"]
    study = assignment.folder / "study.py"
    study = study.read_text().partition("# --- the handout's numbers")[0].rstrip() if study.exists() else ""
    if "def charts(" in study:
        kit += ["study", "chart.py"]
        (folder / "study.py").write_text(study + "\n")
    if any("ranks" in case["inputs"] for case in assignment.cases):
        kit += ["ranks.py", "broker.py"]
    if "clocked.cpp" in assignment.student:
        kit += ["speed", "clock.py"]
    for file in [assignment.folder / f"{name}.h", assignment.folder / "driver.cpp",
                 *assignment.folder.glob("*.svg"), *assignment.folder.glob("tape.cpp"),
                 *assignment.folder.glob("more.cmake"), *(ROOT / "kit" / f for f in kit),
                 *(assignment.folder / f for f in assignment.student)]:
        shutil.copy(file, folder / file.name)
    (folder / "handout.md").write_text(re.sub(r"<!--.*?-->\n?", "",
                                              (assignment.folder / "handout.md").read_text(), flags=re.S))
    shutil.copy(ROOT / "cpp/handout.md", folder / "cpp.md")
    asked = questions.questions(name, student or questions.EXAMPLE, key)
    if asked:
        (folder / "key").write_text(f"{student or questions.EXAMPLE}\n{questions.fingerprint(key)}\n")
        (folder / "questions.md").write_text(questions.page(name, student or questions.EXAMPLE, asked))
        (folder / "answers.txt").write_text("".join(f"{q.name}\n" for q in asked))
    for file in ("CMakeLists.txt", "README.md"):
        (folder / file).write_text((ROOT / "kit" / file).read_text().replace("ASSIGNMENT", name))
    fields = ("name", "task", "call", "hint", "rtol", "atol", "bounds", "error", "weight")
    flat = lambda t: [t.shape, t.values, t.dtype]
    public = [
        {**{k: c[k] for k in fields}, "inputs": {k: flat(t) for k, t in c["inputs"].items()},
         "expect": {k: flat(t) for k, t in c["expect"].items()}} for c in assignment.driven() if c["public"]]
    (folder / "public.json").write_text(
        json.dumps({"allowed": assignment.allowed, "forbidden": assignment.forbidden, "points": assignment.points,
                    "cases": public}))


# --- build and run
def prefix_of(argument):
    prefix = argument or os.environ.get("CMAKE_PREFIX_PATH", "")
    if not prefix or not config_of(prefix):
        raise Usage("wanted an installed isobar by --prefix or CMAKE_PREFIX_PATH, "
                    f"got '{prefix}'; cmake --install build --prefix DIR makes one")
    return str(pathlib.Path(prefix).resolve())


def config_of(prefix):
    """What find_package reads, in lib/cmake/isobar or in lib/x86_64-linux-gnu/cmake/isobar, or None."""
    places = ("lib*/cmake/isobar", "lib/*/cmake/isobar")
    return next((found for place in places
                 for found in pathlib.Path(prefix).glob(f"{place}/isobar-config.cmake")), None)


def library_of(prefix):
    return next(config_of(prefix).parents[2].glob("libisobar.*"))


def own_folder(path):
    """A new folder of the user that runs submissions."""
    path.mkdir()
    if os.geteuid() == 0:
        os.chown(path, sandbox.NOBODY, sandbox.NOBODY)
    return path


def build(tree, prefix, work, seconds):
    """Builds a tree in `work` under limits. The compiler's complaint, or None."""
    return configure(tree, prefix, work, seconds) or make(tree, prefix, work, "all", seconds)


def configure(tree, prefix, work, seconds):
    own_folder(work / "tmp")
    return confined(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(work / "build"), "-DSANITIZE=BOTH",
                     f"-DCMAKE_PREFIX_PATH={prefix}"], tree, prefix, work, seconds)


def built(tree, prefix, *options, target="all", into=None):
    """The folder where a tree of our own is built, in no sandbox and watched by no sanitizer."""
    into = into or tree / "build"
    for words in (["cmake", "-G", "Ninja", "-S", tree, "-B", into, "-DSANITIZE=OFF",
                   f"-DCMAKE_PREFIX_PATH={prefix}", *options], ["ninja", "-C", into, target]):
        done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            complaints = [line for line in done.stdout.splitlines() if "error:" in line]
            raise SyntaxError("\n".join(complaints[:20] or done.stdout.splitlines()[-20:]))
    return into


def make(tree, prefix, work, target, seconds):
    return confined(["ninja", "-C", str(work / "build"), "-j2", target], tree, prefix, work, seconds)


def compiler():
    """The one that CXX names. Throws Usage where it names none, or more than one word."""
    words = os.environ.get("CXX", "").split() or ["g++"]
    if len(words) > 1 or not shutil.which(words[0]):
        raise Usage(f"wanted the name of a compiler by CXX, got '{' '.join(words)}', " + (
            "which is several words; name the compiler alone, such as g++" if len(words) > 1 else
            f"which is not found; install it, or name another, such as {'clang++' if words[0] == 'g++' else 'g++'}"))
    return words[0]


def confined(argv, tree, prefix, work, seconds):
    limits = sandbox.Limits(seconds=seconds, memory=4 << 30, file_size=256 << 20, processes=64, disk=1 << 30)
    settings = {"TMPDIR": str(work / "tmp"), "HOME": str(work / "tmp"), "CXX": compiler()}
    argv[0] = shutil.which(argv[0]) or argv[0]
    done = sandbox.run(argv, b"", str(work), [str(tree), prefix], limits, [str(work)], settings)
    return f"{done.why}\n{done.output}".strip() if done.code else None


def answered(driver, cases, threads):
    """What a driver of our own answers, in no sandbox: a text for each case."""
    cases = [{**case, "inputs": {**case["inputs"], "threads": tensors.array(threads)}} for case in cases]
    alone = [case for case in cases if not ranks.ranks_of(case)]
    requests = b"".join(tensors.request(case["call"], case["inputs"]) for case in alone)
    found = tensors.answers(tensors.asked([driver], requests, check=True)[1])
    together = [case for case in cases if ranks.ranks_of(case)]
    found += ranks.Local([driver], together, 60).results if together else []
    return tuple(tensors.reply(*answer) for answer in found)


def told(readable, *words, fine=(0,)):
    """What a tool prints about files that nobody trusts; None where it fails."""
    done = sandbox.run(["/bin/sh", "-c", 'exec "$@" >&3', *words[:1], *map(str, words)], b"", "/tmp",
                       list(map(str, readable)), sandbox.Limits(seconds=20, memory=1 << 30))
    return None if done.code not in fine or done.why else done.answer.decode(errors="replace")


def refused_names(assignment, objects, prefix):
    """What a submission uses and may not: names in its object files, headers that were read for the first."""
    listed = [told([file], "nm", "-P", file) for file in objects]
    if None in listed or any(b".gnu.lto_" in file.read_bytes() for file in objects):
        return ["names that cannot be listed"]
    if any(b".preinit_array" in file.read_bytes() for file in objects):
        return ["code that runs before the sanitizers begin"]
    library = library_of(prefix)
    return refused_headers(assignment, objects[0], prefix) + symbols.refused(
        listed, told([library], "nm", "-P", "-g", library), assignment.allowed)


def refused_headers(assignment, object_file, prefix):
    """Of the headers that were read for an object file of a build."""
    build = object_file.parents[2]
    deps = told([build], "ninja", "-C", build, "-t", "deps", object_file.relative_to(build))
    if not deps or "#deps 0," in deps:
        return ["headers that cannot be listed"]

    def search(pattern, paths):
        found = told([prefix], "grep", "-lsE", "-D", "skip", "--", pattern, *paths, fine=(0, 1, 2)) if paths else ""
        return ["a header that cannot be read"] if found is None else found.splitlines()
    tree = f"{build.parents[1] / 'tree'}/"
    return symbols.refused_headers([path for path in symbols.read_for(deps) if not path.startswith(tree)],
                                   assignment.allowed, search, os.path.realpath(prefix))


def refused_texts(assignment, source, objects):
    """What a submission may not hold, of its source and of what compilers have seen of it."""
    seen = list(map(symbols.seen_for, objects))
    if None in seen:
        raise Usage(f"the compiler {compiler()} keeps no text that its macros are expanded in (-save-temps=obj), and what "
                    "hides code could not be found; name g++ or clang++ by CXX")
    return symbols.refused_texts(source, seen, assignment.forbidden)


def hidden_files(assignment):
    return [assignment.source, *(assignment.folder / f for f in ("cases.py", "mutants.py")),
            *assignment.folder.glob("alternatives/*"), *assignment.folder.glob("papers.py")]


def readable_to_submissions(files, shown):
    """Of `files`, those that a submission or its compiler could read. They are tried."""
    probe = 'for f; do head -c1 "$f" > /dev/null 2>&1 && echo "$f"; done >&3; exit 0'
    done = sandbox.run(["/bin/sh", "-c", probe, "probe", *map(str, files)], b"", "/tmp", shown,
                       sandbox.Limits())
    if done.code or done.why:
        raise Usage(f"the sandbox does not run: {done.why or done.output.strip()}")
    return done.answer.decode().splitlines()
