#include "bad_step.h"

#include <bit>

#include "../../core/blas.h"
#include "../../data/checksum.h"
#include "../../data/file.h"
#include "../harness/environment.h"
#include "stored_state.h"

namespace isobar {
namespace {

constexpr int64_t bad_step_format = 1;
constexpr size_t largest_bad_step = size_t{1} << 36;

BadStep parse_bad_step(const Hdf5File& file) {
  const int64_t format = file.int_attribute("/", "format");
  check(format == bad_step_format, "wanted format {}, got {} of {}; replay it with the isobar that wrote it",
        bad_step_format, format, file.text_attribute("/", "written_by"));
  BadStep step;
  step.before.config = read_stored_text(file, "/config");
  step.before.tokenizer = tokenizer_from_json(read_stored_text(file, "/tokenizer"));
  step.before.model = read_stored_tensors(file, "/model");
  step.before.step = file.int_attribute("/", "step");
  step.batch = {file.read("/batch/x"), file.read("/batch/y")};
  step.masks_key = std::bit_cast<uint64_t>(file.int_attribute("/", "masks_key"));
  step.report = read_stored_text(file, "/report");
  step.written_by = file.text_attribute("/", "written_by");
  const Tensor &x = step.batch.x, &y = step.batch.y;
  check(x.ndim() == 2 && x.numel() > 0 && is_integer(x.dtype()) && y.shape() == x.shape() &&
            is_integer(y.dtype()),
        "wanted a batch of integers, (rows, tokens) twice, got {} {} and {} {}", x.dtype(), x.shape(),
        y.dtype(), y.shape());
  const int64_t pieces = config_of(step.before).gradient_accumulation_steps;
  check(x.size(0) % pieces == 0, "wanted {} equal pieces of a batch, got {} rows", pieces, x.size(0));
  return step;
}

}  // namespace

std::string this_build() {
  return fmt::format("isobar {}, OpenBLAS {} {}", isobar_version(), blas_version(), blas_core());
}

void save_bad_step(const std::string& path, const BadStep& step) {
  Hdf5File file = Hdf5File::create("bad step");
  file.set_attribute("/", "format", bad_step_format);
  file.set_attribute("/", "written_by", step.written_by);
  store_text(file, "/config", step.before.config);
  store_text(file, "/tokenizer", step.before.tokenizer->to_json());
  store_tensors(file, "/model", step.before.model);
  file.set_attribute("/", "step", step.before.step);
  file.write("/batch/x", step.batch.x);
  file.write("/batch/y", step.batch.y);
  file.set_attribute("/", "masks_key", std::bit_cast<int64_t>(step.masks_key));
  store_text(file, "/report", step.report);
  write_file_atomically(path, add_checksum_header("bad step", file.image()));
}

BadStep load_bad_step(const std::string& path) {
  const std::string bytes = read_file(path, largest_bad_step);
  const std::string_view image = without_checksum_header("bad step", bytes, path);
  try {
    return parse_bad_step(Hdf5File::open_image(image, "its content"));
  } catch (const Error& error) {
    throw_error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace isobar
