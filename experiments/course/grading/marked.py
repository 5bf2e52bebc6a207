"""The one source of an assignment: what a student gets of it, and what stays here.

    // Task 2.
    Tensor relu(const Tensor& x) {
      …                              a body becomes  todo(2);
    }

    // What is to be known of them.
    namespace {
    …                                helpers go without a trace, and so does a struct
    }  // namespace

    // Given: …                      a function under such a comment stays
    Tensor given(…) {

    void step(…) {                   this one stays but for what is marked:
      // solution {
      …
      // instead {
      // …                           it becomes the lines after `instead`, less their "// "
      // }
"""
import re

PIECE = re.compile(r"""(?mx)
    ^//\ Task\ (?P<task>\d+)
    | (?P<helpers>(?:^//\ (?!Task).*\n)*^(?:namespace\ \{\n(?s:.*?)^\}\ \ //\ namespace\n | struct\ (?s:.*?)^\};\n))
    | (?P<given>^//\ Given(?s:.*?)\n)?^[A-Za-z\[][^;{}]*\{(?P<body>\ .*\ |\n(?s:.*?)^)\}\n""")
MARKED = re.compile(r"(?m)^ *// solution \{\n(?s:.*?)^ *// instead \{\n(?P<instead>(?: *// (?!\}).*\n)*) *// \}\n")


def solutions(text):
    """(begin, end, what stands there in a student's tree) of all that is to be written."""
    task = 0
    for piece in PIECE.finditer(text):
        marked = list(MARKED.finditer(piece["body"] or ""))
        if piece["task"]:
            task = int(piece["task"])
        elif piece["helpers"]:
            yield *piece.span(), ""
        elif marked:
            for found in marked:
                begin, end = (piece.start("body") + place for place in found.span())
                yield begin, end, re.sub("(?m)^( *)// ", r"\1", found["instead"])
        elif not piece["given"]:
            yield *piece.span("body"), f"\n  todo({task});\n"


def stubs(text, name):
    """The student's form of a source; SyntaxError with the line where a mark is wrong."""
    for begin, end, instead in reversed(list(solutions(text))):
        text = text[:begin] + instead + text[end:]
    wrong = re.search(r"// (solution|instead) \{|// \}", text)
    if wrong:
        line = text[:wrong.start()].count("\n") + 1
        raise SyntaxError(f"{name}:{line} of the stubs: '{wrong[0]}' is no part of '// solution {{ … // instead {{ … // }}'")
    return re.sub(r"\n{3,}", "\n\n", text)


def solution_lines(text):
    """The lines that only a solution holds, trimmed: what must not be found in a student's tree."""
    given = {line.strip() for line in stubs(text, "").split("\n")}
    return [line.strip() for line in text.split("\n")
            if len(line.strip()) > 12 and line.strip() not in given and not line.strip().startswith("//")]
