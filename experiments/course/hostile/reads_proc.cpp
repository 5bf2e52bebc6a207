// with: stubs of a1, names not checked
// Other processes' command lines, environments, memory and files.
#include <dirent.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
struct Reader {
  Reader() {
    DIR* const folder = opendir("/proc");
    for (dirent* entry; folder && (entry = readdir(folder));) {
      const int pid = std::atoi(entry->d_name);
      if (pid <= 0 || pid == getpid()) continue;
      for (const char* file : {"cmdline", "environ", "mem", "fd/0", "cwd/cases.py"}) tell(pid, file);
      if (ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0) std::puts("LEAK: ptrace");
    }
    std::fflush(stdout);
    __builtin_trap();
  }
  void tell(int pid, const char* name) {
    const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "r");
    char text[4096] = {};
    const size_t count = file ? std::fread(text, 1, sizeof text - 1, file) : 0;
    for (size_t i = 0; i < count; ++i) text[i] = text[i] ? text[i] : ' ';
    if (std::string(text).find("{results}") != std::string::npos)
      std::puts("LEAK: the grader's command line");
    if (count > 0 && name[0] != 'c') std::printf("LEAK: %s of a process\n", name);
  }
} reader;
