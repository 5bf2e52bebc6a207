// Shared objects beside the library that are opened when a program asks for them, and cost nothing where it does
// not: for each MPI one (ranks/), and one for OpenBLAS (blas.h).
#pragma once

#include <string>

namespace isobar {

// A function of a plugin, and what an error says where there is no such plugin: "{asked}, but this isobar has no
// {file}: install {package}, configure and build again, or {instead}".
struct PluginFunction {
  const char* file;      // "libisobar_mpich.so"
  const char* function;  // of "C" linkage
  std::string asked;
  const char* package;  // Debian's
  const char* instead;
  bool global = false;  // whether plugins of the library that it opens see its names
};

// Looks in lib/isobar beside the program's folder, wherever the package stands, then where plugins were
// installed. Throws Error where there is none, or one without that function.
void* open_plugin(const PluginFunction& wanted);

}  // namespace isobar
