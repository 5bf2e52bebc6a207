// with: reference of a0
// As before_the_sanitizer.cpp, by code that chooses a function while the program is loaded.
static int chosen() { return 1; }
extern "C" {
static int (*choose())() { return chosen; }
}
static int early() __attribute__((ifunc("choose")));
const int number = early();
