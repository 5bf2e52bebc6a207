// LiveHdf5File: an HDF5 file on the disk that others read while it grows (HDF5's "single writer, multiple
// readers", SWMR).
//
//   LiveHdf5File live("runs/x/run.partial.h5", file);   // all that `file` holds by now
//   live.append("/series/loss", std::array{2.3});       // kept in memory …
//   live.flush();                                       // … until readers are to see it
//
// Only series can grow, the datasets of f64 that Hdf5File::append() made; nothing can be added beside them.
// Readers open it with Hdf5File::open_live(), or h5py.File(path, swmr=True), also when the writer was killed:
// then they find what was flushed last. Once the writer has closed it, it is a file like any other. Before
// HDF5 writes, the disk's room is taken: HDF5 cannot give up a file that it has no room for. Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "hdf5_file.h"

namespace isobar {

class LiveHdf5File {
 public:
  // Makes a copy of `file` beside `path`, to which it then gives that name: readers of what was there before
  // keep that. Throws Error where there is no room; `path` is then as before.
  LiveHdf5File(const std::string& path, const Hdf5File& file);
  // Flushes, if it can, and closes.
  ~LiveHdf5File();
  LiveHdf5File(const LiveHdf5File&) = delete;
  LiveHdf5File& operator=(const LiveHdf5File&) = delete;

  bool has_series(const std::string& path) const;
  // A row more, as long as the others. Throws Error where there is no such series, or the length is another.
  void append(const std::string& path, std::span<const double> row);
  // Writes the rows appended since and lets readers see them; not synced to the disk. Throws Error where
  // there is no room for them.
  void flush();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isobar
