"""Where there is nothing to grade, grade exits with 2 and one sentence, which names the repair, and writes no
results; a tree is graded with the key that it was released with. The documents' commands work as printed."""
import csv, io, json, os, re, shlex, shutil, socket, subprocess, tarfile, zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
import pytest
import answered, course, grade, questions, sandbox

SOURCE = (course.ROOT / "a4/a4.cpp").read_text()


def zipped():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        packed.writestr("a4.cpp", SOURCE)
    return data.getvalue()


def tarred(kind):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{kind}") as packed:
        packed.add(course.ROOT / "a4/a4.cpp", "a4.cpp")
    return data.getvalue()


WRONG = {
    "nothing": (lambda path: None, "nothing at all"),
    "another file": (lambda path: path.with_name("a3.cpp").write_text(""), "holds no a4.cpp, but a3.cpp"),
    "a folder too many": (lambda path: (path.parent / "mine").mkdir() or (path.parent / "mine/a4.cpp").write_text(""),
                          "; grade "),
    "a FIFO": (os.mkfifo, "but a pipe or a device"),
    "a folder": (os.mkdir, "is a folder"),
    "a link to a hidden file": (lambda path: os.symlink(course.ROOT / "a4/a4.cpp", path), "hand in the file itself"),
    "a link to a device": (lambda path: os.symlink("/dev/zero", path), "hand in the file itself"),
    "a link to nothing": (lambda path: os.symlink("/nowhere", path), "hand in the file itself"),
    "a socket": (lambda path: socket.socket(socket.AF_UNIX).bind(str(path)), "but a socket or a device"),
    "a file of 1 TiB": (lambda path: os.truncate(os.open(path, os.O_WRONLY | os.O_CREAT), 1 << 40), "larger than 1024 KiB"),
    "a file with NUL bytes": (lambda path: path.write_bytes(b"\0" * 4096), "save it as UTF-8"),
    "a file in UTF-16": (lambda path: path.write_text(SOURCE, "utf-16"), "is in UTF-16; save it as UTF-8"),
    "a file in UTF-16 without a mark": (lambda path: path.write_text(SOURCE, "utf-16-le"), "save it as UTF-8"),
    "a zip": (lambda path: path.write_bytes(zipped()), "is a zip archive; unpack it"),
    "a tar": (lambda path: path.write_bytes(tarred("")), "is a tar archive; unpack it"),
    "a tar.gz": (lambda path: path.write_bytes(tarred("gz")), "is a gzip archive; unpack it"),
    "a tar.xz": (lambda path: path.write_bytes(tarred("xz")), "is an xz archive; unpack it"),
    "a program": (lambda path: shutil.copy("/bin/true", path), "is a program; ask for the source"),
}


def refused(folder, prefix, *words, name="a4", user=None):
    """The sentence with which grade refuses."""
    out = folder.parent / f"{folder.name}.json"
    argv = [course.ROOT / "course", "grade", name, *words, "--prefix", prefix, "--out", out, "--confine", "any"]
    if user:
        argv = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", *argv]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout and not out.exists(), (done.returncode, done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("grade: "), done.stderr
    return done.stderr


@pytest.fixture
def handed_in(folder):
    place = folder / "handed_in"
    place.mkdir()
    return place


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_text_is_no_grade(what, handed_in, prefix):
    make, words = WRONG[what]
    make(handed_in / "a4.cpp")
    assert words in refused(handed_in, prefix, handed_in)
    if os.path.lexists(handed_in / "a4.cpp") and not (handed_in / "a4.cpp").is_dir():  # the file itself too
        assert words in refused(handed_in, prefix, handed_in / "a4.cpp")


def test_a_path_that_does_not_exist_is_no_grade(name, handed_in, prefix):
    for path in (handed_in / "no/such/folder", handed_in / f"{name}.cp"):
        assert f"{path} does not exist" in refused(handed_in, prefix, path, name=name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_file_that_cannot_be_read_is_no_grade(handed_in, prefix):
    (handed_in / "a4.cpp").write_text(SOURCE)
    (handed_in / "a4.cpp").chmod(0)
    assert "permission denied; repair: chmod u+r" in refused(handed_in, prefix, handed_in, user=54321)
    handed_in.chmod(0)
    assert "cannot be read: Permission denied; repair: chmod -R u+rX" in refused(handed_in, prefix, handed_in, user=54321)


def test_answers_that_are_no_text_are_no_grade(handed_in, prefix):
    (handed_in / "a4.cpp").write_text(SOURCE)
    (handed_in / "answers.txt").write_text("a4.1 0.25\n", "utf-16")
    assert "answers.txt is in UTF-16; save it as UTF-8" in refused(handed_in, prefix, handed_in, "--questions")


def test_answers_of_other_systems_are_read(handed_in):
    for data in (b"a4.1 0.25\r\na4.2 3\r\n", b"\xef\xbb\xbfa4.1 0.25\na4.2 3\n", b"a4.1 0.25\ra4.2 3\r",
                 b"a4.1\t0.25\na4.2\t 3\t\n", b"# my notes\n" * 5000 + b"a4.1 0.25\na4.2 3\n"):
        (handed_in / "answers.txt").write_bytes(data)
        assert answered.read(grade.text_beside("answers.txt", handed_in), "a4") == ({"a4.1": 0.25, "a4.2": 3.0}, [])
    assert grade.text_beside("answers.txt", handed_in / "answers.txt") == ""


def test_the_source_of_another_assignment_is_no_grade(handed_in, prefix):
    for file in ("a3.cpp", "mine.cpp", "a4.cpp"):
        path = handed_in / file
        path.write_text((course.ROOT / "a3/a3.cpp").read_text())
        assert f"{path} is a3's: it includes a3.h; grade it with: course grade a3" in refused(handed_in, prefix, path)


def test_where_nothing_is_graded_no_earlier_results_are_left_but_those_that_count_attempts(handed_in, prefix):
    (handed_in / "a4.cpp").write_text("#include \"a3.h\"\n")
    out = handed_in.parent / "results.json"

    def grade_in_vain(held, *words):
        out.write_text(held)
        done = subprocess.run([course.ROOT / "course", "grade", "a4", handed_in, "--out", out, "--prefix", prefix, *words],
                              capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        return out.exists()
    results = json.dumps({"score": 100, "tests": []})
    assert not grade_in_vain(results) and not grade_in_vain(results, "--prefix", "/nowhere")
    assert grade_in_vain(results, "--earlier", out)
    assert grade_in_vain("a file of somebody's") and grade_in_vain('{"mine": 1}')


def test_no_earlier_results_outlive_a_mistyped_option(handed_in, prefix):
    out = handed_in.parent / "results.json"
    for words in (["--out", out, "--studnet", "ada"], ["--studnet", "ada", f"--out={out}"], ["--out", out, "--stud", "ada"]):
        out.write_text(json.dumps({"score": 100, "tests": []}))
        done = subprocess.run([course.ROOT / "course", "grade", "a4", handed_in, *words], capture_output=True, text=True)
        assert done.returncode == 2 and not out.exists(), (words, done.stderr)
    for words in (["--out", out, "--help"], ["--out", out, "--earlier", out, "--studnet", "ada"]):
        out.write_text(json.dumps({"score": 100, "tests": []}))
        subprocess.run([course.ROOT / "course", "grade", "a4", handed_in, *words], capture_output=True)
        assert out.exists(), words


def test_no_name_or_file_of_a_submission_changes_the_terminal(handed_in, prefix):
    (handed_in / "x\x1b[2K\na4: 100 of 100").write_text("")
    said = refused(handed_in, prefix, handed_in)
    assert "holds no a4.cpp" in said and said.rstrip("\n").isprintable()
    (handed_in / "a4.cpp").write_text(SOURCE)
    (handed_in / "key").write_text("bob\x1b[2K\x9b1A\nno key\x1b[2K\n")
    for words in (["--student", "ada", "--questions"], []):
        said = refused(handed_in, prefix, handed_in, *words)
        assert "released" in said and said.rstrip("\n").isprintable()


def test_the_public_tests_alone_are_no_grade(folder, prefix):
    out = folder / "results.json"
    done = subprocess.run([course.ROOT / "course", "grade", "a0", course.ROOT / "a0", "--out", out, "--prefix", prefix,
                           "--confine", "any", "--public"], capture_output=True, text=True, check=True)
    assert "100 of 100 by public tests alone; This is no grade" in done.stdout
    assert json.loads(out.read_text())["output"].startswith("This is no grade: only the public tests were run (--public).")


# --- honest work
def test_what_a_right_program_prints_and_its_comments_cost_nothing(folder, graded):
    text = (course.ROOT / "a0/a0.cpp").read_text()
    said = 'std::fputs("a0.cpp:9:3: runtime error: none\\n==1==ERROR: AddressSanitizer: none\\n", stderr);'
    text = text.replace("  return y;\n", f"  {said}\n  return y;\n", 2).replace(
        "// Task 1.", '#include <cstdio>\n// Task 1: the matrix "R" of section (3.2), without asm')
    assert text.count(said) == 2 and text.count("section (3.2)") == 1
    (folder / "a0.cpp").write_text(text)
    assert graded("a0", folder)["score"] == 100


@pytest.mark.skipif(not shutil.which("clang++"), reason="there is no clang++")
def test_clang_builds_submissions_too(graded, monkeypatch):
    monkeypatch.setenv("CXX", "clang++")
    assert graded("a0", course.ROOT / "a0")["score"] == 100


# --- this machine
def test_a_machine_that_builds_not_even_the_stubs_gives_no_grade(folder, handed_in, prefix, monkeypatch):
    (handed_in / "a4.cpp").write_text(SOURCE)
    assert "do not build on this machine either, by g++ with" in refused(handed_in, prefix, handed_in, "--build-seconds", "1")
    for words, said in [("g++-99", "'g++-99', which is not found; install it"), ("ccache g++", "several words; name the compiler alone"),
                        ("gcc", "the stubs of a4 do not build on this machine either, by gcc")]:
        monkeypatch.setenv("CXX", words)
        assert said in refused(handed_in, prefix, handed_in), words


def test_a_submission_that_does_not_build_is_graded(folder, graded):
    (folder / "a4.cpp").write_text(f"{SOURCE}\nint f() {{ return no_such_name; }}\n")
    results = graded("a4", folder)
    assert results["score"] == 0 and results["output"].startswith("does not build:\n") and "no_such_name" in results["output"]


# --- whose answers
def test_answers_whose_student_is_not_known_are_no_grade(handed_in, prefix):
    (handed_in / "a4.cpp").write_text(SOURCE)
    for line in ("a4.1 0.25", "a4.1 about a quarter"):
        (handed_in / "answers.txt").write_text(f"{line}\n")
        assert "add --student NAME, or hand in the tree's file key" in refused(handed_in, prefix, handed_in, "--questions")


def test_a_tree_of_another_student_and_results_of_another_student_are_no_grade(handed_in, prefix):
    (handed_in / "a4.cpp").write_text(SOURCE)
    (handed_in / "key").write_text("bob\nno key\n")
    said = refused(handed_in, prefix, handed_in, "--student", "ada", "--questions")
    assert "wanted the tree of ada by --student, this one was released to bob" in said
    earlier = handed_in.parent / "earlier"
    earlier.write_text(json.dumps({"extra_data": {"student": "ada", "answers": {"a4.1": [1.0]}}}))
    said = refused(handed_in, prefix, handed_in, "--questions", "--earlier", earlier)
    assert f"wanted earlier results of bob by --earlier, {earlier} holds those of ada" in said
    assert questions.earlier(earlier, "a4", "ada") == ({"a4.1": [1.0]}, "ada")
    assert questions.check_student("a4", "ada", "ada", True) == "ada" == questions.check_student("a4", "ada", "", True)
    assert questions.check_student("a4", None, "", False) == questions.EXAMPLE
    assert questions.check_student("a4", "ada", questions.EXAMPLE, False) == "ada"  # a tree for everybody, without answers
    with pytest.raises(course.Usage, match="released to example"):
        questions.check_student("a4", "ada", questions.EXAMPLE, True)


def test_answers_whose_student_the_option_alone_says_are_graded_with_a_warning(handed_in, prefix):
    (handed_in / "a4.cpp").write_text('#include "a4.h"\n')
    (handed_in / "answers.txt").write_text("a4.1 0.25\n")
    out = handed_in.parent / "results.json"

    def said(*words):
        done = subprocess.run([course.ROOT / "course", "grade", "a4", handed_in, "--prefix", prefix, "--out", out, "--confine",
                               "any", *words], capture_output=True, text=True, check=True)
        return done.stderr, json.loads(out.read_text())
    warning = "whose answers they are, --student alone says, since no file key was handed in"
    stderr, results = said("--questions", "--student", "ada")
    assert stderr == f"grade: warning: {warning}\n" and f"those of ada: {warning}." in results["output"]
    # Without --questions, the attempts of before stay.
    assert results["extra_data"]["answers"]["a4.1"] == [0.25] and results["extra_data"]["student"] == "ada"
    stderr, results = said("--student", "ada", "--earlier", out)
    assert not stderr and results["extra_data"]["answers"]["a4.1"] == [0.25] and results["extra_data"]["student"] == "ada"
    (handed_in / "key").write_text("ada\nno key\n")
    stderr, results = said("--questions", "--student", "ada", "--earlier", out)
    assert not stderr and warning not in results["output"]


def test_earlier_results_of_another_assignment_are_no_attempts(handed_in, prefix):
    (handed_in / "a4.cpp").write_text(SOURCE)
    earlier = handed_in.parent / "earlier"
    of = {"assignment": "a1", "student": "ada", "answers": {"a1.1": [1.0]}}
    for data in ({"extra_data": of}, {"previous_submissions": [{"results": {"extra_data": of}}]}):
        earlier.write_text(json.dumps(data))
        for words in (["--questions"], []):
            said = refused(handed_in, prefix, handed_in, "--student", "ada", "--earlier", earlier, *words)
            assert f"wanted earlier results of a4 by --earlier, {earlier} holds those of a1" in said


@pytest.mark.parametrize("line, said", [
    ("#1 0.5", "is none: #1 0.5; wanted one such as a4.1 0.0185"), ("a4.01 0.5", "is none: a4.01 0.5; wanted one such"),
    ("a4.1 1,234", "is ambiguous: a4.1 1,234; write 1.234 or 1234"), ("a4.1: -12,345", "write -12.345 or -12345")])
def test_a_line_that_is_no_answer_is_named(line, said):
    assert answered.read(f"{line}\na4.2 3\n", "a4") == ({"a4.2": 3.0}, [line])
    tests, _ = questions.graded(questions.questions("a4", "ada"), f"{line}\na4.2 3\n", {})
    assert said in tests[0]["output"]


def test_decimal_commas_and_comments_are_read():
    for line in ("a4.1 0,185", "a4.1 0,185  # 1,234", "# a4.2 0.5\na4.1 0,185", "1. 0,185 #1 of mine", "a4.1 ,185"):
        assert answered.read(line, "a4") == ({"a4.1": 0.185}, []), line


def test_answers_in_a_file_of_another_name_or_in_none_are_named(handed_in):
    (handed_in / "Answers.TXT").write_text("a4.1 0.5\n")
    assert grade.no_answers(handed_in, ({}, [])) == "Answers.TXT is not read; its name must be answers.txt"
    (handed_in / "answers.txt").write_text("a4.1\na4.2\n")
    assert grade.no_answers(handed_in, ({}, [])) == "answers.txt holds no answer, and Answers.TXT is not read"
    assert grade.no_answers(handed_in, ({"a4.1": 0.5}, [])) == grade.no_answers(handed_in / "answers.txt", ({}, [])) == ""
    tests, _ = questions.graded(questions.questions("a4", "ada"), "", {}, "answers.txt holds no answer")
    assert tests[0]["output"] == "no answer; answers.txt holds no answer"


# --- keys
def printed(document):
    """The commands of a document, as words, in its order; a verb alone is no command where it wants more."""
    found = [shlex.split(words) for words in re.findall(r"\./course ([a-z]+[^`\n#]*)", (course.ROOT / document).read_text())]
    return [words for words in found if len(words) > 1 or words == ["slides"]]


def new_key(folder, name="key"):
    key = folder / name
    key.touch(0o600)
    key.write_bytes(os.urandom(32))
    return key


DOCUMENTS = ["README.md", "teaching.md", "operating.md"]
# Those that are run here, one after the other; the others are parsed here, and the tests of their topics run them.
RUN = ["release", "grade", "defend"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_printed_commands_are_run_in_their_order_and_a_right_submission_gets_all_its_points(document, folder, prefix):
    new_key(folder)
    loader = SourceFileLoader("course_command", str(course.ROOT / "course"))
    tree, command = folder / "DIR", module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(command)
    run = lambda words: subprocess.run([course.ROOT / "course", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                                       env={**os.environ, "CMAKE_PREFIX_PATH": prefix})
    for words in printed(document):
        command.parser_of(words[0]).parse_args(words[1:])
    commands = [words for words in printed(document) if words[0] in RUN]
    assert [words[0] for words in commands if "$n" not in words][:2] == ["release", "grade"], commands
    asked = []
    for verb, name, *words in commands:
        trees = [str(tree), str(folder / "copy")]
        words = [word for given in words for word in {"DIR/*": trees, "SUBMISSION": trees[:1], f"/tmp/{name}": trees[:1], "DIR": [
            prefix if verb != "release" else trees[0]], "/opt/isobar": [prefix]}.get(given, [given])]
        if "$n" in words:  # in a loop of the shell
            run([verb, name, *(word.replace("$n", "ada") for word in words)])
            assert (folder / "class/ada/key").read_text().startswith("ada\n")
            continue
        if verb == "release":
            run([verb, name, *words])
            shutil.copy(course.ROOT / name / f"{name}.cpp", tree)
            if "--key" in words:
                asked = questions.questions(name, "NAME", (folder / "key").read_bytes())
                (tree / "answers.txt").write_text("".join(f"{q.name} {(q.least + q.most) / 2!r}\n" for q in asked))
            shutil.copytree(tree, folder / "copy")
            (folder / "results.json").write_text("{}")  # the earlier one
            continue
        run([verb, name, *words, "--confine", "any"])
        if verb == "defend":
            for label in ("DIR", "copy")[:2 if trees[1] in words else 1]:
                assert (folder / f"defend/{label}.answers.md").read_text().count("**Answer**") == 3
        elif trees[1] in words:
            with (folder / "results/class.csv").open() as file:
                assert [float(row["score"]) for row in csv.DictReader(file)] == [100 + len(asked)] * 2
        else:
            results = json.loads((folder / "results.json").read_text())
            assert results["score"] == 100 + len(asked) and ("those of NAME." in results["output"]) == bool(asked)


def test_release_says_where_no_questions_are_drawn(folder):
    said = lambda name: subprocess.run([course.ROOT / "course", "release", name, folder / name, "--student", "ada"], check=True,
                                       stdout=subprocess.PIPE, text=True).stdout
    assert "a12 has no written questions" in said("a12") and "no written questions" not in said("a4")


def test_a_tree_names_the_student_where_the_command_does_not(folder, handed_in, prefix):
    key, out = new_key(folder), folder / "results.json"
    subprocess.run([course.ROOT / "course", "release", "a4", handed_in, "--student", "NAME", "--key", key], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([course.ROOT / "course", "grade", "a4", handed_in, "--prefix", prefix, "--out", out, "--key", key,
                    "--questions", "--confine", "any"], check=True, stdout=subprocess.DEVNULL)
    results = json.loads(out.read_text())
    assert "those of NAME, as the submission's file key says (no --student)." in results["output"]
    assert results["extra_data"]["student"] == "NAME"


def test_the_plan_of_the_term_names_what_exists():
    text = (course.ROOT / "teaching.md").read_text()
    with_questions = {name for name in course.NAMES if questions.questions(name, "NAME")}
    plans = re.findall(r"(?s)## (Ten|Six) weeks\n(.*?)(?=\n## )", text)
    assert [length for length, _ in plans] == ["Ten", "Six"]
    for _, plan in plans:
        begun = set()
        for week, lecture, lab, due, hours in re.findall(r"(?m)^\| ([\d–]+) \|(.*?)\|(.*?)\|(.*?)\|(.*?)\|$", plan):
            names = lambda cell: set(re.findall(r"\ba\d+\b", cell))
            assert names(lecture + lab + due) <= set(course.NAMES), week
            begun |= names(lab)
            assert names(due) <= begun, f"week {week}: {due} was in no lab before"
            for name in re.findall(r"(a\d+), its questions", due):
                assert name in with_questions, week
            stated = re.findall(r"(?s)Estimate: ([\d]+(?: to [\d]+)?) hours", "".join(
                (course.ROOT / name / "handout.md").read_text() for name in names(due)))
            assert not due.strip() or len(names(due)) > 1 or not stated or "tasks" in due or hours.strip() == stated[0], week
    shares = re.search(r"(?s)a1 to a6 (\d+) % each, a12 (\d+), a7 (\d+), a8 (\d+), one of a9 to a11 (\d+), written questions (\d+), three\s"
                       r"lines of one's own defended (\d+)\.", text)
    assert 6 * int(shares[1]) + sum(map(int, shares.groups()[1:])) == 100
    shares = re.search(r"(?s)a1, a2, a4 and a6 (\d+) % each, a7 (\d+) \(of its (\d+) points\), a8 (\d+), written questions (\d+), three lines\n"
                       r"of one's own defended (\d+)\.", text)
    assert 4 * int(shares[1]) + sum(int(shares[n]) for n in (2, 4, 5, 6)) == 100
    a7 = course.Assignment("a7").points
    assert int(shares[3]) == a7[1] + a7[2] + a7[4]
    assert f"tasks 1, 2 and 4, backward functions too, are {a7[1] + a7[2] + a7[4]} of its points" in " ".join(text.split())


def test_a_tree_is_graded_with_the_key_of_its_release_or_not_at_all(folder, prefix):
    key, other = new_key(folder), new_key(folder, "other")
    release = lambda to, *words: subprocess.run([course.ROOT / "course", "release", "a4", folder / to, *words], check=True,
                                                stdout=subprocess.DEVNULL)
    release("keyed", "--student", "ada", "--key", key)
    release("open", "--student", "ada")
    keyed, public = folder / "keyed", folder / "open"
    assert "no --key is given" in refused(keyed, prefix, keyed) and "grade it with --key" in refused(keyed, prefix, keyed)
    assert f"{other} is key " in refused(keyed, prefix, keyed, "--key", other, "--questions")
    said = refused(public, prefix, public, "--key", key, "--questions")
    assert "released without a key" in said and f"course release a4 DIR --student NAME --key {key}" in said
    assert key.read_bytes().hex()[:16] not in (keyed / "key").read_text()
    student, drawn = questions.tree_of((keyed / "key").read_text())
    assert student == "ada" and drawn == questions.fingerprint(key.read_bytes()) != questions.fingerprint(other.read_bytes())
    questions.check_key("a4", drawn, key.read_bytes(), key)
    questions.check_key("a4", "", key.read_bytes(), key)  # a tree of before, or a file by itself


# --- sanitizers
@pytest.mark.parametrize("text, word", [
    ('#include <cstdio>\nint main() { std::fputs("Shadow memory range interleaves", stderr); return 1; }', "Shadow memory"),
    ("#include <cstdlib>\nint main() { std::abort(); }", ""), ("int main() {}", "goes unseen"),
    ("#include <cstdio>\nint main() { std::puts(\"ERROR: \" \"Leak\"); }", "goes unseen")])
def test_sanitizers_are_asked_for_by_a_program_of_ours(text, word, folder, prefix, monkeypatch):
    assert not sandbox.choose("any")
    probe = folder / "probe.cpp"
    probe.write_text(text)
    (folder / "ours").mkdir()
    assert grade.unwatchable(prefix, folder / "ours") is None
    monkeypatch.setattr(grade, "PROBE", probe)
    (folder / "broken").mkdir()
    assert word in grade.unwatchable(prefix, folder / "broken")
