// Whether AddressSanitizer works here, asked of a program that nobody has handed in. watched: reads the last of three
// numbers, and ends with 0. watched past: reads on, and must be stopped.
#include <memory>

int main(int words, char**) {
  const auto numbers = std::make_unique<volatile int[]>(3);
  return numbers[words + 1];
}
