"""The one marked source: what a student gets, and what stays here.

    Tensor relu(const Tensor& x) {
      // solution 2 {
      …                              an indented block becomes  todo(2);
      // }
    }

    // solution 2 {
    …                                a block in column 0 (helpers) goes without a trace
    // }

    // solution 5 {
    …
    // instead {
    // …                             a block with `instead` becomes the lines after it, less their "// "
    // }
"""
import re


def stubs(text, name):
    """The student's form of a marked source; SyntaxError with the line where a mark is wrong."""
    out, kept, task, indent, start = [], None, 0, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        opened = re.fullmatch(r"( *)// solution (\d+) \{", line)
        if opened:
            if task:
                raise SyntaxError(f"{name}:{number}: a solution inside the one of line {start}")
            indent, task, start, kept = opened[1], int(opened[2]), number, None
        elif task and line == f"{indent}// instead {{":
            kept = []
        elif task and line == f"{indent}// }}":
            if kept is not None:
                out += kept
            elif indent:
                out.append(f"{indent}todo({task});")
            task = 0
        elif task and kept is not None:
            if not line.startswith(f"{indent}// "):
                raise SyntaxError(f"{name}:{number}: wanted a line '{indent}// …' of what stands instead")
            kept.append(indent + line[len(indent) + 3:])
        elif not task:
            out.append(line)
    if task:
        raise SyntaxError(f"{name}:{start}: this solution has no end '{indent}// }}'")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


def solution_lines(text):
    """The lines that only a solution holds, trimmed: what must not be found in a student's tree."""
    given = {line.strip() for line in stubs(text, "").split("\n")}
    return [line.strip() for line in text.split("\n")
            if len(line.strip()) > 12 and line.strip() not in given and not line.strip().startswith("//")]
