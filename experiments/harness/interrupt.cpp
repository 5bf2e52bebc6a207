#include "interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace isobar {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM};
constexpr std::string_view notice =
    "\nasked to stop: finishing this step, then saving it; once more to stop at once\n";

volatile std::sig_atomic_t asked = 0;
struct sigaction before[2];

// From here on both signals do what they do by default: end the process.
void ask(int) {
  const int error = errno;
  asked = 1;
  for (int i = 0; i < 2; ++i)
    if (before[i].sa_handler != SIG_IGN) std::signal(signals[i], SIG_DFL);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, notice.data(), notice.size());
  errno = error;
}

}  // namespace

Interrupt::Interrupt() {
  asked = 0;
  struct sigaction action {};
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 2; ++i) {
    ::sigaction(signals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (int i = 0; i < 2; ++i) ::sigaction(signals[i], &before[i], nullptr);
}

bool Interrupt::requested() const { return asked != 0; }

}  // namespace isobar
