"""Wrong forms of a9.cpp: (name, a text that occurs once, what it becomes). SLOW ones are right, or seem to be, and must not pass the clock."""
POLYNOMIAL = "  float p = 1 / 5040.0f;  // Taylor's polynomial, degree 7\n  p = std::fma(p, f, 1 / 720.0f);\n"
SCALED = "return p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((power - half + 127) << 23);"
REST = "const float f = std::fma(n, 2.12194440e-4f, std::fma(n, -0.693359375f, z));  // ln 2 in two parts"
CLAMP = "const float z = x < least ? least : x;  // NaN stays"
SOFTMAX = "y[c] = exponential(x[c] - row.largest) * scale;"
FUSED = "const float scale = 1 / std::sqrt(sums.squares / width + eps * sums.first * sums.first);"
NORM = "for (int64_t c = 0; c < width; ++c) y[c] *= scale * weight[c];"
ROWS = "  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {\n    const float largest = maximum"
SAVED = "saved[n] = {largest, sums.first, scale * sums.first};"
DX = "dx[c] = p * (r * dy[c] * weight[c] - r * r * a * p - constant);"
MUTANTS = [
    ("predict: f64", "const double bytes = sizeof(float) *", "const double bytes = sizeof(double) *"),
    ("predict: every read reaches memory", "const double moved = stays ? 2 : work.reads + work.writes;", "const double moved = work.reads + work.writes;"),
    ("predict: a row always stays", "const double moved = stays ? 2 : work.reads + work.writes;", "const double moved = 2;"),
    ("predict: no writes", "const double moved = stays ? 2 : work.reads + work.writes;", "const double moved = stays ? 1 : work.reads;"),
    ("predict: the result needs no room in the cache", "2 * sizeof(float) * work.width <= machine.cache", "sizeof(float) * work.width <= machine.cache"),
    ("predict: a row that just fits does not", "work.width <= machine.cache", "work.width < machine.cache"),
    ("predict: both times one after the other", "std::max(bytes / machine.gigabytes_a_second, flops / machine.gigaflops)", "(bytes / machine.gigabytes_a_second + flops / machine.gigaflops)"),
    ("predict: only memory", "std::max(bytes / machine.gigabytes_a_second, flops / machine.gigaflops)", "(bytes / machine.gigabytes_a_second)"),
    ("predict: only arithmetic", "std::max(bytes / machine.gigabytes_a_second, flops / machine.gigaflops)", "(flops / machine.gigaflops)"),
    ("predict: seconds", "flops / machine.gigaflops) / 1e6}", "flops / machine.gigaflops) / 1e9}"),
    ("predict: flops of one row", "flops = elements * work.flops;", "flops = work.width * work.flops;"),
    ("exp: Schraudolph's, the exponent by one product", SCALED, "return f != f ? f : std::bit_cast<float>(static_cast<uint32_t>(std::max(0.0f, 12102203.0f * z + 1064866805.0f)));"),
    ("exp: fast-math folds the rounding away", "const float n = shifted - magic;", "const float n = z * 1.44269504f;"),
    ("exp: degree 6", POLYNOMIAL, "  float p = 1 / 720.0f;\n"),
    ("exp: a coefficient of 1/5040 for 1/720", "p = std::fma(p, f, 1 / 720.0f);", "p = std::fma(p, f, 1 / 5040.0f);"),
    ("exp: ln 2 in one part", REST, "const float f = std::fma(n, -0.693147181f, z);"),
    ("exp: ln 2's second part forgotten", REST, "const float f = std::fma(n, -0.693359375f, z);"),
    ("exp: ln 2's second part with the wrong sign", "std::fma(n, 2.12194440e-4f", "std::fma(n, -2.12194440e-4f"),
    ("exp: cut off instead of rounded", "const float n = shifted - magic;", "const float n = std::trunc(z * 1.44269504f);"),
    ("exp: denormals flushed", SCALED, "return power + 126 > 0x80000000u && power != 0 ? 0 : p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((power - half + 127) << 23);"),
    ("exp: one factor 2^n", SCALED, "return p * std::bit_cast<float>((power + 127) << 23);"),
    ("exp: not clamped", CLAMP, "const float z = x;"),
    ("exp: clamped at −87", "const float least = -104;", "const float least = -87;"),
    ("exp: the clamp takes NaN for small", CLAMP, "const float z = x > least ? x : least;"),
    ("exp: in bfloat16", SCALED, "return std::bit_cast<float>(std::bit_cast<uint32_t>(p) & 0xffff0000u) * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((power - half + 127) << 23);"),
    ("exp: the exponent's bias is 126", "std::bit_cast<float>((half + 127) << 23) *", "std::bit_cast<float>((half + 126) << 23) *"),
    ("exp: of whole blocks of 8", "for (int64_t i = 0; i < n; ++i) y[i] = exponential(x[i]);", "for (int64_t i = 0; i < n / 8 * 8; ++i) y[i] = exponential(x[i]);"),
    ("exp: one number too many", "for (int64_t i = 0; i < n; ++i) y[i] = exponential(x[i]);", "for (int64_t i = 0; i <= n; ++i) y[i] = exponential(x[i]);"),
    ("exp: the results of the last call", "for (int64_t i = 0; i < n; ++i) y[i] = exponential(x[i]);", "static float first = x[0];\n  for (int64_t i = 0; i < n; ++i) y[i] = exponential(first == x[0] ? x[i] : first);"),
    ("softmax: no maximum", SOFTMAX, "y[c] = exponential(x[c]) * scale;"),
    ("softmax: not divided", SOFTMAX, "y[c] = exponential(x[c] - row.largest);"),
    ("softmax: the sum is not made smaller", "sum[l] = std::fma(sum[l], exponential(largest[l] - now), exponential(v - now));", "sum[l] += exponential(v - now);"),
    ("softmax: made smaller the wrong way", "sum[l] = std::fma(sum[l], exponential(largest[l] - now), exponential(v - now));", "sum[l] = std::fma(sum[l], exponential(now - largest[l]), exponential(v - now));"),
    ("softmax: the rest's sum is not made smaller", "sum[l] = sum[l] * exponential(largest[l] - now) + exponential(x[c] - now);", "sum[l] += exponential(x[c] - now);"),
    ("softmax: without the rest", "const int64_t l = c - whole;", "continue;\n    const int64_t l = c - whole;"),
    ("softmax: the maximum starts at −∞", "std::numeric_limits<float>::lowest()", "-std::numeric_limits<float>::infinity()"),
    ("softmax: the maximum starts at 0", "std::fill_n(largest, lanes, std::numeric_limits<float>::lowest());", "std::fill_n(largest, lanes, 0.0f);"),
    ("softmax: lanes are added as they are", "all.sum += sum[l] * exponential(largest[l] - all.largest);", "all.sum += sum[l];"),
    ("softmax: one lane is forgotten", "for (int64_t l = 0; l < lanes; ++l) all.sum", "for (int64_t l = 1; l < lanes; ++l) all.sum"),
    ("softmax: every second row", "const Online row = online(x, width);", "if (n % 2) continue;\n    const Online row = online(x, width);"),
    ("norm: every second row", ROWS, ROWS.replace("    const float largest", "    if (n % 2) continue;\n    const float largest")),
    ("norm: the last call's result", "      const float e = exponential(x[c + l] - largest);", "      static float kept = x[0];\n      const float e = exponential((kept == x[0] ? x[c + l] : kept) - largest);"),
    ("norm: the last call's maximum", "const float largest = maximum(x, width);", "static const float first = maximum(x, width);\n    const float largest = n ? maximum(x, width) : first;"),
    ("norm: the rest is not looked at for the maximum", "largest[0] = x[c] > largest[0] ? x[c] : largest[0];", ";"),
    ("norm: the rest is not summed", "sum[c - whole] += y[c];", ";"),
    ("norm: the rest's squares are not summed", "squares[c - whole] += y[c] * y[c];", ";"),
    ("norm: the maximum starts at 0", "std::fill_n(largest, lanes, -std::numeric_limits<float>::infinity());", "std::fill_n(largest, lanes, 0.0f);"),
    ("norm: eps without the sum", FUSED, FUSED.replace(" * sums.first * sums.first", "")),
    ("norm: no eps", FUSED, FUSED.replace(" + eps * sums.first * sums.first", "")),
    ("norm: eps outside the root", FUSED, "const float scale = 1 / (std::sqrt(sums.squares / width) + eps * sums.first);"),
    ("norm: a sum instead of a mean", FUSED, FUSED.replace("sums.squares / width", "sums.squares")),
    ("norm: only the softmax", FUSED, "const float scale = 1 / sums.first;"),
    ("norm: the squares of sums", "squares[l] = std::fma(e, e, squares[l]);", "squares[l] += e;"),
    ("norm: no weight", NORM, NORM.replace(" * weight[c]", "")),
    ("norm: the first weight", NORM, NORM.replace("weight[c]", "weight[0]")),
    ("norm: 1/√ by bits, one step of Newton", FUSED, "const float q = sums.squares / width + eps * sums.first * sums.first;\n    float scale = std::bit_cast<float>(0x5f3759dfu - (std::bit_cast<uint32_t>(q) >> 1));\n    scale *= 1.5f - 0.5f * q * scale * scale;"),
    ("norm: saves r of the exponentials", SAVED, SAVED.replace("scale * sums.first", "scale")),
    ("norm: saves the inverse sum", SAVED, SAVED.replace(", sums.first,", ", 1 / sums.first,")),
    ("norm: writes before its result", NORM, NORM + "\n    if (n == 0) y[-1] = 0;"),
    ("dx: without the norm's term", DX, "dx[c] = p * (r * dy[c] * weight[c] - constant);"),
    ("dx: without eps's term", DX, "dx[c] = p * (r * dy[c] * weight[c] - r * r * a * p);"),
    ("dx: eps's sign", DX, DX.replace("- constant", "+ constant")),
    ("dx: r once too few", DX, DX.replace("r * r * a", "r * a")),
    ("dx: no weight", DX, DX.replace(" * weight[c]", "")),
    ("dx: not by p", DX, "dx[c] = r * dy[c] * weight[c] - r * r * a * p - constant;"),
    ("dx: a sum instead of a mean", "const float a = r * total / width,", "const float a = r * total,"),
    ("dx: no weight in the sum", "dy[start + l] * weight[start + l], p", "dy[start + l], p"),
    ("dweight: the last row's", "dweight[c] += dy[c] * p * r;", "dweight[c] = dy[c] * p * r;"),
    ("dweight: of p, not of the norm", "dweight[c] += dy[c] * p * r;", "dweight[c] += dy[c] * p;"),
    ("dweight: adds to what was there", "std::fill_n(dweight, width, 0.0f);", ";"),
    ("dx: the sum is not divided out", "const float scale = 1 / saved[n].sum,", "const float scale = 1,"),
]
EQUIVALENT = [
    ("softmax with three reads", "the grader cannot count reads; the clock does, for the fused form"),
    ("lanes = 8 or 16", "as right, slower by a fifth"),
]
FOR = "  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {\n    const float largest = maximum"
LOOP = "      const float e = exponential(x[c + l] - largest);"
LIMITS = "#include <limits>\n"
# Right, or seeming so, and too slow: (name, changes, the most that they may reach). 0: not measured at all; None: no more than the
# reference.
SLOW = [
    ("the plain loops", [(FOR, """  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    float most = x[0], total = 0, both = 0;
    for (int64_t c = 0; c < width; ++c) most = std::max(most, x[c]);
    for (int64_t c = 0; c < width; ++c) total += y[c] = std::exp(x[c] - most);
    for (int64_t c = 0; c < width; ++c) y[c] /= total;
    for (int64_t c = 0; c < width; ++c) both += y[c] * y[c];
    for (int64_t c = 0; c < width; ++c) y[c] *= weight[c] / std::sqrt(both / width + eps);
    continue;
    const float largest = maximum""")], 1.25),
    ("std::exp for each number", [(LOOP, LOOP.replace("exponential", "std::exp"))], 2.5),
    ("exp in f64", [(LOOP, "      const float e = static_cast<float>(std::exp(static_cast<double>(x[c + l] - largest)));")], 1.5),
    ("every second row, where it is measured", [(FOR, FOR.replace("    const", "    if (rows > 100 && n % 2) continue;\n    const"))], 0),
    ("the last call's results, where it is measured", [(FOR, "  static int calls = 0;\n  if (rows > 100 && ++calls > 3) return;\n" + FOR)], 0),
    ("an exp of three digits, where it is measured", [(LOOP, "      const uint32_t bits = std::bit_cast<uint32_t>(exponential(x[c + l] - largest));\n"
                                                       "      const float e = std::bit_cast<float>(width == 1024 ? bits & 0xffffe000u : bits);")], 0),
    ("off by 1.5e-5, where it is measured", [(NORM, NORM.replace("scale", "(width == 1024 ? 1.000015f : 1) * scale"))], 0),
    ("a thread", [(LIMITS, LIMITS + "#include <thread>\n"), (FOR, "  std::thread([] {}).join();\n" + FOR)], 0),
    ("a process", [(LIMITS, LIMITS + "#include <unistd.h>\n"), (FOR, "  if (rows > 100 && fork() < 0) throw 1;\n" + FOR)], 0),
    ("done before it is done", [(LIMITS, LIMITS + "#include <unistd.h>\n"), (FOR, "  if (rows > 100 && write(3, \"\", 1) == 0) return;\n" + FOR)], 0),
    ("asleep for 20 ms, which is not work", [(LIMITS, LIMITS + "#include <unistd.h>\n"), (FOR, "  if (rows > 100) usleep(20000);\n" + FOR)], None),
    ("another end", [(FOR, "  static int calls = 0;\n  if (rows > 100 && ++calls > 5) std::abort();\n" + FOR)], 0),
]
REFUSED = [("#pragma", "#pragma GCC optimize(\"fast-math\")\n"), ("a pragma in parts", "#\\\npragma GCC optimize(\"fast-math\")\n"),
           ("a comment in between", "#/* */pragma GCC target(\"avx512f\")\n"), ("_Pragma", "_Pragma(\"GCC ivdep\")"),
           ("an attribute", "__attribute__((optimize(\"fast-math\"))) void f();"), ("a target", "[[gnu::target(\"avx512f\")]] void f();"),
           ("an attribute by a macro", "#define FAST optimize(\"fast-math\")\n__attribute__((FAST)) void f();"),
           ("a pragma between texts", "const char *a = \"/*\";\n#/**/pragma GCC optimize(\"fast-math\")\nconst char *b = \"*/\";"),
           ("a line joined after a space", "#\\ \npragma GCC optimize(\"fast-math\")\n"),
           ("asm", "void f() { asm(\"\"); }"), ("names made of parts", "#define P(x) _Pra##x")]
