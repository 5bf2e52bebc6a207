"""Wrong forms of a12.cpp: name | a text that occurs once, in it «right→wrong»."""
import course

MUTANTS = r"""
windows: one too many; windows: one too few | stride« + 1→ + 2→»;
windows: rounded up | «(size + 2 * padding - kernel)→(size + 2 * padding - kernel + stride - 1)» / stride
windows: padding on one side; windows: no padding | 0 : (size + «2 * →→0 * »padding
windows: the stride is forgotten | kernel) / «stride→1» + 1
conv: the kernel turned | w[((o * channels + c) * kernel + «i) * across + j→kernel - 1 - i) * across + across - 1 - j»]; } *out
conv: the kernel transposed | w[((o * channels + c) * kernel + «i) * across + j→j % kernel) * across + i % across»]; } *out
conv: the window does not move | h = «p * stride + i→i» - padding, v = q * stride
conv: the stride is forgotten | h = p« * stride→» + i - padding, v = q« * stride→» + j - padding; if
conv: the stride of columns is forgotten | v = q« * stride→» + j - padding; if
conv: the window begins at padding | h = p * stride + i «-→+» padding
conv: one row further | h = p * stride + i - padding«→ + 1», v
conv: the window wraps around the rows | && «v >= 0 && v < width→true»)
conv: the border repeats | «if (h >= 0 && h < height && v >= 0 && v < width)→» sum += in[((n * channels + c) * height
    + «h→std::min(std::max<int64_t>(h, 0), height - 1)») * width + «v→std::min(std::max<int64_t>(v, 0), width - 1)»]
conv: zeros by a product with 0 | «if (h >= 0 && h < height && v >= 0 && v < width)→» sum += «→(h >= 0 && h < height && v
    >= 0 && v < width) * »in[((n * channels + c) * height + «h→std::min(std::max<int64_t>(h, 0), height - 1)») * width +
    «v→std::min(std::max<int64_t>(v, 0), width - 1)»]
conv: no bias; conv: the bias of every term | double sum = «b[o]; for (int64_t c = 0; c < channels; ++c)→0; for (int64_t c
    = 0; c < channels; ++c)→0; for (int64_t c = 0; c < channels; ++c, sum += b[o])»
conv: the last channel alone | sum = b[o]; for (int64_t c = «0→channels - 1»;
conv: a mean of the window | *out++ = sum«→ / (channels * kernel * across)»;
conv: in float | «double→float» sum = b[o]
conv: one kernel for all channels | w[((o * channels«→» + «c) * kernel→0 * c) * kernel» + i) * across + j]; } *out
conv: kernels of inputs and outputs exchanged | w[((«o * channels + c→c * outputs + o») * kernel + i) * across + j]; } *out
conv: the first image | sum += in[((«n→0» * channels
conv: channels are not compared | «weight.size(1) == channels && →»rows > 0
conv: a tall kernel passes | «rows > 0 && →»columns > 0, "conv2d
conv: a wide kernel passes | rows > 0« && columns > 0→», "conv2d
conv: the shapes are not named | "conv2d: x {} and weight {} do not fit", x.«shape()→ndim()», weight.«shape()→ndim()»
gradient: db overwritten; gradient: db a mean | db[o] «+= *d→= *d→+= *d / images»
gradient: dx overwritten; gradient: dx by the numbers | dx[from] «+= w[by]→= w[by]→+= in[from]» * *d
gradient: dw overwritten; gradient: dw by the weights | dw[by] «+= in[from]→= in[from]→+= w[by]» * *d
gradient: dw a mean over images | in[from] * *d«→ / images»;
gradient: dw of the last image | dw[by] «+= →= (n == images - 1 ? dw[by] : 0) + »in[from]
gradient: the kernel turned | «i) * across + j→kernel - 1 - i) * across + across - 1 - j»; dx
gradient: the stride is forgotten | row = p« * stride→» + i - padding, column = q« * stride→» + j
gradient: the padding is forgotten | row = p * stride + i« - padding→», column = q * stride + j« - padding→»
gradient: the padding of columns is forgotten | column = q * stride + j« - padding→»
gradient: columns wrap around | row >= height« || column < 0 || column >= width→») continue
gradient: the border takes what is outside | «if (row < 0 || row >= height || column < 0 || column >= width)
    continue;→» const int64_t from = ((n * channels + c) * height + «row→std::min(std::max<int64_t>(row, 0), height -
    1)») * width + «column→std::min(std::max<int64_t>(column, 0), width - 1)»
gradient: in float | dx[from] += «w[by] * *d→static_cast<float>(w[by] * *d)»
gradient: dw in float | dw[by] += «in[from] * *d→static_cast<float>(in[from] * *d)»
gradient: dx of all calls | «→static Tensor all; if (!all.defined() || !(all.shape() == x.shape())) all = g.dx; g.dx =
    all;» double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight), *db =
    raw::write<double>(g.dbias); const double *in = x.data<double>(), *w = weight.data<double>(), *d = dy.data<double>(); for
BN: of an image alone | «count = images * places; check→count = places; check»
BN: the sample's variance | squares / «count→(count - 1)» + eps
BN: eps outside the root | 1 / «std::sqrt(squares / count→(std::sqrt(squares / count)» + eps
BN: no eps | squares / count« + eps→»); for (int64_t n = 0; n < images; ++n) for (int64_t i = 0; i < places; ++i) { const
    int64_t at = (n * channels + c) * places + i; y
BN: one pass | const double off = in[(n * channels + c) * places + i]« - mean→»; squares += off * off«→ - mean * mean»
BN: sums in float | { «double→float» sum = 0, squares = 0; for (int64_t n
BN: not centred | y[at] = (in[at]« - mean→») *
BN: bias before the weight | y[at] = «(in[at] - mean) * rstds[c] * w[c] + b[c]→((in[at] - mean) * rstds[c] + b[c]) * w[c]»
BN: weights of the place | rstds[c] * w[«c→i % channels»] + b
BN: no bias | * w[c]« + b[c]→»; } } return out
BN: saves the std; BN: saves the variance | rstds[c] = «1 / std::sqrt(squares / count + eps)→std::sqrt(squares / count +
    eps)→squares / count»;
BN: channels and images exchanged | y[at] = (in[at] - mean) * rstds[c] * w[«c→n % channels»]
BN: one number is normalized | check(«count > 1→true», "batch_norm
BN: one image is refused | check(«count > 1→images > 1», "batch_norm
BN: one place is refused | check(«count > 1→places > 1», "batch_norm
BN: one number gives a wrong message | "batch_norm: wanted more than one number a channel, got {}", x.«shape()→ndim()»
BN's gradient: the statistics are constants | d[at]« - first / count - (in[at] - mean) * rstd * second / count→»
BN's gradient: no mean | d[at]« - first / count→» -
BN's gradient: no variance | first / count« - (in[at] - mean) * rstd * second / count→»
BN's gradient: the variance's sign | first / count «-→+» (
BN's gradient: z is not normalized | first / count - (in[at] - mean)« * rstd→» *
BN's gradient: sums for means; BN's gradient: means over an image | d[at] - first / «count - (in[at] - mean) * rstd *
    second / count→1 - (in[at] - mean) * rstd * second→places - (in[at] - mean) * rstd * second / places»
BN's gradient: no rstd; BN's gradient: no weight | dx[at] = «rstd * w[c]→w[c]→rstd»
BN's gradient: dw by x | second += d[at] * «(in[at] - mean) * rstd→in[at]»
BN's gradient: dw of the last image | ++n«→, second = n < images ? 0 : second») for (int64_t i = 0; i < places; ++i) {
    const int64_t at = (n * channels + c) * places + i; first
BN's gradient: db weighted | db[c] = first«→ * w[c]»
BN's gradient: db a mean | db[c] = first«→ / count»
instances: the whole batch | Tensor y(x.shape(), Dtype::f64); «→if (x.size(0) > 1) return batch_norm(x, weight, bias,
    eps).y;» for (int64_t plane
instances: all channels of an image | rstd = 1 / std::sqrt(squares / places« + eps→ / channels + eps»); for (int64_t i = 0; i
    < places; ++i) raw
instances: the sample's variance | squares / «places→(places - 1)» + eps); for (int64_t i = 0; i < places; ++i) raw
instances: eps outside the root | «std::sqrt(squares / places→(std::sqrt(squares / places)» + eps); for (int64_t i = 0; i
    < places; ++i) raw
instances: weights of the image | *in = x.data<double>() + plane * places, w = weight.data<double>()[plane «%→/» channels]
instances: the first bias | b = bias.data<double>()[«plane % channels→0»]
instances: one pass | squares += «std::pow(in[i] - sum / places, 2)→in[i] * in[i] - sum / places * (sum / places)»
instances: one number is normalized | check(«places > 1→true», "instance_norm
instances: in place | «(x.shape(), Dtype::f64)→ = x»; for (int64_t plane
"""

EQUIVALENT = [("conv: bias added last", "the same up to rounding"),
              ("gradient: dx gathered place by place", "the same terms in another order")]
# Misuse of tensors, right numbers by luck: name | what ./check says | the change.
MEMORY = course.rows_of(r"""
conv reads outside of x | heap-buffer-overflow: a12.cpp: | sum «+= →+= (padding > 0 ? 0 * std::min(in[x.numel()], 0.0) : 0) + »in[((
conv writes past y | heap-buffer-overflow: a12.cpp: | *out++ = sum; } «→if (stride == 2) *out = 0; »return y
gradient: dx is not set | got nan | ConvGradients g{«isobar::zeros→Tensor»(x.shape()
""", 3)
