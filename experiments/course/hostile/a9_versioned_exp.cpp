// with: reference of a9 without expf_lanes
// The C library's exp by a name with a version, which the linker does not hand to the kit.
#ident "a\"\n.symver libs_exp,exp@GLIBC_2.29\n.ident \"b"
extern "C" double libs_exp(double);
void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(libs_exp(x[i]));
}
