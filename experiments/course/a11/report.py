#!/usr/bin/env python3
"""Compares report.md with its runs, as the grader does before it makes the runs again.

  ./report.py            in the folder that is handed in

Exit code: 0 when all agrees, 1 when something does not."""
import decimal, json, pathlib, re, sys

# {layer: the sentence of its paper that is judged}, of the handout's list.
SENTENCES = dict(re.findall(r"(?m)^\| (\w+) \|[^|]*arXiv[^|]*\|[^|]*\| (.*) \|$",
                            pathlib.Path(__file__).with_name("handout.md").read_text()))
SIGNAL, MODEL, CONTROL, CLAIM = (
    f"runs/{name}/summary.json" for name in ("signal", "lm", "lm_rmsnorm", "claim"))
FILES = ["report.md", "claim.toml", SIGNAL, MODEL, CONTROL, CLAIM]
OF_TASK = {2: [SIGNAL], 3: [MODEL, CONTROL], 4: [CLAIM]}
# Settings of the signal study: what they must be, or between which numbers.
SETTINGS = {"norm": "mine", "dtype": "f64", "depth": (4, 16), "width": (32, 256), "batch": (2, 256),
            "seeds": (5, 20)}
# The language model, all but --norm and --out.
MODEL_FLAGS = "--corpus synthetic --n_layer 1 --n_embd 32 --max_iters 100 --seeds 3".split()
VERDICTS = ["true", "false", "depends"]
WIDEST = 1.5   # of two bounds, the greater over the less
DIGITS = 3     # of a value that is no whole number


class Wrong(Exception):
    """One line: where, what was wanted, what was found."""


# --- the report
def parsed(text):
    """({word: what stands after it}, the table's rows)"""
    heads = dict(re.findall(r"(?m)^(layer|verdict): *(.*?) *$", text))
    rows = [[cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
            for line in text.splitlines() if line.startswith("|")]
    if len(rows) < 2 or rows[0] != ["what", "value", "file", "path"]:
        raise Wrong("report.md: wanted a table with the columns what, value, file, path")
    for row in rows[2:]:
        if len(row) != 4:
            raise Wrong(f"report.md: wanted four cells a row, got {len(row)}: {' | '.join(row)[:80]}")
    return heads, rows[2:]


def required(task, summaries):
    """(what, file, path) of each row that the report must have."""
    if task == 2:
        last = f"layer{summaries[SIGNAL]['config']['depth']}.std_norm"
        return [
            ("seeds", SIGNAL, "config / seeds"), ("first layer", SIGNAL, "measured / layer1.std_norm / mean"),
            *((f"last layer, {of}", SIGNAL, f"measured / {last} / {of}") for of in ("mean", "min", "max"))]
    if task == 3:
        return [(f"{net}, {of}", file, f"measured / val_loss / {of}")
                for net, file in (("mine", MODEL), ("rmsnorm", CONTROL)) for of in ("mean", "sd", "n")]
    return [(f"part {i + 1}", CLAIM,
             f"claims / 0 / parts / {i} / value") for i in range(len(summaries[CLAIM]["claims"][0]["parts"]))]


def at(summaries, file, path):
    """The value at a path such as `measured / layer8.std / mean`."""
    value = summaries[file]
    for step in path.split(" / "):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Wrong(f"{file} has nothing at {path[:80]}: there is no {step[:40]}") from None
    return value


def compare(printed, value):
    """None where the printed text is the value, rounded to the digits that are printed."""
    if not re.fullmatch(r"[-−]?\d+(\.\d+)?(e[-+]?\d+)?", printed):
        return f"wanted a number, got '{printed[:40]}'"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"the run has no number there, but {json.dumps(value)[:40]}"
    given, exact = decimal.Decimal(printed.replace("−", "-")), decimal.Decimal(repr(value))
    if given == exact:
        return None
    if abs(given - exact) > decimal.Decimal(1).scaleb(given.as_tuple().exponent) / 2:
        return f"the run has {value:.6g}, the report {printed}"
    if len("".join(map(str, given.as_tuple().digits)).lstrip("0")) < DIGITS:
        return f"wanted {DIGITS} digits or more of {value:.6g}, got {printed}"
    return None


def check_rows(task, rows, summaries):
    """The rows that must be there, and all others of the same runs."""
    wanted = required(task, summaries)
    for what, file, path in wanted:
        found = [row for row in rows if row[0] == what]
        if len(found) != 1:
            raise Wrong(f"report.md: wanted one row '{what}', got {len(found)}")
        if found[0][2:] != [file, path]:
            raise Wrong(f"report.md, '{what}': wanted {file}, {path}, got {', '.join(found[0][2:])[:120]}")
    for what, printed, file, path in rows:
        if file not in FILES:
            raise Wrong(f"report.md, '{what[:60]}': wanted one of {', '.join(sum(OF_TASK.values(), []))}, "
                        f"got {file[:80]}")
        if file in OF_TASK[task]:
            wrong = compare(printed, at(summaries, file, path))
            if wrong:
                raise Wrong(f"report.md, '{what}': {wrong}")


# --- the runs
def check_config(file, summaries, settings):
    for name, wanted in settings.items():
        got, between = summaries[file]["config"].get(name), isinstance(wanted, tuple)
        if not (isinstance(got, int) and wanted[0] <= got <= wanted[1] if between else str(got) == wanted):
            raise Wrong(f"{file}: wanted --{name} {' to '.join(map(str, wanted)) if between else wanted}, "
                        f"got {got}")


def check_signal(heads, summaries):
    check_config(SIGNAL, summaries, SETTINGS)


def check_models(heads, summaries):
    wanted = dict(zip((flag[2:] for flag in MODEL_FLAGS[::2]), MODEL_FLAGS[1::2]))
    for file, norm in ((MODEL, "mine"), (CONTROL, "rmsnorm")):
        check_config(file, summaries, {**wanted, "norm": norm})
    mine, control = (
        {k: v for k, v in summaries[file]["config"].items() if k != "norm"} for file in (MODEL, CONTROL))
    other = [name for name in mine if mine[name] != control.get(name)]
    if other:
        raise Wrong(f"{MODEL} and {CONTROL} differ in --{other[0]}: the two nets must differ in their norm "
                    "alone")


def the_claim(summaries):
    claims = summaries[CLAIM]["claims"]
    if len(claims) != 1 or not claims[0]["parts"]:
        raise Wrong(f"claim.toml: wanted one claim that has parts, got {len(claims)}")
    return claims[0]


def check_sentence(heads, summaries):
    claim, layer = the_claim(summaries), heads.get("layer", "")
    if layer not in SENTENCES:
        raise Wrong(f"report.md: wanted a line 'layer: NAME' with one of {', '.join(SENTENCES)}, got "
                    f"'{layer[:40]}'")
    plain = lambda text: " ".join(text.split())
    if plain(claim["quote"]) != plain(SENTENCES[layer]):
        raise Wrong(f"claim.toml: the quote is no sentence of the list for {layer}: "
                    f"'{plain(claim['quote'])[:80]}'")
    if claim["note"]:
        raise Wrong("claim.toml: a note says what the parts leave out; leave it out and let the parts speak")
    for part in claim["parts"]:
        low, high = part["bounds"]
        both = isinstance(low, (int, float)) and isinstance(high, (int, float))  # else it is a word
        if both and 0 < low and high > WIDEST * low:
            raise Wrong(f"claim.toml, '{part['says'][:60]}': {low} to {high} is too wide to fail; wanted at "
                        f"most {WIDEST} times the lower bound")


def check_verdict(heads, summaries):
    verdict = the_claim(summaries)["verdict"]
    if verdict not in VERDICTS:
        raise Wrong(f"{CLAIM}: wanted a verdict, one of {', '.join(VERDICTS)}, got '{verdict}'; its reason "
                    "says what is missing")
    if heads.get("verdict") != verdict:
        raise Wrong(f"report.md: wanted a line 'verdict: {verdict}', as the run says, got "
                    f"'{heads.get('verdict', '')[:40]}'")


def opened(task, texts):
    """(what stands above the report's table, its rows, the summaries of this task's runs by name)"""
    summaries = {}
    for name in ["report.md", "claim.toml", *OF_TASK[task]] if task == 4 else ["report.md", *OF_TASK[task]]:
        if name not in texts:
            raise Wrong(f"{name} is missing")
    for name in OF_TASK[task]:
        try:
            summaries[name] = json.loads(texts[name])
        except (ValueError, RecursionError):
            raise Wrong(f"{name} is not readable as JSON") from None
    return (*parsed(texts["report.md"]), summaries)


def checks(texts):
    """{case's name: what is wrong, or None} from the files' texts by name."""
    def check_all(task, check):
        heads, rows, summaries = opened(task, texts)
        check(heads, summaries)
        if check is not check_sentence:
            check_rows(task, rows, summaries)
    every = {"the signal: the report's rows are those of the run": (2, check_signal),
             "the language model: the report's rows are those of the runs": (3, check_models),
             "the claim: a sentence of the paper, with parts that can fail": (4, check_sentence),
             "the claim: the report's rows and verdict are those of the run": (4, check_verdict)}
    return {name: wrong_of(lambda words=words: check_all(*words)) for name, words in every.items()}


def wrong_of(check):
    """What a check finds wrong, or None. Whatever stands in a handed-in file is no more than wrong."""
    try:
        check()
    except Wrong as e:
        return str(e)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as e:
        return f"a run's summary.json is not as its program writes it ({type(e).__name__}: {str(e)[:60]})"
    return None


def main():
    here = pathlib.Path.cwd()
    found = checks(
        {name: (here / name).read_text(errors="replace") for name in FILES if (here / name).is_file()})
    for name, wrong in found.items():
        print(f"{'WRONG' if wrong else 'ok   '} {name}" + (f"\n      {wrong}" if wrong else ""))
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
