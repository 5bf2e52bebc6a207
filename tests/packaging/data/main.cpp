// A user's program that keeps a model and its optimizer in files, and reads the data that come with Isobar. Its
// argument is the folder that Isobar is installed in: the data must be there, not in a source tree.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <isobar/data/data.h>
#include <isobar/isobar.h>

using namespace isobar;

bool is_installed(const std::filesystem::path& data, const std::filesystem::path& prefix) {
  std::printf("%s is read from %s\n", data.filename().c_str(), data.parent_path().c_str());
  return *std::filesystem::relative(data, prefix).begin() == "share";
}

int main(int argc, char** argv) {
  ::unsetenv("ISOBAR_DATA");
  if (argc != 2 || !is_installed(find_tiny_shakespeare(), argv[1]) || !is_installed(find_mnist(), argv[1])) {
    std::printf("wanted the data in share/ of the installed isobar\n");
    return 1;
  }
  Linear model(3, 2, Rng(1)), other(3, 2, Rng(2));
  AdamW optimizer(parameters(model)), later(parameters(other));
  save_safetensors("model.safetensors", named_state(model));
  save_safetensors("optimizer.safetensors", named_state(optimizer));
  load_state(other, load_safetensors("model.safetensors"));
  load_state(later, load_safetensors("optimizer.safetensors"));
  const Tensor x = Rng(3).normal({4, 3});
  const bool same = other(x).to_vector<float>() == model(x).to_vector<float>();
  std::printf("the model read back gives %s values\n", same ? "the same" : "other");
  return same ? 0 : 1;
}
