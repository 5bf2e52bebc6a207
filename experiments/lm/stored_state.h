// What checkpoint files and bad_step.h5 share: named tensors and texts in HDF5.
#pragma once

#include <string>
#include <vector>

#include "../../core/fields.h"
#include "../../data/hdf5_file.h"

namespace isobar {

// A dataset <group>/<name> for each, in the order of their names, so that the same state gives the same bytes.
void store_tensors(Hdf5File& file, const std::string& group, std::vector<NamedTensor> tensors);
std::vector<NamedTensor> read_stored_tensors(const Hdf5File& file, const std::string& group);

// XXH3 of a tensor's bytes.
std::string checksum_of(const Tensor& values);

// A dataset of one text. Throws Error where it holds none or several.
void store_text(Hdf5File& file, const std::string& path, const std::string& text);
std::string read_stored_text(const Hdf5File& file, const std::string& path);

}  // namespace isobar
