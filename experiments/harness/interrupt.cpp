#include "interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>
#include <string_view>

namespace isobar {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
constexpr size_t signal_count = std::size(signals);

volatile std::sig_atomic_t asked = 0;
std::string_view said;  // at the first signal
struct sigaction before[signal_count];

// From here on the signals do what they do by default: end the process.
void ask(int) {
  const int error = errno;
  asked = 1;
  for (size_t i = 0; i < signal_count; ++i)
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
  for (size_t i = 0; i < signal_count; ++i) {
    ::sigaction(signals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (size_t i = 0; i < signal_count; ++i) ::sigaction(signals[i], &before[i], nullptr);
}

bool Interrupt::requested() const { return asked != 0; }

}  // namespace isobar
