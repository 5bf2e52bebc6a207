"""Tensors as the driver reads and writes them, and how two of them are compared."""
import math, os, re, subprocess, tempfile

OTHER_ERROR = "no isobar::Error, but "  # the driver's word for what else may be thrown
LONGEST = 4096  # characters of an error's text that are read: it is searched for shapes, and may be made of spaces


class Array:
    """A tensor: shape (a tuple), values (a flat list, row-major), dtype."""

    def __init__(self, shape, values, dtype="f64"):
        self.shape, self.values, self.dtype = tuple(shape), list(values), dtype
        if math.prod(self.shape) != len(self.values):
            raise ValueError(f"{len(self.values)} values do not fit {self.shape}")

    def __getitem__(self, index):
        if not isinstance(index, tuple):
            index = (index,)
        flat = 0
        for extent, i in zip(self.shape, index, strict=True):
            flat = flat * extent + i
        return self.values[flat]


def array(nested, dtype="f64"):
    shape, flat = [], nested
    if isinstance(nested, Array):
        return nested
    while isinstance(flat, (list, tuple)):
        shape.append(len(flat))
        flat = flat[0] if flat else 0
    values = [nested]
    for _ in shape:
        values = [v for row in values for v in row]
    return Array(shape, values, dtype)


def request(call, inputs):
    return "\n".join([f"call {call}", *lines_of(inputs), "end\n"]).encode()


def lines_of(inputs):
    lines = []
    for name, tensor in inputs.items():
        tensor = array(tensor)
        lines.append(
            " ".join(["tensor", name, tensor.dtype, str(len(tensor.shape)), *map(str, tensor.shape)]))
        lines.append(" ".join(repr(v) for v in tensor.values))
    return lines


def reply(found, error):
    """What a driver writes that answers so."""
    return "\n".join([f"error {error}"] if error is not None else lines_of(found)).encode() + b"\nend\n"


def asked(argv, requests, **how):
    """A program of ours, in no sandbox: (what became of it, None where it took too long; what it has
    answered). Whoever asks keeps the file descriptor 3 taken: the program answers there."""
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(argv, input=requests, pass_fds=[3],
                                  preexec_fn=lambda: os.dup2(out.fileno(), 3), **how)
        except subprocess.TimeoutExpired:
            done = None
        out.seek(0)
        return done, out.read()


def answer(data):
    """(tensors by name, error text or None) that the driver wrote; ValueError when it is not one answer."""
    found = answers(data)
    if len(found) != 1:
        raise ValueError("the program ended before it had answered" if not found
                         else "the program answered more than once")
    return found[0]


def answers(data):
    """A list of such pairs, as many as are whole."""
    found, lines = [], []
    for line in data.decode("utf-8", "replace").split("\n"):
        if line == "end":
            found.append(parsed(lines))
            lines = []
        else:
            lines.append(line)
    return found


def parsed(lines):
    try:
        return read(lines)
    except (ValueError, OverflowError):
        raise ValueError("the program's answer is not readable") from None


def read(lines):
    if len(lines) == 1 and lines[0].startswith("error "):
        return {}, lines[0][6:6 + LONGEST]
    tensors = {}
    for head, body in zip(lines[::2], lines[1::2], strict=True):
        word, name, dtype, ndim, *extents = head.split(" ")
        if word != "tensor" or int(ndim) != len(extents) or any(len(e) > 9 for e in extents[:8]) or extents[
                8:]:
            raise ValueError
        tensors[name] = Array([int(e) for e in extents], [float(v) for v in body.split()], dtype)
    return tensors, None


def place(shape, flat):
    """[1, 2] for the flat index 5 of (3, 3)."""
    index = []
    for extent in reversed(shape):
        index.insert(0, flat % extent)
        flat //= extent
    return "[" + ", ".join(map(str, index)) + "]"


def named(text, fact):
    """Whether an error's text names a shape (a list) or a number, in whatever words."""
    text = text.replace("−", "-")
    if not isinstance(fact, (list, tuple)):
        return re.search(rf"(?<![\w.-]){fact}(?!\w|\.\d)", text)
    extents = list(map(str, fact))
    return (re.search(r"[\[({]\s*" + r"\s*[,x×]\s*".join(extents) + r"\s*,?\s*[\])}]", text)
            or len(extents) > 1 and re.search(r"(?<![\w.])" + r"\s*[x×]\s*".join(extents) + r"(?![\w.])",
                                              text))


SHAPE = re.compile(r"[\[({]\s*(\d+(?:\s*[,x×]\s*\d+)*)\s*,?\s*[\])}]")
OTHERS = 2, 4  # so many shapes, and so many numbers, may an error name beside those of the case


def names_too_much(case, error):
    """Whether a text names shapes, or whole numbers, by the dozen, hoping that the right ones are there."""
    facts, inputs = case["error"], [array(tensor) for tensor in case["inputs"].values()]
    shapes = {tuple(fact) for fact in facts if isinstance(fact, (list, tuple))}
    shapes |= {tensor.shape for tensor in inputs}
    found = {tuple(map(int, re.findall(r"\d+", text))) for text in SHAPE.findall(error)}
    known = {extent for shape in shapes for extent in shape} | {
        abs(fact) for fact in facts if not isinstance(fact, (list, tuple))}
    known |= {abs(value) for tensor in inputs if not tensor.shape for value in tensor.values}
    numbers = {int(text) for text in re.findall(r"(?<![\w.])\d{1,18}(?![\w.])", error)}
    return len(found - shapes) > OTHERS[0] or len(numbers - known - {0, 1}) > OTHERS[1]


def fault_of_error(case, error):
    """As fault(), where an error is wanted that names some facts, and not all else that there might be."""
    facts = case["error"]
    wanted = "an isobar::Error" + (" that names " + " and ".join(str(list(f) if isinstance(f, tuple) else f)
                                                                 for f in facts) if facts else "")
    if error is None:
        return f"wanted {wanted}, got none"
    if error.startswith(OTHER_ERROR) or not error.strip() or not all(named(error, fact) for fact in facts):
        return f"wanted {wanted}, got: {error}"
    if facts and names_too_much(case, error):
        return f"wanted {wanted}, and few others, got: {error}"
    return None


def fault(case, tensors, error):
    """None when the answer is what the case wants, else one line: what is wrong, and where."""
    if error is not None and " is to be written here: " in error:
        return error
    if case.get("error") is not None:
        return fault_of_error(case, error)
    if error is not None:
        return error or "an error that says nothing"
    for name, wanted in case.get("expect", {}).items():
        wanted, name, voluntary = array(wanted), name.rstrip("?"), name.endswith("?")
        got = tensors.get(name)
        if got is None and voluntary:
            continue
        if got is None:
            return f"{name}: wanted {list(wanted.shape)}, got nothing"
        if got.shape != wanted.shape:
            return f"{name}: wanted shape {list(wanted.shape)}, got {list(got.shape)}"
        for i, (w, g) in enumerate(zip(wanted.values, got.values)):
            same = w == g or (math.isnan(w) and math.isnan(g))
            finite = math.isfinite(w) and math.isfinite(g)
            if not same and not (finite and abs(w - g) <= case["atol"] + case["rtol"] * abs(w)):
                return f"{name}{place(got.shape, i)}: wanted {w:.9g}, got {g:.9g}"
    for name, (low, high) in case.get("bounds", {}).items():
        got = tensors.get(name)
        if got is None or not got.values:
            return f"{name}: wanted numbers, got nothing"
        for i, g in enumerate(got.values):
            if not low <= g <= high:
                return f"{name}{place(got.shape, i)}: wanted {low:.6g} to {high:.6g}, got {g:.6g}"
    return None
