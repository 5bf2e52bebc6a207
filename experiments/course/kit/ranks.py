"""Cases that several processes answer, the ranks: their requests, their run by way of the broker, their
merged answer.

What is named "x.2" goes to rank 2 as "x"; what has no number goes to all. `seeds` says how often, and in
which orders of messages, a case is run. The merged answer holds each rank's results ("y.2"), and what the
broker counted (Record.counted); of a rank that died nothing, and of who threw because of it `named`, the rank
that the error names."""
import os, re, subprocess, tempfile
import broker, tensors

OWN = ("ranks", "seeds", "dies")  # the broker's inputs; dies: which rank, before which of its calls
GONE = "link: the broker has gone"  # the driver's words
SILENCE = 5  # seconds that a rank may compute while others wait for it; then it counts as dead


def ranks_of(case):
    """How many ranks answer a case; 0 where one process answers without a broker."""
    return int(case["inputs"]["ranks"].values[0]) if "ranks" in case["inputs"] else 0


def seeds_of(case):
    return case["inputs"]["seeds"].values


def request(case, rank):
    """What a rank reads, once for each seed."""
    own = {name: tensor for name, tensor in case["inputs"].items() if name not in OWN and "." not in name}
    own |= {name.rpartition(".")[0]: tensor for name, tensor in case["inputs"].items()
            if name.endswith(f".{rank}")}
    doomed = case["inputs"].get("dies")
    if doomed and doomed.values[0] == rank:
        own["dies"] = tensors.array(doomed.values[1])
    return tensors.request(case["call"], own) * len(seeds_of(case))


def conduct(links, case):
    """The records of a case, one for each seed; a call before it ("warm") is a run too."""
    calls = 2 if "warm" in case["inputs"] else 1
    return [[broker.Run(links, ranks_of(case), seed).conduct() for _ in range(calls)][-1]
            for seed in seeds_of(case)]


def named(text, rank, dead, size):
    """Whether an error names the dead rank, and no other beside its own."""
    numbers = set(map(int, re.findall(r"(?<![\w.])\d{1,9}", text)))
    return dead in numbers and numbers <= {dead, rank, size}


def merged(case, answers, records):
    """(tensors, error) of a case, as of one process. answers: each rank's, one for each seed."""
    doomed = case["inputs"].get("dies")
    dead, found = int(doomed.values[0]) if doomed else None, {}
    errors = []  # (the less, the nearer to the cause; what is wrong)
    for rank, by_seed in enumerate(answers):
        if rank == dead:
            continue
        for number, (results, error) in enumerate(by_seed):
            if error is not None and dead is not None and " is to be written here: " not in error and not error.startswith(tensors.OTHER_ERROR):
                results = {
                    "named": tensors.array(float(dead if named(error, rank, dead, len(answers)) else -1))}
            elif error is not None:
                errors.append((3 if broker.FAILS in error or GONE in error else 1,
                               error if " is to be written here: " in error else f"rank {rank}: {error}"))
            results = {f"{name}.{rank}": tensor for name, tensor in results.items()}
            for name, tensor in results.items():
                if number and (name not in found or repr(found[name].values) != repr(tensor.values)):
                    errors.append((1, f"{name} differs between two orders of messages"))
            found.update(results)
        if len(by_seed) < len(records):
            errors.append((1, f"rank {rank} ended before it had answered"))
    for record in records:
        silent = record.lost and len(answers[record.lost[0]]) < len(records)
        errors += [(0 if silent else 2, record.failure)] * bool(record.failure)
        for name, number in record.counted().items():
            found[name] = tensors.array(float(max(number, found[name].values[0] if name in found else 0)))
    return found, min(errors, key=lambda error: error[0])[1] if errors else None


def causes(records, count):
    """The ranks whose end may be the cause of what is wrong: the one that was lost first, where one was."""
    return [rank for record in records for rank in record.lost][:1] or range(count)


def answers_in(text):
    """A rank's answers; none where they cannot be read."""
    try:
        return tensors.answers(text)
    except ValueError:
        return []


class Local:
    """Processes on this machine that answer several cases, one after the other, without a sandbox.

    results: (tensors, error) of each case as far as they came; records: of each; codes, said: of each rank."""

    def __init__(self, argv, cases, seconds, silence=SILENCE):
        count = max(map(ranks_of, cases))
        links = broker.Links(count, silence, seconds)
        outs, words = [[tempfile.TemporaryFile() for _ in range(count)] for _ in range(2)]
        started = [self.start(argv, [case for case in cases if ranks_of(case) > rank], rank,
                              links.theirs(rank), outs[rank], words[rank]) for rank in range(count)]
        links.started()
        try:
            self.records = []
            for case in cases:
                self.records.append(conduct(links, case))
                if not all(map(links.open, range(ranks_of(case)))):
                    break  # what comes now has too few ranks
        finally:
            patience = [links.left() if links.open(rank) else 2 for rank in range(count)]
            links.close()
            self.codes = [self.ended(process, seconds) for process, seconds in zip(started, patience)]
        self.said = [self.text_of(file).decode(errors="replace").strip() for file in words]
        left = [answers_in(self.text_of(file)) for file in outs]
        self.results = []
        for case, records in zip(cases, self.records):
            mine = [[by_rank.pop(0) for _ in records if by_rank] for by_rank in left[:ranks_of(case)]]
            self.results.append(merged(case, mine, records))

    @staticmethod
    def start(argv, cases, rank, link, out, words):
        with tempfile.TemporaryFile() as stdin:
            stdin.write(b"".join(request(case, rank) for case in cases))
            stdin.seek(0)
            return subprocess.Popen(argv, stdin=stdin, stdout=subprocess.DEVNULL, stderr=words,
                                    pass_fds=[3, link.fileno()], preexec_fn=lambda: os.dup2(out.fileno(), 3),
                                    env={**os.environ, "LINK": str(link.fileno())})

    @staticmethod
    def ended(process, seconds):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    @staticmethod
    def text_of(file):
        file.seek(0)
        with file:
            return file.read()
