// Prints a program that has each op, as C++; the build compiles it, and random_program_test.cpp runs it.
#include "../program.h"

int main() { fmt::print("{}", isobar::random_programs::cpp_text(isobar::random_programs::one_of_each())); }
