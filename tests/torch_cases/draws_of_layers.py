"""How the inputs of normalizations, rope and attention are drawn; as draws.py."""


def normalized(parameters):
    """x, the shape of its last dimensions, and some of `parameters` tensors of that shape."""
    def draw(d):
        shape = d.shape(low=3, least=1)
        last = shape[d.integer(0, len(shape) - 1):]
        inputs = [d.normal(shape)] + [d.normal(last) for _ in range(d.integer(0, parameters))]
        return inputs, {"shape": last, "eps": d.one_of([1e-5, 0.1])}
    return draw


def channels(groups=False):
    def draw(d):
        g = d.integer(1, 3)
        c = g * d.integer(1, 3) if groups else d.extent(1)
        shape = [d.extent(2), c] + ([d.extent(3)] if groups or d.integer(0, 1) else [])
        inputs = [d.normal(shape)] + [d.normal([c]) for _ in range(d.integer(0, 2))]
        return inputs, {"eps": d.one_of([1e-5, 0.1]), **({"groups": g} if groups else {})}
    return draw


def with_statistics(d):
    """A mean and the logarithm of a variance for each channel."""
    inputs, a = channels()(d)
    c = inputs[0].shape[1]
    return [inputs[0], d.normal([c]), d.normal([c])], a


def saturating(d):
    shape = d.shape(low=1, least=1)
    last = shape[d.integer(0, len(shape) - 1):]
    inputs = [d.normal(shape), 0.3 + d.positive([1]) / 4, d.normal(last), d.normal(last)]
    return inputs[:d.integer(3, 4)], {}


def rotated(d):
    return [d.normal([d.extent(), d.extent(), d.extent(), 2 * d.integer(1, 4)])], {
        "base": d.one_of([10000, 100]), "start": d.integer(0, 9), "interleaved": d.one_of([False, True])}


def attended(d):
    batch, queries, dim, heads = d.extent(1), d.extent(1), d.extent(1), d.integer(1, 3)
    keys, group = queries + d.integer(0, 3), d.integer(1, 2)
    return [d.normal([batch, queries, heads * group, dim]), d.normal([batch, keys, heads, dim]),
            d.normal([batch, keys, heads, dim])], {"causal": d.one_of([False, True]), "softcap": d.one_of([0, 0.7]),
                                                       "scale": d.one_of([None, 0.3])}
