// with: reference of a1, names not checked, at start
#include <cstring>
#include <new>

const size_t bytes = size_t{100} << 30;
std::memset(::operator new(bytes), 1, bytes);
