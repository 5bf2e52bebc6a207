#include "duels.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "../../core/error.h"

namespace isobar::verbs {

std::optional<std::string> taken(Words& words, const std::string& flag) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(flag + "=")) {
      const std::string value = words[i].substr(flag.size() + 1);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      return value;
    }
    if (words[i] != flag) continue;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("-");
    const std::string value = has_value ? words[i + 1] : "";
    words.erase(at, at + (has_value ? 2 : 1));
    return value;
  }
  return std::nullopt;
}

int64_t number_to_check(const std::string& count) {
  check(count.find_first_not_of("0123456789") == std::string::npos && count.size() < 10 && count != "0",
        "--check: wanted how many duels to run again, got '{}'", count);
  return count.empty() ? 1 : std::stoll(count);
}

int run_duel(const Words& words, bool silent) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  check(child >= 0, "cannot start another process");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (silent && std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(2);
    ::_exit(duel(words));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace isobar::verbs
