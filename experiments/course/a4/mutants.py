"""Wrong forms of a4.cpp: name | a text that occurs once, in it «right→wrong»."""
import course

MUTANTS = r"""
composed LN: mean of the batch | x, {«-1→0»
composed LN: variance of the batch | centred), {«-1→0»
composed LN: the sample's variance | «mean(isobar::square(centred)→var(x»
composed LN: eps outside the root | «isobar::sqrt(variance→(isobar::sqrt(variance)»
composed LN: divided by the variance | centred / «isobar::sqrt→»
composed LN: not centred | «centred→x» /
composed LN: bias before the weight | «→(»centred / isobar::sqrt(variance + eps) «→+ bias) »* weight« + bias→»
composed LN: the mean is detached | x, {-1}, true)«→.detach()»
composed LN: the std is detached | )«→.detach()» * weight +
composed RMS: centred | «x→(x - isobar::mean(x, {-1}, true))» /
composed RMS: a sum instead of a mean | (isobar::«mean→sum»
composed RMS: eps outside the root | «→(»isobar::sqrt(isobar::mean(isobar::square(x), {-1}, true«→)»
composed RMS: over everything | x), {«-1→»
composed RMS: no weight | )« * weight→»;
LN: the sample's variance | rstd = 1 / std::sqrt(squares / «width→std::max<int64_t>(1, width - 1)»
LN: eps outside the root | rstd = 1 / «std::sqrt(squares / width→(std::sqrt(squares / width)»
LN: no eps; LN: no 1/C in the variance | rstd = 1 / std::sqrt(squares «/ width + eps→/ width→+ eps»
LN: one pass | «(in[c] - mean) * (in[c] - mean)→in[c] * in[c] - mean * mean»
LN: the bias weighted too; LN: no bias | «rstd * w[c] + b[c]→(rstd * w[c]) + b[c] * w[c]→rstd * w[c]»
LN: saves the std; LN: saves the sum | «mean; rstds[n] = →mean; rstds[n] = 1 / →sum; rstds[n] = »rstd
LN: shapes not checked | «weight.shape() == Shape{width} && bias.shape() == Shape{width}→true»
LN: only the weight is checked | }« && bias.shape() == Shape{width}→»
LN: weights in a row or a column pass | «shape→numel»() == «Shape{→»width«}→» && bias.«shape→numel»() ==
    «Shape{→»width«}→»
LN: weights of each element pass | «shape() == Shape{width}→ndim() > 0» && bias.«shape(→ndim() > 0 &&
    weight.size(-1») == «Shape{→»width«}→ && bias.size(-1) == width»
LN: dw of all calls | ), isobar::zeros({width}, Dtype::f64), isobar::zeros({width}, Dtype::f64)}«→; static
    Tensor all = isobar::zeros({width}, Dtype::f64); if (all.size(0) == width) g.dweight = all»
LN: sums in float | «double→float» sum
RMS: weights in a row or a column pass | «shape() == Shape{width}→numel() == width», "rms_norm
DyT writes into x | «raw::clone(x)→x»
LN: the mean of dz told wrong | «mean_dz→mean_dz_z»;
LN: dx without the mean's term; LN: the variance's sign | «mean_dz - →→mean_dz + »(
LN: dx without the variance's term | mean_dz« - (in[c] - mean) * rstd * mean_dz_z→»
LN: dx without rstd; LN: no weight in dz | «rstd * (d[c] * w[c] →(d[c] * w[c] →rstd * (d[c] »-
LN: missing 1/C of the mean | ]« / width→»
LN: missing 1/C of the variance; LN: dw overwritten | z« / width; dw[c] +→; dw[c] +→ / width; dw[c] »
LN: z not normalized in dx | «rstd * →»mean_dz_z
LN: dw by x; LN: db overwritten | «z; db[c] +→in[c]; db[c] +→z; db[c] »
LN: db a mean | d[c]«→ / rows»;
RMS: a sum of squares | ] = 1 / std::sqrt(squares «/ width →»+
RMS: eps outside the root | ] = 1 / «std::sqrt(squares / width→(std::sqrt(squares / width)»
RMS: the first row's; RMS: saves the rms | «n] * w[c]; →0] * w[c]; →n] * w[c]; rrms[n] = 1 / rrms[n]; »}
RMS: shapes not checked | «weight.shape() == Shape{width}→true»,
RMS: dx as if r were constant | «(d[c] * w[c] - in[c] * r * dot)→d[c] * w[c]»
RMS: dx's sign; RMS: r once too few | «- in[c] * r * →+ in[c] * r * →- in[c] * »dot
RMS: missing 1/C | r« / width→»
RMS: dw without r | ]« * r→»;
DyT: alpha outside | «std::tanh(alpha * →alpha * std::tanh(»out
DyT: weight of the row | «→/ width »% width] + bias
DyT: no bias | «+ bias.data<double>()[i % width]→»
DyT: dx without alpha; DyT: dalpha overwritten | slope« * alpha; g.dalpha +→; g.dalpha +→ * alpha; g.dalpha »
DyT: slope of tanh; DyT: slope grows | «- t * t→- t→+ t * t»
DyT: dalpha without x; DyT: dalpha a mean | slope« * in→→ * in / x.numel()»
DyT: dw of x | * «t→in»;
DyT: db weighted | = d«→ * weight.data<double>()[i % width]»;
compare: squares | «std::sqrt(squares)→squares»
compare: another eps | one, 1e-«5→2»
compare: another alpha forwards | «0.5→1», one,
compare: gradient over the signal | layer).dx) / «slope→size»
compare: rows exchanged | «rms→layer».y
"""

EQUIVALENT = [("composed LN with var(x, {-1}, true, 0)", "the library's population variance"),
              ("LN: db added up row by row or column by column", "each sum keeps its order of rows")]
# Misuse of tensors, most with right numbers by luck: name | what ./check says | the change.
MEMORY = course.rows_of(r"""
LN writes one past y | heap-buffer-overflow: a4.cpp: | «→if (n == rows - 1) y[width] = 0; »rstds[n]
LN reads one past x | 0 bytes past the end of | <«→=» width; ++c) sum += «→c < width ? in[c] : 0 * »in[c]
LN reads one past x, and y is wrong | heap-buffer-overflow: a4.cpp: | <«→=» width; ++c) sum += in[c]
LN reads far past x | heap-buffer-overflow: a4.cpp: | sum = «0→std::min(0.0, std::abs(in[rows * width + 40]))»
DyT uses what was freed | heap-use-after-free: a4.cpp: | «→const double* const freed =
    raw::clone(x).data<double>(); »Tensor y = raw::clone(x);«→ raw::write<double>(y)[0] = freed[0];»
LN: dw is not set | got nan | f64), «isobar::zeros→Tensor»({width}, Dtype::f64), isobar
""", 3)
