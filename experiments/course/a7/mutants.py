"""Wrong forms of a7.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
RoPE: start forgotten; RoPE: counts from 1 | «start + →→start + 1 + »row
RoPE: the row is the position; RoPE: the head is the position | row« / heads→→ % heads»
RoPE: half the exponent; RoPE: the exponent's sign | «-2→-1→2»
RoPE: one angle for all | )« * std::pow(base, -2.0 * j / dim)→»
RoPE: turns the other way | , «→-»1
RoPE: the gradient turns on; RoPE: the gradient without start | «start, -→start, →0, -»
RoPE: reflected | «+→-» in
RoPE: writes into x | «(x.shape(), Dtype::f64→ = x; const Tensor copy = raw::clone(x»); double* out =
    raw::write<double>(y); const double* in = «x→copy»
RoPE: angles in float | «→float(»direction * (start + row / heads) * std::pow(base, -2.0 * j / dim)«→)»
RoPE: odd channels pass | «dim % 2 == 0→true»
attention: no scale; attention: scaled by 1/D | ]« / std::sqrt(dim)→→ / dim»
attention: scaled by 1/√H | ] / std::sqrt(«dim→heads»
attention: a query does not see itself | «t + (keys - queries) + 1→std::max<int64_t>(1, t + (keys - queries))»
attention: sees one too many | «t + (keys - queries) + 1→std::min(keys, t + (keys - queries) + 2)»
attention: earlier keys unseen | «(keys - queries) + →»1
attention: never causal | «causal ? t + (keys - queries) + 1 : →»keys
attention: always causal | «causal ? →std::clamp<int64_t>(»t + (keys - queries) + 1« :→, 1,» keys«→)»
attention: the mask is a logit of 0 | «seen→keys»; ++s) sum += p[s] = std::exp(p[s] - max); for (int64_t s =
    0; s < «seen→keys»
attention: heads in turn; attention: the first key head | «h / (heads / kv_heads)→h % kv_heads→0»,
attention: no maximum | ]« - max→»
attention: the maximum is at least 0 | «-std::numeric_limits<double>::infinity()→0»
attention: not normalized | «p[s] /= sum;→»
attention: y of the keys; attention: y overwritten | «+= p[s] * v→+= p[s] * k→= p[s] * v»s
attention: heads need not divide | «% kv_heads == 0→>= kv_heads»
attention: channels not compared | «k.size(2) == dim &&→»
attention: too few keys pass | )« && (!causal || keys >= queries)→»
attention's gradient: no dot; attention's gradient: no p | «p[s] * (dp[s] - dot)→p[s] * dp[s]→(dp[s] - dot)»
attention's gradient: no scale; attention's gradient: scaled twice | )« * scale→→ * scale * scale»
attention's gradient: sign | «dp[s] - dot→dot - dp[s]»
attention's gradient: dk overwritten | «+→»= dz * q
attention's gradient: dv overwritten; attention's gradient: dv without p | «+= p[s] * →= p[s] * →+= »dy
attention's gradient: dq overwritten | «+→»= dz * k
attention's gradient: dk of k | «q.data<double>()[row→k.data<double>()[key»
attention's gradient: dp of k | * «v→k».
attention's gradient: the first key head | «(s * kv_heads + h / (heads / kv_heads))→s * kv_heads» * dim; const
SwiGLU: gate and up exchanged | «gate→up».data<double>()[i]; out[i] = x / (1 + std::exp(-x)) * «up→gate»
SwiGLU: GLU; SwiGLU: silu's sign | «x / (1 + std::exp(-→1 / (1 + std::exp(-→x / (1 + std::exp(»
SwiGLU: overflows | x «/ (1 + std::exp(-→* std::exp(x) / (1 + std::exp(»
SwiGLU: no σ' | «(sigmoid + x * sigmoid * (1 - sigmoid))→sigmoid»
SwiGLU: no x in σ'; SwiGLU: σ' alone | «sigmoid + x *→sigmoid +→x *»
SwiGLU: dgate without up | «up.data<double>()[i] * →»(
SwiGLU: dup without x | «x * →»sigmoid;
decoding: one cache for all | «→static Cache all; if (!»cache«→.k.defined()) all.k = all.v = Tensor(); cache.k
    = all».k = joined(«cache→all».k, k); cache.v = «→all.v = »joined(«cache→all»
decoding: the cache holds the caller's memory | «raw::clone(b)→b»
SwiGLU in place | «(gate.shape(), Dtype::f64)→ = up»;
attention's gradient: dk of all calls | v.shape(), Dtype::f64)}; «→static Tensor all; if (!all.defined() ||
    !(all.shape() == k.shape())) all = g.dk; g.dk = all; »double
decoding: forgets keys | «joined(cache.k, →raw::clone(»k); cache.v = «joined(cache.v, →raw::clone(»v
decoding: values of the last | , «v→k»)
decoding: new keys in front | «joined(cache.k, →cache.k.defined() ? joined(k, cache.k) : raw::clone(»k
decoding: not causal | «true→false»
decoding: sees only what is new | «cache.k, cache.→k, »
"""

EQUIVALENT = [("attention: q scaled instead of the logits", "the same up to rounding"),
              ("attention's gradient: Σ dp p taken as Σ dy y", "the same sum, written as in FlashAttention")]
