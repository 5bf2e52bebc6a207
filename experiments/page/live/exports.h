// What the module's parts share: how a function is seen by the page, and texts that go in and out (module.cpp).
#pragma once

#include <string>

#include "../../run/json.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))
#define IMPORT(name) extern "C" __attribute__((import_module("page"), import_name(#name)))

namespace isobar::live {

extern std::string words;  // in and out
void answer(const Json& json);

}  // namespace isobar::live
