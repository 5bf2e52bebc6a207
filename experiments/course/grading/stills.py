"""Draws the pictures of tapes in handouts.

aN/tape.cpp, in the student's tree too, writes a page of a tape. Here it is built with the reference, walked
through in headless Chromium up to the step that aN/study.py names (STILL; forward steps come first), and the
page's own drawing kept as aN/tape.svg. Without --draw, tells which pictures are drawn otherwise by now. Exit
code: 0; 1 where one is; 2 where chromium or chromedriver is missing."""
import importlib.util, shutil, subprocess, sys, tempfile
import course, handouts

WORDS = {"--draw": dict(action="store_true", help="draws the pictures anew")}


def page_of(reference):
    """Of a reference that is not built yet."""
    reference.build()
    build = course.built(reference.tree, reference.prefix, target="tape")
    done = subprocess.run([build / "tape"], cwd=build, text=True, stderr=subprocess.PIPE)
    if done.returncode:
        raise course.Usage(f"{reference.name}/tape.cpp: {done.stderr}")
    return build / "tape.html"


def still(window, page, step):
    window.open(page)
    window.run("tapePage.show(arguments[0])", step)
    return window.run("return tapePage.still()")


def check_tools():
    """Throws Usage where there is no headless Chromium."""
    there = {"chromium": shutil.which("chromium"), "chromedriver": shutil.which("chromedriver"),
             f"selenium for {sys.executable}": importlib.util.find_spec("selenium")}
    if missing := [name for name, found in there.items() if not found]:
        raise course.Usage(f"wanted a headless Chromium, but there is no {', no '.join(missing)}; install the Debian "
                           "packages chromium, chromium-driver and python3-selenium, and take /usr/bin/python3")


def browsing():
    """A headless Chromium, to be used in a `with`."""
    check_tools()
    sys.path.append(str(course.ROOT.parents[1] / "tests/page"))
    import browser
    return browser.Browser()


def main(arguments):
    wrong = []
    with browsing() as window:
        for name in [path.parent.name for path in sorted(course.ROOT.glob("a*/tape.cpp"))]:
            step = course.module_of(name, "study.py").STILL
            with tempfile.TemporaryDirectory() as folder:
                drawn = still(window, page_of(handouts.Reference(name, arguments.prefix, folder)), step)
            faults = handouts.pictures(name, {"pictures": lambda: {"tape.svg": drawn}}, arguments.draw)
            wrong += [f"{name}/{fault}" for fault in faults]
            print(f"{name}/tape.svg: step {step}", flush=True)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0
