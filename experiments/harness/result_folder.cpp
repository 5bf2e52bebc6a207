#include "result_folder.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "json.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

// "run.partial.h5" for "run.h5".
std::string partial_name(const std::string& name) {
  const fs::path path(name);
  return path.stem().string() + ".partial" + path.extension().string();
}

// A name in the folder itself, and no way out of it.
bool plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
}

// The files that an earlier run left, as its summary lists them. A summary that is not ours lists none.
std::vector<std::string> listed_files(const std::string& summary) {
  std::vector<std::string> names;
  if (!fs::exists(summary)) return names;
  const Json old = parse_json<Json>(read_file(summary, size_t{1} << 28));
  if (!old.is_object() || !old.contains("files") || !old["files"].is_array()) return names;
  for (const Json& name : old["files"])
    if (name.is_string() && plain_name(name.get<std::string>())) names.push_back(name.get<std::string>());
  return names;
}

// The folder and its parents that do not exist yet, innermost first.
std::vector<std::string> missing_folders(const std::string& folder) {
  std::vector<std::string> missing;
  std::error_code ignored;  // what cannot be looked at cannot be made either, and then says why
  for (fs::path path = fs::absolute(folder).lexically_normal();
       !fs::exists(path, ignored) && path.has_relative_path(); path = path.parent_path())
    if (path.has_filename()) missing.push_back(path.string());
  return missing;
}

// Locks an open folder, or leaves why not in errno. `isobar watch` holds the lock for an instant.
bool lock_alone(int folder) {
  for (int left = 20; ::flock(folder, LOCK_EX | LOCK_NB) != 0; --left) {
    if (errno != EWOULDBLOCK || left == 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

constexpr size_t block_bytes = 8192;

[[noreturn]] void fail(const char* what, const std::string& folder) {
  throw_error(
      fmt::format("file: cannot {} a temporary file in '{}': {}", what, folder, std::strerror(errno)));
}

}  // namespace

ResultFolder::ResultFolder(const std::string& path, bool force) : path_(path), made_(missing_folders(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    remove_empty_folders();
    throw_error(
        fmt::format("--out: cannot make the folder '{}': {}; choose another", path_, error.message()));
  }
  check(force || !fs::exists(fs::path(path_) / "summary.json", error),
        "--out: '{}' holds a finished run; add --force to replace it, or choose another folder", path_);
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(lock_ >= 0, "--out: cannot open the folder '{}': {}", path_, std::strerror(errno));
  if (::access(path_.c_str(), W_OK) == 0 && lock_alone(lock_)) {
    remove_temporaries(path_);
    return;
  }
  const int reason = errno;
  ::close(lock_);
  throw_error(
      reason == EWOULDBLOCK
          ? fmt::format("--out: another run is writing into '{}'; choose another folder", path_)
          : fmt::format("--out: cannot write into '{}': {}; choose another", path_, std::strerror(reason)));
}

ResultFolder::~ResultFolder() {
  if (!published_) {
    for (size_t i = staying_; i < names_.size(); ++i)
      ::unlink((path_ + "/" + partial_name(names_[i])).c_str());
    remove_empty_folders();
  }
  ::close(lock_);
}

void ResultFolder::remove_empty_folders() {
  for (const std::string& folder : made_)
    if (::rmdir(folder.c_str()) != 0) break;
}

void ResultFolder::announce(const std::string& name) {
  check(plain_name(name), "result folder: wanted a plain file name, got '{}'", name);
  check(std::ranges::count(names_, name) == 0, "result folder: '{}' is written twice", name);
  names_.push_back(name);
}

std::string ResultFolder::partial(const std::string& name) {
  announce(name);
  return path_ + "/" + partial_name(name);
}

std::string ResultFolder::growing(const std::string& name) {
  announce(name);
  remove_earlier_run();
  growing_.push_back(name);
  staying_ = names_.size();
  return path_ + "/" + name;
}

// From here on the folder holds no finished run, until a new summary is there.
void ResultFolder::remove_earlier_run() {
  const std::string summary = path_ + "/summary.json";
  const std::vector<std::string> old = listed_files(summary);
  ::unlink(summary.c_str());
  for (const std::string& name : old) ::unlink((path_ + "/" + name).c_str());
}

void ResultFolder::publish() {
  remove_earlier_run();
  std::stable_partition(names_.begin(), names_.end(), [](auto& name) { return name != "summary.json"; });
  for (const std::string& name : names_)
    if (std::ranges::count(growing_, name) == 0)
      rename_file(path_ + "/" + partial_name(name), path_ + "/" + name);
  published_ = true;
}

int64_t SpoolFile::put(std::string_view bytes) {
  if (!file_) {
    const std::string path = temporary_name(folder_ + "/spool");
    file_.reset(std::fopen(path.c_str(), "w+xe"));
    if (!file_) fail("create", folder_);
    ::unlink(path.c_str());
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
