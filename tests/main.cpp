// The test program: doctest's main. `isobar_tests -tc='*dropout*'` runs the cases that match.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
