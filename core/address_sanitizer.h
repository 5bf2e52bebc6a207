// Whether AddressSanitizer watches the program that uses the library, whether the library is built with it or
// not. It watches tensors then as all other memory: the program ends where it touches one past its end or
// after it was freed.
#pragma once

extern "C" [[gnu::weak]] void __asan_init();  // null in a program without it

namespace isobar {

inline bool watched() { return __asan_init != nullptr; }

}  // namespace isobar
