// The consumer's own file; the library has one of the same name.
#pragma once

namespace consumer {
inline constexpr int module = 2;
}
