"""The places of a C++ source that can be mutated, by libclang's syntax tree.

A Mutant replaces the bytes begin … end of a file by an expression; as only one mutant is in force at a time,
`after` is made of the original text. Not mutated, because no run could tell or because the mutant would be
one of the message and not of the code: constants that the compiler computes, assertions, texts and arguments
of messages, and what decides speed alone: the grain of parallel loops, and what functions called …_ahead fetch
into the caches."""
import re
from dataclasses import dataclass

from clang.cindex import CursorKind as K
from clang.cindex import Index, TypeKind


@dataclass
class Mutant:
    file: str
    begin: int
    end: int
    line: int
    kind: str
    before: str
    after: str  # an expression that stands for `before`
    text: str  # the line
    id: int = 0


SWAPS = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<": ["<=", ">="], "<=": ["<", ">"],
         ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"]}
BORDERS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "&&": ["||"], "||": ["&&"]}  # of loops
ASSIGNMENTS = {"+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "/=": ["*=", "="]}
ARITHMETIC = {TypeKind.BOOL, TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.FLOAT,
              TypeKind.DOUBLE, TypeKind.UCHAR, TypeKind.SCHAR, TypeKind.CHAR_S, TypeKind.SHORT, TypeKind.USHORT,
              TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.INT128}
INTEGERS = ARITHMETIC - {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.BOOL}
UNKNOWN = {TypeKind.DEPENDENT, TypeKind.UNEXPOSED, TypeKind.AUTO}
LITERALS = {K.INTEGER_LITERAL, K.FLOATING_LITERAL, K.CXX_BOOL_LITERAL_EXPR}
FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.FUNCTION_TEMPLATE, K.CONSTRUCTOR, K.DESTRUCTOR, K.CONVERSION_FUNCTION}
MESSAGES = {"check", "throw_error", "format", "print", "join", "format_to"}
MATHEMATICS = {"sqrt", "exp", "log", "abs", "log1p", "expm1", "fabs"}
SKIPPED = rb"\b(?:(?:static_)?assert|__builtin_prefetch|\w+_ahead(?:<\w+>)?)\("
LOOPS = {K.FOR_STMT, K.WHILE_STMT, K.DO_STMT, K.CXX_FOR_RANGE_STMT}


def known(node):
    """Whether the Python bindings know the node's kind: they are older than the library."""
    try:
        return node.kind is not None
    except ValueError:
        return False


def letters(raw):
    """The text of these bytes, of which clang's extents may cut a letter."""
    return raw.decode(errors="replace")


class Finder:
    """The mutants of one file, from the declarations of a translation unit that stand in it."""

    def __init__(self, name, text, declarations):
        self.name = name
        self.text = text
        self.found = []
        self.skipped = [(m.start(), self.closing(m.end())) for m in re.finditer(SKIPPED, text)]
        for declaration in declarations:
            self.walk(declaration, None)

    def closing(self, at):
        """The end of the parentheses that are open once before `at`."""
        depth = 1
        while depth > 0:
            depth += {b"(": 1, b")": -1}.get(self.text[at:at + 1], 0)
            at += 1
        return at

    def range(self, node):
        return node.extent.start.offset, node.extent.end.offset

    def source(self, node):
        begin, end = self.range(node)
        return letters(self.text[begin:end])

    def add(self, node, kind, after):
        begin, end = self.range(node)
        before = self.source(node)
        if not before or any(b <= begin and end <= e for b, e in self.skipped):
            return
        line = letters(self.text[self.text.rfind(b"\n", 0, begin) + 1:].split(b"\n", 1)[0]).strip()
        self.found.append(Mutant(self.name, begin, end, node.extent.start.line, kind, before, after, line))

    # --- the walk
    def walk(self, node, parent):
        if not known(node):
            return
        if node.kind in (K.STATIC_ASSERT, K.ENUM_DECL, K.TYPE_ALIAS_DECL, K.TYPEDEF_DECL,
                         K.TEMPLATE_NON_TYPE_PARAMETER, K.TEMPLATE_TYPE_PARAMETER, K.DECL_REF_EXPR,
                         K.TYPE_ALIAS_TEMPLATE_DECL, K.FRIEND_DECL):
            return
        if node.kind in FUNCTIONS and node.spelling.endswith("_ahead"):
            return
        children = [c for c in node.get_children() if known(c)]
        if node.kind in FUNCTIONS and node.kind != K.CONSTRUCTOR:
            children = [c for c in children if c.kind in (K.COMPOUND_STMT, K.PARM_DECL)]
        elif node.kind in (K.VAR_DECL, K.FIELD_DECL):
            if self.constant(node, parent):
                return
            if node.type.kind in (TypeKind.CONSTANTARRAY, TypeKind.DEPENDENTSIZEDARRAY):
                children = [c for c in children if c.kind == K.INIT_LIST_EXPR]
        elif node.kind == K.CASE_STMT:
            children = children[1:]
        elif node.kind == K.MEMBER_REF_EXPR:
            children = [c for c in children if c.kind not in LITERALS]
        elif node.kind == K.CALL_EXPR:
            children = self.call(node, children)
        self.mutate(node, children, parent)
        for child in children:
            self.walk(child, node)

    def constant(self, node, parent):
        """Whether the variable is one that the compiler computes, or a grain."""
        begin, end = self.range(parent if parent is not None and parent.kind == K.DECL_STMT else node)
        text = letters(self.text[begin:end])
        if re.search(r"\bconst(expr|init)\b", text.split("=")[0]) or re.search(r"grain|cost$", node.spelling):
            return True
        value = text.split("=", 1)[1] if "=" in text else ""
        return bool(re.search(r"\bconst\b", text.split("=")[0])) and not re.search(r"[A-Za-z_]\w*", re.sub(
            r"\b[0-9][\w.]*", "", value))

    def call(self, node, children):
        """The children of a call in which places are looked for: not the texts of messages, not a grain."""
        name = self.callee(node)
        arguments = list(node.get_arguments())
        if name in ("check", "throw_error", "format", "print", "join", "format_to"):
            return arguments[:1] if name == "check" else []
        if name in ("parallel_for", "parallel_sum"):
            text = self.source(node)
            return [c for c in children if c != (arguments[1] if len(arguments) > 1 else None)] if text else []
        return children

    def callee(self, node):
        match = re.match(r"[\w:.>-]*?(\w+)\s*(<[^(]*>)?\s*\(", self.source(node))
        return node.spelling or (match.group(1) if match else "")

    # --- the mutations
    def mutate(self, node, children, parent):
        if parent is not None:
            self.statement(node, parent)
        if node.kind == K.BINARY_OPERATOR and len(children) == 2:
            looping = parent is not None and parent.kind == K.FOR_STMT
            self.operator(node, children, BORDERS if looping else SWAPS)
        elif node.kind == K.COMPOUND_ASSIGNMENT_OPERATOR and len(children) == 2:
            if not (parent is not None and parent.kind == K.FOR_STMT):
                self.operator(node, children, ASSIGNMENTS)
        elif node.kind == K.CALL_EXPR:
            self.called(node)
        elif node.kind == K.UNARY_OPERATOR and children:
            sign = self.source(node)[:1]
            if sign in "-!" and not self.source(node).startswith("!=") and children[0].kind not in LITERALS:
                self.add(node, f"{sign} dropped", self.source(children[0]))
        elif node.kind in LITERALS:
            self.literal(node)
        elif node.kind in (K.IF_STMT, K.CONDITIONAL_OPERATOR) and children:
            self.condition(node, children[0])
        elif node.kind == K.RETURN_STMT and children:
            self.returned(children[0])

    def operator(self, node, children, swaps):
        left, right = children
        between = letters(self.text[self.range(left)[1]:self.range(right)[0]]).strip()
        operator = re.sub(r"//.*|/\*.*?\*/", "", between).strip()
        kinds = {c.type.get_canonical().kind for c in children}
        pointers = {TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.NULLPTR} & kinds
        if pointers and operator not in ("==", "!=", "&&", "||"):
            return
        if operator in ("<", ">", "<=", ">=") and not self.numbers(kinds):
            return
        for other in swaps.get(operator, []):
            self.add(node, f"{operator} to {other}", f"({self.source(left)}) {other} ({self.source(right)})")

    def numbers(self, kinds):
        return kinds <= ARITHMETIC | UNKNOWN

    def called(self, node):
        name = self.callee(node)
        text = self.source(node)
        arguments = [a for a in node.get_arguments() if a is not None]
        operator = re.fullmatch(r"operator([-+*/]|==|!=)", node.spelling or "")
        if operator and len(arguments) == 2:
            self.operator(node, arguments, SWAPS)
        elif name in ("min", "max") and text.startswith("std::"):
            other = {"min": "max", "max": "min"}[name]
            self.add(node, f"{name} to {other}", f"std::{other}" + text[len("std::min"):])
        elif name in MATHEMATICS and len(arguments) == 1:
            self.add(node, f"{name} dropped", f"static_cast<decltype({text})>({self.source(arguments[0])})")
        elif not text.startswith("std::") and name not in MESSAGES and not operator:
            self.swapped(node, arguments)

    def swapped(self, node, arguments):
        begin = self.range(node)[0]
        for first, second in zip(arguments, arguments[1:]):
            one, two = self.source(first), self.source(second)
            types = [a.type.get_canonical().spelling.replace("const ", "") for a in (first, second)]
            if one == two or not one or not two or types[0] != types[1] or first.kind in LITERALS:
                continue
            (a, b), (c, d) = self.range(first), self.range(second)
            if not begin < a < b <= c < d:
                continue
            whole = self.text
            after = whole[begin:a] + whole[c:d] + whole[b:c] + whole[a:b] + whole[d:self.range(node)[1]]
            self.add(node, "arguments swapped", letters(after))
            return

    def literal(self, node):
        text = self.source(node)
        begin = self.range(node)[0]
        if self.text[:begin].rstrip()[-1:] == b"<" and self.text[begin - 1:begin] != b" ":
            return  # a template's argument
        if text in ("true", "false"):
            self.add(node, "constant", {"true": "false", "false": "true"}[text])
        elif node.kind == K.FLOATING_LITERAL:
            self.add(node, "constant", "1.0" if re.fullmatch(r"[0.]+f?", text) else f"(2 * {text})")
        elif re.fullmatch(r"[0-9]+", text):
            for after in {"0": ["1"], "1": ["0", "2"]}.get(text, [str(int(text) + 1)]):
                self.add(node, "constant", after)

    def condition(self, node, condition):
        text = letters(self.text[self.range(node)[0]:])
        if not condition.kind.is_expression() or re.match(r"if\s+constexpr", text) or "sizeof" in self.source(condition):
            return
        if node.kind == K.IF_STMT and re.match(r"if\s*\([^()]*;", text):
            return
        for value in ("true", "false"):
            self.add(condition, f"condition {value}", value)

    def returned(self, value):
        kind = value.type.get_canonical().kind
        if value.kind in LITERALS | {K.BINARY_OPERATOR}:
            return
        if kind == TypeKind.BOOL:
            self.add(value, "returned", f"!({self.source(value)})")
        elif kind in INTEGERS:
            self.add(value, "returned", f"({self.source(value)}) + 1")
        elif kind in ARITHMETIC:
            self.add(value, "returned", f"({self.source(value)}) * 2")

    def statement(self, node, parent):
        """An expression that stands as a statement is left out."""
        if parent.kind == K.COMPOUND_STMT:
            alone = True
        elif parent.kind == K.IF_STMT or parent.kind in LOOPS:
            end = self.range(node)[1]
            inside = [c.hash for c in list(parent.get_children())[1:]]
            alone = node.hash in inside and self.text[end:end + 1] == b";" and self.range(parent)[1] <= end + 1
        else:
            return
        if not alone or not node.kind.is_expression() or node.kind == K.CXX_THROW_EXPR:
            return
        text = self.source(node)
        if text.startswith(("throw", "static_cast<void>", "assert", "(void)")):
            return
        self.add(node, "check left out" if text.startswith("check(") else "statement left out", "(void)0")


def find(root, names, words):
    """The mutants of the files `names`, which are compiled as one."""
    unit_name = str(root / "mutated_unit.cpp")
    text = "".join(f'#include "{name}"\n' for name in names)
    unit = Index.create().parse(unit_name, args=words, unsaved_files=[(unit_name, text)])
    for diagnostic in unit.diagnostics:  # not those of libstdc++'s ranges, which clang 14 cannot read
        file = diagnostic.location.file
        if diagnostic.severity >= 3 and file is not None and file.name.startswith(str(root)):
            raise RuntimeError(f"mutate: {diagnostic}")
    wanted = {str(root / name): name for name in names}
    declarations = {name: [] for name in names}
    for child in unit.cursor.get_children():
        file = child.location.file
        if file is not None and file.name in wanted and child.kind.is_declaration():
            declarations[wanted[file.name]].append(child)
    found = []
    for name in names:
        found += Finder(name, (root / name).read_bytes(), declarations[name]).found
    return found
