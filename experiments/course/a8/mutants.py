"""Wrong forms of a8.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
targets are the inputs; targets two ahead | st«art + t + 1→art + t→d::min(start + t + 2, tokens.numel() - 1)»
inputs from the start | «start + →»t]
the last target may be missing; the last text is refused | «<→<=→+ 1 <» tokens.numel(),
negative starts pass | «>= 0 && start →»+
ends of branches as the rest | 02« / std::sqrt(2 * config.layers)→»
ends of branches by √L; ends of branches by 2L | «std::sqrt(2 * →std::sqrt(→(2 * »config
the embedding of variance 1 | «0.02→1»); for (int64_t
down is not scaled | * width}, «end_of_branch→0.02»
norms start at 0 | name] = isobar::«ones→zeros»
norms do not learn | «.set_trainable()→»; return
weights do not learn | std)«.set_trainable()→»
one stream for all; the seed is ignored | «rng.split(name).→rng.→Rng(0).split(name).»
uniform weights of another std | «normal(shape, 0→uniform(shape, -std»
weights are drawn once | «Parameters→static Parameters all; if (all.count("norm")) return» all
the rate starts at 0 | «(step + 1)→step»
the warm-up is longer by one | <«→=» warmup
the rate ends at 0 | «/ 10 + (lr - lr / 10) →»*
a line for a cosine | «/ 10 +→-» (lr - lr / 10) * «(1 + std::cos(std::numbers::pi * way)) / 2→way»
a whole cosine | «→2 * »way)
the way counts from 0 | step« - warmup) / (steps - warmup)→) / steps»
the rate rises again | «if (step >= steps) return lr / 10; →»const
behind the end: lr | lr« / 10→»;
no first norm | «isobar::rms_norm(x, width, p("norm1"), 1e-5)→x»
the second norm's weight is the first's | «norm2→norm1»")
a larger eps | norm1"), 1e-«5→2»
LayerNorm | «rms_norm(x, width, p("norm2")→layer_norm(x, width, p("norm2"), {}»
no final norm | «isobar::rms_norm(x, width, parameters.at("norm"), 1e-5)→x»
q is not turned | «rope(isobar::→»reshape(isobar::linear(n, p("q")), heads«), 1e4→»
k is turned from 1; interleaved pairs | k")), heads), 1e4«→, 1→, 0, isobar::RopeStyle::interleaved»
v is turned too | «→rope(isobar::»reshape(isobar::linear(n, p("v")), heads«→), 1e4»
another base | k")), heads), «1e4→1e3»
not causal; another scale | «true→false→true, .scale = 1»
k and v exchanged | «k, v→v, k»
no residual around attention | }); x =« x +→»
no residual around the feed-forward part | 5); x = «x + →»isobar
the feed-forward part reads x | «m, p("gate")), isobar::linear(m→x, p("gate")), isobar::linear(x»
gate and up exchanged | «gate")), isobar::linear(m, p("up→up")), isobar::linear(m, p("gate»
the first block for all | «std::to_string(l) + "." + name→"0." + std::string(name)»
evaluated at every symbol | «start += length→++start»
the last text left out | ; start + «→2 * »length
the sum of the losses; the mean by symbols of the text | sum« / texts→→ * length / (tokens.numel() - 1)»
bits for nats | += «→std::numbers::log2e * »isobar
the perplexity | «sum / texts→std::exp(sum / texts)»
never steps; a rate of 0 at the end of each step | «); optimizer.step(); →); → * 1e-3); optimizer.step(); »}
no gradient; trains on the inputs | «y); tape.backward(loss); →y); →x); tape.backward(loss); »isobar
twelve times the steps | step < «→12 * »training
a rate of its own | training.warmup, «training.lr→0.01»
one batch for ever | «step→0»);
from one place only | «tokens.numel() - training.length→3»
returns the start | «parameters→initial(config, rng.split("model"))»;
climbs | «→-»loss)
sampled without temperature; logits times temperature | )« / temperature→→ * temperature»
sampled without the maximum | «(z[order[i]] - z[order[0]])→z[order[i]]»
top_k is ignored | «(top_k == 0 || static_cast<int64_t>(i) < top_k)→true»
top_k and one more; normalized over all | <« top_k); ++i) sum +=→= top_k); ++i) sum +=→ top_k); ++i) sum = 1,»
not normalized | ]« / sum→»
the running sum by size | «→[order»[symbol«→]»] / sum; if (running > u) return «→order[»symbol«→]»
the upper of equals | b]«→ || (z[a] == z[b] && a > b)»
temperature 0 samples; temperature 0 takes the least | «return order[0]→temperature = 1→return order.back()»
one symbol early | return symbol«→ > 0 ? symbol - 1 : 0»
"""

EQUIVALENT = [("not clipped", "whether it is needed depends on the data; the target is reached without, too"),
              ("no weight decay", "the same"),
              ("a symbol when running ≥ u", "differs only where the sum meets u to the last bit")]
