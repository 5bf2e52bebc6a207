"""The answers to the course's written questions by a second way: each reads the numbers in the question's text, and uses a
closed form where aN/questions.py counts or walks, or the other way round. So the text says all that is needed."""
import fractions, math, re


numbers = lambda text: [float(n) for n in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d+)?", text)]


def logs(text):
    """Shares, which are the logits' weights."""
    return [float(n) for n in re.findall(r"log (\d+)", text)]


def after(text, words):
    """The number that follows these words."""
    return numbers(text.split(words, 1)[1])[0]


# --- a1
def program(text):
    lines = re.findall(r"(\w+) = (\w+) ([·+]) (\w+)", text)
    return after(text, "x ="), {out: (a, sign, b) for out, a, sign, b in lines}


def moved(text, name, by):
    """The loss where the value of this name is larger by so much."""
    x, lines = program(text)
    values = {"x": fractions.Fraction(x) + (by if name == "x" else 0)}
    for out, (a, sign, b) in lines.items():
        values[out] = (values[a] + values[b] if sign == "+" else values[a] * values[b]) + (by if out == name else 0)
    return values["loss"]


def differences(text, name):
    h = fractions.Fraction(1, 10 ** 9)
    return float((moved(text, name, h) - moved(text, name, -h)) / (2 * h))


def last_part(text, name="x"):
    """The part of the first op that uses the value: it is visited last."""
    x, lines = program(text)
    if name == "loss":
        return 1
    values = {"x": x}
    for out, (a, sign, b) in lines.items():
        values[out] = values[a] + values[b] if sign == "+" else values[a] * values[b]
    out = next(out for out, (a, _, b) in lines.items() if name in (a, b))
    a, sign, b = lines[out]
    return last_part(text, out) * (1 if sign == "+" else values[b if a == name else a])


def swings(text):
    w, steps, lr = after(text, "w ="), *numbers(text.split(f"w = {after(text, 'w ='):g}, ")[1])[:2]
    turn = math.acos(1 - abs(lr) / 2)
    return w * math.cos((steps + 0.5) * turn) / math.cos(turn / 2)


def sines(text):
    x, times = numbers(text)[:2]
    slope = 1.0
    for _ in range(int(times)):
        slope, x = slope * math.cos(x), math.sin(x)
    return slope


A1 = [lambda t: differences(t, "x"), lambda t: differences(t, t.rpartition("of ")[2][:-1]), last_part,
      lambda t: 2 * after(t, "x =") * (math.sin(after(t, "x =") ** 2) + after(t, "x =") ** 2 * math.cos(after(t, "x =") ** 2)),
      lambda t: 2 * (2 ** numbers(t)[0] - 1), sines, lambda t: 2 * numbers(t)[0] / (1 + numbers(t)[1]),
      lambda t: math.sqrt(numbers(t)[0]), swings]


# --- a2
def equal_errors(text):
    size, third = after(text, "F is about"), after(text, "F‴ about")
    low, high = 1e-9, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if after(text, "ε =") * size / middle > middle ** 2 * third / 6 else (low, middle)
    return low


def place(text):
    batch, _, columns, _, rows = (int(n) for n in numbers(text)[:5])
    come_from = [b * columns + c for b in range(batch) for r in range(rows) for c in range(columns)]
    return come_from[int(after(text, "comes element"))]


def spread(text):
    rows, _, batch, _, columns = numbers(text)[:5]
    row = after(text, "gradient at (")
    return columns * batch * (batch - 1) / 2 + 10 * row * batch * columns + 100 * batch * columns * (columns - 1) / 2


def soft(text):
    weights, dy, i = logs(text), numbers(text.split("dy =")[1])[:3], int(after(text, "element"))
    p = [w / sum(weights) for w in weights]
    return p[i] * (dy[i] - sum(a * b for a, b in zip(p, dy)))


def off(text):
    (_, a), (large, n) = numbers(text)[:2], numbers(text)[2:4]
    return abs(a - n) / max(a, n, large / 1000)


A2 = [lambda t: 3 * after(t, "x =") / after(t, "h =") + 1, equal_errors, off, spread, place,
      lambda t: -sum(a * d for a, d in zip(numbers(t)[:2], numbers(t.split("dy =")[1]))) / after(t, "b = (") ** 2,
      lambda t: numbers(t)[1] * (numbers(t)[0] + numbers(t)[3]), soft, lambda t: math.sqrt(1 - 1 / numbers(t)[0]) / numbers(t)[0],
      lambda t: 1 - 2 / numbers(t)[0]]


# --- a3
def share(text):
    return logs(text)[int(after(text, "target"))] / sum(logs(text)) if "class" not in text.split("target")[1][:10] else \
        logs(text)[int(after(text, "class"))] / sum(logs(text))


def of_rows(text):
    target, cls, (rows, ignored) = int(after(text, "target")), int(after(text, "at class")), numbers(text.split("a batch of")[1])[:2]
    return (logs(text)[cls] / sum(logs(text)) - (cls == target)) / (rows - ignored)


def sharper(text):
    powers = [w ** after(text, "multiplied by") for w in logs(text)]
    return math.log(sum(powers) / powers[int(after(text, "target"))])


def mixed(text):
    counts = [float(n) for n in re.findall(r"(\d+) in \d+", text)]
    return math.log(sum(counts)) - sum(c * math.log(c) for c in counts) / sum(counts)


def of_weight(text):
    pairs = [tuple(map(float, pair)) for pair in re.findall(r"\((-?\d+), (-?\d+)\)", text)]
    row, column = (int(after(text, word)) for word in ("at row", "column"))
    return sum(x[column] * d[row] for x, d in zip(pairs[:3], pairs[3:]))


A3 = [lambda t: -math.log(share(t)), of_rows, sharper, mixed, lambda t: math.log(numbers(t)[0]) + after(t, "std") ** 2 / 2,
      lambda t: 2 + 2 * math.cosh(after(t, "Logits (")), lambda t: math.sqrt(6 / numbers(t)[0]),
      lambda t: math.sqrt(2 * after(t, "square is") / (1 + numbers(t)[1] / numbers(t)[0])),
      lambda t: after(t, "x/") * math.log(after(t, "number is")), of_weight]


# --- a5
VALLEY = [[3.0, 0.1], [-3.0, 0.5], [0.5, -0.3], [1.0, 0.3]]  # of a5/study.py


def largest_curvature():
    a, b, c = (sum(row[i] * row[j] for row in VALLEY) / 2 for i, j in ((0, 0), (1, 1), (0, 1)))
    return (a + b) / 2 + math.hypot((a - b) / 2, c)


def nesterov(text):
    w, (first, second, third) = after(text, "w ="), numbers(text.split("gradients")[1])[:3]
    return w - 1.5 * (first + second + third) - 0.25 * (first + second) - 0.125 * first


def travelled(text):
    memory, lr, steps = after(text, "μ ="), after(text, "lr ="), int(after(text, "after"))
    return lr / (1 - memory) * (steps - memory * (1 - memory ** steps) / (1 - memory))


def turned(text):
    a, b, most = after(text, "gradients ("), after(text, "and ("), after(text, "itself* to")
    return math.degrees(math.acos((min(a, most) * a + min(b, most) * b) / math.hypot(a, b) / math.hypot(min(a, most), min(b, most))))


A5 = [lambda t: 2 / after(t, "loss ="), lambda t: 2 * (1 + after(t, "μ =")) / after(t, "loss,"),
      lambda t: 2 / largest_curvature() / after(t, "times") ** 2, travelled, nesterov,
      lambda t: (1 - after(t, "β₁ =") ** after(t, "is step")) / math.sqrt(1 - after(t, "β₂ =") ** after(t, "is step")),
      lambda t: (1 - after(t, "β₁ =")) / math.sqrt(1 - after(t, "β₂ =")),
      lambda t: 1 / math.sqrt(1 + after(t, "ε =") / after(t, "stays") ** 2),
      lambda t: 1 / math.sqrt(1 - after(t, "ρ =") ** after(t, "is step")), turned]


# --- a7
def weighed(text):
    weights, values = logs(text), numbers(text.split("values")[1])[:3]
    return weights, values, sum(w * v for w, v in zip(weights, values)) / sum(weights)


def key_slope(text):
    weights, values, y = weighed(text)
    i = int(after(text, "dk of key"))
    return after(text, "dy =") * weights[i] / sum(weights) * (values[i] - y)


def rotated(text):
    q, k, far = numbers(text.split("q = (")[1])[:2], numbers(text.split("k = (")[1])[:2], after(text, "stands")
    return math.hypot(*q) * math.hypot(*k) * math.cos(math.atan2(q[1], q[0]) - math.atan2(k[1], k[0]) + far)


def gate(text):
    x = -math.log(logs(text)[0])
    sigma = 1 / (1 + logs(text)[0])
    return after(text, "u =") * after(text, "dy =") * sigma * (1 + x * (1 - sigma))


def anew(text):
    n, m = numbers(text)[:2]
    pieces = n / m
    squares, firsts = pieces * (pieces + 1) * (2 * pieces + 1) / 6, pieces * (pieces + 1) / 2
    return (m * m * squares + m * firsts) / (n * (n + 1))


A7 = [lambda t: weighed(t)[2], key_slope, lambda t: 1 - sum(logs(t)[-int(after(t, "The last")):]) / sum(logs(t)), lambda t: after(t, "std") ** 2,
      lambda t: after(t, "T =") * after(t, "S =") - after(t, "T =") * (after(t, "T =") - 1) / 2, rotated,
      lambda t: 2 * math.pi * after(t, "base =") ** (2 * after(t, "j =") / after(t, "D =")), gate,
      lambda t: 4e-6 * numbers(t)[0] * numbers(t)[2] * after(t, "D =") * numbers(t)[4], anew]


# --- a8
entropy = lambda *p: -sum(q * math.log(q) for q in p if q)


def rate(text):
    lr, warmup, steps, step = numbers(text)[:4]
    return lr * (0.1 + 0.9 * math.cos(math.pi / 2 * (step - warmup) / (steps - warmup)) ** 2)


def many(text):
    v, c, l = numbers(text)[:3]
    return v * c + 10 * l * c * c + (2 * l + 1) * c


repeated = lambda text: re.search("a+b", text)[0].count("a")


def cut(text):
    powers = sorted((w ** (1 / after(text, "temperature")) for w in logs(text)), reverse=True)
    return powers[0] / sum(powers[:int(after(text, "the best"))])


A8 = [lambda t: after(t, "pieces of") * ((after(t, "text of") - 1) // after(t, "pieces of")), many, lambda t: 0.02 / math.sqrt(2 * after(t, "L =")), rate,
      lambda t: math.log(after(t, "V =") - 1 + math.exp(0.02 * after(t, "C ="))) - after(t, "the text,") / 100 * 0.02 * after(t, "C ="),
      lambda t: entropy(after(t, "share of"), 1 - after(t, "share of")) + (1 - after(t, "share of")) * math.log(numbers(t)[0] - 1),
      lambda t: repeated(t) / (repeated(t) + 1) * entropy(1 / repeated(t), 1 - 1 / repeated(t)),
      lambda t: entropy(1 / (repeated(t) + 1), repeated(t) / (repeated(t) + 1)),
      lambda t: numbers(t)[1] * numbers(t)[0] / math.log(2) / 8, cut]
SECOND = {name.lower(): answers for name, answers in list(globals().items()) if re.fullmatch(r"A\d+", name)}
