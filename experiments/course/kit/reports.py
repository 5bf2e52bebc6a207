"""What a program says when it is stopped: the line that matters first, then as little as helps."""
import re

OWN = re.compile(r"#\d+ 0x[0-9a-f]+ in (.{0,400}?) [^ ]*?(a\d+\.cpp:\d+)")  # a frame of the student's file
WORDS = {
    "heap-buffer-overflow": "outside of a block of memory",
    "container-overflow": "past the end of a container", "stack-buffer-overflow": "outside of a local array",
    "global-buffer-overflow": "outside of a global array",
    "heap-use-after-free": "in memory that was freed already",
    "stack-use-after-scope": "in a local variable that is gone",
    "stack-use-after-return": "in a local variable of a function that has returned",
    "stack-overflow": "the stack is full: a function calls itself without end, or has a huge local array",
    "SEGV": "at an address where nothing is", "double-free": "memory was freed twice",
    "attempting": "memory was freed that was freed before, or was never allocated",
    "alloc-dealloc-mismatch": "memory of new[] was freed by delete, or of malloc by delete",}
# Not the student's fault: the sanitizer could not work on this machine. ./check asks so; the grader asks a program
# of its own, since a student's can print this.
BROKEN = re.compile("LeakSanitizer has encountered a fatal error|Shadow memory range "
                    "interleaves|ReserveShadowMemoryRange failed")


def place(lines):
    """The first place in the student's file: "a4.cpp:39, in layer_norm", or ""."""
    for line in lines:
        found = OWN.search(line)
        if found:
            return f"{found[2]}, in {found[1].split('(')[0]}"
    return ""


def located(text):
    """AddressSanitizer's words for a place, in ours: "8 bytes past the end of 96 bytes"."""
    found = re.match(r"(\d+) bytes (to the right of|after|to the left of|before|inside of) (\d+)-byte region",
                     text)
    if not found:
        return re.sub(r" \[0x.*\)$| in T\d.*$", "", text)
    where = {"to the right of": "past the end", "after": "past the end",
             "inside of": "after the start"}.get(found[2], "before the start")
    return f"{found[1]} bytes {where} of {found[3]} bytes"


def of_address(lines):
    """AddressSanitizer's headline and the blocks that it knows of."""
    start = next(i for i, line in enumerate(lines) if "ERROR: AddressSanitizer: " in line)
    kind = lines[start].split("AddressSanitizer: ")[1].split(" ")[0]
    if kind == "ABRT":
        said = [line for line in lines[:start] if "ssertion" in line or line.startswith("terminate")
                or "what()" in line]
        said = [re.sub(r"^.*(Assertion .*?)\.?$", r"\1", line) for line in said] or ["abort() was called"]
        return [f"{' '.join(said)}: {place(lines[start:]) or 'not in your file'}"]
    access = re.compile(r"(READ|WRITE) of (size \d+)|.* caused by a (READ|WRITE) memory access")
    found = next(filter(None, map(access.match, lines[start:start + 4])), None)
    words = WORDS.get(kind, "")
    if found and words:
        size = found[2].replace("size ", "") + " bytes " if found[2] else ""
        words = f"{'wrote' if 'WRITE' in found.group(1, 3) else 'read'} {size}{words}"
    told = [f"{kind}: {place(lines[start:]) or 'not in your file'}" + (f": {words}" if words else "")]
    for i, line in enumerate(lines):
        near = re.match(r"0x[0-9a-f]+ is located (.*)$", line)
        if near:
            told.append("that is " + located(near[1]))
        if re.match(r"(previously )?(allocated|freed) by thread", line):
            where = place(lines[i + 1:i + 20])
            told += [f"{line.split(' by ')[0]} at {where}"] if where else []
    return told


def of_leaks(lines):
    told = [line.split("SUMMARY: AddressSanitizer: ")[1] for line in lines
            if "SUMMARY: AddressSanitizer: " in line]
    told = told or ["memory leaked"]
    return [f"{told[0].rstrip('.')}: {place(lines) or 'not allocated in your file'}: allocated and never "
            "freed"]


def by_sanitizer(said):
    return re.search("ERROR: (?:Address|Leak)Sanitizer: |: runtime error: ", said) is not None


def before(said):
    """What the program itself printed before a sanitizer's report."""
    lines = said.split("\n")
    end = next((i for i, line in enumerate(lines) if re.match("={30}|AddressSanitizer:DEADLY", line)
                or ": runtime error: " in line), len(lines))
    return "".join(f"{line}\n" for line in lines[:end] if "Assertion" not in line) if by_sanitizer(
        said) else ""


def of_program(said):
    """Lines: what stopped a program that ended in an error, of all that it said."""
    lines = [line.strip() for line in said.split("\n")]
    undefined = [line for line in lines if ": runtime error: " in line]
    if undefined:
        where, what = undefined[-1].split(": runtime error: ", 1)  # before it, it may be of the program's own
        return [f"undefined behaviour: {where.split('/')[-1]}: {what}"]
    if "ERROR: AddressSanitizer: " in said:
        return of_address(lines)
    if "ERROR: LeakSanitizer: " in said:
        return of_leaks(lines)
    return [line for line in lines if line][-8:]
