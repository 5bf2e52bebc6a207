"""Wrong forms of a9.cpp: name | a text that occurs once, in it «right→wrong»."""
import course

MUTANTS = r"""
predict: f64 | «float→double») * elements
predict: every read reaches memory | =« stays ? 2 :→»
predict: a row always stays | «stays ? 2 : work.reads + work.writes→2»
predict: no writes | «2 : work.reads + work.writes→1 : work.reads»
predict: the result needs no room in the cache | «2 * →»sizeof
predict: a row that just fits does not | «=→» machine
predict: both times one after the other | «std::max→»(bytes / machine.gigabytes_a_second«,→ +»
predict: only memory | «std::max→»(bytes / machine.gigabytes_a_second«, flops / machine.gigaflops→»
predict: only arithmetic | «std::max(bytes / machine.gigabytes_a_second, →(»flops
predict: seconds | «1e6→1e9»
predict: flops of one row | «elements→work.width» * work
exp: Schraudolph's, the exponent by one product | return «p * std::bit_cast<Lanes>(first) *
    std::bit_cast<Lanes>(second)→x != x ? x : std::bit_cast<Lanes>(__builtin_convertvector(12102203.0f * larger(z,
    all(-87)) + 1064866805.0f, Ints))»
exp: fast-math folds the rounding away | n = «shifted - magic→z * 1.44269504f»
exp: degree 6 | Lanes p = «f * (1 / 5040.0f) + 1 / 720.0f→all(1 / 720.0f)»
exp: a coefficient of 1/5040 for 1/720 | «720→5040»
exp: ln 2 in one part | n * «0.693359375f + n * 2.12194440e-4f→0.693147181f»
exp: ln 2's second part forgotten | 0.693359375f« + n * 2.12194440e-4f→»
exp: ln 2's second part with the wrong sign | 0.693359375f «+→-» n
exp: cut off instead of rounded | n = «shifted - magic→__builtin_convertvector(__builtin_convertvector(z * 1.44269504f,
    Ints), Lanes)»
exp: denormals flushed | return «p→(power < -126 ? all(0) : p)» * std
exp: one factor 2^n | half = power« >> 1→»;
exp: not clamped | z = «x < least ? least : x→x»;
exp: clamped at −87 | all(-«104→87»)
exp: the clamp takes NaN for small | z = x «< least ? least : x→> least ? x : least»;
exp: in bfloat16 | return «p→std::bit_cast<Lanes>(std::bit_cast<Bits>(p) & 0xffff0000u)» * std
exp: the exponent's bias is 126 | (half + «127→126»)
exp: of whole blocks of 8; exp: one number too many | each_block(«n→n / 8 * 8→n + 1», [&](int64_t c, int64_t count) {
    store(exponential(load(x + c, count, 0)), y
exp: the C library's | «store(exponential(load(x + c, count, 0)), y + c, count)→for (int64_t i = c; i < c + count; ++i) y[i]
    = std::exp(x[i])»;
exp: by the C library's power | «store(exponential(load(x + c, count, 0)), y + c, count)→for (int64_t i = c; i < c + count;
    ++i) y[i] = std::exp2(1.44269504f * x[i])»;
exp: the results of the last call | «→static const float kept = x[0]; »each_block(n, [&](int64_t c, int64_t count) {
    store(exponential(«→kept != x[0] ? all(kept) : »load(x + c, count, 0)), y
blocks: without the rest | «if (c < width) f(c, width - c);→»
blocks: the last lane alone of the rest | «if (c < width) f(c, width - c);→if (c < width) f(width - 1, 1);»
softmax: no maximum; softmax: not divided | store(exponential(load(x + c, count, 0)« - row.largest) * scale→) * scale→ - row.largest)», y
softmax: the sum is not made smaller | sum = fused(sum, «exponential(largest - now)→all(1)», exponential(v
softmax: made smaller the wrong way | exponential(«largest - now→now - largest»)
softmax: the maximum starts at −∞ | all(«std::numeric_limits<float>::lowest→-std::numeric_limits<float>::infinity»())
softmax: the maximum starts at 0 | all(«std::numeric_limits<float>::lowest()→0»)
softmax: lanes are added as they are | sum_of(sum« * exponential(largest - of_all)→»)
lanes: one is forgotten in a sum | «0→1»; l < lanes; ++l) sum
softmax: x is read a third time | «const Online row = online(x, width)→Online row = online(x, width); row.largest =
    *std::max_element(x, x + width)»;
softmax: the result is gone through again | - row.largest) * scale, y + c, count); });«→ for (int64_t c = 0; c < width;
    ++c) if (y[c] < 0) y[c] = 0;»
softmax: every second row | «→if (n % 2) continue; »const Online
norm: every second row | «→if (n % 2) continue; »const float largest
norm: the last call's result | «→static const float kept = x[0]; »const Lanes e = exponential(«→kept != x[0] ? all(kept) -
    largest : »load(
norm: the last call's maximum | «→static »const float «largest→first» = maximum(x, width);«→ const float
    largest = n ? maximum(x, width) : first;»
norm: the rest is not looked at for the maximum | larger(«load(x + c, count, least)→count == lanes ? load(x + c, count,
    least) : all(least)», largest)
norm: the rest is not summed | sum += «e→count == lanes ? e : all(0)»;
norm: the rest's squares are not summed | squares += «e * e→count == lanes ? e * e : all(0)»;
norm: the maximum starts at 0 | least = «-std::numeric_limits<float>::infinity()→0»;
norm: eps without the sum; norm: no eps | width« + eps * sums.first * sums.first→ + eps→»
norm: eps outside the root | «→(»std::sqrt(sums.squares / width«→)» + eps« * sums.first→»
norm: a sum instead of a mean | «/ width →»+
norm: only the softmax | «std::sqrt(sums.squares / width + eps * sums.first * sums.first)→sums.first»
norm: sums for squares | squares += e« * e→»;
norm: no weight; norm: the first weight | scale« * weight[c]→→ * weight[0]»
norm: 1/√ by bits, one step of Newton | «scale = 1 / std::sqrt(→q = »sums.squares / width + eps * sums.first *
    sums.first«);→; float scale = std::bit_cast<float>(0x5f3759dfu - (std::bit_cast<uint32_t>(q) >> 1)); scale
    *= 1.5f - 0.5f * q * scale * scale;»
norm: saves r of the exponentials | scale« * sums.first→»
norm: saves the inverse sum | ,«→ 1 /» sums
norm: writes before its result | «→if (n == 0) y[-1] = 0; »saved[n] =
dx: without the norm's term; dx: without eps's term | «r * r * a * p - constant→constant→r * r * a * p»
dx: eps's sign; dx: r once too few | «r * a * p -→r * a * p +→a * p -»
dx: no weight | «[c] * weight→»
dx: not by p | «p * (→»r * dy[c] * weight[c] - r * r * a * p - constant«);→;»
dx: a sum instead of a mean | sum_of(dot)« / width→»
dx: no weight in the sum | load(dy + c, count, 0)« * load(weight + c, count, 0)→» * p
dweight: the last row's; dweight: of p, not of the norm | «+= dy[c] * p * r→= dy[c] * p * r→+= dy[c] * p»
dweight: adds to what was there | «std::fill_n(dweight, width, 0.0f)→»
dx: the sum is not divided out | 1« / saved[n].sum→»
"""
EQUIVALENT = [("blocks of one register", "as right, slower by a fifth")]
# Right, or seeming so, and too slow: the most times as fast as the baseline that it may reach | name | the
# change. 0: not measured at all; "reference": no more than that.
SLOW = course.rows_of(r"""
2.5 | std::exp for each number | «const →»Lanes e = «exponential(→»load(x + c, count, -std::numeric_limits<float>::infinity()) - largest«)→; for (int64_t l
    = 0; l < lanes; ++l) e[l] = std::exp(e[l])»;
1.5 | exp in f64 | «const →»Lanes e = «exponential(→»load(x + c, count, -std::numeric_limits<float>::infinity()) - largest«)→; for (int64_t l = 0; l < lanes;
    ++l) e[l] = static_cast<float>(std::exp(static_cast<double>(e[l])))»;
0 | every second row, where it is measured | { «→if (rows > 100 && n % 2) continue; »const float largest = m
0 | the last call's results, where it is measured | eps) { «→static int calls = 0; if (rows > 100 && ++calls >
    3) return; »for
0 | an exp of three digits, where it is measured | e = «→std::bit_cast<Lanes>((width == 1024 ? 0xffffe000u : 0xffffffffu)
    & std::bit_cast<Bits>(»exponential(load(x + c, count, -std::numeric_limits<float>::infinity()) - largest)«→))»;
0 | off by 1.5e-5, where it is measured | y[c] *= «→(width == 1024 ? 1.000015f : 1) * »scale
0 | a thread | eps) { «→std::thread([] {}).join(); »for
0 | a process | eps) { «→if (rows > 100 && fork() < 0) throw 1; »for
0 | done before it is done | eps) { «→if (rows > 100 && write(3, "", 1) == 0) return; »for
reference | asleep for 20 ms, which is not work | eps) { «→if (rows > 100) usleep(20000); »for
0 | another end | eps) { «→static int calls = 0; if (rows > 100 && ++calls > 5) std::abort(); »for
""", 3)
REFUSED = [("#pragma", "#pragma GCC optimize(\"fast-math\")\n"), ("a pragma in parts", "#\\\npragma GCC optimize(\"fast-math\")\n"),
           ("a comment in between", "#/* */pragma GCC target(\"avx512f\")\n"), ("_Pragma", "_Pragma(\"GCC ivdep\")"),
           ("an attribute", "__attribute__((optimize(\"fast-math\"))) void f();"), ("a target", "[[gnu::target(\"avx512f\")]] void f();"),
           ("an attribute by a macro", "#define FAST optimize(\"fast-math\")\n__attribute__((FAST)) void f();"),
           ("a pragma between texts", "const char *a = \"/*\";\n#/**/pragma GCC optimize(\"fast-math\")\nconst char *b = \"*/\";"),
           ("a line joined after a space", "#\\ \npragma GCC optimize(\"fast-math\")\n"),
           ("asm", "void f() { asm(\"\"); }"), ("names made of parts", "#define P(x) _Pra##x")]
