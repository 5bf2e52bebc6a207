"""Wanted values, found by another way than the one that is taught: functions written once, forwards, in plain
Python, and their gradients by a complex step (Squire & Trapp 1998): dF/dx = Im F(x + ih) / h is exact to
rounding for h = 1e-30, since nothing is subtracted."""
import cmath, hashlib, hmac, itertools, math, random, statistics, struct
from tensors import Array

STEP = 1e-30


# --- draws of inputs
_key = b""  # of the term; without one the draws are those of the public repository


def use_key(key):
    global _key
    _key = key


def draws(name):
    """Random numbers of their own for every name, and for every key."""
    return random.Random(hmac.new(_key, str(name).encode(), hashlib.sha256).digest() if _key else str(name))


def choose(default, name, choices):
    """The default without a key, else one of the choices."""
    return draws(name).choice(list(choices)) if _key else default


def longer(name, most=2, public=False):
    """A function of extents: 0 and 1 stay, all others grow by one drawn number (0 without a key, and where a
    case is public), so that what fitted still fits, and what differed still differs."""
    more = 0 if public else choose(0, f"longer {name}", range(most + 1))
    return lambda *shape: tuple(e + more if e > 1 else e for e in shape)


def normal(seed, *shape, scale=1.0, shift=0.0):
    draw = draws(f"{seed} {shape}")
    return Array(shape, [draw.gauss(shift, scale) for _ in range(math.prod(shape))])


f32 = lambda value: struct.unpack("f", struct.pack("f", value))[0]
indices = lambda shape: itertools.product(*map(range, shape))
build = lambda shape, f: Array(shape, [f(*i) for i in indices(shape)])


def gradient(f, inputs, name, dy):
    """d Σ dy · f(**inputs) / d inputs[name]."""
    x, slopes = inputs[name], []
    for i in range(len(x.values)):
        values = list(x.values)
        values[i] = values[i] + STEP * 1j
        y = f(**{**inputs, name: Array(x.shape, values)})
        slopes.append(sum(d * complex(v).imag for d, v in zip(dy.values, y.values, strict=True)) / STEP)
    return Array(x.shape, slopes)


gradients = lambda f, inputs, names, dy: {f"d{name}": gradient(f, inputs, name, dy) for name in names}
real = lambda x: complex(x).real


def either(name):
    """A function of real and of complex numbers."""
    of_real, of_complex = getattr(math, name), getattr(cmath, name)
    return lambda x: of_complex(x) if isinstance(x, complex) else of_real(x)


exp, log, sqrt, tanh = map(either, ("exp", "log", "sqrt", "tanh"))


def rows(x):
    """The last dimension's rows."""
    n = x.shape[-1]
    return [x.values[i:i + n] for i in range(0, len(x.values), n)] if n else []


flat = lambda rows_of_values, shape: Array(shape, [v for row in rows_of_values for v in row])


def student_quantile(p, degrees):
    """Of Student's t, by its density's integral: with t = √n tan θ that of cos^(n−1) θ, by Simpson's rule."""
    factor = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)

    def below(angle):
        n, h = 400, angle / 400
        heights = [math.cos(i * h) ** (degrees - 1) for i in range(n + 1)]
        return 0.5 + factor * h / 3 * (
            heights[0] + heights[n] + 4 * sum(heights[1:n:2]) + 2 * sum(heights[2:n:2]))
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def uniform_draws(key, count):
    """Rng(key).uniform_at(i): Philox4x32-10 (Salmon et al. 2011), the middle of one of 2^53 cells."""
    low, draws = 0xFFFFFFFF, []
    for counter in range((count + 1) // 2):
        x, k0, k1 = [counter & low, counter >> 32, 0, 0], key & low, key >> 32
        for _ in range(10):
            p0, p1 = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [p1 >> 32 ^ x[1] ^ k0, p1 & low, p0 >> 32 ^ x[3] ^ k1, p0 & low]
            k0, k1 = k0 + 0x9E3779B9 & low, k1 + 0xBB67AE85 & low
        draws += [((word >> 11) + 0.5) * 2.0 ** -53 for word in (x[0] | x[1] << 32, x[2] | x[3] << 32)]
    return draws[:count]


def normal_draws(key, count):
    """Rng(key).normal_at(i); Python's quantile is Wichura's AS 241, too."""
    return [statistics.NormalDist().inv_cdf(u) for u in uniform_draws(key, count)]
