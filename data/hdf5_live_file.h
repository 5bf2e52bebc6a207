// LiveHdf5File: an HDF5 file on the disk that other processes can read while it grows (HDF5's "single writer,
// multiple readers", SWMR).
//
//   LiveHdf5File live("runs/x/run.partial.h5", file, {{"/series/loss", 1}});   // a copy of `file`, and a series
//   live.append("/series/loss", std::array{2.3});                              // kept in memory
//   live.flush();                                                              // written, readers see it
//
// Only series can grow: f64 datasets that are named in the beginning; no objects can be added. Readers open
// it with Hdf5File::open_live(), or h5py.File(path, swmr=True); if the writer was killed, they see what was
// flushed last. After the writer has closed it, it is an ordinary HDF5 file.
//
// HDF5 cannot recover from a write that fails, and crashes when it closes such a file. So the copy is made in
// memory and written by file.h, disk space is allocated before HDF5 writes, and after its first failed call
// the file is left as it is: what readers saw stays, and flush() throws from then on. Not thread-safe.
#pragma once

#include <memory>

#include "hdf5_file.h"

namespace isobar {

class LiveHdf5File {
 public:
  // A series of rows of `length` values.
  struct Series {
    std::string path;
    size_t length;
  };

  // Writes a copy of `file` with these series, still empty, to a temporary file and renames it to `path`;
  // readers of an older file at `path` keep reading that. Throws Error on a full disk; `path` is then
  // unchanged.
  LiveHdf5File(const std::string& path, const Hdf5File& file, const std::vector<Series>& series);
  // Flushes and closes, as far as the disk takes it.
  ~LiveHdf5File();
  LiveHdf5File(const LiveHdf5File&) = delete;
  LiveHdf5File& operator=(const LiveHdf5File&) = delete;

  bool has_series(const std::string& path) const;
  // Adds a row to a series. Throws Error if there is no such series or its rows have another length.
  void append(const std::string& path, std::span<const double> row);
  // Writes the rows appended since the last flush and shows them to readers; does not sync to the disk.
  // Throws Error where the disk does not take it.
  void flush();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isobar
