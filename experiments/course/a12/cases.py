"""a12's cases."""
import functools, math
import oracle
from course import case
from derived import HUGE, TINY, beyond, sized
from oracle import gradients, normal
from tensors import Array

LOOSE = dict(rtol=1e-7, atol=1e-8)  # the statistics' cancellation
INF = math.inf
SCALED = dict(rtol=1e-12, atol=0)  # sums of numbers of one sign, or of few


def planes(x):
    """x (A, B, H, W) as [a][b][row]: lists of rows of a plane."""
    rows = oracle.rows(x)
    a, b, h, _ = x.shape
    return [[rows[(n * b + c) * h:(n * b + c + 1) * h] for c in range(b)] for n in range(a)]


def padded(plane, padding):
    width = len(plane[0]) + 2 * padding
    empty = [[0.0] * width] * padding
    return [*empty, *([0.0] * padding + row + [0.0] * padding for row in plane), *empty]


def conv(x, weight, bias, stride, padding):
    """The definition, where the zeros around an image are written down."""
    images = [[padded(plane, padding) for plane in image] for image in planes(x)]
    kernels, (_, _, k, l) = planes(weight), weight.shape
    rows = range(0, len(images[0][0]) - k + 1, stride)
    columns = range(0, len(images[0][0][0]) - l + 1, stride)
    y = [b + sum(v * w for plane, kernel in zip(image, kernels[o]) for row, line in zip(plane[p:p + k], kernel)
                 for v, w in zip(row[q:q + l], line))
         for image in images for o, b in enumerate(bias.values) for p in rows for q in columns]
    return Array((len(images), len(kernels), len(rows), len(columns)), y)


def adjoint(dy, x, weight, stride, padding):
    """The gradients by closed forms: dx is dy, spread with stride − 1 zeros between its numbers and zeros around,
    times the kernels turned by 180°; dweight is the product of x with dy, spread so. For large inputs."""
    (images, channels, h, w), (outputs, _, k, l) = x.shape, weight.shape
    high, wide = h + 2 * padding, w + 2 * padding

    def spread(plane, top, left, height, width):
        found = [[0.0] * width for _ in range(height)]
        for p, row in enumerate(plane):
            for q, v in enumerate(row):
                found[top + p * stride][left + q * stride] = v
        return found
    kernels = planes(weight)
    turned = [[[line[::-1] for line in kernels[o][c][::-1]] for o in range(outputs)] for c in range(channels)]
    wanted = [[spread(plane, k - 1, l - 1, high + k - 1, wide + l - 1) for plane in image] for image in planes(dy)]
    dx = [[[[sum(v * u for o in range(outputs) for i in range(k) for v, u in zip(image[o][r + i][s:s + l], turned[c][o][i]))
             for s in range(padding, padding + w)] for r in range(padding, padding + h)] for c in range(channels)]
          for image in wanted]
    zeros = [[padded(plane, padding) for plane in image] for image in planes(x)]
    of_dy = planes(dy)
    dweight = [sum(v * d for n in range(images) for p, row in enumerate(of_dy[n][o])
                   for v, d in zip(zeros[n][c][p * stride + i][j::stride], row))
               for o in range(outputs) for c in range(channels) for i in range(k) for j in range(l)]
    return {"dx": Array(x.shape, [v for image in dx for plane in image for row in plane for v in row]),
            "dweight": Array(weight.shape, dweight),
            "dbias": [math.fsum(v for image in of_dy for row in image[o] for v in row) for o in range(outputs)]}


def grouped(x, of_image):
    """The numbers of each group that has statistics of its own: a channel's, or those of a channel of an image."""
    all_planes = [[[v for row in plane for v in row] for plane in image] for image in planes(x)]
    if of_image:
        return [plane for image in all_planes for plane in image]
    return [[v for image in all_planes for v in image[c]] for c in range(x.shape[1])]


def statistics(x, eps, of_image=False):
    groups = grouped(x, of_image)
    means = [sum(group) / len(group) for group in groups]
    variances = [sum((v - m) ** 2 for v in group) / len(group) for group, m in zip(groups, means)]
    return {"mean": means, "rstd": [1 / oracle.sqrt(v + eps) for v in variances]}


def normed(x, weight, bias, eps, of_image=False):
    found, (_, channels, h, w) = statistics(x, eps, of_image), x.shape

    def y(i, v):
        plane = i // (h * w)
        c = plane % channels
        group = plane if of_image else c
        return (v - found["mean"][group]) * found["rstd"][group] * weight.values[c] + bias.values[c]
    return Array(x.shape, [y(i, v) for i, v in enumerate(x.values)])


def conv_inputs(name, x, weight, stride, padding, public=False, scale=1.0):
    """Drawn tensors of a convolution; hidden ones may have more channels, kernels and images."""
    n, c, o = (x[0], x[1], weight[0]) if public else oracle.longer(f"images {name}", 1)(x[0], x[1], weight[0])
    x, weight = (n, c, *x[2:]), (o, c, *weight[1:])
    return {"x": normal(f"x {name}", *x, scale=scale), "weight": normal(f"weight {name}", *weight),
            "bias": normal(f"bias {name}", o), "stride": stride, "padding": padding}


def convolved(name, inputs, public=False, hint="", **more):
    """A convolution, and its gradients."""
    how = {"stride": inputs["stride"], "padding": inputs["padding"]}
    three = {which: inputs[which] for which in ("x", "weight", "bias")}
    y = conv(**inputs)
    yield case(1, "conv2d", f"convolution, {name}", {**inputs, **more}, {"y": y},
               "" if more else hint or "the window of y[p, q] begins at row p · stride − padding, and outside "
               "of x is 0", public=public)
    dy = normal(f"dy {name}", *y.shape)
    wanted = gradients(functools.partial(conv, **how), three, ["bias", "weight", "x"], dy)
    yield case(2, "conv2d_backward", f"its gradients, {name}",
               {"dy": dy, "x": inputs["x"], "weight": inputs["weight"], **how, **more}, wanted,
               "" if more else "who uses what? A number of x is in each window that covers it, a weight in every "
               "window", public=public)


def convolutions():
    for name, x, weight, stride, padding, public in [
            ("one channel", (1, 1, 3, 3), (1, 2, 2), 1, 0, True),
            ("two channels, three kernels, two images", (2, 2, 3, 4), (3, 2, 3), 1, 0, True),
            ("with zeros around it", (1, 2, 3, 3), (2, 3, 3), 1, 1, True),
            ("every second place", (2, 1, 4, 5), (2, 2, 2), 2, 0, True),
            ("a stride that leaves columns over", (2, 2, 5, 6), (2, 2, 3), 2, 0, False),
            ("a stride and zeros", (1, 2, 5, 4), (2, 3, 2), 2, 1, False),
            ("a stride larger than the kernel", (2, 1, 7, 5), (2, 2, 1), 3, 0, False),
            ("a kernel as large as the image", (2, 2, 3, 2), (2, 3, 2), 1, 0, False),
            ("a kernel larger than the image without its zeros", (1, 2, 2, 3), (2, 4, 5), 1, 1, False),
            ("kernels of one number", (2, 3, 2, 3), (2, 1, 1), 1, 0, False),
            ("kernels of one number, with a stride", (2, 2, 3, 4), (3, 1, 1), 2, 0, False),
            ("an image of one number", (2, 2, 1, 1), (2, 1, 1), 1, 0, False),
            ("an image of one number and zeros", (1, 2, 1, 1), (2, 3, 3), 1, 1, False),
            ("one row", (2, 2, 1, 7), (2, 1, 3), 2, 0, False),
            ("one column", (2, 2, 6, 1), (2, 3, 1), 1, 0, False),
            ("windows that see zeros alone", (1, 2, 2, 2), (2, 1, 2), 1, 2, False)]:
        yield from convolved(name, conv_inputs(name, x, weight, stride, padding, public), public)
    yield from convolved("a second one", conv_inputs("second", (2, 2, 3, 3), (2, 2, 2), 1, 1), warm=1)
    ones = lambda *shape: Array(shape, [1.0] * math.prod(shape))
    yield case(1, "conv2d", "how many numbers a window sees",
               {"x": ones(1, 1, 3, 4), "weight": ones(1, 1, 3, 3), "bias": [0.0], "stride": 1, "padding": 1},
               {"y": [[[[4.0, 6.0, 6.0, 4.0], [6.0, 9.0, 9.0, 6.0], [4.0, 6.0, 6.0, 4.0]]]]},
               "at a corner five of nine numbers are zeros around the image", public=True)
    h, w, stride = (oracle.choose(default, f"counted {default}", range(6, 12)) for default in (6, 7, 8))
    stride = 2 + stride % 2
    counts = lambda size: [len([p for p in range((size - 3) // stride + 1) if p * stride <= i < p * stride + 3])
                           for i in range(size)]
    seen = [float(a * b) for a in counts(h) for b in counts(w)]
    dy = ones(1, 1, (h - 3) // stride + 1, (w - 3) // stride + 1)
    yield case(2, "conv2d_backward", "how many windows see a number",
               {"dy": dy, "x": normal("counted", 1, 1, h, w), "weight": ones(1, 1, 3, 3), "stride": stride, "padding": 0},
               {"dx": Array((1, 1, h, w), seen), "dbias": [float(len(dy.values))]},
               "rows and columns that no window reaches have no part in y")
    x, place = normal("shifted", 2, 1, 5, 6), oracle.choose((0, 2), "place", [(0, 1), (0, 2), (2, 0), (1, 2)])
    yield case(1, "conv2d", "a kernel that shifts the image",
               {"x": x, "weight": Array((1, 1, 3, 3), [float((i // 3, i % 3) == place) for i in range(9)]), "bias": [0.0],
                "stride": 1, "padding": 1},
               {"y": oracle.build(x.shape, lambda n, c, p, q: x[n, c, p + place[0] - 1, q + place[1] - 1]
                                  if 0 <= p + place[0] - 1 < 5 and 0 <= q + place[1] - 1 < 6 else 0.0)},
               "weight[i, j] meets the number i rows down and j columns right of the window's begin")
    x = normal("infinite", 1, 1, 4, 4)
    x.values[0] = INF
    weight, bias = Array((1, 1, 2, 2), list(map(abs, normal("positive", 4).values))), [oracle.draws("b").gauss(0, 1)]
    finite = Array(x.shape, [0.0, *x.values[1:]])
    y = conv(finite, weight, Array((1,), bias), 1, 1)
    y.values = [INF if i // 5 < 2 and i % 5 < 2 else v for i, v in enumerate(y.values)]
    yield case(1, "conv2d", "a number that is infinite", {"x": x, "weight": weight, "bias": bias, "stride": 1, "padding": 1},
               {"y": y}, "zeros around the image are no products of its numbers with 0")
    for name, scale in (("large", 1e150), ("small", 1e-150)):
        inputs = conv_inputs(f"{name} numbers", (2, 2, 3, 4), (2, 2, 3), 1, 0)
        inputs = {which: Array(v.shape, [abs(u) * (scale if which != "weight" else 1) for u in v.values])
                  if isinstance(v, Array) else v for which, v in inputs.items()}
        y = conv(**inputs)
        dy = Array(y.shape, [abs(v) for v in normal(f"dy of {name}", *y.shape).values])
        of_three = {which: inputs[which] for which in ("x", "weight", "bias")}
        yield case(1, "conv2d", f"convolution of {name} numbers", inputs, {"y": y},
                   "a product of doubles needs no care here: is one a float?", **SCALED)
        yield case(2, "conv2d_backward", f"its gradients, {name} numbers",
                   {"dy": dy, **{which: v for which, v in inputs.items() if which != "bias"}},
                   {name: value for name, value in gradients(functools.partial(conv, stride=1, padding=0), of_three,
                                                             ["bias", "weight", "x"], dy).items()},
                   "a product of doubles needs no care here: is one a float?", **SCALED)
    yield from adjoint_pairs()


def adjoint_pairs():
    """⟨conv u, dy⟩ = ⟨u, dx⟩ and ⟨conv of v, dy⟩ = ⟨v, dweight⟩ for u and v that nobody has been told."""
    for name, shape, kernel, stride, padding in [("a photograph", (2, 3, 17, 19), (4, 5, 3), 2, 1),
                                                 ("a long one", (1, 2, 3, 41), (3, 2, 7), 3, 0)]:
        inputs = conv_inputs(name, shape, kernel, stride, padding)
        x, weight = inputs["x"], inputs["weight"]
        others = normal(f"other x {name}", *x.shape), normal(f"other weight {name}", *weight.shape)
        no_bias = Array((weight.shape[0],), [0.0] * weight.shape[0])
        y = [conv(others[0], weight, no_bias, stride, padding), conv(x, others[1], no_bias, stride, padding)]
        dy = normal(f"dy {name}", *y[0].shape)

        def judge(found, x=x, weight=weight, others=others, y=y, dy=dy):
            for name, like, other, made in (("dx", x, others[0], y[0]), ("dweight", weight, others[1], y[1])):
                got = found.get(name)
                if got is None or got.shape != like.shape:
                    return f"{name}: wanted shape {list(like.shape)}"
                products = [a * b for a, b in zip(got.values, other.values)]
                wanted = [a * b for a, b in zip(dy.values, made.values)]
                size = math.fsum(map(abs, wanted))
                if not abs(math.fsum(products) - math.fsum(wanted)) <= 1e-12 * size:
                    return f"{name}: wanted a product with another {name[1:]} of {math.fsum(wanted):.9g}, got {math.fsum(products):.9g}"
            return None
        yield case(2, "conv2d_backward", f"the adjoint of the convolution, {name}",
                   {"dy": dy, "x": x, "weight": weight, "stride": stride, "padding": padding}, judge=judge,
                   hint="for any u, the product of dy with the convolution of u is that of dx with u")


def means_first(found):
    return {name: found[name] for name in ("dbias", "dweight", "dx")}


def norms():
    for name, shape, eps, how, public in [
            ("two images of two channels", (2, 2, 2, 3), 1e-5, {}, True),
            ("off centre", (3, 2, 2, 2), 1e-5, {"shift": 5.0}, True), ("one image", (1, 3, 2, 4), 1e-5, {}, True),
            ("one place, several images", (5, 3, 1, 1), 1e-5, {}, True), ("a large eps", (2, 3, 2, 2), 0.5, {}, False),
            ("small numbers, where eps rules", (2, 2, 3, 2), 1e-5, {"scale": 1e-3}, False),
            ("one channel", (3, 1, 3, 2), 1e-3, {"scale": 3.0}, False), ("many channels", (2, 6, 1, 3), 0.1, {}, False),
            ("one image of one row", (1, 4, 1, 5), 0.25, {}, False), ("two numbers a channel", (2, 3, 1, 1), 0.2, {}, False),
            ("one image of two numbers", (1, 2, 1, 2), 0.3, {}, False)]:
        if not public:
            shape = (shape[0], oracle.longer(f"channels {name}")(shape[1])[0], *shape[2:])
        c = shape[1]
        x, dy = normal(f"norm {name}", *shape, **how), normal(f"norm dy {name}", *shape)
        weight, bias = normal(f"norm weight {name}", c, shift=1.0), normal(f"norm bias {name}", c)
        yield from normalized(name, x, weight, bias, dy, eps, public)
        if shape[2] * shape[3] > 1:
            yield case(4, "instance_norm", f"each image alone, {name}", {"x": x, "weight": weight, "bias": bias, "eps": eps},
                       {"y": normed(x, weight, bias, eps, True)},
                       "an image's output is what batch_norm gives for this image alone", public=public)
    x, weight, bias, dy = (normal(f"second norm {what}", *shape) for what, shape in (
        ("x", (2, 3, 2, 2)), ("weight", (3,)), ("bias", (3,)), ("dy", (2, 3, 2, 2))))
    yield from normalized("a second call", x, weight, bias, dy, 1e-3, warm=1)
    yield case(4, "instance_norm", "each image alone, a second call",
               {"x": x, "weight": weight, "bias": bias, "eps": 1e-3, "warm": 1}, {"y": normed(x, weight, bias, 1e-3, True)})
    away = 1e7 * oracle.draws("away").uniform(1, 1.5)
    far = Array((2, 2, 1, 2), [v + s for n in (1.0, -0.5) for s in (away, -away) for v in (n, 2.0 + n * n)])
    ones, zeros = Array((2,), [1.0, 1.0]), Array((2,), [0.0, 0.0])
    inputs = {"x": far, "weight": ones, "bias": zeros, "eps": 1e-5}
    yield case(3, "batch_norm", "BatchNorm far off centre", inputs,
               {**statistics(far, 1e-5), "y": normed(far, ones, zeros, 1e-5)},
               "two passes: E[x²] − E[x]² loses every digit here", rtol=1e-7)
    yield case(4, "instance_norm", "each image alone, far off centre", inputs, {"y": normed(far, ones, zeros, 1e-5, True)},
               "two passes: E[x²] − E[x]² loses every digit here", rtol=1e-7)
    same = float(oracle.choose(3, "same", range(-5, 6)))
    flat, bias = Array((2, 2, 2, 2), [same] * 8 + [same + 1.0] * 8), normal("flat bias", 2)
    yield case(4, "instance_norm", "images of one number everywhere", {"x": flat, "weight": ones, "bias": bias, "eps": 1e-5},
               {"y": Array(flat.shape, [bias[i // 4 % 2] for i in range(16)])}, "the bias is what is left")
    yield case(3, "batch_norm", "two images of one number everywhere", {"x": flat, "weight": ones, "bias": bias, "eps": 0.75},
               {"mean": [same + 0.5] * 2, "rstd": [1.0] * 2,
                "y": Array(flat.shape, [bias[i // 4 % 2] + (-0.5 if i < 8 else 0.5) for i in range(16)])},
               "the images of the batch differ, and so does their output")


def normalized(name, x, weight, bias, dy, eps, public=False, **more):
    """BatchNorm and its gradient, whose statistics come with the request."""
    three, found = {"x": x, "weight": weight, "bias": bias}, statistics(x, eps)
    yield case(3, "batch_norm", f"BatchNorm, {name}", {**three, "eps": eps, **more},
               {**found, "y": normed(x, weight, bias, eps)},
               "" if more else "a channel's statistics are of all images and all places; the population's variance, and "
               "eps beside it", public=public)
    yield case(3, "batch_norm_backward", f"BatchNorm's gradient, {name}",
               {"dy": dy, "x": x, "weight": weight, **found, **more},
               means_first(gradients(functools.partial(normed, eps=eps), three, three, dy)),
               "" if more else "three roads, as in a4, but over a channel: dbias and dweight are the sums that dx needs",
               public=public, **LOOSE)


def beyond_differences():
    """Gradients that no difference quotient has."""
    x, weight = normal("many", 2, 4, 60, 80), normal("many weights", 3, 4, 3, 3)
    dy = normal("many dy", 2, 3, 58, 78)
    yield beyond(2, "conv2d_backward", "its gradients, 38,400 numbers",
                 {"dy": dy, "x": x, "weight": weight, "stride": 1, "padding": 0}, adjoint(dy, x, weight, 1, 0), atol=1e-9)
    x, weight = Array((1, 1, 2, 5), sized("image", *[1] * 10)), Array((1, 1, 2, 2), sized("kernel", *[1] * 4))
    dy = Array((1, 1, 1, 4), sized("dy", HUGE, 1, 1, 1))
    found = adjoint(dy, x, weight, 1, 0)
    yield beyond(2, "conv2d_backward", "its gradient, a dy of which one is huge",
                 {"dy": dy, "x": x, "weight": weight, "stride": 1, "padding": 0}, {"dx": found["dx"]})
    channel = lambda values: Array((len(values) // 2, 1, 1, 2), values)
    # dz is 0 but for two numbers that cancel, and so are the numbers of x: the mean is exactly 0 in any order.
    x = [v * s for v in sized("pairs", 1, TINY, 1e-90) for s in (1, -1)]
    (d, w), r = sized("outer", 1, 1), oracle.draws("outer").uniform(1, 1.3) / abs(x[0])
    z, dz = [v * r for v in x], [d * w, -d * w, 0.0, 0.0, 0.0, 0.0]
    share = dz[0] * (z[0] - z[1]) / 6
    yield beyond(3, "batch_norm_backward", "BatchNorm's gradient, almost 0",
                 {"dy": channel([d, -d, 0.0, 0.0, 0.0, 0.0]), "x": channel(x), "weight": [w], "mean": [0.0], "rstd": [r]},
                 {"dx": channel([r * (a - b * share) for a, b in zip(dz, z)])})
    dy, (w,), r = sized("flat dy", *[1] * 4), sized("flat weight", 1), 1e90  # eps 1e-180, and r³ is finite
    yield case(3, "batch_norm_backward", "BatchNorm's gradient of a constant channel, eps of 1e-180",
               {"dy": channel(dy), "x": channel([3.0] * 4), "weight": [w], "mean": [3.0], "rstd": [r]},
               {"dbias": [math.fsum(dy)], "dweight": [0.0], "dx": channel([r * w * (v - math.fsum(dy) / 4) for v in dy])},
               "z is 0, and r large", rtol=1e-7, atol=0)


def errors():
    for x, weight, padding, why, public in [
            ((1, 2, 4, 4), (3, 1, 2, 2), 0, "the channels differ", True),
            ((1, 1, 4, 4), (2, 3, 2, 2), 1, "the channels differ, and the kernel has more", False),
            ((1, 1, 2, 5), (1, 1, 3, 2), 0, "the kernel is too tall", True),
            ((2, 2, 5, 2), (1, 2, 2, 3), 0, "the kernel is too wide", False),
            ((1, 1, 2, 2), (1, 1, 5, 3), 1, "the kernel is too tall, with zeros too", False),
            ((1, 1, 2, 2), (1, 1, 3, 6), 1, "the kernel is too wide, with zeros too", False)]:
        yield case(1, "conv2d", f"an error: {why}, {list(x)} and {list(weight)}",
                   {"x": normal("e", *x), "weight": normal("e", *weight), "bias": normal("e", weight[0]), "stride": 1,
                    "padding": padding}, error=[x, weight], public=public,
                   hint="name both shapes: \"conv2d: x [1, 2, 4, 4] and weight [3, 1, 2, 2] do not fit\"")
    for task, call, shape, public in [(3, "batch_norm", (1, 3, 1, 1), True), (3, "batch_norm", (1, 1, 1, 1), False),
                                      (4, "instance_norm", (4, 3, 1, 1), True), (4, "instance_norm", (1, 2, 1, 1), False)]:
        c = shape[1]
        yield case(task, call, f"an error: {call} of {list(shape)}, one number alone",
                   {"x": normal("e", *shape), "weight": normal("e", c), "bias": normal("e", c), "eps": 1e-5},
                   error=[shape], public=public, hint="one number has no variance, and y would be the bias, whatever x is; "
                   "name x's shape")


def cases():
    yield from convolutions()
    yield from norms()
    yield from beyond_differences()
    yield from errors()
