"""Runs one case's ranks: each in a sandbox of its own, with no way to another but the broker's socket."""
import dataclasses, os, pickle
import broker, ranks, sandbox, tensors


def apart(run):
    """(a process of ours that does run(), the pipe that its Outcome comes through). A sandbox ends all
    processes below its own, so those that run beside each other have one each."""
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    try:
        outcome = run()
        with os.fdopen(into, "wb") as file:
            pickle.dump(outcome, file)
    finally:
        os._exit(0)


def run(argv, case, folder, readable, limits):
    """As sandbox.run, of all ranks: the first that ended badly, or one that answers for all together."""
    links = broker.Links(ranks.ranks_of(case), ranks.SILENCE * limits.seconds / 10, limits.seconds)
    shown = sandbox.alone(argv[0])
    pipes = [start(argv, case, rank, folder, readable, limits, links,
                   shown) for rank in range(ranks.ranks_of(case))]
    links.started()
    try:
        records = ranks.conduct(links, case)
    finally:
        links.close()
        outcomes = [ended(*child) for child in pipes]
    dead = case["inputs"]["dies"].values[0] if "dies" in case["inputs"] else None
    for rank in ranks.causes(records, len(outcomes)):
        outcome = outcomes[rank]
        if (outcome.code or outcome.why) and rank != dead:
            return dataclasses.replace(outcome, why=f"rank {rank}: {outcome.why}" if outcome.why else "")
    answer = tensors.reply(*ranks.merged(case, [ranks.answers_in(outcome.answer) for outcome in outcomes],
                                         records))
    return sandbox.Outcome(0, "", answer, "".join(outcome.output for outcome in outcomes),
                           max(outcome.seconds for outcome in outcomes))


def start(argv, case, rank, folder, readable, limits, links, shown):
    def run_rank():
        links.keep(rank)
        return sandbox.run(argv, ranks.request(case, rank), folder, readable, limits,
                           environment={"LINK": "4", **sandbox.WATCHED},
                           more=[links.theirs(rank).fileno()], system=shown)
    return apart(run_rank)


def ended(pid, out):
    with os.fdopen(out, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    return pickle.loads(data) if data else sandbox.Outcome(1, "the grader could not run it", b"", "", 0)
