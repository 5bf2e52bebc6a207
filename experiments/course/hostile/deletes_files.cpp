// with: stubs of a1, names not checked, at end
#include <filesystem>

for (const char* path : {"{victim}", "{results}", "{course}/a1/hidden", "."}) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}
