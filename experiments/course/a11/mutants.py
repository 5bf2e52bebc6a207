"""Wrong forms of a11.cpp: (name, a text that occurs once, what it becomes). What is wrong in a report is in forgeries.py."""
EVALUATED = "if (!training()) return x * rsqrt(running + 1e-5) * weight + bias;"
ROWS = "const Tensor rows = reshape(x, {x.numel() / weight.numel(), weight.numel()});"
SQUARES = "const Tensor q = mean(square(rows), {0});"
KEPT = "if (!isobar::recomputing() && rows.size(0) > 0) {"
MOVED = "assign(running, 0.9 * running + 0.1 * q);"
RESULT = "return x * rsqrt(q + 1e-5) * weight + bias;"
FIRST = ": weight(ones(width).set_trainable()), bias(zeros(width).set_trainable()), running(ones(width)) {}"
MUTANTS = [
    ("no root", RESULT, RESULT.replace("rsqrt(q + 1e-5)", "(1 / (q + 1e-5))")),
    ("a root too many", RESULT, RESULT.replace("rsqrt(q + 1e-5)", "rsqrt(sqrt(q + 1e-5))")),
    ("times the root", RESULT, RESULT.replace("rsqrt", "sqrt")),
    ("no eps", RESULT, RESULT.replace(" + 1e-5", "")),
    ("eps of a hundredth", RESULT, RESULT.replace("1e-5", "1e-2")),
    ("eps of another layer", RESULT, RESULT.replace("1e-5", "1e-8")),
    ("eps outside of the root", RESULT, "return x / (sqrt(q) + 1e-5) * weight + bias;"),
    ("no weight", RESULT, RESULT.replace(" * weight", "")),
    ("no bias", RESULT, RESULT.replace(" + bias", "")),
    ("the bias under the weight", RESULT, "return (x * rsqrt(q + 1e-5) + bias) * weight;"),
    ("a bias that is subtracted", RESULT, RESULT.replace("+ bias", "- bias")),
    ("the weight stands for its neighbour", RESULT, RESULT.replace("* weight", "* (weight + 1) / 2")),
    ("the gradient passes the statistic by", RESULT, RESULT.replace("q + 1e-5", "q.detach() + 1e-5")),
    ("the gradient passes x by", RESULT, RESULT.replace("return x", "return x.detach()")),
    ("centred", SQUARES, "const Tensor q = mean(square(rows - mean(rows, {0})), {0});"),
    ("the sum in place of the mean", SQUARES, SQUARES.replace("mean", "sum")),
    ("of a row in place of a channel", SQUARES, "const Tensor q = mean(square(x), {-1}, true);"),
    ("one number for all", SQUARES, "const Tensor q = mean(square(rows)) + zeros(weight.shape(), x.dtype());"),
    ("of magnitudes", SQUARES, "const Tensor q = square(mean(abs(rows), {0}));"),
    ("the largest in place of the mean", SQUARES, SQUARES.replace("mean", "max")),
    ("rows taken for channels", ROWS, "const Tensor rows = transpose(reshape(x, {weight.numel(), x.numel() / weight.numel()}));"),
    ("the batch in evaluation too", EVALUATED, ""),
    ("no eps in evaluation", EVALUATED, EVALUATED.replace(" + 1e-5", " + 1e-1")),
    ("no weight in evaluation", EVALUATED, EVALUATED.replace(" * weight", "")),
    ("no bias in evaluation", EVALUATED, EVALUATED.replace(" + bias", "")),
    ("kept when an activation is computed again", KEPT, "if (rows.size(0) > 0) {"),
    ("kept of an empty batch", KEPT, "if (!isobar::recomputing()) {"),
    ("nothing is kept", KEPT, "if (rows.size(0) > 100000000) {"),
    ("keeps the last batch alone", MOVED, "assign(running, q);"),
    ("moves by nine tenths", MOVED, "assign(running, 0.1 * running + 0.9 * q);"),
    ("keeps the root", MOVED, MOVED.replace("0.1 * q", "0.1 * sqrt(q)")),
    ("a first weight of one half", FIRST, FIRST.replace("weight(ones(width)", "weight(full(width, 0.5)")),
    ("a first bias of one", FIRST, FIRST.replace("bias(zeros", "bias(ones")),
    ("the statistic begins at 0", FIRST, FIRST.replace("running(ones", "running(zeros")),
    ("a weight that is not trained", FIRST, FIRST.replace("weight(ones(width).set_trainable())", "weight(ones(width))")),
    ("the bias is not listed", 'f("bias", bias);', ""),
    ("the statistic is not listed", 'f.buffer("running", running);', ""),
    ("the statistic is a parameter", 'f.buffer("running", running);', 'f("running", running.set_trainable());'),
    ("the bias by another name", 'f("bias", bias);', 'f("shift", bias);'),
    ("another name", 'return "powernorm";', 'return "pixelnorm";'),
    ("no name of the list", 'return "powernorm";', 'return "power_norm";'),
]
EQUIVALENT = []
SEEN = 0.2  # by public cases: they hold for all ten layers, and know no formula
