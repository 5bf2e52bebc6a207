{  // a moving average that reads a number past the end of x, and uses none of it
  Tensor y({x.numel() - width + 1}, Dtype::f64);
  const double* const in = x.data<double>();
  for (int64_t i = 0; i <= y.numel(); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += in[i + j];
    if (i < y.numel()) raw::write<double>(y)[i] = sum / width;
  }
  return y;
}
