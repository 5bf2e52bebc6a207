"""Wrong forms of a11.cpp: name | a text that occurs once, in it «right→wrong». Reports: forgeries.py."""
MUTANTS = r"""
no root | «rsqrt(q + 1e-5→(1 / (q + 1e-5)»
a root too many | «q + 1e-5→sqrt(q + 1e-5)») *
times the root | «rsqrt→sqrt»(q
no eps | q« + 1e-5→») *
eps of a hundredth | q + 1e-«5→2») *
eps of another layer | q + 1e-«5→8») *
eps outside of the root | «* rsqrt(q→/ (sqrt(q)»
no weight | q + 1e-5) «* weight →»+
no bias | weight« + bias; }→; }»
the bias under the weight | «x * rsqrt(q + 1e-5) * weight + bias→(x * rsqrt(q + 1e-5) + bias) * weight»
a bias that is subtracted | q + 1e-5) * weight «+→-»
the weight stands for its neighbour | q + 1e-5) * «weight→(weight + 1) / 2»
the gradient passes the statistic by | q«→.detach()» + 1e-5) *
the gradient passes x by | x«→.detach()» * rsqrt(q
centred | «→ - mean(rows, {0})»), {
the sum in place of the mean | «mean→sum»(
of a row in place of a channel | «rows), {0}→x), {-1}, true»
one number for all | «, {0}→) + zeros(weight.shape(), x.dtype()»
of magnitudes | «mean(square(rows), {0}→square(mean(abs(rows), {0})»
the largest in place of the mean | «mean→max»(
rows taken for channels | «→transpose(»reshape(x, {«→weight.numel(), »x.numel() / weight.numel()«,
    weight.numel()}→})»
the batch in evaluation too | «if (!training()) return x * rsqrt(running + 1e-5) * weight + bias;→»
no eps in evaluation | running + 1e-«5→1»
no weight in evaluation | «* weight →»+ bias; const
no bias in evaluation | weight« + bias→»; const
kept when an activation is computed again | «!isobar::recomputing() && →»rows
kept of an empty batch | )« && rows.size(0) > 0→»
nothing is kept | «!isobar::recomputing() && rows.size(0) > 0→rows.size(0) > 100000000»
keeps the last batch alone | «0.9 * running + 0.1 * →»q
moves by nine tenths | «9 * running + 0.1→1 * running + 0.9»
keeps the root | «q→sqrt(q)»)
a first weight of one half | «ones(width→full(width, 0.5»).
a first bias of one | «zeros→ones»
the statistic begins at 0 | «ones→zeros»(width))
a weight that is not trained | ones(width)«.set_trainable()→»
the bias is not listed | «f("bias", bias);→»
the statistic is not listed | «f.buffer("running", running);→»
the statistic is a parameter | «.buffer("running", running→("running", running.set_trainable()»
the bias by another name | «bias→shift»"
another name | «powernorm→pixelnorm»
no name of the list | «powernorm→power_norm»
"""
EQUIVALENT = []
SEEN = 0.2  # by public cases: they hold for all ten layers, and know no formula
