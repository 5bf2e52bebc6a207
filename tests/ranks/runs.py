"""Runs of train_lm on several ranks, for the scripts beside this file: how they are started, and in how many bytes two differ."""
import argparse, functools, json, os, pathlib, random, re, shutil, signal, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Launchers, with more ranks than cores where it must be.
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpirun.mpich"]}
# What may show who computed what: the optimizer, masks, clipping, weights that two layers share.
SETTINGS = {
    "adamw": "--optimizer adamw --dropout 0.1 --grad_clip 0.5",
    "muon": "--optimizer muon --dropout 0.2 --grad_clip 0.3 --no-tie_embeddings",
    "adamw_layernorm": "--optimizer adamw --grad_clip 0 --bias --norm layernorm",
    "muon_tied": "--optimizer muon --dropout 0.1 --grad_clip 0.5",
}
MODEL = """--n_layer 2 --n_head 4 --n_kv_head 2 --n_embd 64 --block_size 16 --batch_size 2 --warmup_iters 2 --eval_interval 3
 --eval_iters 5 --log_interval 2 --checkpoint_interval 3"""


def environment():
    """Kernels that the machine picks; as root, launchers ask for a word."""
    all_of = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    return all_of | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def missing(programs, mpi):
    """Why runs with this MPI cannot be tried here, or nothing."""
    launcher, plugin = LAUNCHERS[mpi][0], programs.parent / f"lib/isobar/libisobar_{mpi}.so"
    if not shutil.which(launcher):
        return f"no {launcher} here; install {'openmpi-bin' if mpi == 'openmpi' else 'mpich'}"
    return "" if plugin.exists() else f"no {plugin.name}: install lib{mpi}-dev, configure and build again"


def parser_of(text, **numbers):
    """The flags that scripts share, and numbers with their defaults."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=LAUNCHERS, default="openmpi")
    parser.add_argument("--programs", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/bin")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser


def end_without(options, why=""):
    """Ends the script with 77 where its runs cannot be tried."""
    if why := missing(options.programs, options.mpi) or why:
        print(f"skipped: {why}")
        sys.exit(77)


def write_text(folder):
    """A corpus of 20,000 letters."""
    draw = random.Random(7)
    (folder / "text.txt").write_text("".join(draw.choices("abcdefghijklmnopqrst", k=20000)))


def command(programs, mpi, ranks, words, program="train_lm"):
    """Without a launcher for mpi None."""
    launcher = [] if mpi is None else [*LAUNCHERS[mpi], "-n", str(ranks)]
    return [*launcher, str(programs / program), *words]


def run(argv, folder, limit=300):
    """Exit code, or a time-out, and what it said. All runs are named `run` in a folder of their own, for they keep the name."""
    done = subprocess.run(argv, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit)
    return done.returncode, done.stdout


def training(pieces, setting, steps):
    """The words of a training in one of the settings, into the folder `run`, on the corpus beside its folder."""
    return [*MODEL.split(), *SETTINGS[setting].split(), "--gradient_accumulation_steps", str(pieces), "--max_iters", str(steps),
            "--corpus", "../text.txt", "--out", "run"]


def reference(programs, place, pieces, setting, steps):
    """The folder where one process on one thread has run that training; it is run once."""
    folder = place / f"one_{pieces}_{setting}"
    if not folder.exists():
        folder.mkdir()
        code, said = run(command(programs, None, 1, [*training(pieces, setting, steps), "--threads", "1"]), folder)
        assert code == 0, said
    return folder / "run"


def _without_circumstances(path):
    """summary.json without what tells of time and machine."""
    summary = json.loads(path.read_text())
    return json.dumps({k: v for k, v in summary.items() if k not in ("timing", "environment")}, indent=1).encode()


def _without_seconds(path):
    """report.html without how long each run took."""
    return re.sub(rb'"seconds":[0-9.e+-]+', b"", path.read_bytes())


def _bytes_apart(a, b):
    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))


def _lines_in_order(path):
    """A journal's heading and its rows, which stand in the order in which they ended: its processes decide that."""
    heading, *rows = path.read_bytes().splitlines() or [b""]
    return b"\n".join([heading, *sorted(rows)])


def files_apart(one, other, names):
    """{file: differing bytes} of two folders, but for times and environment; of run.h5, the number of values that h5diff tells."""
    apart = {}
    for name in names:
        a, b = one / name, other / name
        if not a.exists() or not b.exists():
            apart[name] = max(x.stat().st_size if x.exists() else 0 for x in (a, b)) or 1
        elif a.name == "summary.json":
            apart[name] = _bytes_apart(_without_circumstances(a), _without_circumstances(b))
        elif a.name == "report.html":
            apart[name] = _bytes_apart(_without_seconds(a), _without_seconds(b))
        elif a.name == "trainings.jsonl":
            apart[name] = _bytes_apart(_lines_in_order(a), _lines_in_order(b))
        elif a.name == "run.h5":
            apart[name] = _values_apart(a, b)
        else:
            apart[name] = _bytes_apart(a.read_bytes(), b.read_bytes())
    return {name: bytes_of for name, bytes_of in apart.items() if bytes_of}


def _values_apart(a, b):
    done = subprocess.run(["h5diff", "--exclude-path", "/environment", str(a), str(b)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return 0 if done.returncode == 0 else sum(int(w) for w in done.stdout.split() if w.isdigit()) or 1


@functools.cache
def uncompared():
    """Files of a run that are not compared, which is said once where it is for want of a program."""
    if not shutil.which("h5diff"):
        print("skipped: run.h5 is not compared: no h5diff here; install hdf5-tools", flush=True)
        return ["run.log", "run.h5"]
    return ["run.log"]


def all_files(folder):
    """The files of a run's folder that tell no time; without h5diff not run.h5."""
    left_out = uncompared()
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.name not in left_out)


def family(pid):
    """The process and all that it began, directly or not."""
    children = []
    for listed in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):  # of each of its threads
        try:
            children += listed.read_text().split()
        except OSError:  # it has ended
            pass
    return [pid] + [one for child in children for one in family(int(child))]


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def start_time(pid):
    """With its number it tells a process from a later one; None of one that is gone or waits for its parent alone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def descendants(pid, name):
    """Processes of this name that a process began, directly or not, in the order of their numbers."""
    return sorted(one for one in family(pid)[1:] if name_of(one) == name[:15])


def start(argv, folder):
    """A run in a process group of its own; what it says goes to the file `said`."""
    return subprocess.Popen(argv, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, start_new_session=True,
                            stdout=open(folder / "said", "w"), stderr=subprocess.STDOUT)


def wait_for(condition, limit):
    """Whether it became true in so many seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def end_of(process, limit=60):
    """The exit code; a run that does not end is killed, and its code None."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
