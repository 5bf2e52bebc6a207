"""Small changes of a C++ source, each of one token in a function's body: `=` for `+=`, `-` for `+`, `<=` for `<`. Not every
one compiles, and not every one changes what the program does."""
import re
from dataclasses import dataclass

TOKEN = re.compile(r"""(?mx)
    (?P<skip> //[^\n]* | /\*(?s:.*?)\*/ | ^[ \t]*\#(?:\\\n|[^\n])* | \s+)
  | (?P<text> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
  | (?P<number> \.?\d[\w.']*(?:(?<=[eE])[-+]\d+\w*)?)
  | (?P<name> [A-Za-z_]\w*)
  | (?P<sign> <<=|>>=|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""")
SIGNS = {"+=": "=", "-=": "+=", "*=": "=", "+": "-", "-": "+", "*": "+", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
         "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
NAMES = {"max": "min", "min": "max", "true": "false", "false": "true", "sin": "cos", "cos": "sin", "sum": "mean", "mean": "sum"}
NUMBERS = {"0": "1", "0.0": "1.0", "1": "2", "1.0": "2.0", "2": "3", "2.0": "3.0"}
COMPARED = {"<", ">", "<=", ">=", "==", "!="}
NO_VALUES = {"return", "case", "const", "auto", "double", "float", "int", "bool", "char", "long", "int64_t", "size_t", "operator",
             "Tensor", "else", "throw"}


@dataclass(frozen=True)
class Change:
    function: str
    line: int       # from 1
    old: str        # the token
    new: str
    before: str     # the line, trimmed
    after: str
    place: int      # of the token in the source
    body: tuple     # where the function's body begins and ends, without its braces
    returns: bool   # whether the function returns a value

    def apply(self, text):
        return text[:self.place] + self.new + text[self.place + len(self.old):]


def tokens(text):
    return [found for found in TOKEN.finditer(text) if found.lastgroup != "skip"]


def function_of(head):
    """(the name of the function whose body follows these tokens, with its class's, whether it returns a value); None where it
    is no function's, or a constructor's."""
    words = [token[0] for token in head]
    if "(" not in words or {"namespace", "enum"} & set(words) or "=" in words[:words.index("(")]:
        return None
    name = at = words.index("(") - 1
    while at >= 2 and words[at - 1] == "::":
        at -= 2
    of_type = [word for word in words[:max(at, 0)] if word not in ("explicit", "inline", "constexpr")]
    return ("".join(words[at:name + 1]), "void" not in of_type) if of_type and head[name].lastgroup == "name" else None


def bodies(all_tokens):
    """(name, the tokens of its body, where the body begins and ends, whether it returns a value) of each function; a lambda
    belongs to the function that it stands in."""
    found, head, depth, inside = [], [], 0, None
    for token in all_tokens:
        word = token[0]
        if inside:
            depth += (word == "{") - (word == "}")
            if depth == 0:
                found.append((*inside[:2], (inside[2], token.start()), inside[3]))
                inside, head = None, []
            else:
                inside[1].append(token)
        elif word == "{" and function_of(head):
            name, returns = function_of(head)
            inside, depth = (name, [], token.end(), returns), 1
        elif word in ("{", "}", ";"):
            head = []
        else:
            head.append(token)
    return found


def between(body, word):
    """The places of tokens between the parentheses that follow this word."""
    found, depth = set(), 0
    for place, token in enumerate(body):
        if depth or token[0] == "(" and place and body[place - 1][0] == word:
            depth += (token[0] == "(") - (token[0] == ")")
            found.add(place)
    return found


def replacement(body, place, text, in_head):
    """What stands in place of a token; None where it stays."""
    token, before, after = body[place], body[place - 1] if place else None, body[place + 1] if place + 1 < len(body) else None
    word = token[0]
    if token.lastgroup == "number":
        # A first value, or a 1 that something is taken off: not an index, an extent, an argument.
        begins = before is not None and before[0] in ("=", "return") or (
            before is not None and before[0] == "(" and after is not None and after[0] in ("-", "+", "/"))
        return NUMBERS.get(word) if begins and not in_head else None
    if token.lastgroup == "name":
        called = after is not None and after[0] == "("
        return NAMES.get(word) if called or word in ("true", "false") else None
    if word not in SIGNS or before is None or after is None or in_head and word not in COMPARED:
        return None
    value_before = before.lastgroup in ("number", "name") and before[0] not in NO_VALUES or before[0] in (")", "]")
    value_after = after.lastgroup in ("number", "name") or after[0] in ("(", "-")
    # A sign of a template has no space before it.
    spaced = word not in ("<", ">") or text[token.start() - 1].isspace() and text[token.end()].isspace()
    return SIGNS[word] if value_before and value_after and spaced else None


def of_source(text, given):
    """The changes of a source's functions, but of the lines `given`, trimmed, which are not the student's own."""
    found, lines = [], text.split("\n")
    for function, body, span, returns in bodies(tokens(text)):
        heads, checks = between(body, "for"), between(body, "check")
        for place, token in enumerate(body):
            new, number = replacement(body, place, text, place in heads), text.count("\n", 0, token.start())
            if new and place not in checks and lines[number].strip() not in given:
                begin = sum(len(line) + 1 for line in lines[:number])
                after = f"{text[begin:token.start()]}{new}{text[token.end():begin + len(lines[number])]}"
                found.append(Change(function, number + 1, token[0], new, lines[number].strip(), after.strip(), token.start(), span,
                                    returns))
    return found


CHOICE = """#include <cstdlib>
namespace {
int which_change() {
  static const int number = std::getenv("CHANGE") ? std::atoi(std::getenv("CHANGE")) : 0;
  return number;
}
}  // namespace
"""


def all_in_one(text, changes, file):
    """A source of all these changes: number i, from 1, is made where the environment's CHANGE is i. Each function has the
    changed forms of its body before its own. Lines keep their numbers; those of change i are in the file vi/FILE."""
    whole = text
    for span in sorted({change.body for change in changes}, reverse=True):
        forms, line = "", text.count("\n", 0, span[0]) + 1
        for number, change in enumerate(changes, 1):
            if change.body == span:
                begin, end = span[0], span[1] + len(change.new) - len(change.old)
                forms += (f'\n#line {line} "v{number}/{file}"\nif (which_change() == {number}) {{{change.apply(text)[begin:end]}'
                          f'{"" if change.returns else ";return;"}}}\n')
        whole = f'{whole[:span[0]]}{forms}#line {line} "{file}"\n{whole[span[0]:]}'
    return f'{CHOICE}#line 1 "{file}"\n{whole}'
