"""Wrong forms of a2.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
sum_to keeps only the last; sum_to takes the mean | «+= in[i]; } →= in[i]; } →+= in[i]; } for (int64_t i = 0;
    i < y.numel(); ++i) out[i] *= double(y.numel()) / x.numel(); »return
sum_to aligns at the first dimension | «; rest /= x.size(-d)→ % shape[-d]; rest /= shape[-d]»
sum_to's steps forget ones | «shape[-d]→x.size(-d)»;
sum_to does not check | «fits→true»,
sum_to lets more dimensions pass | «→true; if (»shape.ndim() «<=→>» x.ndim(«→)) return isobar::zeros(shape,
    Dtype::f64»
sum_to checks all but the last dimension | «1→2»; fits
sum_to returns x where nothing is summed | )); «→if (shape == x.shape()) return x; »Tensor
matmul adds to what was there | 1); «→static »Tensor«→ y; if (!y.defined() || !(y.shape() == Shape{rows,
    columns}))»
matmul in float | «p[m * depth + k] * q[k * columns + n]→float(p[m * depth + k] * q[k * columns + n])»
softmax in place | y«(x.shape(), Dtype::f64)→ = x»
softmax divides by a width of 0 | «width ? x.numel() / width : 0→x.numel() / width»; Tensor y
multiply: da of a; multiply: the loss gradient is forgotten | «d[i] * q→d[i] * p→q»
multiply: db of b; multiply: sign of db | return «d[i] * p→d[i] * q→-d[i] * p»
multiply: da is not summed | «sum_to→»(elementwise(dy.shape(), [&](int64_t i) { return d[i] * q[i]; })«,
    a.shape())→)»
multiply: db is not summed | «sum_to→»(elementwise(dy.shape(), [&](int64_t i) { return d[i] * p[i]; })«,
    b.shape())→)»
divide: sign of db; divide: a is missing in db | «-d[i] * p[i] →d[i] * p[i] →-d[i] »/
divide: b not squared | «(q[i] * q[i])→q[i]»
divide: da multiplied | «/→*» q
divide: db is not summed | «sum_to(→»elementwise(dy.shape(), [&](int64_t i) { return -d[i] * p[i] / (q[i] *
    q[i]); })«, b.shape())→»
matmul overwrites | «+→»= p
matmul leaves out the first k | «0→1»; k
matmul reads b transposed | «k * columns + n→n * depth + k»
matmul does not check | «a.size(1) == b.size(0)→true»
matmul takes vectors | «ndim() == 2 && b.ndim() == 2 && a.size(→size(-»
matmul: b not transposed in da | «→raw::clone(raw::as_strided(b, »transposed(b«→).shape(),
    transposed(b).strides())»
matmul: a not transposed in db | «→raw::clone(raw::as_strided(a, »transposed(a«→).shape(),
    transposed(a).strides())»
matmul: gradients exchanged | «→transposed(a), dy), matmul(»dy, transposed(b)«), matmul(transposed(a), dy→»
softmax without the maximum | ]« - max→»
softmax with the maximum of all rows; softmax sums over all rows | «in, in + width); →x.data<double>(),
    x.data<double>() + x.numel()); →in, in + width); static »double
softmax's gradient without the dot; softmax's gradient's sign | «(d[c] - dot)→d[c]→(dot - d[c])»
softmax's gradient with the sum of dy | ]« * p[c]→»
softmax's gradient as a sigmoid's | «p[c] * (d[c] - dot→d[c] * p[c] * (1 - p[c]»
softmax's gradient's dot over rows | «→static »double dot
max: ties get all; max: the first of ties gets all | «in[c] == max) out[c] = d[r] / ties→in[c] == max) out[c]
    = d[r]→c == std::max_element(in, in + width) - in) out[c] = d[r]»
max: shared by all; max: dy of the first row | «r] / ties→r] / width→0] / ties»
differences forward only; differences without 1/2 | «-h)) / (2 * h)→0)) / h→-h)) / h»
differences without dy | «dy.data<double>()[i] * →»y
differences write into x | «raw::clone(x)→x»
differences with an h of their own | «h) - value(i, -h)) / (2 * h)→1e-6) - value(i, -1e-6)) / 2e-6»
differences' sign | «h) - value(i, -→-h) - value(i, »
the error is absolute | )« / std::max({std::abs(a[i]), std::abs(n[i]), 1e-3 * size})→»
the error is the last | «worst→0.0»,
the error has no floor; the error's floor is the largest gradient | «, 1e-3 * size→→, size»
the error of magnitudes | «a[i] - n[i]→std::abs(a[i]) - std::abs(n[i])»
a NaN passes | «!std::isfinite(a[i]) || !std::isfinite(n[i])→false»
infinity in the differences passes | «|| !std::isfinite(n[i])→»
"""

EQUIVALENT = [
    ("equal entries are not skipped", "0 / 0 is a NaN, which std::max(worst, NaN) drops, and 0 is right"),
    ("matmul's loops in another order", "the same sums in the same order of k"),
    ("the floor of the error taken from both gradients", "differs where both are wrong by orders of magnitude"),
]
