// A program for the clock: it computes when it is told. clocked ROWS WIDTH
//
// A byte comes in by file descriptor 0, a byte goes out by 3 when it is done. The shared memory of descriptor
// 4 holds x (ROWS, WIDTH), weight (WIDTH) and y (ROWS, WIDTH). Who tells it takes the time.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "a9.h"

int main(int, char** words) {
  const int64_t rows = std::atoll(words[1]), width = std::atoll(words[2]);
  const size_t bytes = sizeof(float) * (2 * rows * width + width);
  void* const shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
  if (shared == MAP_FAILED) return 1;
  const float* const x = static_cast<float*>(shared);
  const float* const weight = x + rows * width;
  float* const y = static_cast<float*>(shared) + rows * width + width;
  std::vector<Row> saved(rows);
  for (char byte = 0; write(3, &byte, 1) == 1 && read(0, &byte, 1) == 1;)
    softmax_rms_norm(x, weight, y, saved.data(), rows, width, 1e-6f);
  return 0;
}
