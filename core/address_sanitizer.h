// Whether the program runs under AddressSanitizer, even where the library itself is built without it. Tensors are
// then checked as all other memory is: the program ends where it reads one past its end or after it was freed.
#pragma once

extern "C" [[gnu::weak]] void __asan_init();  // null in a program without it

namespace isobar {

inline bool watched() { return __asan_init != nullptr; }

}  // namespace isobar
