"""Wrong forms of a0.cpp: (name, a text that occurs once, what it becomes)."""
LAST = "const int64_t last = y.numel() - 1;"
SUM = "for (int64_t j = 0; j < width; ++j) sum += in[i + j];"
MEAN = "out[i] = sum / width;"
HELD = "const Tensor values = raw::cast(x, Dtype::f64);\n  const double* const in = values.data<double>();"
LARGEST = "largest = std::max(largest, std::abs(in[i]));"
DIVIDE = "out[i] = largest > 0 ? in[i] / largest : 0;"
ZEROS = "Tensor counts = isobar::zeros({count}, Dtype::f64);"
COUNT = "out[static_cast<int64_t>(classes.data<double>()[i])] += 1;"
MUTANTS = [
    ("average: as it was given", LAST, "const int64_t last = x.numel() - width + 1;"),
    ("average: the last mean is not set", LAST, "const int64_t last = y.numel() - 2;"),
    ("average: as many means as numbers", LAST, "const int64_t last = x.numel() - 1;"),
    ("average: a tensor that is longer", "Tensor y({x.numel() - width + 1}, Dtype::f64);", "Tensor y({x.numel() - width + 2}, Dtype::f64);"),
    ("average: a tensor of x's size", "Tensor y({x.numel() - width + 1}, Dtype::f64);", "Tensor y = isobar::zeros({x.numel()}, Dtype::f64);"),
    ("average: a window of one more", SUM, SUM.replace("j < width", "j <= width")),
    ("average: a window of one less", SUM, SUM.replace("j = 0", "j = 1")),
    ("average: a window of one less at the end", SUM, SUM.replace("j < width", "j + 1 < width")),
    ("average: backwards", SUM, SUM.replace("in[i + j]", "in[i - j]")),
    ("average: the window stands", SUM, SUM.replace("in[i + j]", "in[j]")),
    ("average: one number", SUM, SUM.replace("in[i + j]", "in[i]")),
    ("average: a sum", MEAN, "out[i] = sum;"),
    ("average: divided by one less", MEAN, "out[i] = sum / (width - 1);"),
    ("average: divided by all", MEAN, "out[i] = sum / x.numel();"),
    ("average: a sum of whole numbers", "double sum = 0;", "int64_t sum = 0;"),
    ("average: a sum of all windows", "    double sum = 0;", "    static double sum = 0;"),
    ("average: starts at one", "for (int64_t i = 0; i <= last; ++i)", "for (int64_t i = 1; i <= last; ++i)"),
    ("scaled: as it was given", HELD, "const double* const in = raw::cast(x, Dtype::f64).data<double>();"),
    ("scaled: the tensor lives in a block", HELD, "const double* in = nullptr;\n  {\n    const Tensor values = raw::cast(x, Dtype::f64);\n    in = values.data<double>();\n  }"),
    ("scaled: a copy of a copy that is freed", HELD, "const Tensor values = raw::cast(x, Dtype::f64);\n  const double* const in = raw::clone(values).data<double>();"),
    ("scaled: f32 is read as f64", HELD, "const double* const in = reinterpret_cast<const double*>(x.data<float>());"),
    ("scaled: wants f64", HELD, "const double* const in = x.data<double>();"),
    ("scaled: the largest, not its magnitude", LARGEST, "largest = std::max(largest, in[i]);"),
    ("scaled: the last", LARGEST, "largest = std::abs(in[i]);"),
    ("scaled: the sum of magnitudes", LARGEST, "largest += std::abs(in[i]);"),
    ("scaled: the smallest", LARGEST, "largest = i == 0 ? std::abs(in[i]) : std::min(largest, std::abs(in[i]));"),
    ("scaled: one at least", "double largest = 0;", "double largest = 1;"),
    ("scaled: zeros become NaN", DIVIDE, "out[i] = in[i] / largest;"),
    ("scaled: zeros are not set", DIVIDE, "if (largest > 0) out[i] = in[i] / largest;"),
    ("scaled: magnitudes", DIVIDE, "out[i] = largest > 0 ? std::abs(in[i]) / largest : 0;"),
    ("scaled: multiplied", DIVIDE, "out[i] = in[i] * largest;"),
    ("scaled: reads one past", LARGEST, "largest = std::max(largest, std::max(std::abs(in[i]), 0 * in[i + 1]));"),
    ("histogram: as it was given", ZEROS, "Tensor counts({count}, Dtype::f64);"),
    ("histogram: starts at one", ZEROS, "Tensor counts = isobar::ones({count}, Dtype::f64);"),
    ("histogram: one class less", ZEROS, ZEROS.replace("{count}", "{count - 1}")),
    ("histogram: one class more", ZEROS, ZEROS.replace("{count}", "{count + 1}")),
    ("histogram: of all calls", ZEROS, "static Tensor counts = isobar::zeros({count}, Dtype::f64);\n  if (counts.numel() != count) counts = isobar::zeros({count}, Dtype::f64);"),
    ("histogram: classes count from one", COUNT, "out[static_cast<int64_t>(classes.data<double>()[i]) + 1] += 1;"),
    ("histogram: yes or no", COUNT, COUNT.replace("+= 1", "= 1")),
    ("histogram: shares", COUNT, COUNT.replace("+= 1", "+= 1.0 / classes.numel()")),
    ("histogram: the first is left out", "for (int64_t i = 0; i < classes.numel(); ++i) out", "for (int64_t i = 1; i < classes.numel(); ++i) out"),
    ("histogram: one too many is read", "for (int64_t i = 0; i < classes.numel(); ++i) out", "for (int64_t i = 0; i <= classes.numel(); ++i) out"),
]
EQUIVALENT = [
    ("average: the sum slides along", "one number is added and one taken off: right to rounding, and quicker"),
    ("histogram: set to zero in a loop", "the same zeros"),
]
