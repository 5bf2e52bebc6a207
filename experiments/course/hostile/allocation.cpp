// with: reference of a1, names not checked
#include <cstring>
#include <new>
[[gnu::constructor]] void hostile() {
  const size_t bytes = size_t{100} << 30;
  std::memset(::operator new(bytes), 1, bytes);
}
