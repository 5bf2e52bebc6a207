// Where Tiny Shakespeare lies on this machine. Nothing here touches the network: run.sh fetches the file.
#pragma once

#include <filesystem>

namespace isobar {

// The first of $ISOBAR_DATA/tinyshakespeare.txt and
// ${XDG_CACHE_HOME:-$HOME/.cache}/isobar/tinyshakespeare.txt that is a file; empty where neither is.
std::filesystem::path find_tiny_shakespeare();

}  // namespace isobar
