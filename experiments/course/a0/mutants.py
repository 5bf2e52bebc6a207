"""Wrong forms of a0.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
average: as it was given; average: as many means as numbers | «y.numel() -→x.numel() - width +→x.numel() -»
average: the last mean is not set | - «1→2»
average: a tensor that is longer | «1→2»}
average: a tensor of x's size | «({x.numel() - width + 1→ = isobar::zeros({x.numel()»
average: a window of one more; average: a window of one less | «0; j <→0; j <=→1; j <»
average: a window of one less at the end | j «→+ 1 »<
average: backwards; average: the window stands; average: one number | «i + j→i - j→j→i»
average: a sum; average: divided by one less | sum« / width→→ / (width - 1)»
average: divided by all | / «width→x.numel()»
average: a sum of whole numbers; average: a sum of all windows | { «double→int64_t→static double»
average: starts at one | «0→1»; i <=
scaled: as it was given | «Tensor values→double* const in» = raw::cast(x, Dtype::f64)«; const double* const in
    = values→»
scaled: the tensor lives in a block | «→const double* in = nullptr; { »const Tensor values = raw::cast(x,
    Dtype::f64); «const double* const →»in = values.data<double>();«→ }»
scaled: a copy of a copy that is freed | «values→raw::clone(values)».
scaled: f32 is read as f64 | «const Tensor values = raw::cast(x, Dtype::f64); →»const double* const in =
    «values→reinterpret_cast<const double*>(x».data<«double>();→float>());»
scaled: wants f64 | «const Tensor values = raw::cast(x, Dtype::f64); →»const double* const in = «values→x»
scaled: the largest, not its magnitude | «std::abs(in[i])→in[i]»
scaled: the last | «max(largest, std::abs(in[i])→abs(in[i]»
scaled: the sum of magnitudes | «= std::max(largest, std::abs(in[i])→+= std::abs(in[i]»
scaled: the smallest | «std::max→i == 0 ? std::abs(in[i]) : std::min»
scaled: one at least | largest = «0→1»
scaled: zeros become NaN | «largest > 0 ? in[i] / largest : 0→in[i] / largest»
scaled: zeros are not set | «→if (largest > 0) »out[i] =« largest > 0 ?→» in[i] / largest« : 0;→;»
scaled: magnitudes | «in[i]→std::abs(in[i])» /
scaled: multiplied | «largest > 0 ? in[i] / largest : 0→in[i] * largest»
scaled: reads one past | «abs(in[i→max(std::abs(in[i]), 0 * in[i + 1»
histogram: as it was given; histogram: starts at one | counts« = isobar::zeros→→ = isobar::ones»
histogram: one class less; histogram: one class more | zeros({count«→ - 1→ + 1»
histogram: of all calls | «→static »Tensor counts «→= isobar::zeros({count}, Dtype::f64); if (counts.numel()
    != count) counts »=
histogram: classes count from one; histogram: yes or no | «] +→ + 1] +→] »
histogram: shares | = 1«→.0 / classes.numel()»
histogram: the first is left out; histogram: one too many is read | «0; i <→1; i <→0; i <=» classes
"""
EQUIVALENT = [("average: the sum slides along", "one number is added and one taken off: right to rounding, and quicker"),
              ("histogram: set to zero in a loop", "the same zeros")]
