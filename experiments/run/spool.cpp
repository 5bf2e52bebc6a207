#include "spool.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../core/error.h"
#include "../../data/file.h"

namespace isobar {
namespace {

constexpr size_t block_bytes = 8192;

[[noreturn]] void fail(const char* what, const std::string& folder) {
  throw_error(
      fmt::format("file: cannot {} a temporary file in '{}': {}", what, folder, std::strerror(errno)));
}

}  // namespace

int64_t SpoolFile::put(std::string_view bytes) {
  if (!file_) {
    const TemporaryFile file = create_temporary(folder_ + "/spool");
    ::unlink(file.path.c_str());
    file_.reset(::fdopen(file.descriptor, "w+"));
    if (!file_) fail("create", folder_);
  }
  std::fseek(file_.get(), 0, SEEK_END);
  const int64_t begin = std::ftell(file_.get());
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
  if (!written || std::fflush(file_.get()) != 0) fail("write", folder_);
  return begin;
}

void SpoolFile::get(int64_t begin, char* bytes, size_t count) const {
  std::fseek(file_.get(), begin, SEEK_SET);
  if (std::fread(bytes, 1, count, file_.get()) != count) fail("read", folder_);
}

void Spool::append(std::string_view bytes) {
  newest_ += bytes;
  if (newest_.size() < block_bytes || file_->none()) return;
  blocks_.push_back({in_file_, file_->put(newest_)});
  in_file_ += newest_.size();
  newest_.clear();
}

std::string Spool::bytes(size_t begin, size_t most) const {
  std::string all(std::min(most, size() - begin), '\0');
  const size_t stop = begin + all.size();
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const size_t first = std::max(begin, blocks_[i].first),
                 end = std::min(stop, i + 1 < blocks_.size() ? blocks_[i + 1].first : in_file_);
    if (first < end)
      file_->get(blocks_[i].place + static_cast<int64_t>(first - blocks_[i].first), &all[first - begin],
                 end - first);
  }
  const size_t first = std::max(begin, in_file_);
  if (first < stop) newest_.copy(&all[first - begin], stop - first, first - in_file_);
  return all;
}

Csv::Csv(std::string name, const std::vector<std::string>& columns, std::shared_ptr<SpoolFile> spool)
    : name_(std::move(name)),
      columns_(columns.size()),
      heading_(fmt::format("{}\n", fmt::join(columns, ","))),
      rows_(std::move(spool)) {}

void Csv::row(const std::vector<Cell>& cells) {
  check(cells.size() == columns_, "{}: wanted {} cells, got {}", name_, columns_, cells.size());
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    const auto* text = std::get_if<std::string>(&cells[i]);
    if (text == nullptr) {
      line += std::visit([](const auto& value) { return fmt::format("{}", value); }, cells[i]);
    } else if (text->find_first_of(",\"\n\r") == std::string::npos) {
      line += *text;
    } else {  // quoted, with inner quotes doubled (RFC 4180)
      line += '"';
      for (const char c : *text) line += c == '"' ? std::string("\"\"") : std::string(1, c);
      line += '"';
    }
  }
  rows_.append(line + "\n");
}

void Csv::save(const std::string& path) const {
  constexpr size_t block = size_t{1} << 20;
  OutputFile file(path);
  file.append(heading_);
  for (size_t done = 0; done < rows_.size(); done += block) file.append(rows_.bytes(done, block));
  file.finish();
  file.save();
}

}  // namespace isobar
