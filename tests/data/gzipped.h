// A text as a gzip file.
#pragma once

#include <zlib.h>

#include "../temporary_folder.h"

namespace isobar {

inline std::string gzipped(const std::string& text) {
  const TemporaryFolder folder;
  const gzFile file = gzopen((folder / "x.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return file_text(folder / "x.gz");
}

}  // namespace isobar
