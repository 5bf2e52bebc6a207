"""a8's study: the model learns a text of yours, character by character, and talks after 0, 60, 250 and 1000 steps."""
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
        found = ask("talk", vocabulary=len(letters), layers=2, heads=4, width=64, steps=steps, batch=16, length=LENGTH, warmup=20, lr=0.005,
                    seed=1, temperature=0.8, top_k=0, count=300, prompt=symbols(kept[:LENGTH]), unseen=symbols(unseen), tokens=symbols(kept))
        losses.append((max(steps, 1), found["loss"].values[0]))
        said = "".join(letters[int(i)] for i in found["said"].values)
        yield f"--- after {steps} steps, {losses[-1][1]:.3f} nats a character on text that it has not seen:\n{said}"
    yield dict(title="Learning a text", labels=("step (the first is 0)", "nats a character"), log=(True, False), curves=[("loss", losses)], dots=("loss",))
