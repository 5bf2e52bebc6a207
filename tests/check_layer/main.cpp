// check_layer: checks the library's own layers, the rows of the module table, by name.
//
//   check_layer RMSNorm "Linear without bias"     their reports; exit code 1 when one of them fails
//   check_layer                                   all
//   check_layer --list                            the names
#include "../../nn/check/check_layer.h"

#include "../module_table.h"

int main(int argc, char** argv) {
  std::vector<isobar::CheckedLayer> layers;
  for (const isobar::ModuleRow& row : isobar::module_rows())
    layers.push_back({row.name, row.make, isobar::input_of(row)});
  return isobar::check_layer_main(argc, argv, layers);
}
