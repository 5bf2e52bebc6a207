"""a10's study: how long does a sum over 8 machines take, by the tree and by the ring, and who is quicker where?"""

ALPHA, BETA = 5e-5, 1.25e8  # a message of b bytes takes ALPHA + b / BETA seconds: 1 Gbit/s Ethernet


def over_bytes(ask, size=8):
    bytes_of = [10 ** (2 + 0.2 * i) for i in range(31)]
    times = [ask("predict", size=size, alpha=ALPHA, beta=BETA, bytes=b) for b in bytes_of]
    return [(name, [(b, 1e3 * t[name].values[0]) for b, t in zip(bytes_of, times)]) for name in ("tree", "ring")]


def over_ranks(ask, bytes_of=3.2e6):
    sizes = list(range(2, 65))
    times = [ask("predict", size=size, alpha=ALPHA, beta=BETA, bytes=bytes_of) for size in sizes]
    return [(name, [(float(p), 1e3 * t[name].values[0]) for p, t in zip(sizes, times)]) for name in ("tree", "ring")]


def charts(ask):
    yield dict(title="Summing over 8 ranks", labels=("bytes", "milliseconds"), curves=over_bytes(ask), log=(True, True))
    yield "Where do the curves cross, and what does each pay for on either side?"
    yield dict(title="Summing 3.2 MB", labels=("ranks", "milliseconds"), curves=over_ranks(ask), log=(True, True))
    yield "Why does one curve have steps? To what does the other go as P grows?"
