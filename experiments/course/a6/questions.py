"""a6's written questions. Values come from closed sums."""
import math
import course

cases, study = course.module_of("a6", "cases.py"), course.module_of("a6", "study.py")
STD = cases.std_of(0.5)  # of relu(z), for E z² = 1


def default(width, depth):
    return [cases.std_of(m) for m in cases.predicted(depth, width, 1 / (3 * width), 1 / (3 * width))]


plateau = lambda width: cases.std_of(1 / (6 * width) / (1 - 1 / 6))


def questions(draw):
    width, depth = draw.choice([96, 128, 200, 256, 300, 400, 640, 768, 1024]), draw.randint(6, 12)
    reach = draw.choice([1.2, 1.4, 1.6, 2.0, 2.2])
    yield f"Weights uniform in ±{reach}/√C. f = C Var w / 2?", reach ** 2 / 6
    out = draw.choice([1, 2, 3, 5]) * width // 2
    yield f"A layer of {width} inputs and {out} outputs with Xavier's weights. f, with C the number of inputs?", width / (width + out)
    yield f"Which std of w makes f = 1 at C = {width}?", math.sqrt(2 / width)
    square = draw.choice([0.25, 0.5, 2, 3, 4])
    yield f"He's weights, an input of mean 0 and variance {square} (not 1). The std of h₁, C large?", STD * math.sqrt(2 * square)
    yield f"PyTorch's default at C = {width}: the std of the plateau?", plateau(width)
    percent = draw.choice([0.5, 1, 2, 5, 10])
    near = next(l for l, std in enumerate(default(width, 60),
                                          1) if std < plateau(width) * (1 + percent / 100))
    yield f"The same net, an input of variance 1: the first layer whose std is within {percent:g} % of the plateau's? (A whole number.)", near, {"whole": True}
    norms = cases.gradient_norms(depth, width, 32, 1 / (3 * width), 1 / (3 * width))
    yield f"The same net, {depth} layers: ‖dW‖ of the last layer over that of the first?", norms[-1] / norms[
        0]
    few, factor = draw.choice([8, 16, 24, 32]), draw.choice([2, 3, 4, 5, 6])
    yield f"By what factor do all ‖dW‖ grow when the batch grows from {few} to {few * factor} rows?", math.sqrt(factor)
    layer = draw.randint(2, 7)
    yield f"The blog's number for layer {layer} over your prediction (C = 512)?", study.BLOG[
        layer - 1] / default(512, 8)[layer - 1]
    yield f"Xavier's weights in square layers, no biases: the std of h after {depth} layers?", STD * math.sqrt(2 * 0.5 ** depth)
    yield ("Measured, by `./study`: how far apart two inputs are after layer 8, over how far they are after layer 1, with PyTorch's default? "
           "(Any seed's value is right.)", 0.00133, {"least": 0.0009, "most": 0.0020})
