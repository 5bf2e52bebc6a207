"""a3's written questions. Gradients are found by complex steps, means by sums over what may come."""
import math
import course, oracle
from tensors import Array

cases = course.module_of("a3", "cases.py")


def log_shares(weights, power=1):
    return [power * math.log(w) - math.log(sum(v ** power for v in weights)) for w in weights]


def slopes(weights, target, rows):
    """dlogits of one row among `rows` that count."""
    x = Array((1, len(weights)), [math.log(w) for w in weights])
    loss = lambda x: cases.cross_entropy(x, Array((1,), [target], "i64"))
    return [d / rows for d in oracle.gradient(loss, {"x": x}, "x", Array((), [1.0])).values]


def squares(z):
    """The slopes by the right class's logit z, the other's is 0, of cross-entropy and of (p − 1)²/2."""
    p = lambda z: 1 / (1 + oracle.exp(-z))
    at = complex(z, oracle.STEP)
    return [f(at).imag / oracle.STEP for f in (lambda z: -oracle.log(p(z)), lambda z: (p(z) - 1) ** 2 / 2)]


def middle_loss(classes, std):
    """log Σ exp of many normal logits, by the mean of exp: the integral over a density, in steps of 1/100."""
    heights = [
        math.exp(s / 100) * math.exp(-((s / 100 / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi)) / 100
        for s in range(-2000, 2001)]
    return math.log(classes * sum(heights))


def uniform_bound(variance):
    """Of the uniform draw with this variance, by halving: the mean of x² over a grid."""
    mean_square = lambda a: sum((a * (2 * i + 1) / 2000) ** 2 for i in range(1000)) / 1000
    low, high = 0.0, 10.0
    for _ in range(60):
        low, high = ((low + high) / 2,
                     high) if mean_square((low + high) / 2) < variance else (low, (low + high) / 2)
    return low


weight_slope = lambda x, dy, k, m: sum(d[m] * row[k] for row, d in zip(x, dy))


def questions(draw):
    weights = draw.sample(range(1, 10), 3)
    logits, target = ", ".join(f"log {w}" for w in weights), draw.randrange(3)
    yield f"Logits {logits}, the target is class {target} (classes 0, 1, 2). The loss of this row, in nats?", -log_shares(weights)[target]
    rows, ignored, other = draw.randint(6, 12), draw.randint(1, 4), (target + draw.randint(0, 2)) % 3
    yield (f"The same row, logits {logits}, target {target}, in a batch of {rows} rows, of which {ignored} "
           f"are ignored, this one not. Its dlogits at class {other}?",
           slopes(weights, target, rows - ignored)[other])
    power = draw.choice([2, 3])
    yield f"All three logits {logits} are multiplied by {power}. The loss for target {target}?", -log_shares(
        weights, power)[target]
    yield (f"Of all rows with the same input, {weights[0]} in {sum(weights)} are class 0, {weights[1]} in "
           f"{sum(weights)} class 1, {weights[2]} in {sum(weights)} class 2. The least mean loss that any "
           "model can reach on them?",
           -sum(w * l for w, l in zip(weights, log_shares(weights))) / sum(weights))
    classes, std = draw.choice([20000, 32000, 50000, 100000]), draw.choice([1.4, 1.5, 1.6, 1.8, 2.0])
    yield (f"Before training: {classes} classes, the logits are independent normal numbers of mean 0 and std "
           f"{std}. The mean loss? (Not log {classes}. The mean of eˣ may take the place of the sum over so "
           "many classes.)", middle_loss(classes, std))
    wrong = draw.randint(3, 8)
    cross, square = squares(-wrong)
    yield (f"Logits (-{wrong}, 0), class 0 is right, p its share: sure, and wrong. How many times larger is "
           "the slope of −log p by the first logit than that of (p − 1)²/2?", cross / square)
    inputs = draw.choice([48, 96, 150, 200, 300, 500])
    yield f"{inputs} inputs. Weights uniform in ±a, with He's variance. a?", uniform_bound(2 / inputs)
    outputs, square = draw.choice([2, 3, 5]) * inputs, draw.choice([0.25, 0.5, 2, 3, 4])
    yield (f"A layer of {inputs} inputs and {outputs} outputs with Xavier's weights, no bias; the inputs' "
           f"mean square is {square}. The std of an output?",
           math.sqrt(sum(square * 2 / (inputs + outputs) for _ in range(inputs))))
    kind, largest = draw.choice([("f16", 65504), ("bf16", 3.3895e38), ("f32", 3.4028e38),
                                 ("f64", 1.79769e308)])
    temperature = draw.choice([0.5, 0.8, 1.5, 2.5, 4])
    yield (f"Softmax of x/{temperature} is written without taking off the maximum, in {kind}, whose largest "
           f"number is {largest:g}. From which x on is it infinite?", temperature * math.log(largest))
    while True:
        x, dy = ([[draw.randint(-4, 6) for _ in range(2)] for _ in range(3)] for _ in range(2))
        k, m = draw.randrange(2), draw.randrange(2)
        if weight_slope(x, dy, k, m) not in (0, weight_slope(x, dy, m, k), x[2][k] * dy[2][m]) and k != m:
            break
    show = lambda rows: ", ".join(f"({a}, {b})" for a, b in rows)
    yield (f"y = x Wᵀ, three rows of x: {show(x)}; of dy: {show(dy)}. dW at row {m}, column {k}, "
           "counted from 0?", weight_slope(x, dy, k, m))
