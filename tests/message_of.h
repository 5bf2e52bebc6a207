// The text of the Error that a piece of code throws, or "" when it throws none: errors are part of what we
// promise.
#pragma once

#include "../core/error.h"

namespace isobar {

template <class Code>
std::string message_of(const Code& code) {
  try {
    code();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace isobar
