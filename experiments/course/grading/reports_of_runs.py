"""Grades honest reports of runs, and dishonest ones: each of an assignment's forgeries must be refused, by the case that it names."""
import json, pathlib, shutil, subprocess, tempfile
import course


def honest(name, prefix, folder, expect, graded):
    """Each honest submission scores 100; the first one's folder."""
    module = course.module_of(name, "honest.py")
    places = [module.made(layer, prefix, pathlib.Path(folder) / layer) for layer in module.LAYERS]
    for place in places:
        results = graded(place)
        verdict = json.loads((place / "runs/claim/summary.json").read_text())["claims"][0]["verdict"]
        expect(results["score"] == 100, f"{name}: an honest report on {place.name}, whose claim is {verdict}, scores 100 ({results['score']:g})")
    return places[0]


def forged(name, prefix, first, folder, expect):
    """Each forgery of the first honest report is refused. The layer is the same: its programs are built once, and their runs made once."""
    assignment, module = course.Assignment(name), course.module_of(name, "forgeries.py")
    place, tree = pathlib.Path(folder) / "grader", pathlib.Path(folder) / "tree"
    place.mkdir()
    course.own_folder(place / "work")
    course.own_folder(place / "work/tmp")
    course.release(assignment, tree)
    shutil.copy(first / "a11.cpp", tree)
    studies = assignment.checker.Studies(tree, prefix, place / "work", 180)
    clean = assignment.checker.faults(assignment.checker.handed_in(first), studies)
    expect(not any(clean.values()), f"{name}: nothing is wrong with what is forged below")
    for what, forge, *fails in [*module.HONEST, *module.FORGERIES]:
        with tempfile.TemporaryDirectory() as place:
            at = pathlib.Path(place) / "handed"
            shutil.copytree(first, at, ignore=shutil.ignore_patterns("build", "*.h5", "*.safetensors"))
            forge(at, lambda program, run, **changed: again(name, prefix, first, at, program, run, changed))
            found = assignment.checker.faults(assignment.checker.handed_in(at), studies)
            if fails:
                case, word = fails
                expect(word in (found[case] or ""), f"{name}: {what}: {found[case] or 'nothing is found'}")
            else:
                expect(not any(found.values()), f"{name}: {what}: {next(filter(None, found.values()), 'nothing is wrong')}")


def again(name, prefix, first, at, program, run, changed):
    """Another run of the honest folder, with some flags changed."""
    module = course.module_of(name, "honest.py")
    flags = module.flags_of(program, prefix, first / "build")
    for flag, value in changed.items():
        if f"--{flag}" in flags:
            flags[flags.index(f"--{flag}") + 1] = value
        else:
            flags += [f"--{flag}", value]
    shutil.rmtree(at / "runs" / run)
    subprocess.run([*flags, "--out", f"runs/{run}"], check=True, cwd=at, stdout=subprocess.DEVNULL, env=module.ENVIRONMENT)


def other_sources(name, first, expect, graded):
    """Layers that are made to look right: each loses points of task 1, in the named words."""
    for what, old, new, added, word in course.module_of(name, "forgeries.py").SOURCES:
        with tempfile.TemporaryDirectory() as place:
            at = pathlib.Path(place) / "handed"
            shutil.copytree(first, at, ignore=shutil.ignore_patterns("build", "*.h5", "*.safetensors"))
            source = at / f"{name}.cpp"
            source.write_text(course.replaced_once(source.read_text(), old, new))
            (at / "report.md").write_text((at / "report.md").read_text() + added)
            results = graded(at)
            lost = [test["name"] for test in results["tests"] if test["score"] == 0 and "task 1" in test["name"]]
            told = word.lower() in (results["output"] + str(results["tests"])).lower()
            expect(lost and told, f"{name}: {what}: {results['score']:g} points; {lost[0] if lost else 'nothing is found'}")


def reference(assignment, prefix, folder):
    """What is graded as the reference: its folder, or one with a report and its runs where an assignment wants one."""
    if not assignment.checker:
        return assignment.folder
    return course.module_of(assignment.name, "honest.py").made(None, prefix, pathlib.Path(folder) / "honest")


def run(names, prefix, expect, graded, confine):
    for name in [name for name in names if course.Assignment(name).checker]:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder).chmod(0o755)

            def results(place):
                return graded(name, place, prefix, f"{folder}/results.json", *confine)
            first = honest(name, prefix, folder, expect, results)
            forged(name, prefix, first, folder, expect)
            other_sources(name, first, expect, results)
