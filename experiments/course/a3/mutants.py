"""Wrong forms of a3.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
linear: the weight is not transposed | ] * w[«m * inputs + k→k * outputs + m»
linear: no bias | «bias.defined() ? bias.data<double>()[m] : →»0
linear: the bias of the row | )[«m→n % outputs»
linear: the bias subtracted | «→-»bias.data
linear: the last input left out | «→ - 1»; ++k) sum
linear: shapes not checked | «x.ndim() == 2 && weight.ndim() == 2 && x.size(1) == weight.size(1)→true»
linear: vectors pass | «ndim() == 2 && weight.ndim() == 2 && x.→»size(«→-»1) == weight.size(«→-»
linear: the bias not checked | «!bias.defined() || bias.shape() == Shape{outputs}→true»
linear: a larger bias passes; linear: a bias in a row passes; linear: a bias in a column passes |
    «bias.shape() == Shape{outputs}→bias.numel() <= outputs→(bias.ndim() > 0 && bias.size(-1) == outputs &&
    bias.numel() == outputs)→(bias.ndim() > 0 && bias.size(0) == outputs && bias.numel() == outputs)»
linear: a bias in a row or a column passes | «shape() == Shape{outputs}→numel() == outputs»
linear: a bias of a single number passes | «→(»bias.shape() == Shape{outputs}«→ || bias.ndim() == 0)»
linear: a bias for each row | «→(»bias.shape() == Shape{outputs}«→ || bias.shape() == Shape{rows})»
linear in float | «in[n * inputs + k] * w[m * inputs + k]→float(in[n * inputs + k] * w[m * inputs + k])»
linear: no inputs are refused | «→> 0 && x.size(1) »== weight
weights are drawn once; weights of shape (in, out) | bound, const Rng& rng) { «Tensor w({out, in→static Tensor
    w; if (w.defined() && w.shape() == Shape{out, in}) return w; w = Tensor({out, in→Tensor w({in, out»
log_softmax writes into x | «raw::clone(x)→x»; double* row
log_softmax's gradient writes into dy | «raw::clone(dy)→dy»; double* row
linear: db not summed; linear: db a mean | «+= d→= d→+= d / rows»;
linear: dx overwritten | n * inputs + k] «+→»
linear: dx by the transposed | d * w[«m * inputs + k→k * outputs + m»
linear: dw overwritten; linear: dw's sign | «+→→-»= d * in
linear: dw transposed | «m * inputs + k→k * outputs + m»] +
relu is an absolute value; relu leaks | 0 ? «0→-out[i]→0.01 * out[i]»
relu hides a NaN | out[i] «<= 0 ? 0 : out[i]→> 0 ? out[i] : 0»;
relu writes into x | «raw::clone(x)→x»; double* const
relu's slope at 0 is 1; relu's gradient the wrong side | «<=→<→>» 0)
relu's gradient asks dy | «x→dy».data<double>()[
relu's gradient writes into dy | «raw::clone(dy)→dy»; double* const
uniform in (0, a) | «(2 * rng.uniform_at(i) - 1→rng.uniform_at(i»
xavier's bound is its std; xavier of the fan-in alone | «6.0 / (in + out)→2.0 / (in + out)→3.0 / in»
he of the fan-out; he without the 2; he in both directions | «2.0 / in→2.0 / out→1.0 / in→4.0 / (in + out)»
he without the root | «std::sqrt(2.0 / in)→2.0 / in»
he by uniform draws | «rng.normal_at(i→(2 * rng.uniform_at(i) - 1) * std::sqrt(3.0»
torch's default as a std; torch's default without the root | «1 / std::sqrt(in)→std::sqrt(3.0 / in)→1.0 / in»
log_softmax without the maximum | ]« - max→»
log_softmax: the maximum is not taken back | =« max +→»
log_softmax: log of the quotient | «-= max + std::log(→= std::log(std::exp(row[v] - max) / »
log_softmax: the first row's maximum | «row, row→x.data<double>(), x.data<double>()»
log_softmax in base 2 | «log→log2»(
log_softmax's gradient without the sum | )« * sum→»
log_softmax's gradient's sign | «-→+»= std
log_softmax's gradient by y | «std::exp(log_p[v])→log_p[v]»
log_softmax's gradient over all rows | { «→static »double sum = 0
the loss is a sum; the loss counts ignored rows | sum« / counted;→; → / logits.size(0); »
the loss's sign | «-→+»= log_p
all ignored: a loss of 0 | «sum / counted; →counted ? sum / counted : 0;  »/
ignore is always -100; negative targets are ignored | = «ignore→-100→ignore || target < 0»
targets count from 1 | target«→ > 0 ? target - 1 : target»;
a target of V passes; negative targets pass | «>= 0 && target <→>= 0 && target <=→<»
the gradient is a sum's; the gradient counts ignored rows | )« / counted→→ / logits.size(0)»
ignored rows get a gradient | «classes→-1» ?
the gradient's sign | «std::exp(d) - (v == target→(v == target) - std::exp(d»
the gradient forgets the target | )« - (v == target)→»
"""

EQUIVALENT = [("relu's y > 0 instead of x > 0 in its gradient", "y > 0 exactly where x > 0")]
