"""a8's written questions. Values come from counting: places, shapes, texts; losses from shares."""
import itertools, math
import course

cases = course.module_of("a8", "cases.py")


def shapes(vocabulary, width, layers):
    """As a8.h lists them."""
    block = [(width,)] * 2 + [(width, width)] * 4 + [(2 * width, width)] * 2 + [(width, 2 * width)]
    return [(vocabulary, width), (width,)] + block * layers


def guessed(word, before):
    """The loss of who looks at `before` symbols of a word said again and again: by counting."""
    text, counts = word * 200, {}
    for i in range(before, len(text)):
        counts.setdefault(text[i - before:i], []).append(text[i])
    places = sum(map(len, counts.values()))
    return -sum(
        math.log(after.count(symbol) / len(after)) for after in counts.values() for symbol in after) / places


def start_loss(vocabulary, width, repeats):
    """All logits 0 but that of the symbol that is there, which comes again with this share."""
    z = [0.02 * width] + [0.0] * (vocabulary - 1)
    return repeats * cases.loss_of(z, 0) + (1 - repeats) * cases.loss_of(z, 1)


def questions(draw):
    symbols, length = draw.randint(300, 900), draw.choice([7, 9, 16, 24])
    yield (f"evaluate on a text of {symbols} symbols, pieces of {length}. Over how many questions (symbols "
           "that are to be guessed) is the mean? (A whole number.)",
           sum(length for start in itertools.takewhile(lambda s: s + length <= symbols - 1,
                                                       itertools.count(0, length))), {"whole": True})
    vocabulary, width, layers = draw.choice([40, 65, 96,
                                             256]), draw.choice([32, 48, 64, 96]), draw.randint(2, 6)
    yield (f"V = {vocabulary}, C = {width}, L = {layers}. How many parameters, by the shapes in `a8.h`? "
           "(Exactly.)", sum(map(math.prod, shapes(vocabulary, width, layers))), {"whole": True})
    yield f"The same net, L = {layers}. The std of `o` at its start?", 0.02 / math.sqrt(
        sum(1 for _ in range(2 * layers)))
    warmup, steps, lr = draw.choice([10, 20, 50]), draw.choice([200, 300, 500]), draw.choice([2, 3, 5, 8])
    step = draw.randint(warmup + steps // 4, steps - steps // 5)
    yield f"lr = {lr}, warmup = {warmup}, steps = {steps}. The rate at step {step}?", cases.rate(
        step, steps, warmup, lr)
    few, width, repeats = draw.choice([5, 6, 8, 10]), draw.choice([48, 64, 96]), draw.choice([0, 5, 10])
    yield (f"The start of section 4 (The loss) with V = {few}, C = {width}, all logits 0 but one; in the text, "
           f"{repeats} % of the symbols are the same as the one before. The loss?",
           start_loss(few, width, repeats / 100))
    many, surely = draw.choice([6, 10, 26]), draw.choice([0.5, 0.6, 0.7, 0.8])
    yield (f"A language of {many} symbols: after any two, one certain symbol comes with a share of {surely}, "
           f"the {many - 1} others with equal shares. Its floor, in nats?",
           -surely * math.log(surely) - sum((1 - surely) / (many - 1) * math.log((1 - surely) / (many - 1))
                                            for _ in range(many - 1)))
    word = "a" * draw.randint(2, 6) + "b"
    yield f"The text is {word} again and again. The least loss of a model that looks at *one* symbol only?", guessed(word, 1)
    yield f"The same text, {word} again and again. The least loss of a model that looks at *no* symbol, and knows how often each comes?", guessed(word, 0)
    loss, size = draw.choice([1.3, 1.4, 1.5, 1.6, 1.7]), draw.choice([200, 400, 500, 1100])
    yield (f"A model pays {loss} nats a character. A text of {size} thousand characters is packed with its "
           "shares, −log₂ p bits for each character. How many thousand bytes (of 8 bits) is that?",
           size * math.log2(math.exp(loss)) / 8)
    weights, temperature, kept = draw.sample(range(1, 9), 4), draw.choice([0.5, 2]), draw.choice([2, 3])
    yield (f"Logits {', '.join(f'log {w}' for w in weights)}, temperature {temperature}, the best {kept} "
           "kept. With which share is the likeliest symbol drawn?",
           drawn_share([math.log(w) for w in weights], temperature, kept))


def drawn_share(logits, temperature, kept):
    """Of a fine comb of u, how many give the likeliest."""
    comb, best = 2000, max(range(len(logits)), key=logits.__getitem__)
    return sum(cases.sampled(logits, temperature, kept, (i + 0.5) / comb) == best for i in range(comb)) / comb
