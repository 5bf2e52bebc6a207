#!/usr/bin/env python3
# make_corpus.py MIB [SEED]: prints a text of that many MiB, always the same for the same seed: sentences of
# words whose frequencies follow Zipf's law, with numbers, names that come once, code, Chinese and emoji in
# between. After the first 16 MiB paragraphs come again, in another order and each with a number of its own:
# the text stands for a large corpus where only its size matters.
import random
import sys

size, seed = int(sys.argv[1]) * 2**20, int(sys.argv[2]) if len(sys.argv) > 2 else 0
rng = random.Random(seed)
onsets = "b c d f g h j k l m n p r s t v w ch sh th st tr pl br gr".split()
nuclei = "a e i o u ai ea ee io ou".split()
codas = ["", "", "", "n", "r", "s", "t", "l", "ng", "nd"]


def word():
    syllables = rng.choices([1, 2, 3, 4], [5, 8, 4, 1])[0]
    return "".join(rng.choice(onsets) + rng.choice(nuclei) + rng.choice(codas) for _ in range(syllables))


words = list(dict.fromkeys(word() for _ in range(120000)))
words[0:0] = ["the", "of", "and", "to", "a", "in", "that", "it's", "don't", "he'll", "we've"]
total, cumulative = 0.0, []
for rank in range(len(words)):
    total += 1 / (rank + 2.7)  # Mandelbrot's form of the law
    cumulative.append(total)
characters = [chr(0x4E00 + rng.randrange(3000)) for _ in range(1500)]


def sentence(chosen):
    kind = rng.randrange(40)
    if kind == 0:
        return "".join(rng.choices(characters, k=len(chosen))) + "。"
    if kind == 1:
        return f"    {chosen[0]}_{chosen[1]}[{rng.randrange(1000)}] = {rng.random():.4f};\r\n"
    if kind == 2:
        return f"{word().title()}{rng.randrange(10**6)} {chosen[0]} {rng.choice('😀👍☃é')}!"
    text = " ".join(chosen).capitalize()
    return f"{text}, {rng.randrange(2100)}." if kind < 8 else text + "."


def paragraph():
    drawn = rng.choices(words, cum_weights=cumulative, k=200)
    sentences, begin = [], 0
    while begin + 2 <= len(drawn):
        length = rng.randrange(4, 20)
        sentences.append(sentence(drawn[begin : begin + length]))
        begin += length
    return (" ".join(sentences) + "\n\n").encode()


written, paragraphs = 0, []
while written < size:
    if written < 2**24:
        paragraphs.append(paragraph())
        block = paragraphs[-1]
    else:
        block = b"".join(b"%d. %b" % (rng.randrange(10**7), rng.choice(paragraphs)) for _ in range(1000))
    written += sys.stdout.buffer.write(block[: size - written])
