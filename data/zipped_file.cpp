#include "zipped_file.h"

#include <zlib.h>

#include "../core/error.h"

namespace isobar {

ZippedFile::ZippedFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {}

void ZippedFile::Close::operator()(gzFile_s* file) const { gzclose(file); }

bool ZippedFile::is_plain() const { return gzdirect(file_.get()) != 0; }

// gzread() of zlib 1.3.2 does not tell that a stream was cut, as earlier ones do; gzclose() of all does.
size_t ZippedFile::read(void* bytes, size_t wanted, const char* reader) {
  if (ended_) return 0;
  const int got = gzread(file_.get(), bytes, static_cast<unsigned>(wanted));
  int code = Z_OK;
  const char* const reason = gzerror(file_.get(), &code);  // starts with the path
  check(got >= 0 && (code == Z_OK || code == Z_STREAM_END), "{}: cannot read {}", reader, reason);
  if (static_cast<size_t>(got) == wanted) return wanted;
  ended_ = true;
  check(gzclose(file_.release()) == Z_OK, "{}: cannot read {}: unexpected end of file", reader, path_);
  return static_cast<size_t>(got);
}

}  // namespace isobar
