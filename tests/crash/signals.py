#!/usr/bin/env python3
"""Sends INT, TERM, HUP and PIPE, once or twice, to training runs and to `isobar watch` at random instants.

    tests/crash/signals.py build/bin                  # 200 trials, some 10 minutes
    tests/crash/signals.py build/bin --count 20
    tests/crash/signals.py build/bin --seed 3 --only 7    # one trial again

Each trial trains a tiny model that saves after every step, stops it one to three times, resumes it each time
and lets it end. A run that was asked to stop exits with 130, and its newest checkpoint is the step that it
names; a second signal, a PIPE, and a signal before the first step end it at once, by that signal. No resume
may meet a checkpoint that it cannot read, and in the end all bytes are those of a run that nobody stopped.
`isobar watch` on a terminal is stopped too: it leaves no mode of the terminal changed. Exit code 0 if all of
this held, else 1."""
import argparse
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time

from crash import differences, newest_step, training

STEPS = 150
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE]


class Wrong(Exception):
    pass


def send_later(program, number, seconds):
    time.sleep(seconds)
    if program.poll() is None:
        program.send_signal(number)


def stopped(command, folder, numbers, rng, latest):
    """Starts the command, sends it the signals, the first before `latest` seconds have passed, and returns its exit
    code, or minus the signal that ended it, and what it said."""
    with open(folder / "log", "w+", encoding="utf-8") as log:
        with subprocess.Popen(command, stdout=log, stderr=log) as program:
            send_later(program, numbers[0], rng.uniform(0, latest))
            for number in numbers[1:]:
                send_later(program, number, rng.choice([0, rng.uniform(0, 0.02)]))
        log.seek(0)
        return program.returncode, log.read()


def check_stop(code, said, numbers, run):
    at_once = [-number for number in numbers]
    if code not in [0, 130, *at_once]:
        raise Wrong(f"exit code {code} after {[number.name for number in numbers]}: {said}")
    if "going back to the checkpoint before" in said:
        raise Wrong(f"a checkpoint could not be read: {said}")
    if code != 130:
        return
    step = re.search(rf"stopped after step (\d+) of {STEPS}; to go on: \S+ --resume ", said)
    if step is None or int(step[1]) != newest_step(run):
        raise Wrong(f"exit code 130, newest step {newest_step(run)}, and it said: {said}")


def train_with_signals(bin_folder, folder, words, rng, latest):
    run, codes = folder / "run", []
    for _ in range(rng.randint(1, 3)):
        more = ["--resume", run] if newest_step(run) else [*words, "--out", run]
        numbers = rng.choices(SIGNALS, k=rng.randint(1, 2))
        command = [bin_folder / "train_lm", *more, "--threads", str(rng.randint(1, 2))]
        code, said = stopped(command, folder, numbers, rng, latest)
        check_stop(code, said, numbers, run)
        codes.append(code)
        if (run / "summary.json").exists():
            return codes
    more = ["--resume", run] if newest_step(run) else [*words, "--out", run]
    last = subprocess.run([bin_folder / "train_lm", *more], capture_output=True, text=True, check=False)
    if last.returncode != 0 or "going back" in last.stderr:
        raise Wrong(f"the last run ended with {last.returncode}: {last.stderr}")
    left = [path.name for path in run.rglob("*") if ".tmp" in path.name or ".partial." in path.name]
    if left:
        raise Wrong(f"left in the folder: {left}")
    return codes


def watch_with_signal(bin_folder, run, rng):
    """Stops `isobar watch` of a run that was stopped itself, on a terminal of its own."""
    number = rng.choice(SIGNALS)
    child, terminal = pty.fork()
    if child == 0:
        os.execv(bin_folder / "isobar", ["isobar", "watch", run, "--interval", "0.01"])
    before = termios.tcgetattr(terminal)
    time.sleep(rng.uniform(0, 0.3))
    os.kill(child, number)
    said = b""
    try:
        while piece := os.read(terminal, 65536):
            said += piece
    except OSError:  # the child has closed its end
        pass
    after = termios.tcgetattr(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    if before != after:
        raise Wrong("isobar watch left the terminal in another mode")
    if b"\x1b[?" in said:
        raise Wrong(f"isobar watch changed a mode of the terminal: {said!r}")
    if status not in (0, 1, 130, -number):
        raise Wrong(f"isobar watch ended with {status} after {number.name}")


def trial(bin_folder, folder, whole, words, rng, latest):
    codes = train_with_signals(bin_folder, folder, words, rng, latest)
    wrong = differences(whole, folder / "run", STEPS)
    if wrong:
        raise Wrong("different from a run that nobody stopped: " + ", ".join(wrong))
    watch_with_signal(bin_folder, folder / "run", rng)
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="this trial alone")
    chosen = parser.parse_args()
    codes, failed = [], 0
    with tempfile.TemporaryDirectory(prefix="isobar_signals_") as name:
        folder = pathlib.Path(name)
        words = training(folder, STEPS, random.Random(chosen.seed))
        begin = time.monotonic()
        subprocess.run([chosen.bin / "train_lm", *words, "--out", folder / "whole"], check=True,
                       stdout=subprocess.DEVNULL)
        latest = time.monotonic() - begin
        for number in [chosen.only] if chosen.only is not None else range(chosen.count):
            with tempfile.TemporaryDirectory(prefix="trial_", dir=folder) as own:
                try:
                    codes += trial(chosen.bin, pathlib.Path(own), folder / "whole", words,
                                   random.Random(f"{chosen.seed} {number}"), latest)
                except Wrong as error:
                    failed += 1
                    print(f"trial {number}: {error}\n"
                          f"REPLAY='{sys.argv[0]} {chosen.bin} --seed {chosen.seed} --only {number}'", flush=True)
    at_once = sum(code < 0 for code in codes)
    print(f"{len(codes)} stops: {codes.count(130)} in good order, {at_once} at once, {codes.count(0)} too late; "
          f"{failed} trials failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
