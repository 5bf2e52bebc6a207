// Checksums: XXH3 of 64 bits (Collet, xxhash 0.8), as 16 hex digits. They find accidental damage, not
// forgery.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace isobar {

std::string checksum(std::string_view bytes);

// The same of bytes that come in pieces, each from next(), until that gives an empty one.
std::string checksum(const std::function<std::string_view()>& next);

}  // namespace isobar
