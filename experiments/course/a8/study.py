"""a8's study: the model learns a text of yours by characters, and talks after 0, 60, 250, 1000 steps."""
import pathlib
from tensors import Array

ARGUMENTS = ["TEXT"]  # a file of plain text, of 20,000 characters or more; Tiny Shakespeare, for one
STEPS, LENGTH, MOST = (0, 60, 250, 1000), 48, 400_000


def symbols(values):
    return Array((len(values),), values, "i64")


def charts(ask, file):
    text = pathlib.Path(file).read_text()[:MOST]
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    tokens = [number[letter] for letter in text]
    kept, unseen = tokens[:-2401], tokens[-2401:]
    yield f"{file}: {len(text)} characters, {len(letters)} different ones; a model that knows nothing pays log {len(letters)} nats"
    losses = []
    for steps in STEPS:
        found = ask("talk", vocabulary=len(letters), layers=2, heads=4, width=64, steps=steps, batch=16,
                    length=LENGTH, warmup=20, lr=0.005, seed=1, temperature=0.8, top_k=0, count=300,
                    prompt=symbols(kept[:LENGTH]), unseen=symbols(unseen), tokens=symbols(kept))
        losses.append((max(steps, 1), found["loss"].values[0]))
        said = "".join(letters[int(i)] for i in found["said"].values)
        yield f"--- after {steps} steps, {losses[-1][1]:.3f} nats a character on text that it has not seen:\n{said}"
    yield dict(title="Learning a text", labels=("step (the first is 0)", "nats a character"),
               log=(True, False), curves=[("loss", losses)], dots=("loss",))


# --- the handout's numbers and pictures; a student's tree ends above this line
import math
import course, oracle

ask = None  # the reference's answers, given by grading/handouts.py
cases = course.module_of("a8", "cases.py")
LOGITS = [math.log(v) for v in (1.0, 2.0, 5.0)]


def batch(name):
    return ask("batch", tokens=cases.integers([5, 6, 7, 8, 9]), starts=cases.integers([1]),
               length=3)[name].values


def initial(vocabulary, width, layers):
    found = ask("initial", vocabulary=vocabulary, layers=layers, heads=2, width=width, seed=1)
    return {name: tensor for name, tensor in found.items() if ":" not in name}


def parameters(vocabulary, width, layers):
    return sum(len(tensor.values) for tensor in initial(vocabulary, width, layers).values())


def rates(*steps):
    found = ask("learning_rate", steps=15, warmup=5, lr=10.0, count=100)["rates"].values
    return [found[step] for step in steps]


def start_loss():
    """Of a text in which no symbol follows itself."""
    weights = {f"p:{name}": tensor for name, tensor in initial(6, 32, 1).items()}
    return ask("evaluate", vocabulary=6, layers=1, heads=2, width=32,
               tokens=cases.integers([i * i % 6 for i in range(200)]), length=8, **weights)["loss"].values[0]


def language():
    """The floor, the loss by one symbol, the target; without a key."""
    _, _, _, floor, by_one = cases.unseen(8)
    return [floor, by_one, floor + cases.MARGIN * (by_one - floor)]


def reached():
    """The reference's loss on unseen text, of the first seed."""
    test = next(cases.training_cases())
    logits = ask(test["call"], **test["inputs"])["logits"]
    _, _, targets, _, _ = cases.unseen(8)
    return sum(cases.loss_of(row, target) for row, target in zip(oracle.rows(logits), targets)) / len(targets)


def said(temperature, top_k):
    return ask("sample", logits=LOGITS, temperature=temperature, top_k=top_k, u=[0.3])["symbols"].values[0]


def shares(power, count):
    """Of 1, 2, 5 to this power, the largest `count` kept."""
    kept = [v ** power if i >= 3 - count else 0 for i, v in enumerate((1, 2, 5))]
    return [v / sum(kept) for v in kept]
