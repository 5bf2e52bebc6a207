// A program that links core/cpu_check.cpp built for a CPU that does not exist: main is never reached.
#include <cstdio>

int main() { std::puts("main was reached"); }
