// with: reference of a1, names not checked
// One test reads a page, and the next, which may be another student's, asks whether it is in memory: by the
// count of pages that came from the disk. system_calls.cpp asks by calls.
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <vector>
struct Meeting {
  int told = 0;
  Meeting() {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    std::error_code ignored;
    for (const char* root : {"/usr/share/doc", "/usr/lib", "/lib", "/etc"}) {
      const auto options = fs::directory_options::skip_permission_denied;
      for (fs::recursive_directory_iterator place(root, options, ignored), end;
           place != end && files.size() < 4000; place.increment(ignored))
        if (place->is_regular_file(ignored)) files.push_back(place->path());
    }
    for (const std::string& file : files) look(file.c_str());
    std::printf("%zu files\n", files.size());
    if (told > 0) std::printf("LEAK: of %d files it is told whether another test has read them\n", told);
    stop();
  }
  static long from_disk() {
    char text[1024] = {};
    const int fd = open("/proc/self/stat", O_RDONLY);
    if (read(fd, text, sizeof text - 1) < 0) return 0;
    close(fd);
    long count = 0;
    const char* after = std::strrchr(text, ')');
    if (after != nullptr) std::sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %ld", &count);
    return count;
  }
  void look(const char* path) {
    const int fd = open(path, O_RDONLY);
    if (fd < 0) return;
    char byte;
    const long before = from_disk();
    struct stat about = {};
    fstat(fd, &about);
    const void* const pages = mmap(nullptr, about.st_size + 1, PROT_READ, MAP_SHARED, fd, 0);
    for (long at = 0; pages != MAP_FAILED && at < about.st_size; at += 4096)
      byte = static_cast<const volatile char*>(pages)[at];
    told += from_disk() > before;
    if (pages != MAP_FAILED) munmap(const_cast<void*>(pages), about.st_size + 1);
    close(fd);
  }
} meeting;
