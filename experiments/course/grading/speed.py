"""The cases about speed: two confined programs and the clock."""
import clock, points, sandbox

SECONDS, MEMORY = 60, 2 << 30  # of a program that is measured


def started(path, scratch):
    """It may start no process and no thread."""
    running = []
    limits = sandbox.Limits(seconds=SECONDS, memory=MEMORY, processes=1)
    words = [str(path), str(clock.ROWS), str(clock.WIDTH)]
    return clock.Program(
        lambda fds: running.append(sandbox.Running(words, str(scratch), [str(path)], limits, fds)),
        lambda: running[0].tasks(), lambda: running[0].end())


def measured(folder, scratch, enough):
    return clock.measured(
        *(lambda name=name: started(folder / name, scratch) for name in ("baseline", "clocked")), enough)


def faults(cases, found, folder, scratch):
    """{place: what is wrong} of the cases about speed, where `found` is wrong with the others. A call that is
    wrong anywhere is not measured."""
    wanted = {place: case for place, case in enumerate(cases) if case["times"]}
    calls = {case["call"] for case in wanted.values()}
    failed = [(case, fault) for case, fault in zip(cases, found) if case["call"] in calls and fault]
    if not wanted or failed:
        wrong = next((f"task {case['task']}{points.STUB}" for case, fault in failed if points.is_stub(fault)),
                     failed and f"not measured: the test '{failed[0][0]['name']}' fails")
        return {place: wrong for place in wanted}
    times, said, fault = measured(folder, scratch, max(case["times"] for case in wanted.values()))
    return {place: None if times >= case["times"] else said or f"not measured: {fault}"
            for place, case in wanted.items()}

