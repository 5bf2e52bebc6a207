"""Every submission of hostile/ leaves a valid results.json, gains nothing, tells nothing and leaves nothing, confined by
bubblewrap, and, where root runs this, as nobody and as an ordinary user."""
import concurrent.futures, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time
import pytest
import course, grade, points, sandbox, submissions, tensors

USER = 54321  # an ordinary user, where root runs the tests
# Beside all of them: some as an ordinary user.
AS_USER = ["demangling_bomb", "uses_a_fused_loss", "reads_hidden_tests", "system_calls", "page_cache"]
# All that a hidden test may say, in our words. Of seconds there are two, the 1 that try_one() gives a test and grade.WATCHED times
# as many under sanitizers, where hidden tests must be answered too. That is no weaker than the 1 alone: both are settings of
# ours, of which a submission can choose neither, and any other number still fails.
HIDDEN = re.compile(r"(task \d: )?(not as wanted|task \d is to be written here|not run: 2 tests of this function took too long already|"
                    r"not measured: the test '[^']*' fails|"
                    r"a gradient counts where it passes the tests that no difference quotient passes|"
                    r"a test that every term has counts where a third of the hidden tests of its function pass|"
                    r"an error counts where another test of its task passes|the program was stopped|the program ended without an answer|the program ended: (rank \d: )?(no reason known|wrote more than it may|too slow|"
                    rf"not done after (1|{grade.WATCHED}) s|took more than 2048 MiB of memory|crashed \(.*\)|aborted \(.*\)))(; hint: .*)?")
ROOT = os.geteuid() == 0
SUBMISSIONS = {path.stem: submissions.Submission(path) for path in sorted(course.ROOT.glob("hostile/*.cpp"))}
PLAN = [(name, user) for user in ([None, USER] if ROOT else [None]) for name in (AS_USER if user else SUBMISSIONS)]


def secret_lines(assignment):
    """The rows of numbers that only hidden tests are given."""
    requests = lambda public: "\n".join(tensors.request(c["call"], c["inputs"]).decode()
                                        for c in assignment.cases if c["public"] == public)
    given = requests(True)
    return [row for row in requests(False).split("\n") if len(row) > 8 and row[0] in "-0123456789"
            and row not in given]


def faults_of(submission, results, shown):
    """What a results.json gives away, or gives undeservedly."""
    tests, cases = results["tests"], submission.assignment.cases
    wrong = [] if results["score"] <= submission.deserves else [f"scores {results['score']:g}"]
    wrong += [] if len(tests) == len(cases) + len(points.together(cases)) else [f"{len(tests)} tests"]
    wrong += [f"holds '{w}'" for w in ("LEAK", "from course import", "MUTANTS = ") if w in shown]
    wrong += [f"tells a hidden test's '{row[:30]}'" for row in secret_lines(submission.assignment)
              if row in shown][:1]
    wrong += [
        "holds control characters" for t in tests if any(ord(c) < 32 and c != "\n" for c in t["output"])][:1]
    if "pass." in results["output"]:  # it was built and run
        said = [t["output"] for t, c in zip(tests, cases) if not c["public"] and c["call"] != "report"
                and t["status"] == "failed"]
        wrong += [f"a hidden test says '{s[:60]}'" for s in said if not HIDDEN.fullmatch(s)][:1]
    return wrong


def driver_objects(names, prefix, folder):
    """{assignment: its driver, compiled once for all submissions}"""
    objects = {}
    for name in names:
        place = folder / name
        course.release(course.Assignment(name), place / "tree")
        complaint = course.build(place / "tree", prefix, course.own_folder(place / "work"), 180)
        if complaint:
            raise course.Usage(f"{name}'s stubs do not build: {complaint}")
        objects[name] = shutil.copy(place / "work/build/CMakeFiles/calls.dir/driver.cpp.o",
                                    folder / f"{name}.o")
    return objects


def try_one(submission, prefix, driver, honest, user):
    """(what is wrong, what was printed in one line)"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        out, victim = folder / "results.json", folder / "victim"
        victim.write_text("still here")
        if submission.forged:
            shutil.copytree(honest, folder, ignore=shutil.ignore_patterns("build", "*.h5"),
                            dirs_exist_ok=True)
            submissions.number_and_run(folder)
        submission.write(folder, {"{results}": out, "{course}": course.ROOT, "{victim}": victim})
        argv = [course.ROOT / "course", "grade", submission.assignment.name, folder, "--prefix", prefix,
                "--out", out, "--seconds", "1", "--driver-object", driver, "--confine", "bwrap",
                *submission.options]
        if user:
            for path in (folder, victim):
                os.chown(path, user, user)
            argv = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", *argv]
        start = time.monotonic()
        done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        seconds = time.monotonic() - start
        if done.returncode:
            return [done.stderr.strip()], "", seconds
        results, shown = json.loads(out.read_text()), out.read_text()
        wrong = faults_of(submission, results, shown)
        wrong += [] if victim.exists() and victim.read_text() == "still here" else [
            "a file of the grader's user is changed"]
        first = (results["tests"][0]["output"] or "passed").splitlines()[0]
        return wrong, f"{results['score']:g} points, {first[:70]}", seconds


def ipc_objects(user):
    """(ipcrm's option, number) of each System V object of a user."""
    found = set()
    for kind, option, column in (("shm", "-m", 7), ("msg", "-q", 7), ("sem", "-s", 4)):
        with open(f"/proc/sysvipc/{kind}") as f:
            rows = [line.split() for line in f.readlines()[1:]]
        found |= {(option, row[1]) for row in rows if int(row[column]) == user}
    return found


def left_behind(user):
    """What belongs to the submissions' user: System V objects, orphans, files where all may write."""
    found = [f"ipcrm {' '.join(o)}" for o in ipc_objects(user)]
    orphans = [*sandbox.children(1), *sandbox.descendants(os.getpid())]
    found += [f"process {p}" for p in orphans if owner(f"/proc/{p}") == user]
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock"):
        if os.path.isdir(folder):
            found += [f"{folder}/{f}" for f in os.listdir(folder) if owner(f"{folder}/{f}") == user]
    return set(found)


def left_after(seconds, users, before):
    """What is left that was not there before, when what was killed has had time to end. Orphans of a grader come to this process,
    which must reap them: a machine under load ends them late, and without this they would count as left."""
    end = time.monotonic() + seconds
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        left = set().union(*map(left_behind, users)) - before
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def owner(path):
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


@pytest.fixture(scope="module")
def tried(pytestconfig, prefix):
    """{(name, user): what became of it}; some at a time. In the end nothing of them may be left."""
    assert not sandbox.choose("bwrap"), sandbox.choose("bwrap")
    chosen = pytestconfig.getoption("--chosen").split() or SUBMISSIONS
    plan = [entry for entry in PLAN if entry[0] in chosen]
    graders = [sandbox.NOBODY, USER] if ROOT else []
    before = set().union(*map(left_behind, graders))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            os.cpu_count() + 1) as pool:
        pathlib.Path(folder).chmod(0o755)
        drivers = driver_objects({SUBMISSIONS[name].assignment.name for name, _ in plan}, prefix,
                                 pathlib.Path(folder))
        forged = [SUBMISSIONS[name].assignment for name, _ in plan if SUBMISSIONS[name].forged][:1]
        honest = submissions.reference(forged[0], prefix, folder) if forged else None
        yield {(name, user): pool.submit(try_one, SUBMISSIONS[name], prefix, drivers[SUBMISSIONS[name].assignment.name], honest,
                                         user) for name, user in plan}
    # An ordinary user, who is no grader of ours, has other processes, which come and go.
    assert not left_after(10, graders, before), "no shared memory, queue, process, file is left"


@pytest.mark.parametrize("name_of,user", PLAN)
def test_a_hostile_submission_gains_tells_and_changes_nothing(name_of, user, tried):
    if (name_of, user) not in tried:
        pytest.skip("not named")
    wrong, first, seconds = tried[name_of, user].result()
    print(first)  # pytest -rP shows it
    assert not wrong, f"{first} ({seconds:.0f} s)"


def test_a_program_that_fills_the_disk_is_stopped(folder):
    place = course.own_folder(folder / "place")
    script = "while :; do n=$((n + 1)); head -c 8000000 /dev/zero > file$n; done"
    done = sandbox.run(["/bin/sh", "-c", script], b"", str(place), [],
                       sandbox.Limits(seconds=60, disk=64 << 20), [str(place)], means="bwrap")
    assert done.why == "wrote more than 64 MiB to the disk"


def test_a_grader_that_cannot_keep_hidden_files_refuses(prefix, folder):
    other = folder / "prefix"  # which holds the course
    shutil.copytree(course.ROOT, other / "course")
    (other / "lib/cmake/isobar").mkdir(parents=True)
    (other / "lib/cmake/isobar/isobar-config.cmake").write_text("")
    for command, installed, path, said in [(course.ROOT / "course", prefix, "/nowhere",
                                            "bwrap: not installed"),
                                           (other / "course/course", other, os.environ["PATH"],
                                            "wanted hidden files that submissions cannot read")]:
        done = subprocess.run([sys.executable, command, "grade", "a1", course.ROOT / "a1", "--prefix",
                               installed, "--out", folder / "no.json"], env={**os.environ, "PATH": path},
                              capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr and not (folder / "no.json").exists(), done.stderr
