#!/usr/bin/env python3
"""Untrusted files: their checksums are right, and one to three of their bytes are not.

hostile_files.py build/bin [--mutants 5000] [--seed 0] [--kind KIND]

A small checkpoint, bad step, token store and exported model are changed, a mutant at a time: one to three
bytes of header or data, then both checksums computed anew. Every program that reads such files gets each
mutant under MALLOC_PERTURB_=1 and =255, which fill memory that is handed out and freed. Both must do the
same: exit code 2, one line and no results, or what they do with a file of the same content that
written_anew() read and wrote, in another order. `isobar watch` shows the same twice for changed lines of a run.
No signal, no other exit code. Exits with 0 if all held, 1 if not, 77 where libxxhash is missing."""
import argparse, collections, concurrent.futures, ctypes, json, os, pathlib, random, shutil, struct, subprocess, sys, tempfile

MODEL = """--threads 1 --n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 8 --block_size 8 --batch_size 2 --warmup_iters 0
 --eval_interval 3 --eval_iters 1 --log_interval 5 --checkpoint_interval 2 --keep 9"""
FINE_TUNE = "--threads 1 --corpus text.txt --max_iters 1 --eval_iters 1 --out out"
STEP = "run/checkpoints/step_000004.safetensors"
# Kind, the place of the file in a trial's folder, and the command that reads it. Results are files, or what is printed.
TRIALS = [
    ("checkpoint", "it.safetensors", "isobar sample it.safetensors --max_new_tokens 9"),
    ("checkpoint", "it.safetensors", "isobar evaluate it.safetensors --corpus text.txt"),
    ("checkpoint", "it.safetensors", "isobar export it.safetensors -o out/model.safetensors"),
    ("checkpoint", STEP, "train_lm --threads 1 --resume run"),
    ("checkpoint", "it.safetensors", f"train_lm --init_from it.safetensors {FINE_TUNE}"),
    ("bad step", "it.safetensors", "train_lm --threads 1 --replay it.safetensors"),
    ("token store", "it.safetensors", f"train_lm {MODEL} --max_iters 2 --corpus it.safetensors --out out"),
    ("model", "it/model.safetensors", "isobar import it/model.safetensors -o out.safetensors"),
    ("model", "it/model.safetensors", f"train_lm --init_from it {FINE_TUNE}"),
    ("lines", "run/metrics.jsonl", "isobar watch run --once"),  # without checksums
    ("module lines", "run/modules.jsonl", "isobar watch run --once"),
    ("module lines", "run/modules.jsonl", "train_lm --threads 1 --resume run"),
]
LINES = ("lines", "module lines")
COMPARED = ("metrics.jsonl", "loss.csv", "layers.csv", "config.json", "tokenizer.json")  # and every other safetensors file
DIGITS, DATA_DIGITS = 33, 33 + 16 + len('","XXH3_of_data":"')  # where the checksums are


def checksum(data):
    return b"%016x" % xxhash.XXH3_64bits(bytes(data), ctypes.c_size_t(len(data)))


def sealed(data, kind):
    """The bytes with right checksums; models and lines have none."""
    if kind in ("model", *LINES):
        return bytes(data)
    data = bytearray(data)
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    if begin > len(data) or begin < DATA_DIGITS + 16:
        return bytes(data)  # refused before checksums are looked at
    if kind != "token store":
        data[DATA_DIGITS:DATA_DIGITS + 16] = checksum(data[begin:])
    data[DIGITS:DIGITS + 16] = b"0" * 16
    data[DIGITS:DIGITS + 16] = checksum(data[:begin])
    return bytes(data)


def written_anew(data, kind):
    """The same tensors and metadata in another order, read by the format's definition alone."""
    length = struct.unpack("<Q", data[:8])[0]
    header, rest = json.loads(data[8:8 + length]), data[8 + length:]
    metadata = header.pop("__metadata__", {})
    new, body = {"__metadata__": dict(sorted(metadata.items()))}, b""
    store = kind == "token store"  # its tokens come first
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"] if store else item[0][::-1]):
        numbers = rest[slice(*entry["data_offsets"])]
        new[name] = {"data_offsets": [len(body), len(body) + len(numbers)], "dtype": entry["dtype"], "shape": entry["shape"]}
        body += numbers
    text = json.dumps(new, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return sealed(struct.pack("<Q", len(text)) + text + body, kind)


def changed(data, rng, kind):
    """One to three bytes changed: in the header, where the format's words and numbers are, or anywhere."""
    data = bytearray(data)
    end, first = len(data) if kind in LINES else 8 + struct.unpack("<Q", data[:8])[0], 0
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(first, end if rng.random() < 0.6 else len(data))
        if kind == "token store" and at < DIGITS:
            first = DIGITS  # with two wrong bytes at its beginning it is a text to train_lm
        old = data[at]
        if chr(old).isdigit() and rng.random() < 0.5:
            data[at] = rng.choice(b"0123456789")
        else:
            data[at] = rng.choice([rng.randrange(256), old ^ 1 << rng.randrange(8), 0, 255, rng.choice(b'0"{}[],: -.e\\')])
    return sealed(data, kind)


class Trials:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs.resolve(), folder
        self.environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "MALLOC_PERTURB_")}
        self.files = self.make_files()

    def run(self, words, folder, perturb=None):
        environment = self.environment | ({"MALLOC_PERTURB_": str(perturb)} if perturb else {})
        return subprocess.run([self.programs / words[0], *words[1:]], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)

    def make_files(self):
        draw, place = random.Random(7), self.folder / "clean"
        place.mkdir()
        (place / "text.txt").write_text("".join(draw.choices("abcdefghijklmnopqrst", k=2000)))
        for words in ("isobar prepare text.txt -o tokens.safetensors",
                      f"train_lm {MODEL} --corpus text.txt --max_iters 6 --out run",
                      f"train_lm {MODEL} --corpus text.txt --max_iters 6 --learning_rate 1e30 --out bad",
                      "isobar export run -o it/model.safetensors"):
            done = self.run(words.split(), place)
            if done.returncode != ("1e30" in words):
                sys.exit(f"{words}: exit code {done.returncode}: {done.stderr.decode()}")
        made = {"checkpoint": STEP, "bad step": "bad/bad_step.safetensors", "token store": "tokens.safetensors",
                "model": "it/model.safetensors", "lines": "run/metrics.jsonl", "module lines": "run/modules.jsonl"}
        return {kind: (place / name).read_bytes() for kind, name in made.items()}

    def outcome(self, trial, data, perturb):
        """(exit code, what it said, results), the same for equal content."""
        kind, name, command = trial
        with tempfile.TemporaryDirectory(dir=self.folder) as name_of_place:
            place = pathlib.Path(name_of_place)
            clean = self.folder / "clean"
            os.link(clean / "text.txt", place / "text.txt")
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
            if kind in LINES or "--resume" in command:
                beside = {"metrics.jsonl", "modules.jsonl"} | ({STEP[4:]} if "--resume" in command else {"summary.json"})
                for name_beside in beside - {name[4:]}:
                    (place / "run" / name_beside).parent.mkdir(exist_ok=True)
                    shutil.copy(clean / "run" / name_beside, place / "run" / name_beside)
            if kind == "model":
                for beside in ("config.json", "tokenizer.json"):
                    shutil.copy(clean / "it" / beside, place / "it")
            before = set(place.rglob("*"))
            done = self.run(command.split(), place, perturb)
            results = {str(p.relative_to(place)): checksum(p.read_bytes()) for p in sorted(set(place.rglob("*")) - before)
                       if p.is_file() and (p.suffix == ".safetensors" or p.name in COMPARED)}
            printed = done.stdout if command.startswith("isobar") or kind == "bad step" else b""
            return done.returncode, done.stderr.decode(errors="replace"), printed, results

    def fault(self, trial, data):
        """(what is wrong with what a program does, or None, and whether it took the file)."""
        kind = trial[0]
        one, other = self.outcome(trial, data, 1), self.outcome(trial, data, 255)
        if one != other:
            return f"MALLOC_PERTURB_ shows: {one} and {other}", False
        code, said, _, results = one
        if code == 2:
            clear = said.count("\n") == 1 and said.endswith("\n") and len(said) < 1300 and said[:-1].isprintable()
            if not clear or not results:  # with results, a training began and then found that it cannot go on
                return (None if clear else f"not one line: {one}"), False
        elif code not in (0, 1):
            return f"exit code {code}: {said[-300:]}", False
        if kind in LINES:
            return None, True
        try:
            twin = written_anew(data, kind)
        except ValueError as error:
            return f"exit code {code}, but Python says: {error}", True
        same = self.outcome(trial, twin, 1)
        return (None if (code, *one[2:]) == (same[0], *same[2:]) else f"{one}, but {same} for the same content"), True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--mutants", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=sorted({kind for kind, _, _ in TRIALS}))
    options = parser.parse_args()
    chosen = [trial for trial in TRIALS if options.kind in (None, trial[0])]
    with tempfile.TemporaryDirectory(prefix="isobar_hostile_") as name:
        trials = Trials(options.programs, pathlib.Path(name))

        def one(number):
            rng = random.Random(f"{options.seed} {number}")
            trial = chosen[number % len(chosen)]
            data = trials.files[trial[0]] if number < len(chosen) else changed(trials.files[trial[0]], rng, trial[0])
            fault, taken = trials.fault(trial, data)
            if number < len(chosen) and not taken:
                fault = f"an unchanged file is refused: {fault}"
            return trial, fault, taken

        table, faults = collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, (trial, fault, taken) in enumerate(pool.map(one, range(options.mutants))):
                words = trial[2].split()
                flag = [word for word in ("--resume", "--init_from", "--replay", "--corpus") if word in words]
                verb = words[1] if words[0] == "isobar" else flag[0]
                end = "wrong" if fault else "taken" if taken else "refused"
                table[trial[0], f"{words[0]} {verb}", end] += 1
                if fault:
                    faults.append(f"mutant {number}, {trial[0]}, {trial[2]}: {fault}")
    print(f"{'kind':<12} {'program':<22} {'refused':>8} {'taken':>6} {'wrong':>6}")
    for row in sorted({key[:2] for key in table}):
        print(f"{row[0]:<12} {row[1]:<22} {table[*row, 'refused']:>8} {table[*row, 'taken']:>6} {table[*row, 'wrong']:>6}")
    print(*faults[:20], sep="\n")
    print(f"{options.mutants} files of seed {options.seed}, {len(faults)} wrong")
    return bool(faults)


if __name__ == "__main__":
    try:
        xxhash = ctypes.CDLL("libxxhash.so.0")
    except OSError as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    sys.exit(main())
