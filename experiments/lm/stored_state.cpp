#include "stored_state.h"

#include <algorithm>

#include "../../autograd/ops.h"
#include "../../data/checksum.h"

namespace isobar {

// In the order of their names, so that the same state gives the same bytes.
void store_tensors(Hdf5File& file, const std::string& group, std::vector<NamedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  file.make_group(group);
  for (const NamedTensor& named : tensors) file.write(group + "/" + named.name, named.tensor);
}

std::vector<NamedTensor> read_stored_tensors(const Hdf5File& file, const std::string& group) {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : file.names(group)) tensors.push_back({name, file.read(group + "/" + name)});
  return tensors;
}

std::string checksum_of(const Tensor& values) {
  const Tensor whole = contiguous(values);
  return dispatch_float("checksum_of", whole.dtype(), [&]<class T>() {
    return checksum(
        {reinterpret_cast<const char*>(whole.data<T>()), static_cast<size_t>(whole.numel()) * sizeof(T)});
  });
}

void store_text(Hdf5File& file, const std::string& path, const std::string& text) {
  file.write(path, std::vector<std::string>{text});
}

std::string read_stored_text(const Hdf5File& file, const std::string& path) {
  const std::vector<std::string> texts = file.read_strings(path);
  check(texts.size() == 1, "wanted one text in '{}', got {}", path, texts.size());
  return texts[0];
}

}  // namespace isobar
