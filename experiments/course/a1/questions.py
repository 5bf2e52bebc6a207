"""a1's written questions. Slopes by complex steps through a small program, counts and paths by doing."""
import math
import oracle

NAMES = ["x", "a", "b", "c", "loss"]


def program(draw):
    """x, and ops [(+ or ·, place, place)], four of them: a middle value is used more than once, and it matters."""
    while True:
        x, ops = draw.choice([2, 3, 4, 5]), []
        for i in range(4):
            operands = [i, draw.randrange(i + 1)]
            draw.shuffle(operands)
            ops.append((draw.choice("+··"), *operands))
        users = [sum(op.count(i) for op in ops) for i in range(4)]
        right, wrong = slope(x, ops, 0), overwritten(x, ops)
        if min(users) and users[0] > 1 and max(users[1:3]) > 1 and 20 < right < 2000 and wrong != right:
            return x, ops, max((1, 2), key=lambda i: (users[i], -i))


def slope(x, ops, place):
    """How much the loss changes for each unit of the value at this place, by a complex step."""
    values = [x]
    for i in range(5):
        if i == place:
            values[i] += oracle.STEP * 1j
        if i < 4:
            sign, p, q = ops[i]
            values.append(values[p] + values[q] if sign == "+" else values[p] * values[q])
    return values[-1].imag / oracle.STEP


def overwritten(x, ops):
    """x̄ where a part replaces what came before."""
    values = [x]
    for sign, p, q in ops:
        values.append(values[p] + values[q] if sign == "+" else values[p] * values[q])
    adjoint = [0, 0, 0, 0, 1]
    for i in (3, 2, 1, 0):
        sign, p, q = ops[i]
        adjoint[p], adjoint[q] = (adjoint[i + 1],) * 2 if sign == "+" else (
            adjoint[i + 1] * values[q], adjoint[i + 1] * values[p])
    return adjoint[0]


def uncleared(w, lr, steps):
    """Steps against a gradient that is never cleared, of w²/2."""
    gradient = 0.0
    for _ in range(steps):
        gradient += w
        w -= lr * gradient
    return w


def calls(diamonds):
    """Of closures, where each path from the loss is followed: of v = u · sin u, again and again."""
    return 2 + 2 * calls(diamonds - 1) if diamonds else 0


def questions(draw):
    x, ops, twice = program(draw)
    text = f"x = {x}; " + "; ".join(
        f"{NAMES[i + 1]} = {NAMES[p]} {sign} {NAMES[q]}" for i, (sign, p, q) in enumerate(ops))
    yield f"{text}. x̄, how much the loss changes for each unit of x?", slope(x, ops, 0)
    yield f"The same program: {text}. {NAMES[twice]}̄, how much the loss changes for each unit of {NAMES[twice]}?", slope(x, ops, twice)
    yield (f"The same program: {text}. Ops are visited from the last to the first, but a part that arrives "
           "*replaces* what was there. What comes out as x̄?", overwritten(x, ops))
    point = draw.choice([0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    yield f"a = x · x; b = sin a; loss = a · b, at x = {point} (radians). x̄?", chained(point)
    count = draw.randint(8, 15)
    yield (f"From u come s = sin u and v = u · s: a diamond of two ops. {count} of them stand one upon the "
           "other, each v is the next one's u, the last v is the loss. A walk follows every path from the "
           "loss down, and calls an op's closure each time that it comes by. How many calls? (A whole "
           "number.)", calls(count), {"whole": True})
    times, start = draw.randint(12, 30), draw.choice([0.8, 0.9, 1.0, 1.1, 1.2])
    yield f"x is {start} (radians), the loss is sin(sin(… sin x)), {times} sines. x̄?", sines(start, times)
    many, back = draw.choice([200, 500, 700, 1200, 3000]), draw.choice([2, 3, 4])
    yield (f"A loss depends on {many} numbers. The way down takes {back} times as long as the way up. How "
           "many times longer do central differences take for all slopes (two ways up for each number) than "
           "way up and way down together?", 2 * many / (1 + back))
    root = draw.choice([20, 30, 40, 50, 60, 70])
    yield (f"A chain of {root * root} values, each needed again on the way down. Only every k-th is kept (k "
           f"divides {root * root}); on the way down, the k − 1 others of one stretch at a time are computed "
           "anew from the one kept before. Which k holds the fewest values at once? (A whole number.)",
           min((k for k in range(1, root * root) if root * root % k == 0),
               key=lambda k: root * root // k + k - 1), {"whole": True})
    weight, lr, steps = draw.randint(3, 9), draw.choice([0.1, 0.2, 0.3]), draw.randint(4, 6)
    while abs(uncleared(weight, lr, steps)) < 0.05 * weight:
        steps += 1
    yield (f"loss = w · w/2, w = {weight}, {steps} steps of w − {lr} · gradient, and the gradient is never "
           "cleared: each backward adds to it. w after them?", uncleared(weight, lr, steps))


def chained(x):
    z = complex(x, oracle.STEP)
    return (z * z * sine(z * z)).imag / oracle.STEP


def sines(x, times):
    z = complex(x, oracle.STEP)
    for _ in range(times):
        z = sine(z)
    return z.imag / oracle.STEP


def sine(z):
    """Of a number with a tiny imaginary part."""
    return complex(math.sin(z.real), math.cos(z.real) * z.imag)
