"""Wrong forms of a6.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
the default's bound is its std | «(3 * width), 1.0 / (3 * width)→width, 1.0 / width»
the default without biases | «1.0 / (3 * width)→0»}
the default's variance is a std | «.0 / (3 * width), 1.0 / (3→ / std::sqrt(3.0 * width), 1 / std::sqrt(3.0»
He without the 2; He with biases | «2.0 / width, 0→1.0 / width, 0→2.0 / width, 2.0 / width»
Xavier of one direction | «1.0 / width, 0}; →2.0 / width, 0};  »/
LeCun's third | «→init == Init::lecun ? 1.0 / (3 * width) : »1.0 / width
no biases; ReLU does not halve | )« + variances.bias) / 2→) / 2→ + variances.bias)»
only the signal is halved | «(→»width * variances.weight * of_layer.back() «→/ 2 »+ variances.bias«) / 2→»
no width | «width * →»variances.weight *
a std for a variance | «variances.weight→std::sqrt(variances.weight)» *
the input's mean square is 1/2 | «1→0.5»};
the root mean square; the std before the ReLU | «m - 2 * m / (2 * std::numbers::pi)→m→2 * m»
pi twice; the variance | «std::sqrt(m - 2 * →std::sqrt(m - →(m - 2 * »m
a layer early | l« + 1→»])
the plateau without 1/2; the plateau is the bias's | «2 / (1 - factor)→(1 - factor)→2»
the plateau beyond | «-→+» factor
no plateau passes; a plateau at 1 passes | «factor < 1→true→factor <= 1»
the plateau's factor is not halved | weight« / 2→»; check
dz starts at 1 | «0.5; →1;  »/
dz does not halve | weight« / 2; }→; }»
dz divided; no batch | «batch * dz * squares[l]); dz *→batch * dz * squares[l]); dz /→dz * squares[l]); dz *»
dz with biases | *= «width * variances.weight→(width * variances.weight + variances.bias)»
the batch outside | «std::sqrt(batch * →batch * std::sqrt(»dz
the batch's mean | «batch * dz * squares[l]→dz * squares[l] / batch»
one width only; a gradient's std | «width * std::sqrt(→std::sqrt(width * →std::sqrt(»
the output instead of the input | l«→ + 1»])
the norm squared | «std::sqrt(batch * dz * squares[l])→width * batch * dz * squares[l]»
layers from the bottom | «depth - 1; l >= 0; --→0; l < depth; ++»
measured with S − 1 | «, std::nullopt, false, 0→»
the root mean square is measured | «var(h.detach(), std::nullopt, false, 0→mean(isobar::square(h.detach())»
the std over the batch | «var(h.detach(), std::nullopt, false, 0→mean(isobar::var(h.detach(), {0}, false, 0)»
the variance is measured | «std::sqrt(→»isobar::var(h.detach(), std::nullopt, false, 0).item()«)→»
before the ReLU | «isobar::relu(→»isobar::linear(h, used.back(), raw::as_strided(biases, {width}, {1}, l *
    width«)→»)); raw::write<double>(out.std)[l] = std::sqrt(isobar::var(h.detach(), std::nullopt, false,
    0).item());«→ h = isobar::relu(h);»
no biases in the net | «, raw::as_strided(biases, {width}, {1}, l * width)→»
the first bias for all | «l * width→0»)
the first weights for all | «l * width * width→0»
weights transposed | «width, 1→1, width»
the loss is a sum | «h, dy→isobar::sum(h)»
the gradient's mean square | «sum→mean»
the gradient's norm squared | «std::sqrt(→»isobar::sum(isobar::square(used[l].grad().detach())).item(«)→»
the weights' norm | «grad().→»
three standard deviations | «student_quantile(p, seeds - 1) * std::sqrt(1 + 1.0 / seeds)→3»
a normal quantile for Student's | «student_quantile(p, seeds - 1→normal_quantile(p»
as many degrees as seeds; one degree less | , s«eeds - 1→eeds→td::max<int64_t>(1, seeds - 2)»
an interval of the mean | 1« + 1.0 / seeds); →.0 / seeds);  »/
the next seed's own spread alone | )« * std::sqrt(1 + 1.0 / seeds)→»
each layer has an error rate of its own; one-sided quantile | «depth / 2→2→depth»
five percent; shared by the seeds | 0«1 / depth→5 / depth→1 / seeds»
never too few seeds | «!inside ? 0 : enough ? 1 : 0.5→inside ? 1 : 0»
too few seeds refute nothing | «inside ? 0 : enough ? 1 : 0.5→enough ? 0.5 : inside ? 1 : 0»
five seeds are enough | «reach <= 2 * normal_quantile(p)→seeds >= 5»
enough without the widening | «reach→student_quantile(p, seeds - 1)» <
enough at three times as long | «2→3» * normal_quantile
one-sided, above; one-sided, below | «>= low && value <= high;→<= high; →>= low;»
without rounding below; rounding narrows | )« - rounding→→ + rounding»
without rounding above | )« + rounding→»
rounding of the logarithm | «) - rounding→ - rounding)»
verdicts exchanged | «!→»
a NaN is confirmed | «value >= low && value <= high; →!(value < low || value > high);  »/
of the numbers, not the logarithms | «std::log(v)→v» / seeds; for (const double v : values) squares +=
    «std::pow(std::log(v)→(v» - mean«, 2→) * (v - mean»); const double «half→sigma» = reach *
    std::sqrt(squares / (seeds - 1)), «→half = std::log1p(sigma / mean), »value = printed.at({l});«→ mean =
    std::log(mean);»
logarithms in base 10 | «log→log10»(v) /
divided by S | «(seeds - 1)→seeds»)
around the median | «) - mean→ / values[seeds / 2])»
the upper median | «(values[(seeds - 1) / 2] + values[seeds / 2]) / 2→values[seeds / 2]»
the mean for a median | «→std::exp(mean) + 0 * »median;
unsorted | «std::sort(values.begin(), values.end()); →»double
the ratio turned over | «value / median→median / value»
the squares of the first net for all | «→static »std::vector<double> of_layer{1}«→; if (of_layer.size() > 1)
    return of_layer»
layers of the net before are measured too | ; «→static »std::vector
predicted in float | «→float(»(width * variances.weight * of_layer.back() + variances.bias) / 2«→)»
one seed passes | «measured.size(0) >= 2 &&→»
layers not compared | «measured.size(1) == printed.size(0)→true»
"""

EQUIVALENT = [
    ("measured with a bias's own gradient recorded too", "no number that is asked for depends on it"),
    ("predicted with (1/2 − 1/2π) E z² for the variance", "the same formula, written in E z²"),
]
