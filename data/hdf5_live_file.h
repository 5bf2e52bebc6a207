// LiveHdf5File: an HDF5 file on the disk that other processes can read while it grows (HDF5's "single writer,
// multiple readers", SWMR).
//
//   LiveHdf5File live("runs/x/run.partial.h5", file);   // a copy of `file`
//   live.append("/series/loss", std::array{2.3});       // kept in memory
//   live.flush();                                       // written, readers see it
//
// Only series can grow: f64 datasets made by Hdf5File::append(). No objects can be added. Readers open it
// with Hdf5File::open_live(), or h5py.File(path, swmr=True); if the writer was killed, they see what was
// flushed last. After the writer has closed it, it is an ordinary HDF5 file. Disk space is allocated before
// HDF5 writes: HDF5 cannot recover from a full disk. Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "hdf5_file.h"

namespace isobar {

class LiveHdf5File {
 public:
  // Copies `file` to a temporary file and renames it to `path`; readers of an older file at `path` keep
  // reading that. Throws Error on a full disk; `path` is then unchanged.
  LiveHdf5File(const std::string& path, const Hdf5File& file);
  // Flushes, unless the disk is full, and closes.
  ~LiveHdf5File();
  LiveHdf5File(const LiveHdf5File&) = delete;
  LiveHdf5File& operator=(const LiveHdf5File&) = delete;

  bool has_series(const std::string& path) const;
  // Adds a row to a series. Throws Error if there is no such series or its rows have another length.
  void append(const std::string& path, std::span<const double> row);
  // Writes the rows appended since the last flush and shows them to readers; does not sync to the disk.
  // Throws Error on a full disk.
  void flush();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isobar
