"""a5's written questions. Values come from walking the steps; limits of learning rates by halving."""
import math
import course

cases, study = course.module_of("a5", "cases.py"), course.module_of("a5", "study.py")


def steps_of(walk, gradients, w=0.0):
    path = [w, *walk(w, gradients)]
    return [before - after for before, after in zip(path, path[1:])]


def shrinks(curvature, lr, mu):
    """Whether momentum on curvature · w²/2 comes nearer to 0."""
    w, u = 1.0, 0.0
    far = [1.0, 0.0]
    for step in range(600):
        u = mu * u + curvature * w
        w -= lr * u
        if abs(w) > 1e6:
            return False
        far[step >= 300] = max(far[step >= 300], abs(w))
    return far[1] < 0.5 * far[0]


def limit(curvature, mu):
    """The largest learning rate that shrinks, by halving."""
    low, high = 0.0, 8 / curvature
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if shrinks(curvature, middle, mu) else (low, middle)
    return low


def valley_limit(scale):
    """Of SGD in the study's valley with all of X times `scale`: 2 over the largest curvature, by repeated products."""
    x, v = [[scale * c for c in row] for row in study.X], [1.0, 1.0]
    for _ in range(200):
        along = [sum(c * d for c, d in zip(row, v)) for row in x]
        v = [2 / len(x) * sum(a * row[c] for a, row in zip(along, x)) for c in (0, 1)]
        size = math.hypot(*v)
        v = [c / size for c in v]
    return 2 / size


clipped_apart = lambda norms, most: [min(n, most) for n in norms]


def turned(norms, most):
    """The angle by which clipping each of two orthogonal gradients turns their sum, in degrees."""
    a, b = (math.atan2(*reversed(pair)) for pair in (norms, clipped_apart(norms, most)))
    return math.degrees(abs(a - b))


def questions(draw):
    curvature, mu = draw.choice([0.5, 2, 4, 5, 8]), draw.choice([0.5, 0.6, 0.8])
    yield f"loss = {curvature} · w²/2, plain SGD. From which lr on does |w| grow at every step?", limit(
        curvature, 0.0)
    yield f"The same loss, {curvature} · w²/2, with momentum μ = {mu}, u and w as in section 2 (Momentum). From which lr on does |w| grow, over many steps?", limit(curvature, mu)
    scale = draw.choice([0.5, 0.8, 1.2, 1.5, 2])
    yield (f"The valley of `./study` (`study.py`): its X with all numbers times {scale}, the loss is the "
           "mean of the rows' (x · w − y)². From which lr on does plain SGD diverge? (./study can try it.)",
           valley_limit(scale))
    memory, steps, lr = draw.choice([0.8, 0.9, 0.95]), draw.randint(4, 12), draw.choice([0.1, 0.2, 0.5])
    yield (f"Momentum μ = {memory}, lr = {lr}, a gradient that stays 1. How far has w gone after {steps} "
           "steps?", sum(steps_of(cases.momentum(lr, memory, 0.0, False), [1.0] * steps)))
    first, second = draw.randint(1, 6), -draw.randint(1, 6)
    *_, last = cases.momentum(1.0, 0.5, 0.0, True)(0.0, [first, second, first])
    w = next(w for w in range(draw.randint(5, 15), 99) if abs(w + last) > 1)
    yield f"Nesterov, μ = 0.5, lr = 1, no decay, w = {w}, gradients {first}, {second}, {first}. w after these three steps?", w + last
    beta1, beta2, late = draw.choice([0.8, 0.9,
                                      0.95]), draw.choice([0.98, 0.99, 0.999]), draw.choice([2, 3, 5, 8])
    yield (f"Adam with β₁ = {beta1}, β₂ = {beta2}, ε = 0, *without* the two corrections, and a gradient that "
           f"stays. How many lr long is step {late} (the first is step 1)?", uncorrected(beta1, beta2, late))
    yield (f"AdamW with β₁ = {beta1}, β₂ = {beta2}, ε = 0. For 20000 steps the gradient was 0; now one comes "
           "that is 3. How many lr long is this step? (No decay.)",
           steps_of(sparse(beta1, beta2, 20000), [3.0])[0])
    size = draw.choice([2, 3, 5, 7])
    yield (f"AdamW without decay, a gradient that stays 0.0000{size}. ε = 0.00000001 stands *inside* the "
           "root, √(v̂ + ε). How many lr long is a step?", size * 1e-5 / math.sqrt((size * 1e-5) ** 2 + 1e-8))
    rho, step = draw.choice([0.8, 0.9, 0.95]), draw.randint(2, 5)
    yield f"RMSprop as it is meant (no correction), ρ = {rho}, ε = 0, a gradient that stays -7. How many lr long is step {step} (the first is step 1)?", meant(rho, step)
    norms, most = draw.sample(range(3, 16), 2), draw.choice([1, 2])
    norms, most = (norms, most) if turned(norms, most) > 2 else ([3, 12], most)
    yield (f"Two weights with gradients ({norms[0]}) and ({norms[1]}). Each is clipped *by itself* to "
           f"{most}. By how many degrees has the direction of the step turned?", turned(norms, most))


def uncorrected(beta1, beta2, step):
    m = v = 0.0
    for _ in range(step):
        m, v = beta1 * m + 1 - beta1, beta2 * v + 1 - beta2
    return m / math.sqrt(v)


def sparse(beta1, beta2, waited):
    """AdamW's walk after many gradients of 0: both means are 0, and t is late."""
    def walk(w, gradients):
        m = v = 0.0
        for t, g in enumerate(gradients, waited + 1):
            m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
            w -= m / (1 - beta1 ** t) / math.sqrt(v / (1 - beta2 ** t))
            yield w
    return walk


def meant(rho, step):
    s = 0.0
    for _ in range(step):
        s = rho * s + (1 - rho) * 49
    return 7 / math.sqrt(s)
