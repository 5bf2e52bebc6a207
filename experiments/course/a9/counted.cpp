// Counts the calls of the C library's exponentials in a9.cpp: the linker gives it __wrap_… for each of them,
// and us the function itself as __real_… (more.cmake).
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

}  // extern "C"
