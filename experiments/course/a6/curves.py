"""a6's study: the signal, the gradient and the distance of two inputs, predicted and measured; a blog's numbers judged."""
import statistics

BLOG = [0.8932, 0.6421, 0.4156, 0.2387, 0.1024, 0.0432, 0.0198, 0.0163]
WIDTH, BATCH, SEEDS = 512, 32, 10
WORDS = {0: "refuted", 0.5: "too few seeds", 1: "confirmed"}


def layers(values):
    return list(enumerate(values, 1))


def charts(ask):
    net = {"depth": 8, "width": WIDTH}
    known = ask("variances", init=0, width=WIDTH)
    weights = {"weight": known["weight"].values[0], "bias": known["bias"].values[0]}
    predicted = ask("predict_std", **net, **weights)["std"].values
    sloped = ask("predict_gradient", **net, **weights, batch=BATCH)["norm"].values
    seeds = [ask("study", **net, batch=BATCH, seed=s, he=0) for s in range(SEEDS)]
    he = ask("study", **net, batch=BATCH, seed=SEEDS, he=1)
    median = lambda name: [statistics.median(seed[name].values[l] for seed in seeds) for l in range(8)]
    yield dict(title="The signal", labels=("layer", "std of h"), log=(False, True), ends=(None, (0.01, 1)), dots=("measured", "blog"),
               curves=[("predicted", layers(predicted)), ("measured", layers(median("std"))), ("He, measured", layers(he["std"].values)), ("blog", layers(BLOG))])
    yield dict(title="The gradient", labels=("layer", "‖dW‖"), log=(False, True), dots=("measured",),
               curves=[("predicted", layers(sloped)), ("measured", layers(median("gradient_norm"))), ("He, measured", layers(he["gradient_norm"].values))])
    apart = [ask("apart", depth=8, width=128, batch=16, seed=1, he=kind)["distance"].values for kind in (0, 1)]
    yield dict(title="Two different inputs", labels=("layer", "how far apart"), log=(False, True),
               curves=[("default", layers(apart[0])), ("He", layers(apart[1]))])
    verdicts = ask("judge", printed=BLOG, measured=[list(seed["std"].values) for seed in seeds], rounding=5e-5)["verdicts"]
    table = [f"layer   printed  predicted  measured (median of {SEEDS})  printed/measured  verdict"]
    for l, printed in enumerate(BLOG):
        table.append(f"{l + 1:5}   {printed:7.4f}  {predicted[l]:9.4f}  {median('std')[l]:8.4f}{verdicts[l, 1]:29.2f}  {WORDS.get(verdicts[l, 0], '?')}")
    yield "\n".join(table)
    yield "How far apart two inputs are, layer by layer (default): " + " ".join(f"{d:.3g}" for d in apart[0])
    yield "Is \"signals go to zero\" right? What holds the last std up, and what goes to zero instead?"
