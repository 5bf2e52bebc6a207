// The path of Tiny Shakespeare. Nothing here uses the network: run.sh downloads the file.
#pragma once

#include <filesystem>

namespace isobar {

// The first of $ISOBAR_DATA/tinyshakespeare.txt and
// ${XDG_CACHE_HOME:-$HOME/.cache}/isobar/tinyshakespeare.txt that is a file; empty if neither is.
std::filesystem::path find_tiny_shakespeare();

}  // namespace isobar
