"""Wrong forms of a11.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
no root; a root too many; times the root | «rsqrt(q + 1e-5→(1 / (q + 1e-5)→rsqrt(sqrt(q + 1e-5)→sqrt(q + 1e-5»
no eps; eps of a hundredth; eps of another layer | rsqrt(q« + 1e-5→→ + 1e-2→ + 1e-8»
eps outside of the root; the gradient passes the statistic by | «* rsqrt(q→/ (sqrt(q)→* rsqrt(q.detach()»
no weight; no bias; a bias that is subtracted | «* weight + bias→+ bias→* weight→* weight - bias»; }
the bias under the weight | «x * rsqrt(q + 1e-5) * weight + bias→(x * rsqrt(q + 1e-5) + bias) * weight»
the weight stands for its neighbour | q + 1e-5) * «weight→(weight + 1) / 2»
the gradient passes x by; keeps the root | «q); } return x→q); } return x.detach()→sqrt(q)); } return x»
centred; the sum in place of the mean | «mean(square(rows→mean(square(rows - mean(rows, {0})→sum(square(rows»
of a row in place of a channel | «rows), {0}→x), {-1}, true»
one number for all | «, {0}→) + zeros(weight.shape(), x.dtype()»
of magnitudes | «mean(square(rows), {0}→square(mean(abs(rows), {0})»
the largest in place of the mean | «mean→max»(
rows taken for channels | «→transpose(»reshape(x, {«→weight.numel(), »x.numel() / weight.numel()«,
    weight.numel()}→})»
the batch in evaluation too | «if (!training()) return x * rsqrt(running + 1e-5) * weight + bias;→»
no eps in evaluation; no weight in evaluation | running + 1e-«5) * weight →1) * weight →5) »+
no bias in evaluation | weight« + bias→»; const
kept of an empty batch | if («rows.size(0) > 0→true»
nothing is kept | if («rows.size(0) > 0→rows.size(0) > 100000000»
keeps the last batch alone; moves by nine tenths | «0.9 * running + 0.1 * →→0.1 * running + 0.9 * »q
a first weight of one half | «ones(width→full(width, 0.5»).
a first bias of one | «zeros→ones»
the statistic begins at 0 | «ones→zeros»(width))
a weight that is not trained | ones(width)«.set_trainable()→»
the bias is not listed; the bias by another name | «f("bias", bias);→→f("shift", bias);»
the statistic is not listed | «f.buffer("running", running);→»
the statistic is a parameter | «.buffer("running", running→("running", running.set_trainable()»
another name; no name of the list | p«ower→ixel→ower_»norm
"""
EQUIVALENT = []
SEEN = 0.2  # by public cases: they hold for all ten layers, and know no formula
