"""Reads answers.txt: one answer in a line, such as `a4.3 0.0185`."""
import math, re

# A list's mark, the question's name or number, what separates it from the answer, a number.
LINE = re.compile(r"(?:[*-]\s+)?(?:(a\d+)\.)?(\d+)(?:[.)]?\s+|\s*[):=]\s*)(?:[=≈~]\s*)?"
                  r"([-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?)\.?", re.IGNORECASE)


def read(text, name):
    """({question: number}, the lines that answer no question of the assignment `name`). What follows # is a comment;
    a question without an answer is neither."""
    found, bad = {}, []
    for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")):
        words = line.partition("#")[0].replace("−", "-").strip()
        answer = LINE.fullmatch(words)
        value = float(answer[3].replace(",", ".")) if answer else math.nan
        if answer and (answer[1] or name).lower() == name and math.isfinite(value):
            found[f"{name}.{answer[2]}"] = value
        elif words and not re.fullmatch(r"a\d+\.\d+", words):
            bad.append(line)
    return found, bad
