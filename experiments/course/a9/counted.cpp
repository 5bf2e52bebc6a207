// Counts the calls in a9.cpp of the C library's exponentials and of what gives them, such as log: the linker gives
// it __wrap_… for each of them, and us the function itself as __real_… (more.cmake).
#include <cstdint>

static int64_t calls = 0;

extern "C" {

// How many there were since the program began.
int64_t exponentials_called() { return calls; }

float __real_expf(float x);
float __wrap_expf(float x) { return ++calls, __real_expf(x); }
double __real_exp(double x);
double __wrap_exp(double x) { return ++calls, __real_exp(x); }
long double __real_expl(long double x);
long double __wrap_expl(long double x) { return ++calls, __real_expl(x); }
float __real_exp2f(float x);
float __wrap_exp2f(float x) { return ++calls, __real_exp2f(x); }
double __real_exp2(double x);
double __wrap_exp2(double x) { return ++calls, __real_exp2(x); }
long double __real_exp2l(long double x);
long double __wrap_exp2l(long double x) { return ++calls, __real_exp2l(x); }
float __real_expm1f(float x);
float __wrap_expm1f(float x) { return ++calls, __real_expm1f(x); }
double __real_expm1(double x);
double __wrap_expm1(double x) { return ++calls, __real_expm1(x); }
long double __real_expm1l(long double x);
long double __wrap_expm1l(long double x) { return ++calls, __real_expm1l(x); }
float __real_sinhf(float x);
float __wrap_sinhf(float x) { return ++calls, __real_sinhf(x); }
double __real_sinh(double x);
double __wrap_sinh(double x) { return ++calls, __real_sinh(x); }
long double __real_sinhl(long double x);
long double __wrap_sinhl(long double x) { return ++calls, __real_sinhl(x); }
float __real_coshf(float x);
float __wrap_coshf(float x) { return ++calls, __real_coshf(x); }
double __real_cosh(double x);
double __wrap_cosh(double x) { return ++calls, __real_cosh(x); }
long double __real_coshl(long double x);
long double __wrap_coshl(long double x) { return ++calls, __real_coshl(x); }
float __real_tanhf(float x);
float __wrap_tanhf(float x) { return ++calls, __real_tanhf(x); }
double __real_tanh(double x);
double __wrap_tanh(double x) { return ++calls, __real_tanh(x); }
long double __real_tanhl(long double x);
long double __wrap_tanhl(long double x) { return ++calls, __real_tanhl(x); }
float __real_powf(float x, float y);
float __wrap_powf(float x, float y) { return ++calls, __real_powf(x, y); }
double __real_pow(double x, double y);
double __wrap_pow(double x, double y) { return ++calls, __real_pow(x, y); }
long double __real_powl(long double x, long double y);
long double __wrap_powl(long double x, long double y) { return ++calls, __real_powl(x, y); }
// What exp is the inverse of, or whose slope it is: from their values come its own.
float __real_logf(float x);
float __wrap_logf(float x) { return ++calls, __real_logf(x); }
double __real_log(double x);
double __wrap_log(double x) { return ++calls, __real_log(x); }
long double __real_logl(long double x);
long double __wrap_logl(long double x) { return ++calls, __real_logl(x); }
float __real_log2f(float x);
float __wrap_log2f(float x) { return ++calls, __real_log2f(x); }
double __real_log2(double x);
double __wrap_log2(double x) { return ++calls, __real_log2(x); }
long double __real_log2l(long double x);
long double __wrap_log2l(long double x) { return ++calls, __real_log2l(x); }
float __real_log10f(float x);
float __wrap_log10f(float x) { return ++calls, __real_log10f(x); }
double __real_log10(double x);
double __wrap_log10(double x) { return ++calls, __real_log10(x); }
long double __real_log10l(long double x);
long double __wrap_log10l(long double x) { return ++calls, __real_log10l(x); }
float __real_log1pf(float x);
float __wrap_log1pf(float x) { return ++calls, __real_log1pf(x); }
double __real_log1p(double x);
double __wrap_log1p(double x) { return ++calls, __real_log1p(x); }
long double __real_log1pl(long double x);
long double __wrap_log1pl(long double x) { return ++calls, __real_log1pl(x); }
float __real_asinhf(float x);
float __wrap_asinhf(float x) { return ++calls, __real_asinhf(x); }
double __real_asinh(double x);
double __wrap_asinh(double x) { return ++calls, __real_asinh(x); }
long double __real_asinhl(long double x);
long double __wrap_asinhl(long double x) { return ++calls, __real_asinhl(x); }
float __real_acoshf(float x);
float __wrap_acoshf(float x) { return ++calls, __real_acoshf(x); }
double __real_acosh(double x);
double __wrap_acosh(double x) { return ++calls, __real_acosh(x); }
long double __real_acoshl(long double x);
long double __wrap_acoshl(long double x) { return ++calls, __real_acoshl(x); }
float __real_atanhf(float x);
float __wrap_atanhf(float x) { return ++calls, __real_atanhf(x); }
double __real_atanh(double x);
double __wrap_atanh(double x) { return ++calls, __real_atanh(x); }
long double __real_atanhl(long double x);
long double __wrap_atanhl(long double x) { return ++calls, __real_atanhl(x); }
float __real_erff(float x);
float __wrap_erff(float x) { return ++calls, __real_erff(x); }
double __real_erf(double x);
double __wrap_erf(double x) { return ++calls, __real_erf(x); }
long double __real_erfl(long double x);
long double __wrap_erfl(long double x) { return ++calls, __real_erfl(x); }
float __real_erfcf(float x);
float __wrap_erfcf(float x) { return ++calls, __real_erfcf(x); }
double __real_erfc(double x);
double __wrap_erfc(double x) { return ++calls, __real_erfc(x); }
long double __real_erfcl(long double x);
long double __wrap_erfcl(long double x) { return ++calls, __real_erfcl(x); }

}  // extern "C"
