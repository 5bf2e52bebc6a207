// OwnNorm: a norm in a header of the user's, and what the header's text says of it before a compiler sees it.
#pragma once

#include <string>
#include <vector>

namespace isobar::duel {

struct OwnNorm {
  std::string header;  // as the user named it, which is the norm's registered name too
  std::string path;    // from the root
  std::string type;    // its struct: "ISRU", "mine::ISRU"

  bool operator==(const OwnNorm&) const = default;
};

// The struct of a header's text that derives from Module; of several, the one that is called as the file is:
// FusedISRU in fused_isru.h. Throws Error where there is none, more than one, or a template.
std::string module_in(const std::string& text, const std::string& header);

// Those of these headers, each once. Throws Error where a file cannot be read, and where two headers have a
// struct of one name: of two such structs a program would have one, for both.
std::vector<OwnNorm> own_norms(const std::vector<std::string>& headers);

// The text with `value` for each `name`.
std::string replaced(std::string text, const std::string& name, const std::string& value);
// A source that registers them, each under its header's name.
std::string registration_of(const std::vector<OwnNorm>& norms);
// A program that checks them: check_layer_main() of each, on x (2, 5, 7).
std::string checking_of(const std::vector<OwnNorm>& norms);

}  // namespace isobar::duel
