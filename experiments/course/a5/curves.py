"""a5's study: four optimizers in one valley, a least-squares fit of two weights, one direction 51 times flatter than the other."""
X, Y = [[3.0, 0.1], [-3.0, 0.5], [0.5, -0.3], [1.0, 0.3]], [3.5, -1.0, -0.7, 2.2]
STEPS = 60


def charts(ask):
    line = lambda call, **how: list(enumerate(ask(call, x=X, y=Y, steps=STEPS, **how)["losses"].values))
    plain = dict(lr=0.12, decay=0.0)
    curves = [("SGD", line("fit_momentum", **plain, momentum=0.0, nesterov=0)), ("momentum", line("fit_momentum", **plain, momentum=0.8, nesterov=0)),
              ("Nesterov", line("fit_momentum", **plain, momentum=0.8, nesterov=1)),
              ("AdamW", line("fit_adam_w", lr=0.3, beta1=0.9, beta2=0.99, eps=1e-8, decay=0.0))]
    yield dict(title="Four optimizers in one valley", labels=("step", "loss"), log=(False, True), curves=curves)
    yield "Which of them know the flat direction? Why does momentum swing, and when is that worth it?"
