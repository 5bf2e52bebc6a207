// Hdf5Output.
#include <hdf5.h>

#include <map>

#include "../file.h"
#include "../hdf5_file.h"
#include "handle.h"

namespace isobar {

using namespace hdf5;

struct Hdf5Output::Parts {
  // A dataset of the file, and the rows that it does not have yet.
  struct Series {
    Rows rows;
    size_t there = 0;  // rows in the file
    std::vector<double> waiting = {};
  };

  std::string path, temporary;
  OutputFile output;
  Handle file;
  std::map<std::string, Series> series = {};

  Parts(const std::string& where, Hdf5File& source) : path(where), output(where), file(open_copy(source)) {}

  Handle open_copy(Hdf5File& source) {
    output.append(source.image());
    temporary = output.finish();
    const Handle access = file_access(path);
    return {H5Fopen(temporary.c_str(), H5F_ACC_RDWR, access), H5Fclose, path, "open the file"};
  }

  void write(Series& one) {
    const size_t bytes = one.waiting.size() * sizeof(double) + 2 * one.rows.chunk_bytes();
    reserve_file(temporary, file_size(file, path) + bytes + spare_room);
    if (one.there == 0) one.rows.make(file, path);
    Handle dataset(H5Dopen2(file, one.rows.path.c_str(), H5P_DEFAULT), H5Dclose, path,
                   fmt::format("open dataset '{}'", one.rows.path));
    const size_t count = one.waiting.size() / one.rows.length;
    try {
      one.rows.append(dataset, path, one.there, count, one.waiting.data());
      if (!dataset.shut()) fail(path, fmt::format("write dataset '{}'", one.rows.path));
    } catch (const Error&) {
      dataset.abandon();
      throw;
    }
    one.there += count;
    one.waiting.clear();
  }

  // Does it; where HDF5 fails, the file's handle is not touched any more.
  template <class Call>
  void touch(const Call& call) {
    check(file >= 0, "hdf5: {}: given up after a write that failed", path);
    try {
      call();
    } catch (const Error&) {
      file.abandon();
      throw;
    }
  }
};

Hdf5Output::Hdf5Output(const std::string& path, Hdf5File& file)
    : parts_(std::make_unique<Parts>(path, file)) {}

Hdf5Output::~Hdf5Output() = default;

void Hdf5Output::append(const std::string& path, std::span<const double> rows, size_t length) {
  Parts::Series& one =
      parts_->series.try_emplace(path, Parts::Series{{path, length, Dtype::f64}}).first->second;
  check(length == one.rows.length && !rows.empty() && rows.size() % length == 0,
        "hdf5: {}: append to '{}': wanted rows of {} values, got {} values in rows of {}", parts_->path, path,
        one.rows.length, rows.size(), length);
  one.waiting.insert(one.waiting.end(), rows.begin(), rows.end());
  if (one.waiting.size() * sizeof(double) >= one.rows.chunk_bytes())
    parts_->touch([&] { parts_->write(one); });
}

void Hdf5Output::save() {
  size_t size = 0;
  parts_->touch([&] {
    for (auto& [path, one] : parts_->series)
      if (!one.waiting.empty()) parts_->write(one);
    must(H5Fflush(parts_->file, H5F_SCOPE_LOCAL), parts_->path, "write the file");
    size = file_size(parts_->file, parts_->path);
    if (!parts_->file.shut()) fail(parts_->path, "close the file");
  });
  finish_file(parts_->temporary, size);
  parts_->output.save();
}

}  // namespace isobar
