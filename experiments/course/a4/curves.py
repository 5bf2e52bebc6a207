"""a4's study: of what is asked of one number in a row, how much arrives at it, as the number moves away from the others?"""


def shares(ask):
    """For rows (v, 1, 3, 3) and dz = (1, 0, 0, 0): dx at v over what it would be without the statistics' own terms."""
    values = [10 ** (0.4 + 0.05 * i) for i in range(33)]
    rows, dy = [[v, 1.0, 3.0, 3.0] for v in values], [[1.0, 0.0, 0.0, 0.0]] * len(values)
    one, zero = [1.0] * 4, [0.0] * 4
    layer = ask("layer_norm", x=rows, weight=one, bias=zero, eps=0.0)
    rms = ask("rms_norm", x=rows, weight=one, eps=0.0)
    of_layer = ask("layer_norm_backward", dy=dy, x=rows, weight=one, mean=layer["mean"], rstd=layer["rstd"])["dx"]
    of_rms = ask("rms_norm_backward", dy=dy, x=rows, weight=one, rrms=rms["rrms"])["dx"]
    of_dyt = ask("dyt_backward", dy=dy, x=rows, weight=one, alpha=0.5)["dx"]
    return [("LayerNorm", [(v, of_layer[i, 0] / layer["rstd"][i,]) for i, v in enumerate(values)]),
            ("RMSNorm", [(v, of_rms[i, 0] / rms["rrms"][i,]) for i, v in enumerate(values)]),
            ("DyT", [(v, of_dyt[i, 0] / 0.5) for i, v in enumerate(values)])]


def charts(ask):
    least = 1e-4
    seen = [(name, [(v, share) for v, share in line if share > least]) for name, line in shares(ask)]
    yield dict(title="A row explains its own outlier", labels=("the outlier v in the row (v, 1, 3, 3)", "the share that arrives"),
               curves=seen, log=(True, True), ends=(None, (least, 1)))
    yield "Where does each curve end, and how steeply does it fall? Which direction of dz is lost there?"
