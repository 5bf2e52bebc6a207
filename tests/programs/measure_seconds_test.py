"""tests/measure_seconds, on a build of three tests that CMake configures here and nothing compiles."""
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "measure_seconds"

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(three NONE)
enable_testing()
add_test(NAME busy COMMAND sh -c "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done")
add_test(NAME waits COMMAND sleep 0.6)
add_test(NAME skipped COMMAND sh -c "exit 77")
add_test(NAME fails COMMAND false)
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
"""


@pytest.fixture
def script():
    loader = importlib.machinery.SourceFileLoader("measure_seconds", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def three(tmp_path):
    if shutil.which("ninja") is None:
        pytest.skip("no ninja")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    subprocess.run(["cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b"], check=True, stdout=subprocess.DEVNULL)
    return tmp_path


def test_processor_time_counts_and_waiting_does_not(script, three):
    into = three / "seconds.txt"
    assert script.main(["--build", str(three / "b"), "--into", str(into), "busy", "waits"]) == 0
    seconds = script.read(into.read_text())
    assert seconds["busy"] >= script.LEAST
    # 0.6 s would be there if the clock on the wall counted; ctest itself takes less than half of that.
    assert seconds.get("waits", 0) < 0.5


def test_what_fails_or_is_skipped_keeps_its_line(script, three, capsys):
    into = three / "seconds.txt"
    into.write_text("fails 7.00\ngone 3.00\nskipped 5.00\n")
    assert script.main(["--build", str(three / "b"), "--into", str(into), "fails", "skipped"]) == 1
    assert into.read_text() == "fails 7.00\ngone 3.00\nskipped 5.00\n"
    assert "fails: failed; its line stays" in capsys.readouterr().out


def test_an_unknown_name_is_refused(script, three):
    with pytest.raises(SystemExit, match="has no test called tapes"):
        script.main(["--build", str(three / "b"), "--into", str(three / "seconds.txt"), "tapes"])
