"""What pytest tests of scripts share. CTest runs each tests/FOLDER/NOUN_test.py by itself; by hand, all of a folder:
pytest tests/programs. A test that needs the programs takes the fixture `build`; any other condition is
pytest.skip(why)."""
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture
def build():
    """The folder of a build, whose bin/ has the programs: that of CTest, of ISOBAR_BUILD, or build/."""
    folder = pathlib.Path(os.environ.get("ISOBAR_BUILD", ROOT / "build"))
    if not (folder / "bin").is_dir():
        pytest.skip(f"no programs in {folder}/bin; build, or set ISOBAR_BUILD")
    return folder


# CTest, and ./test.sh after it, read why a test was skipped; a file in which nothing else happened exits with 77.
def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("skipped"):
        terminalreporter.write_line(f"skipped: {report.longrepr[2].removeprefix('Skipped: ')}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter.getreports("skipped") and not reporter.getreports("passed"):
        session.exitstatus = 77
