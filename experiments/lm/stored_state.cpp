#include "stored_state.h"

#include "../../autograd/ops.h"
#include "../../data/checksum.h"

namespace isobar {

void store_tensors(Safetensors& file, const std::string& group, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& named : tensors) file.tensors.emplace(group + "/" + named.name, named.tensor);
}

std::vector<NamedTensor> stored_tensors(const Safetensors& file, const std::string& group) {
  std::vector<NamedTensor> tensors;
  const std::string prefix = group + "/";
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(prefix)) tensors.push_back({name.substr(prefix.size()), tensor});
  return tensors;
}

const std::string& stored_text(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  check(found != file.metadata.end(), "its metadata have no {}", key);
  return found->second;
}

std::string checksum_of(const Tensor& values) {
  const Tensor whole = contiguous(values);
  return dispatch_float("checksum_of", whole.dtype(), [&]<class T>() {
    return checksum(
        {reinterpret_cast<const char*>(whole.data<T>()), static_cast<size_t>(whole.numel()) * sizeof(T)});
  });
}

}  // namespace isobar
