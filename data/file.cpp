#include "file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <regex>

#include "../core/error.h"

namespace isobar {
namespace {

[[noreturn]] void fail(std::string_view what, const std::string& path, int reason) {
  throw_error(fmt::format("file: cannot {} '{}': {}", what, path, std::strerror(reason)));
}

// A file that is open; throws where it cannot be.
struct Descriptor {
  const int number;
  Descriptor(const std::string& path, int flags) : number(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (number < 0) fail("open", path, errno);
  }
  ~Descriptor() { ::close(number); }
};

// This machine's name as a part of a file's name.
const std::string& host() {
  static const std::string name = [] {
    std::array<char, 65> bytes{};
    ::gethostname(bytes.data(), bytes.size() - 1);
    std::string text = bytes.data();
    for (char& c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return text.empty() ? "host" : text.substr(0, 32);
  }();
  return name;
}

// What a name that temporary_name() makes says: "<final name>.<host>-<process>-<count>.tmp".
struct TemporaryName {
  std::string final_name, host;
  pid_t process;
};

std::optional<TemporaryName> parse_temporary(const std::string& name) {
  static const std::regex form("(.+)\\.([A-Za-z0-9_]+)-([0-9]{1,9})-[0-9]+\\.tmp");
  std::smatch parts;
  if (!std::regex_match(name, parts, form)) return std::nullopt;
  return TemporaryName{parts[1], parts[2], std::stoi(parts[3])};
}

// The temporary files in a folder: their names, and what these say.
std::vector<std::pair<std::string, TemporaryName>> temporaries_in(const std::string& folder) {
  std::vector<std::pair<std::string, TemporaryName>> found;
  try {
    for (const std::string& file : names_in(folder))
      if (const auto name = parse_temporary(file)) found.emplace_back(folder + "/" + file, *name);
  } catch (const Error&) {  // a file that stays does no harm
  }
  return found;
}

// Of another machine's processes, which share the folder, nobody here knows.
bool has_ended(const TemporaryName& writer) {
  return writer.host == host() && ::kill(writer.process, 0) != 0 && errno == ESRCH;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Where the bytes of an output go.
struct Target {
  std::string path;
  bool in_place;  // they are written to what is there
};

// /dev/shm holds files as other folders do.
bool is_system_folder(const std::filesystem::path& folder) {
  const std::string text = folder.string() + "/";
  return text.starts_with("/proc/") || (text.starts_with("/dev/") && !text.starts_with("/dev/shm/"));
}

// Follows the symbolic links at the end of a path that the user typed.
Target target_of(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path at = path;
  for (int links = 0; links < 40; ++links) {
    std::error_code error;
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", error);
    check(
        links == 0 || (!error && at.has_filename()),
        "file: cannot write '{}': it is a symbolic link to '{}', in a folder that is not there; make the folder, or "
        "choose another file",
        path, at.string());
    if (error || !at.has_filename()) return {path, false};  // whoever creates the file says why it cannot
    const fs::path whole = folder / at.filename();
    if (is_system_folder(folder)) return {whole, true};
    if (!fs::is_symlink(whole, error)) return {links == 0 ? path : whole.string(), false};
    at = folder / fs::read_symlink(whole, error);
  }
  fail("open", path, ELOOP);
}

// Opens what is in /dev or /proc for writing. An open file of this process is shared rather than opened anew: a second
// description of a regular file would begin at its first byte and overwrite what the shell or this process wrote.
int open_in_place(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  int number = path == "/dev/stdout" ? STDOUT_FILENO : path == "/dev/stderr" ? STDERR_FILENO : -1;
  if (folder_of(path) == fmt::format("/proc/{}/fd", ::getpid()))
    std::from_chars(name.data(), name.data() + name.size(), number);
  return number >= 0 ? ::fcntl(number, F_DUPFD_CLOEXEC, 0)
                     : ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

// Syncs the folder's list of names.
void sync_folder(const std::string& path) {
  const Descriptor folder(path, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder and say EINVAL; these are left as they are.
  if (::fsync(folder.number) != 0 && errno != EINVAL) fail("sync", path, errno);
}

}  // namespace

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const auto& [leftover, parts] : temporaries_in(folder_of(path)))
    if (parts.final_name == name && has_ended(parts)) ::unlink(leftover.c_str());
  return fmt::format("{}.{}-{}-{}.tmp", path, host(), ::getpid(), count++);
}

int create_file(const std::string& path, unsigned mode) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

TemporaryFile create_temporary(const std::string& path, unsigned mode) {
  for (int attempt = 0;; ++attempt) {
    const std::string name = temporary_name(path);
    const int descriptor = create_file(name, mode);
    if (descriptor >= 0) return {name, descriptor};
    if (errno != EEXIST || attempt == 100)
      fail("create", path, errno);  // of another process with this number
  }
}

int open_to_append(const std::string& path) {
  // O_NONBLOCK: a FIFO without a reader is refused rather than waited for.
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const int reason = errno;
  struct stat status {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1)
    return descriptor;
  if (descriptor >= 0) ::close(descriptor);
  check(descriptor < 0 && reason != ELOOP && reason != ENXIO,
        "file: wanted a regular file with no other name to append to, but '{}' is not one; remove it", path);
  fail("open", path, reason);
}

void append_to(int descriptor, std::string_view bytes, const std::string& path) {
  off_t done = 0;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      const off_t end = ::lseek(descriptor, 0, SEEK_END);
      // What was written of them is taken back.
      const bool whole = done == 0 || (end >= done && ::ftruncate(descriptor, end - done) == 0);
      fail(whole ? "write" : "write the rest of a line to", path, reason);
    }
    done += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void refuse_link(const std::string& path) {
  std::error_code none;
  check(
      !std::filesystem::is_symlink(path, none),
      "file: wanted a folder, but '{}' is a symbolic link, which leads out of the folder of results; remove it",
      path);
}

bool is_written_in_place(const std::string& path) { return target_of(path).in_place; }

void write_file_atomically(const std::string& path, std::string_view bytes, PathFrom from) {
  write_files_atomically({{path, bytes, from}});
}

void write_files_atomically(const std::vector<NamedBytes>& files) {
  std::list<OutputFile> outputs;
  for (const NamedBytes& file : files) {
    OutputFile& output = outputs.emplace_back(file.path, file.from);
    output.append(file.bytes);
    output.finish();
  }
  // Part of the new files never stands beside an old last one.
  struct stat status {};
  const char* const last = files.back().path.c_str();
  if (files.size() > 1 && ::lstat(last, &status) == 0 && S_ISREG(status.st_mode)) ::unlink(last);
  for (OutputFile& output : outputs) output.save();
}

void rename_file(const std::string& from, const std::string& to) {
  struct stat status {};
  check(::lstat(to.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode),
        "file: wanted a regular file to replace, but '{}' is not one", to);
  if (::rename(from.c_str(), to.c_str()) != 0) fail(fmt::format("rename '{}' to", from), to, errno);
  sync_folder(folder_of(to));
}

void make_folder_durably(const std::string& path) {
  refuse_link(path);
  if (::mkdir(path.c_str(), 0777) == 0) return sync_folder(folder_of(path));
  const int reason = errno;
  struct stat status {};
  if (reason != EEXIST || ::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    fail("make the folder", path, reason);
}

std::optional<std::string> final_name_of(const std::string& name) {
  const auto parts = parse_temporary(name);
  return parts ? std::optional(parts->final_name) : std::nullopt;
}

void remove_temporaries(const std::string& folder,
                        const std::function<bool(const std::string& final_name)>& is_own, Machines machines) {
  for (const auto& [path, parts] : temporaries_in(folder))
    if ((machines == Machines::all || parts.host == host()) && is_own(parts.final_name))
      ::unlink(path.c_str());
}

void reserve_file(const std::string& path, size_t bytes) {
  const Descriptor file(path, O_WRONLY | O_NOFOLLOW);
  int reason = EINTR;
  while (reason == EINTR) reason = ::posix_fallocate(file.number, 0, static_cast<off_t>(bytes));
  if (reason != 0) fail("write", path, reason);
}

void finish_file(const std::string& path, size_t bytes) {
  const Descriptor file(path, O_WRONLY | O_NOFOLLOW);
  if (::ftruncate(file.number, static_cast<off_t>(bytes)) != 0 || ::fsync(file.number) != 0)
    fail("write", path, errno);
}

std::vector<std::string> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (entries == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (entries == nullptr && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (entries == nullptr) fail("list", folder, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) fail("list", folder, errno);
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::string& path, size_t limit) {
  const Descriptor file(path, O_RDONLY);
  std::string bytes;
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.number, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) return bytes;
    bytes.append(block, static_cast<size_t>(got));
    check(bytes.size() <= limit, "file: wanted at most {} bytes in '{}', got more", limit, path);
  }
}

std::string read_regular_file(const std::string& path, size_t limit) {
  const InputFile file(path);
  check(file.size() <= limit, "file: wanted at most {} bytes in '{}', got {}", limit, path, file.size());
  std::string bytes(file.size(), '\0');
  file.read(0, bytes.data(), bytes.size());
  return bytes;
}

InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    identity_ = {status.st_dev, status.st_ino};
    return;
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  throw_error(fmt::format("{}: cannot be read; is it there, and a file?", path));
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(uint64_t offset, void* bytes, size_t count) const {
  for (size_t done = 0; done < count;) {
    const ssize_t got = ::pread(descriptor_, static_cast<char*>(bytes) + done, count - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_, errno);
    check(got > 0, "{}: ends too early", path_);
    done += static_cast<size_t>(got);
  }
}

OutputFile::OutputFile(const std::string& path, PathFrom from) : path_(path) {
  const Target target = from == PathFrom::user ? target_of(path) : Target{path, false};
  target_ = target.path;
  in_place_ = target.in_place;
  // A folder of devices holds no temporary file.
  const TemporaryFile file =
      in_place_ ? create_temporary((std::filesystem::temp_directory_path() / "isobar").string(), 0600)
                : create_temporary(target_);
  temporary_ = file.path;
  descriptor_ = file.descriptor;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(uint64_t offset, std::string_view bytes) {
  // What goes to a device waits in a temporary file of another disk.
  const std::string& written_file = in_place_ ? temporary_ : path_;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", written_file, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void OutputFile::append(std::string_view bytes) {
  write(size_, bytes);
  size_ += bytes.size();
}

void OutputFile::replace(uint64_t offset, std::string_view bytes) {
  check(offset + bytes.size() <= size_, "file: wanted bytes of '{}' to replace, got {} at {} of {}", path_,
        bytes.size(), offset, size_);
  write(offset, bytes);
}

const std::string& OutputFile::finish() {
  if (descriptor_ < 0) return temporary_;  // it was finished
  if (::fsync(descriptor_) != 0) fail("write", in_place_ ? temporary_ : path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_, errno);
  return temporary_;
}

void OutputFile::save() {
  check(descriptor_ < 0, "file: finish '{}' before it is saved", path_);
  if (!in_place_) {
    rename_file(temporary_, target_);
    temporary_.clear();
    return;
  }
  const InputFile all(temporary_);
  descriptor_ = open_in_place(target_);
  if (descriptor_ < 0) fail("open", path_, errno);
  std::string block(size_t{1} << 20, '\0');
  for (uint64_t done = 0; done < all.size(); done += block.size()) {
    block.resize(std::min<uint64_t>(block.size(), all.size() - done));
    all.read(done, block.data(), block.size());
    append_to(descriptor_, block, path_);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_, errno);
}

std::string checksum(std::string_view bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::string checksum(const std::function<std::string_view()>& next) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  for (std::string_view bytes = next(); !bytes.empty(); bytes = next())
    XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

}  // namespace isobar
