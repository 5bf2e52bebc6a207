#include "interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace isobar {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t asked = 0;
std::string_view said;  // at the first signal
struct sigaction before[2];

// From here on both signals do what they do by default: end the process.
void ask(int) {
  const int error = errno;
  asked = 1;
  for (int i = 0; i < 2; ++i)
    if (before[i].sa_handler != SIG_IGN) std::signal(signals[i], SIG_DFL);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, said.data(), said.size());
  errno = error;
}

}  // namespace

Interrupt::Interrupt(const char* notice) {
  asked = 0;
  said = notice;
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
