"""a12's study: how far an image's output is from what the true statistics would give, by the number of images in its batch."""
import math, random

CHANNELS = 60  # each is a try of its own


def distance(ask, images, places):
    """rms of y − x for normal numbers x of mean 0 and variance 1, which the true statistics would leave as they are."""
    draw = random.Random(f"{images} {places}")
    x = [[[[draw.gauss(0, 1) for _ in range(places)]] for _ in range(CHANNELS)] for _ in range(images)]
    y = ask("batch_norm", x=x, weight=[1.0] * CHANNELS, bias=[0.0] * CHANNELS, eps=1e-5)["y"].values
    given = [v for image in x for channel in image for row in channel for v in row]
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(y, given)) / len(given))


def charts(ask):
    batches = [1, 2, 4, 8, 16, 32]
    yield dict(title="An image among N images", labels=("N, the images of the batch", "rms of y − x"), log=(True, True),
               curves=[(f"{places} place{'s' if places > 1 else ''}",
                        [(n, distance(ask, n, places)) for n in batches if n * places > 1]) for places in (1, 4, 16)])
    yield ("Why has the first curve no point at N = 1? By how much does each curve fall when N grows fourfold? Over which number "
           "are the three curves one?")


# --- the handout's numbers and pictures; a student's tree ends above this line
import chart
from tensors import Array

ask = None  # the reference's answers, given by grading/handouts.py
X = [[[[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [2.0, 0.0, 1.0]]]]
KERNEL, DY = [[[[2.0, 1.0], [0.0, -1.0]]]], [[[[1.0, 0.0], [0.0, 2.0]]]]
ROW, ONE, ZERO = [[[[9.0, 1.0]]], [[[3.0, 3.0]]]], [1.0], [0.0]

ones = lambda *shape: Array(shape, [1.0] * math.prod(shape))
y = lambda: ask("conv2d", x=X, weight=KERNEL, bias=[0.0], stride=1, padding=0)["y"].values


def back(name, dy=DY):
    return ask("conv2d_backward", dy=dy, x=X, weight=KERNEL, stride=1, padding=0)[name].values


def rows(height, kernel, stride, padding):
    return ask("conv2d", x=ones(1, 1, height, 9), weight=ones(1, 1, kernel, 1), bias=ZERO, stride=stride,
               padding=padding)["y"].shape[2]


def seen():
    found = ask("conv2d", x=ones(1, 1, 3, 4), weight=ones(1, 1, 3, 3), bias=ZERO, stride=1, padding=1)["y"].values
    return found[0], found[1], found[5]


def shares():
    """Of the middle number's dx: by the first window, and by the last."""
    return [back("dx", [[[[1.0, 0.0], [0.0, 0.0]]]])[4], back("dx", [[[[0.0, 0.0], [0.0, 2.0]]]])[4]]


def times():
    """How often dw has the first window and the last, by the two numbers of dw where they are (1, 2) and (1, 3)."""
    first, second = back("dweight")[:2]
    last = second - 2 * first
    return [first - last, last]


def met(h, p, stride, padding):
    """The kernel's row that row h of x meets in window p: kernels whose numbers are their rows."""
    across = 2 * padding + 1  # of which one column meets the image's only one
    dy = Array((1, 1, 3, 1), [float(i == p) for i in range(3)])
    weight = Array((1, 1, 5, across), [float(i) for i in range(5) for _ in range(across)])
    x = ones(1, 1, 2 * stride + 5 - 2 * padding, 1)
    return ask("conv2d_backward", dy=dy, x=x, weight=weight, stride=stride, padding=padding)["dx"].values[h]


def counts(width, stride):
    """How many windows of three see each number of a row."""
    windows = (width - 3) // stride + 1
    return ask("conv2d_backward", dy=ones(1, 1, 1, windows), x=ones(1, 1, 1, width), weight=ones(1, 1, 1, 3), stride=stride,
               padding=0)["dx"].values


def numbers(n, c, h, w):
    """By the mean of a channel of which one number is 1, and all others 0."""
    x = Array((n, c, h, w), [1.0, *[0.0] * (n * c * h * w - 1)])
    return round(1 / ask("batch_norm", x=x, weight=[1.0] * c, bias=[0.0] * c, eps=1.0)["mean"].values[0], 9)


batch = lambda: ask("batch_norm", x=ROW, weight=ONE, bias=ZERO, eps=0.0)
alone = lambda image, eps=0.0: ask("batch_norm", x=[[[image]]], weight=ONE, bias=ZERO, eps=eps)


def norm_back(name):
    found = batch()
    return ask("batch_norm_backward", dy=[[[[1.0, 0.0]]], [[[0.0, 0.0]]]], x=ROW, weight=ONE, mean=found["mean"],
               rstd=found["rstd"])[name].values


def two_back():
    found = alone([7.0, 4.0])
    return ask("batch_norm_backward", dy=[[[[0.3, 2.0]]]], x=[[[[7.0, 4.0]]]], weight=ONE, mean=found["mean"],
               rstd=found["rstd"])["dx"].values


def pictures():
    return {"windows.svg": chart.svg("Windows of three that see a number of a row of 17", ("its place in the row", "windows"),
                                     [(f"stride {s}", list(enumerate(counts(17, s)))) for s in (1, 2, 4)], ends=(None, (0, 3)))}
