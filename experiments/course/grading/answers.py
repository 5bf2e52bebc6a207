"""Prints a page for the staff: the paragraphs of a handout that have blanks, with the answers in them. Numbers are
computed, from the reference where it has them, and each formula is compared with another way to its value
(course handouts checks it). It holds solutions."""
import re, tempfile
import course, handouts

WORDS = {}


def page(name, text, space):
    """`text` is the handout's, with its comments."""
    lines = [re.search(r"(?m)^# (.*)$", text)[0] + ": the answers to the blanks", "",
             "For the staff alone. Made by `course answers`."]
    heading = []
    for printed, comment, _ in handouts.stretches(text):
        told = (answer for answer, _ in handouts.answers(comment, space))
        for block in map(str.strip, re.split(r"\n\n|\n(?=\d\. |- )", printed)):
            if block.startswith("#"):
                heading = ["", block]
            elif handouts.BLANK in block:
                lines += [*heading, "", re.sub(handouts.BLANK, lambda _: f"**{next(told)}**", block)]
                heading = []
    return "\n".join(lines) + "\n"


def main(arguments):
    name = arguments.name
    with tempfile.TemporaryDirectory() as folder:
        space = handouts.space_of(handouts.Reference(name, arguments.prefix, folder))
        text = (course.ROOT / name / "handout.md").read_text()
        wrong = handouts.faults(text, space)[0]
        print("\n".join(wrong) or page(name, text, space), end="\n" if wrong else "")
    return 1 if wrong else 0
