"""How the inputs of torch_cases.py are drawn: a draw returns tensors and arguments by name."""
import random

import torch


class Draw:
    """Random numbers of one case."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def one_of(self, things):
        return self.random.choice(things)

    def integer(self, low, high):
        return self.random.randint(low, high)

    def extent(self, low=0):
        return max(low, self.random.choice([0, 1, 2, 3, 3, 4, 5, 7, 17]))

    def shape(self, low=0, least=0, most=4):
        """least … most extents, each of at least `low`."""
        return [self.extent(low) for _ in range(self.integer(least, most))]

    def normal(self, shape, scale=1):
        return torch.randn(list(shape), generator=self.generator, dtype=torch.float64) * scale

    def positive(self, shape):
        return 0.3 + 2.7 * torch.rand(list(shape), generator=self.generator, dtype=torch.float64)

    def indices(self, bound, shape):
        return torch.randint(0, bound, list(shape), generator=self.generator)

    def narrowed(self, shape):
        """A shape that broadcasts to this one."""
        kept = [1 if self.integer(0, 3) == 0 else n for n in shape]
        return kept[self.integer(0, len(kept)):] if self.integer(0, 2) == 0 else kept

    def dim(self, ndim):
        return self.integer(-ndim, ndim - 1)


def one(scale=1, positive=False, least=0):
    def draw(d):
        shape = d.shape(least=least)
        return [d.positive(shape) if positive else d.normal(shape, scale)], {}
    return draw


def pair(positive=False):
    """Two operands that broadcast."""
    def draw(d):
        shape = d.shape()
        a, b = d.one_of([(shape, d.narrowed(shape)), (d.narrowed(shape), shape)])
        return [d.normal(a), d.positive(b) if positive else d.normal(b)], {}
    return draw


def with_arguments(draw, **arguments):
    """The same with more arguments, each drawn by a function."""
    def both(d):
        inputs, first = draw(d)
        return inputs, {**first, **{name: value(d) for name, value in arguments.items()}}
    return both


def tied(d):
    """Few values, zero among them."""
    return [d.indices(5, d.shape()).double() - 2], {}


def tied_pair(d):
    inputs, _ = pair()(d)
    return [(2 * x).round() for x in inputs], {}


def chosen(d):
    """A tensor whose sign chooses, and two to choose from, which broadcast."""
    shape = d.shape()
    shapes = [shape, d.narrowed(shape), d.narrowed(shape)]
    d.random.shuffle(shapes)
    return [d.normal(s) for s in shapes], {}


def limits(d):
    low, high = d.one_of([(-0.5, 0.5), (-0.5, None), (None, 0.5), (1, -1)])
    return [d.normal(d.shape())], {"min": low, "max": high}


def number(low, high):
    return lambda d: d.random.uniform(low, high)


def along(least=1, low=0, arguments=lambda d, n: {}):
    """One input and a dimension of it; `arguments` sees the extent there."""
    def draw(d):
        shape = d.shape(low=low, least=least)
        dim = d.dim(len(shape))
        return [d.normal(shape)], {"dim": dim, **arguments(d, shape[dim])}
    return draw


def reshaped(d):
    shape = d.shape()
    to = [n for n in shape for n in ([1, n] if d.integer(0, 4) == 0 and len(shape) < 4 else [n])]
    d.random.shuffle(to)
    return [d.normal(shape)], {"shape": to}


def permuted(d):
    shape = d.shape()
    order = list(range(len(shape)))
    d.random.shuffle(order)
    return [d.normal(shape)], {"order": [i - len(shape) if d.integer(0, 1) else i for i in order]}


def transposed(d):
    shape = d.shape(least=1)
    return [d.normal(shape)], {"dim0": d.dim(len(shape)), "dim1": d.dim(len(shape))}


def broadcast(d):
    shape = d.shape()
    return [d.normal(d.narrowed(shape))], {"shape": shape}


def expanded(d):
    inputs, a = broadcast(d)
    wanted, x = a["shape"], inputs[0].shape
    first = len(wanted) - len(x)
    return inputs, {"sizes": [-1 if i >= first and x[i - first] == n and d.integer(0, 1) else n
                              for i, n in enumerate(wanted)]}


def window(d, n):
    begin = d.integer(0, n)
    return {"begin": begin, "end": d.integer(begin, n)}


def padded(d):
    shape = d.shape(low=1, least=1)
    amounts = []
    for n in reversed(shape[d.integer(0, len(shape) - 1):]):
        left = d.integer(0, n - 1)
        right = d.integer(0, n - 1 - left)  # PyTorch 1.13 refuses a result of no elements
        amounts += [d.one_of([-left, d.integer(0, 3)]), d.one_of([-right, d.integer(0, 3)])]
    return [d.normal(shape)], {"amounts": amounts, "value": d.one_of([0, 0.5])}


def joined(d):
    shape = d.shape(least=1)
    dim = d.dim(len(shape))
    inputs = []
    for _ in range(d.integer(1, 4)):
        shape[dim] = d.extent()
        inputs.append(d.normal(shape))
    return inputs, {"dim": dim}


def stacked(d):
    shape = d.shape()
    return [d.normal(shape) for _ in range(d.integer(1, 4))], {"dim": d.integer(-len(shape) - 1, len(shape))}


def pieces(d):
    """Sizes that add up to the extent."""
    (x,), a = along()(d)
    ends = sorted(d.integer(0, x.shape[a["dim"]]) for _ in range(d.integer(0, 3))) + [x.shape[a["dim"]]]
    return [x], {**a, "sizes": [end - begin for begin, end in zip([0] + ends, ends)]}


def flipped(d):
    shape = d.shape()
    dims = d.random.sample(range(len(shape)), d.integer(0, len(shape)))
    return [d.normal(shape)], {"dims": dims}


def picked(d):
    shape = d.shape(low=1, least=1)
    dim = d.dim(len(shape))
    return [d.normal(shape), d.indices(shape[dim], [d.extent()])], {"dim": dim}


def added(d):
    (x, index), a = picked(d)
    shape = list(x.shape)
    shape[a["dim"]] = index.numel()
    return [x, index, d.normal(shape)], a


def gathered(d):
    shape = d.shape(low=1, least=1)
    dim = d.dim(len(shape))
    part = [d.integer(1, n) for n in shape]
    part[dim] = d.extent(1)
    return [d.normal(shape), d.indices(shape[dim], part)], {"dim": dim}


def scattered(d):
    (x, index), a = gathered(d)
    return [x, index, d.normal(index.shape)], a  # PyTorch has gradients for a src of index's shape only


def embedded(d):
    vocabulary = d.extent(1)
    return [d.normal([vocabulary, d.extent()]), d.indices(vocabulary, d.shape(most=3))], {}


def reduced(low=0, axes_of_one=False):
    def draw(d):
        shape = d.shape(low=low, least=1)
        axes = sorted(d.random.sample(range(len(shape)), d.integer(1, len(shape))))
        return [d.normal(shape)], {"axes": [i - len(shape) if d.integer(0, 1) else i for i in axes],
                                   "keepdim": d.one_of([False, True])}
    return draw


def positions(d):
    shape = d.shape(low=1, least=1)
    return [d.indices(5, shape).double()], {"dim": d.one_of([None, d.dim(len(shape))]),
                                            "keepdim": d.one_of([False, True])}


def varied(d):
    inputs, a = reduced(low=2)(d)
    return inputs, {**a, "correction": d.one_of([0, 1])}


def products(d):
    m, k, n = d.extent(), d.extent(), d.extent()
    batch = d.shape(most=2)
    a, b = d.one_of([(batch, d.narrowed(batch)), (d.narrowed(batch), batch)])
    return [d.normal(a + [m, k]), d.normal(b + [k, n])], {}


def affine_maps(d):
    k, n = d.extent(1), d.extent(1)
    inputs = [d.normal(d.shape(most=3) + [k]), d.normal([n, k]), d.normal([n])]
    return inputs[:d.integer(2, 3)], {}


EQUATIONS = ["ij,jk->ik", "ij,jk", "ij,kj->ki", "bij,bjk->bik", "bij,jk->ibk", "bthd,bshd->bhts", "i,j->ij", "i,i->",
             "ij,ij->ij", "ij,ij->", "ij,j->i", "ijk,jkl->il", "ija,jkb->ik", "ijk,jil->lk", "ij->ji", "ijk->kij",
             "ijk->j", "ij->", "ba", "aij,bij->abj", "ij,->ij"]


def lettered(d):
    equation = d.one_of(EQUATIONS)
    extents = {c: d.extent(1) for c in equation if c.isalpha()}  # PyTorch 1.13 refuses some of 0
    return [d.normal([extents[c] for c in letters]) for letters in equation.split("->")[0].split(",")], {
        "equation": equation}


def classified(d):
    rows, classes = d.shape(low=1, most=2), d.extent(1)
    return [d.normal(rows + [classes], d.one_of([1, 10])), d.indices(classes, rows)], {
        "ignore_index": d.one_of([-100, 0])}


def projected(d):
    (_, targets), a = classified(d)
    channels, classes = d.extent(1), int(targets.max()) + d.integer(1, 5)
    return [d.normal(list(targets.shape) + [channels]), d.normal([classes, channels]), targets], a


def same_shapes(second="normal"):
    def draw(d):
        shape = d.shape()
        return [d.normal(shape), torch.sigmoid(d.normal(shape)) if second == "share" else d.normal(shape)], {
            "reduction": d.one_of(["sum", "none"] if 0 in shape else ["mean", "sum", "none"])}
    return draw
