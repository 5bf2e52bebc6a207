#!/usr/bin/env python3
"""Writes docs/reference/ from the public headers and their comments.

docs/reference.py                writes the pages
docs/reference.py --check        changes nothing; exits with 1 where a page is not as written, or where a public name
                                 is missing or has no comment
docs/reference.py --compile CXX  exits with 1 where the headers that a page names do not declare all of its names, as the
                                 compiler CXX says with its options

A page has an entry for each public name: its declaration, its comment, the file that has it, and PyTorch's name for the
same thing, which pytorch.txt says. A section whose header the page's `#include` does not reach names that header. A header's comment stands above its entries, and in ops.h the comment of a group
("// --- losses") above its own. The comments are the only source of the text."""
import argparse
import collections
import difflib
import functools
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# Page, title, the header to include, and the headers that it lists. An umbrella header stands for those it includes.
PAGES = [
    ("ops.md", "Ops", "isobar/isobar.h", ["autograd/ops.h"]),
    ("layers.md", "Layers and models", "isobar/isobar.h", ["nn/module.h", "core/fields.h", "nn/model.h", "nn/nn.h",
                                                           "nn/recurrent.h", "nn/pieces.h"]),
    ("optim.md", "Optimizers, schedules and clipping", "isobar/isobar.h", ["optim/optimizer.h", "optim/optim.h"]),
    ("data.md", "Data sets, texts and files", "isobar/data/data.h", ["data/data.h"]),
    ("tensor.md", "Tensors, random numbers and threads", "isobar/isobar.h",
     ["core/tensor.h", "core/shape.h", "core/dtype.h", "core/core.h", "core/phase.h", "core/version.h",
      "core/ranks/ranks.h"]),
    ("autograd.md", "The tape", "isobar/isobar.h", ["autograd/tape.h", "autograd/recording.h", "autograd/pointwise.h",
                                                    "autograd/tape_listener.h", "autograd/profile.h"]),
    ("check.md", "Checks", "isobar/check.h", ["nn/check/check.h"]),
    ("lm.md", "Language models", "isobar/lm.h", ["nn/lm/lm.h"]),
]
# The files behind the umbrella headers.
UMBRELLAS = {"isobar/isobar.h": "core/isobar.h.in", "isobar/data/data.h": "data/data.h", "isobar/check.h": "nn/check/check.h",
             "isobar/lm.h": "nn/lm/lm.h"}
# Headers that those include, for the library's own sources.
INNER_HEADERS = {"core/object_memory.h", "core/raw.h", "core/storage.h", "core/index_range.h", "core/json_string.h",
                 "core/thread_pool.h", "core/ranks/rank_link.h", "core/ranks/tree_sum.h", "core/kernels/pointwise.h", "core/steps.h"}
# Namespaces and names in public headers that are for the library's own sources.
INNER_SPACES = {"pointwise_op::", "parallel::"}
INNER_NAMES = {"ClosureNode", "place_of", "DrawnKeys", "TargetCount", "check_draws", "forget_draws", "age_of_sum",
               "any_trainable", "foreign_mark", "mark_constant", "Recording", "watch_thread_end", "thread_mark",
               "RecordingGuard", "AsCaller", "assign_missing_paths", "stamps_of", "Observation", "check_outsider", "TapeSlot",
               "GradientAge", "PhaseListener", "DtypeElements", "ListedPart", "OwnedPart", "OptionalPart", "PartList", "SettingType", "NoField", "SettingPointer", "throw_error",
               "warming_up", "cos_of", "note_installed_data"}

AT_HEAD = " See the beginning of this section."  # of a type that its header's comment describes

Entry = collections.namedtuple("Entry", "name kind code comment space")
Part = collections.namedtuple("Part", "title comment entries")  # of a page: a header, or a group of ops.h


class Fault(Exception):
    """A sentence for who writes headers."""


# --- C++, as clang-format lays it out: declarations of a namespace begin in column 0.

def end_of(text, at):
    """The position after the string, character or comment that begins at `at`, or `at` itself."""
    if text.startswith("//", at):
        return text.find("\n", at)
    if text[at] == '"' or (text[at] == "'" and not text[at - 1].isalnum()):  # 1'000 has no character
        end = at + 1
        while text[end] != text[at]:
            end += 2 if text[end] == "\\" else 1
        return end + 1
    return at


def statements(text):
    """(comment, declaration) of each declaration of a namespace's or a class's text. The comment stands above it, or
    behind it; a comment with an empty line after it is of its own, with an empty declaration."""
    comment, at = [], 0
    while at < len(text):
        if text[at] == "\n":
            if comment and re.match(r"\n[ \t]*(\n|$)", text[at:]):
                yield "\n".join(comment), ""
                comment = []
            at += 1
        elif text[at].isspace():
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            comment.append(text[at + 2:end].rstrip())
            at = end
        elif text[at] == "#":
            end = text.find("\n", at)
            while text[end - 1] == "\\":
                end = text.find("\n", end + 1)
            at, comment = end, []
        else:
            begin, depth = at, 0
            while True:
                skipped = end_of(text, at)
                if skipped != at:
                    at = skipped
                    continue
                c = text[at]
                depth += (c in "({[") - (c in ")}]")
                at += 1
                if depth == 0 and c == ";":
                    break
                if depth == 0 and c == ":" and re.fullmatch(r"(public|protected|private)\s*:", text[begin:at]):
                    break
                if depth == 0 and c == "}" and not re.match(r"\s*[;,={(]", text[at:]) and is_body(text[begin:at]):
                    break
            code = text[begin:at]
            behind = []
            while found := re.match(r"[ \t]*//(.*)\n" if not behind else r"\n[ \t]{12,}//(.*)\n", text[at:]):
                behind.append(found[1].rstrip())
                at += found.end() - 1
            yield "\n".join(comment + behind), code
            comment = []
    if comment:
        yield "\n".join(comment), ""


def is_body(code):
    """Whether the braces at the end of this declaration are a function's body, or a namespace's."""
    return body_at(code) is not None or re.match(r"(inline )?namespace\b|extern \"C\"", code)


def after_template(code):
    """Where a declaration begins after template <…>."""
    at = 0
    while found := re.match(r"\s*template <", code[at:]):
        depth, at = 1, at + found.end()
        while depth:
            depth += {"<": 1, ">": -1}.get(code[at], 0)
            at += 1
    return at


def body_at(code):
    """Where the body of a function begins, with the initializers of a constructor; None for other declarations."""
    # operator==, operator() and the like hold what is looked for below
    plain = re.sub(r"operator\s*(\(\)|[^\s\w(]+)", lambda m: "o" * len(m[0]), code)
    depth, called, at = 0, False, after_template(plain)
    while at < len(plain):
        skipped = end_of(plain, at)
        if skipped != at:
            at = skipped
            continue
        c = plain[at]
        if depth == 0 and called and (c == "{" or (c == ":" and plain[at - 1] != ":" and plain[at + 1:at + 2] != ":")):
            return at
        if depth == 0 and c == "=" and plain[at - 1] not in "=!<>" and plain[at + 1:at + 2] != "=":
            return None
        if depth == 0 and c == "{":
            return None
        depth += (c in "({[") - (c in ")}]")
        called |= c == ")"
        at += 1
    return None


def without_comments(code):
    at, kept = 0, []
    while at < len(code):
        end = end_of(code, at)
        if end == at:
            kept.append(code[at])
            at += 1
        else:
            kept.append(code[at:end] if code[at] in "\"'" else "")
            at = end
    return "".join(kept)


def declared(code):
    """(kind, name) of a declaration, or None for one that declares nothing for users."""
    plain = " ".join(without_comments(code).replace("decltype(auto)", "auto").split())
    plain = plain[after_template(plain):].lstrip()
    if found := re.match(r"requires\s*\(", plain):
        depth, at = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(plain[at], 0)
            at += 1
        plain = plain[at:].lstrip()
    if found := re.match(r"concept (\w+)", plain):
        return "concept", found[1]
    if found := re.match(r"(?:enum class|enum|struct|class) (?:\[\[\w+\]\] )?(\w+)[^;]*?\{", plain):
        return "type", found[1]
    if re.match(r"(struct|class|enum) |static_assert|friend |extern |using namespace", plain):
        return None
    if found := re.match(r"using (\w+) =", plain):
        return "type", found[1]
    if found := re.match(r"(?:[\w:<>,*& \[\]]|\([^()]*\))*?\b(operator\s*(?:\(\)|\"\" \w+|[^\s\w(]+)|[\w:]+)\s*\(", plain):
        head = plain[:found.start(1)]
        if "=" not in head and head.strip():
            return None if "::" in found[1] else ("function", found[1].replace(" ", ""))
    if found := re.match(r"[\w:<>,*& ]*?(\w+)\s*(=|\{|;)", plain):
        return "constant", found[1]
    raise Fault(f"a declaration that is not understood: {plain[:120]}")


def namespaces(text, space=None):
    """(space, comment, declaration) of all in namespace isobar and those in it; `space` is "init::" for instance."""
    for comment, code in statements(text):
        if found := re.match(r"(?:inline )?namespace ([\w:]*) ?\{", code):
            name = found[1].removeprefix("isobar").lstrip(":")
            if found[1].startswith("isobar") or space is not None and found[1]:
                yield from namespaces(code[found.end():-1] + "\n", (space or "") + (name + "::" if name else ""))
        else:
            yield space, comment, code


def members(code):
    """The text of a class without its private part and without the bodies of functions."""
    begin = code.index("{") if "{" in code else -1
    if begin < 0:
        return code
    head, inside = code[:begin], code[begin + 1:code.rindex("}")]
    if re.search(r"\benum\b", head):
        return code
    public, lines = True, []
    for comment, part in statements(inside + "\n"):
        if found := re.fullmatch(r"(public|protected|private)\s*:", part):
            public = found[1] != "private"
            if found[1] == "protected":
                lines.append(" protected:")
            continue
        if not public or part.startswith(("friend ", "static_assert")):
            continue
        lines += ["  //" + line for line in comment.splitlines()]
        if part:
            lines += ["  " + line.removeprefix("  ") if i else "  " + line
                      for i, line in enumerate(shown(part).splitlines())]
    while lines and lines[-1] == " protected:":
        lines.pop()
    return head.rstrip() + " {\n" + "".join(line + "\n" for line in lines) + "};"


def shown(code):
    """A declaration as the reference shows it."""
    kind = re.match(r"(template <[^{;]*?>\s*)?(enum class|enum|struct|class) ", code)
    if kind and "{" in code and not re.match(r"[^{]*\(", without_comments(code).partition("{")[0]):
        return members(code)
    body = body_at(code)
    return code if body is None else code[:body].rstrip() + ";"


# --- Headers to parts of pages.

def header_comment(text):
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    return "\n".join(lines)


@functools.cache
def parts_of(header):
    """The header, or its groups, with an entry for each name; overloads are one entry."""
    text = (ROOT / header).read_text()
    parts = [Part(header, header_comment(text), {})]
    for space, comment, code in namespaces(text):
        if space is None:
            continue
        lines = comment.splitlines()
        group = next((i for i, line in enumerate(lines) if line.startswith(" --- ")), None)
        if group is not None:  # "--- losses; with words on all of them", up to a line that is not indented further
            stop = group + 1
            while stop < len(lines) and (lines[stop].startswith("     ") or (not code and stop < len(lines))):
                stop += 1
            words = " ".join(line.strip() for line in lines[group:stop])[4:]
            title, _, rest = re.match(r"([^;,.:]*)([;,.:] ?)?(.*)", words, re.S).groups()
            parts.append(Part(title.strip(), rest, {}))
            comment = "\n".join(lines[:group] + lines[stop:])
        if not code:
            if comment and group is None:
                parts[-1] = parts[-1]._replace(comment=(parts[-1].comment + "\n\n" + comment).strip("\n"))
            continue
        found = declared(code)
        if found is None or space + found[1] in INNER_NAMES or space in INNER_SPACES:
            continue
        kind, name = found
        if not comment and kind == "type":
            comment = comment_of_type(name, parts[0].comment)
        entries = parts[-1].entries
        key = space + name
        if key in entries:
            before = entries[key]
            entries[key] = before._replace(code=before.code + "\n" + behind_comment(shown(code), comment),
                                           comment=before.comment)
        else:
            entries[key] = Entry(key, kind, shown(code), comment, space)
    return parts


def comment_of_type(name, header):
    """Of a type that has no comment above it: the header says what it is, or it has the options of another."""
    if name.endswith("Options"):
        return f" Options of {name.removesuffix('Options')}."
    if re.search(rf"\b{name}\b", header):
        return AT_HEAD
    return ""


def behind_comment(code, comment):
    """An overload with its own comment above it."""
    return "".join(f"//{line}\n" for line in comment.splitlines()) + code


def includes(header):
    text = (ROOT / header).read_text()
    folder = (ROOT / header).parent
    return [str((folder / name).resolve().relative_to(ROOT)) for name in re.findall(r'^#include "(.*)"', text, re.M)
            if (folder / name).exists()]


@functools.cache
def reached(include):
    """The headers that this #include includes, at any depth."""
    first = UMBRELLAS[include]
    found, left = set(), [first]
    while left:
        header = left.pop()
        if header not in found:
            found.add(header)
            left += includes(header)
            if header.endswith(".in"):  # it is installed beside the folders
                left += re.findall(r'^#include "(.*)"', (ROOT / header).read_text(), re.M)
    return found


@functools.cache
def listed():
    """(page, title, include, headers) with umbrella headers opened, each header once."""
    seen, pages = set(), []
    for page, title, include, names in PAGES:
        headers = []
        for name in names:
            umbrella = not re.search("^namespace", (ROOT / name).read_text(), re.M)
            for header in includes(name) if umbrella else [name]:
                if header not in seen and header not in INNER_HEADERS:
                    seen.add(header)
                    headers.append(header)
        pages.append((page, title, include, headers))
    return pages


# --- Markdown.

def prose(comment):
    """A comment as Markdown: lines that are indented are code."""
    out, paragraph, block = [], [], []

    def flush():
        if paragraph:
            out.append(escaped(" ".join(paragraph)) + "\n")
            paragraph.clear()
        while block and not block[-1]:
            block.pop()
        if block:
            least = min(len(line) - len(line.lstrip()) for line in block if line)
            kind = "cpp" if any(re.search(r"[;{}]\s*(//.*)?$", line) for line in block) else "text"
            out.append("```" + kind + "\n" + "".join(line[least:] + "\n" for line in block) + "```\n")
            block.clear()

    for line in comment.splitlines():
        line = line.removeprefix(" ")
        if line.startswith("  ") and not re.match(r"\s+[a-z(]", line) or line.startswith("  ") and (block or not paragraph):
            if not block:
                flush()
            block.append(line)
        elif not line.strip():
            if block:
                block.append("")
            else:
                flush()
        else:
            if block:
                flush()
            if re.match(r"- ", line.strip()) and paragraph:
                flush()
            paragraph.append(line.strip())
    flush()
    return "\n".join(out)


def escaped(text):
    """Text in which nothing but `code` is Markdown."""
    return "".join(part if part.startswith("`") else re.sub(r"([*<>~`])", r"\\\1", part)
                   for part in re.split(r"(`[^`]+`)", text))


def sentence(text):
    """The first sentence, in at most a line."""
    first = re.split(r"(?<=[^ .][^ .])[.](?= [A-Z`]|$)(?! [(])", " ".join(text.split()))[0].rstrip(".:")
    return first if len(first) <= 110 else first[:107].rsplit(" ", 1)[0] + " …"


def anchors(headings):
    """GitHub's anchors of a page's headings: a second one of the same letters has -1 behind it."""
    seen, found = collections.Counter(), []
    for text in headings:
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(anchor + (f"-{seen[anchor]}" if seen[anchor] else ""))
        seen[anchor] += 1
    return found


@functools.cache
def op_file(name):
    """The file of ops/ that defines an op."""
    for path in sorted((ROOT / "autograd/ops").glob("*.cpp")):
        if re.search(rf"^[\w:<>]+ {re.escape(name)}\(", path.read_text(), re.M):
            return str(path.relative_to(ROOT))
    return None


def torch_names():
    """What PyTorch calls a name: "name = torch.name", one a line, and words in brackets."""
    names = {}
    for line in torch_lines():
        if " := " not in line:
            name, found, there = line.partition(" = ")
            if not found or name in names:
                raise Fault(f"docs/pytorch.txt: wanted 'name = PyTorch\'s name', each name once; got '{line}'")
            names[name] = there
    return names


def torch_lines():
    return [line for line in (HERE / "pytorch.txt").read_text().splitlines() if line and not line.startswith("#")]


def compositions():
    """(PyTorch's name, the code that does it here, words behind the code, the name whose entry says more)."""
    rows = []
    for line in torch_lines():
        there, found, here = line.partition(" := ")
        if found:
            code, mark, words = here.partition("; ")
            of = re.match(r"\w+", code)[0]
            rows.append((there, code, ", " + words if mark else "", {"x": "Tensor", "rng": "Rng", "tape": "Tape"}.get(of, of)))
    return rows


def heading(entry):
    return "`" + entry.name + "`"


def page_text(title, include, headers, torch):
    others = [header for header in headers if header not in reached(include)]
    declares = "this page, except the sections that name another header" if others else "all of this page"
    lines = [f"# {title}\n", f"Generated by `docs/reference.py` from the comments of the headers. `#include "
             f"<{include}>` declares {declares}. [All pages](README.md)\n"]
    for header in headers:
        for part in parts_of(header):
            if not part.entries and not part.comment:
                continue
            lines.append(f"## {part.title if part.title == header else part.title.capitalize()}\n")
            if header in others:
                lines.append(f"`#include <isobar/{header}>` declares this section.\n")
            if part.comment:
                comment = part.comment if part.title == header else part.comment[0].upper() + part.comment[1:] + "."
                lines.append(prose(comment))
            for entry in part.entries.values():
                lines.append(f"### {heading(entry)}\n")
                lines.append(f"```cpp\n{entry.code}\n```\n")
                lines.append(prose(entry.comment))
                where = [f"[{header}](../../{header})"]
                if header == "autograd/ops.h" and entry.kind == "function" and (file := op_file(entry.name)):
                    where.append(f"[{file}](../../{file})")
                torch_name = torch.get(entry.name)
                lines.append((f"In PyTorch: `{torch_name}` · " if torch_name else "") + "Source: " + ", ".join(where) + "\n")
    return "\n".join(lines)


def all_entries():
    """(entry, page, header) of every name."""
    return [(entry, page, header) for page, _, _, headers in listed() for header in headers
            for part in parts_of(header) for entry in part.entries.values()]


def front(torch, pages):
    entries = all_entries()
    lines = ["# Reference\n",
             f"Generated by `docs/reference.py` from the comments of the headers: the {len(entries)} public names of the "
             "library, with PyTorch's name for the same thing.\n"]
    for page, title, include, headers in listed():
        count = sum(name == page for _, name, _ in entries)
        lines.append(f"- [{title}]({page}): {count} names, `#include <{include}>`")
    lines += ["- [From PyTorch](pytorch.md): the same by PyTorch's names", "", "## All names\n", "| name | what it is | in PyTorch |", "|---|---|---|"]
    at = {}
    for page, _, _, headers in listed():
        found = re.findall("^#+ (.*)$", re.sub("^```.*?^```", "", pages[page], flags=re.M | re.S), re.M)
        at[page] = collections.defaultdict(list)
        for text, anchor in zip(found, anchors(found)):
            at[page][text].append(anchor)
    for entry, page, header in sorted(entries, key=lambda one: (one[0].name.removeprefix("operator").lower(), one[0].name)):
        first = sentence(header_comment((ROOT / header).read_text()) if entry.comment == AT_HEAD else entry.comment)
        there = f"`{torch[entry.name]}`" if entry.name in torch else ""
        anchor = at[page][heading(entry)].pop(0)
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in (
            f"[`{entry.name}`]({page}#{anchor})", escaped(first), there)) + " |")
    return "\n".join(lines) + "\n"


FROM_PYTORCH = """# From PyTorch

Generated by `docs/reference.py`: PyTorch's names and Isobar's, of `docs/pytorch.txt`. [All names](README.md)

What differs most:

- Recording is explicit: a `Tape` records while it is alive, and frees what it recorded when it ends. Without a tape nothing is
  recorded, so `no_grad` is rarely needed.
- `step()` clears the gradients that it used: there is no `zero_grad()`.
- Tensors are immutable. Write `x = x + y` for `x += y`; `where()`, `concat()` or `scatter_add()` for `x[i] = y`; and `assign()` to
  give a parameter new values.
- Ops are functions: `reshape(x, {2, -1})` for `x.view(2, -1)`, `mean(x, -1)` for `x.mean(-1)`.
- Dtypes are never promoted: operands of one op have the same dtype. `tensor({0, 2}, Dtype::i64)` makes indices.
- Random numbers need no global seed: an `Rng` is split by name for each use, `rng.split("fc1")`.
- A layer lists its tensors and parts in `fields()`; nothing is registered by assignment.
- Some functions are short compositions: `log(x) / std::log(2.0)` for `log2`; `rng.uniform(shape) < p` for `bernoulli`;
  `argmax(logits - log(-log(rng.uniform(logits.shape()))), -1)` for one draw of `multinomial` from the softmax of `logits`
  (Gumbel's maximum). A CSV file becomes a `.npy` file by `numpy.save("x.npy", numpy.loadtxt("x.csv", delimiter=","))`, and
  `read_npy` reads it. There is no `atan`.

| in PyTorch | here |
|---|---|
"""


def from_pytorch(torch, front_page):
    links = dict((name.replace("\\|", "|"), link) for name, link in
                 re.findall(r"^\| \[`(.*?)`\]\((.*?)\)", front_page, re.M))
    rows = [(there, name, "", name) for name, there in torch.items()] + compositions()
    rows.sort(key=lambda one: re.sub(r"^(torch|Tensor|Module)\.(nn\.functional\.|nn\.|optim\.)?", "", one[0]).lower())
    return FROM_PYTORCH + "".join(f"| `{there}` | [`{code}`]({links.get(name, '')}){words} |\n".replace("||", r"\|\|")
                                  for there, code, words, name in rows)


# --- Checks.

def names_in_column_0(header):
    """The names that a header declares, found without the parser above: by lines that begin in column 0."""
    names, inner = set(), False
    for line in (ROOT / header).read_text().splitlines():
        if found := re.match(r"namespace (?:isobar::)?(\w+) \{", line):
            inner = found[1] + "::" in INNER_SPACES
        inner &= not line.startswith("}  // namespace")
        if inner:
            continue
        line = re.sub(r"^(inline |constexpr |static )+", "", line)
        if found := re.match(r"(?:struct|class|enum class) (\w+)\b(?!::)[^;]*$", line):
            names.add(found[1])
        elif found := re.match(r"using (\w+) =", line):
            names.add(found[1])
        elif found := re.match(r"[A-Za-z][\w:<>,*& ]* [*&]?(operator[^\w\s(]+|\w+)\(", line):
            if not line.startswith(("requires", "static_assert", "return", "friend", "namespace")):
                names.add(found[1])
    return names


def complaints(torch):
    found = []
    entries = [entry for entry, _, _ in all_entries()]
    names = {entry.name for entry in entries}
    short = {name.rpartition("::")[2] for name in names}
    headers = {header for _, _, _, names in listed() for header in names}
    for header in sorted(headers):
        for name in sorted(names_in_column_0(header)):
            if name not in short and name not in {inner.rpartition("::")[2] for inner in INNER_NAMES}:
                found.append(f"{header}: {name} is missing in docs/reference/")
        for below in includes(header):
            if below not in headers and below not in INNER_HEADERS:
                found.append(f"{header} includes {below}, which neither a page of docs/reference.py nor INNER_HEADERS has")
    for entry in entries:
        if not entry.comment.strip():
            found.append(f"{entry.name} has no comment: say what it is, its formula, shapes and errors, above its "
                         "declaration")
        options = re.fullmatch(r" Options of (\w+)\.", entry.comment)
        if options and options[1] not in names:
            found.append(f"{entry.name} has no comment, and there is no {options[1]}: say whose options these are")
    for name in [*torch, *(name for _, _, _, name in compositions())]:
        if name not in names:
            found.append(f"docs/pytorch.txt: there is no public name {name}")
    return found


def undeclared(compiler):
    """What the compiler says of a file for each page: its #includes, and a using declaration for each name."""
    found = []
    for page, _, include, headers in listed():
        others = ["isobar/" + header for header in headers if header not in reached(include)]
        names = [entry.name for header in headers for part in parts_of(header) for entry in part.entries.values()]
        text = "".join(f"#include <{header}>\n" for header in [include, *others]) + "".join(
            f"using isobar::{name};\n" for name in names)
        ran = subprocess.run([*shlex.split(compiler), "-fsyntax-only", "-x", "c++", "-"], input=text, text=True,
                             capture_output=True)
        if ran.returncode:
            found.append(f"docs/reference/{page}: its headers do not declare all of it\n{ran.stderr}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compares, and changes nothing")
    parser.add_argument("--compile", metavar="CXX", help="a compiler and its options, which compiles the names of each page")
    words = parser.parse_args()
    if words.compile:
        wrong = undeclared(words.compile)
        print(*(wrong or ["the headers of each page declare its names"]), sep="\n")
        return 1 if wrong else 0
    try:
        torch = torch_names()
        pages = {page: page_text(title, include, headers, torch) for page, title, include, headers in listed()}
        pages["README.md"] = front(torch, pages)
        pages["pytorch.md"] = from_pytorch(torch, pages["README.md"])
        wrong = complaints(torch)
        for name, text in pages.items():
            path = HERE / "reference" / name
            there = path.read_text() if path.exists() else ""
            if there != text and words.check:
                lines = list(difflib.unified_diff(there.splitlines(), text.splitlines(), "there", "written", n=0, lineterm=""))
                wrong.append("\n  ".join([f"docs/reference/{name} is not as docs/reference.py writes it:", *lines[:12]]))
            elif there != text:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                print(f"docs/reference/{name}: written")
    except Fault as fault:
        print(f"docs/reference.py: {fault}", file=sys.stderr)
        return 2
    if wrong:
        print(*wrong, sep="\n")
    else:
        print(f"{len(pages)} pages have {len(all_entries())} public names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
