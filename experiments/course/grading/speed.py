"""The cases about speed: two confined programs and the clock. And what must not get past it, for selftest."""
import pathlib, subprocess, tempfile
import clock, course, sandbox

SECONDS, MEMORY = 60, 2 << 30  # of a program that is measured


def started(path, scratch):
    """It may start no process and no thread."""
    running = []
    limits = sandbox.Limits(seconds=SECONDS, memory=MEMORY, processes=1)
    words = [str(path), str(clock.ROWS), str(clock.WIDTH)]
    return clock.Program(lambda fds: running.append(sandbox.Running(words, str(scratch), [str(path)], limits, fds)),
                         lambda: running[0].tasks(), lambda: running[0].end())


def measured(folder, scratch, enough):
    """As clock.measured, of the programs in a folder."""
    return clock.measured(*(lambda name=name: started(folder / name, scratch) for name in ("baseline", "clocked")), enough)


def faults(cases, found, folder, scratch):
    """{place: what is wrong} of the cases about speed, where `found` is wrong with the others. A call that is wrong anywhere is not
    measured."""
    wanted = {place: case for place, case in enumerate(cases) if case["times"]}
    calls = {case["call"] for case in wanted.values()}
    wrong = next((case["name"] for case, fault in zip(cases, found) if case["call"] in calls and fault), None)
    if not wanted or wrong:
        return {place: f"not measured: the test '{wrong}' fails" for place in wanted}
    times, said, fault = measured(folder, scratch, max(case["times"] for case in wanted.values()))
    return {place: None if times >= case["times"] else said or f"not measured: {fault}" for place, case in wanted.items()}


# --- selftest
def built(assignment, text, prefix, folder):
    """The folder of its programs, none of them watched."""
    course.release(assignment, folder / "tree")
    (folder / "tree" / assignment.source.name).write_text(text)
    for words in (["cmake", "-G", "Ninja", "-S", folder / "tree", "-B", folder / "build", "-DSANITIZE=OFF", f"-DCMAKE_PREFIX_PATH={prefix}"],
                  ["ninja", "-C", folder / "build", "measured"]):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder / "build"


def run(names, prefix, expect):
    """Right programs pass the clock, and SLOW forms of the reference reach no more than is said of them."""
    for name in names:
        assignment, module = course.Assignment(name), course.module_of(name, "mutants.py")
        right = [assignment.source, *sorted((assignment.folder / "alternatives").glob("*.cpp"))]
        variants = [(path.name, path.read_text(), 4, 99) for path in right]
        for what, changes, most in module.SLOW:
            text = assignment.source.read_text()
            for old, new in changes:
                text = course.replaced_once(text, old, new)
            variants.append((what, text, 0, most))
        first = None  # the reference's
        for what, text, least, most in variants:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder).chmod(0o755)
                path = pathlib.Path(folder)
                times, said, fault = measured(built(assignment, text, prefix, path), course.own_folder(path / "scratch"), 4)
                first = first or times
                expect(least <= times <= (1.2 * first if most is None else most), f"{name}, {what}: {said or fault}")
        for what, text in module.REFUSED:
            expect(course.symbols.refused_texts(text, assignment.forbidden), f"{name}: refused: {what}")
        expect(not any(course.symbols.refused_texts(path.read_text(), assignment.forbidden) for path in right), f"{name}: what is right is not refused")
