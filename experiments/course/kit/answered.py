"""Reads answers.txt: one answer in a line, such as `a4.3 0.0185`."""
import math, re

# A list's mark, the question's name or number, what separates it from the answer, a number.
LINE = re.compile(r"(?:[*-]\s+)?(?:(a\d+)\.)?([1-9]\d*)(?:[.)]?\s+|\s*[):=]\s*)(?:[=≈~]\s*)?"
                  r"([-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?)\.?", re.IGNORECASE)


AMBIGUOUS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # one and a bit, or a thousand?


def read(text, name):
    """({question: number}, the lines that answer no question of the assignment `name`). What follows # is a comment, but
    not a number that stands close to a # which begins its line; a question without an answer is neither."""
    found, bad = {}, []
    for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")):
        words = line.partition("#")[0].replace("−", "-").strip()
        answer = LINE.fullmatch(words)
        value = float(answer[3].replace(",", ".")) if answer else math.nan
        if answer and (answer[1] or name).lower() == name and math.isfinite(value) and not AMBIGUOUS.fullmatch(answer[3]):
            found[f"{name}.{answer[2]}"] = value
        elif words and not re.fullmatch(r"a\d+\.[1-9]\d*", words) or re.match(r"\s*#\d", line):
            bad.append(line)
    return found, bad


def why(line, question):
    """What is wrong with a line that is none, in words."""
    answer = LINE.fullmatch(line.partition("#")[0].strip())
    if answer and AMBIGUOUS.fullmatch(answer[3]):
        return f"this line of answers.txt is ambiguous: {line}; write {answer[3].replace(',', '.')} or {answer[3].replace(',', '')}"
    return f"this line of answers.txt is none: {line}; wanted one such as {question} 0.0185"
