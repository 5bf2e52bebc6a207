// with: stubs of a1, names not checked
// Other processes' command lines, environments and files: the grader's would tell. Process 1 of a room is
// bubblewrap's own.
#include <dirent.h>
#include <sys/ptrace.h>

#include <cstdlib>
struct Reader {
  Reader() {
    DIR* const folder = opendir("/proc");
    for (dirent* entry; folder && (entry = readdir(folder));) {
      const int pid = std::atoi(entry->d_name);
      if (pid <= 0 || pid == getpid()) continue;
      tell(pid, "cmdline", "{results}");
      tell(pid, "environ", "HOME=");
      tell(pid, "cwd/a1/cases.py", "");
      tell(pid, "cwd/cases.py", "");
      if (pid > 1 && ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0) std::puts("LEAK: ptrace");
    }
    stop();
  }
  void tell(int pid, const char* name, const char* word) {
    const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "r");
    char text[4096] = {};
    const size_t count = file ? std::fread(text, 1, sizeof text - 1, file) : 0;
    for (size_t i = 0; i < count; ++i) text[i] = text[i] ? text[i] : ' ';
    if (count > 0 && std::string(text).find(word) != std::string::npos) std::printf("LEAK: %s\n", name);
  }
} reader;
