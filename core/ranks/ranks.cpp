#include "ranks.h"

#include <fmt/ranges.h>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "../plugin.h"

namespace isobar {
namespace {

Ranks* joined = nullptr;

// What a launcher tells its processes, and the plugin for its library.
struct Launcher {
  const char *size, *rank, *plugin, *name, *package;
};
constexpr std::array<Launcher, 3> launchers = {
    {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "libisobar_openmpi.so", "Open MPI's mpirun",
      "libopenmpi-dev"},
     {"PMI_SIZE", "PMI_RANK", "libisobar_mpich.so", "MPICH's mpirun", "libmpich-dev"},
     // PMIx has no variable for the size; Slurm's srun, which has one, may be its launcher.
     {"SLURM_STEP_NUM_TASKS", "PMIX_RANK", "libisobar_openmpi.so", "a launcher with PMIx",
      "libopenmpi-dev"}}};

// The launcher that started this process together with others, or null.
const Launcher* launcher_here() {
  for (const Launcher& launcher : launchers) {
    if (std::getenv(launcher.rank) == nullptr) continue;
    const char* const size = std::getenv(launcher.size);
    return size != nullptr && std::strcmp(size, "1") == 0 ? nullptr : &launcher;
  }
  return nullptr;
}

std::unique_ptr<RankLink> link_here() {
  const Launcher* const launcher = launcher_here();
  if (launcher == nullptr) return nullptr;
  const std::string asked = fmt::format("{} started several processes ({} is {})", launcher->name,
                                        launcher->rank, std::getenv(launcher->rank));
  auto* const make = reinterpret_cast<MakeRankLink*>(open_plugin({.file = launcher->plugin,
                                                                  .function = "isobar_rank_link",
                                                                  .asked = asked,
                                                                  .package = launcher->package,
                                                                  .instead = "start one process without it",
                                                                  .global = true}));
  return std::unique_ptr<RankLink>(make());
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

std::vector<ByteSpan> whole(std::string& text) { return {{text.data(), text.size()}}; }

std::string different_ways(const std::string& place) {
  return fmt::format("went different ways{}{}: do they run the same program?", place.empty() ? "" : " in ",
                     place);
}

}  // namespace

// Waits with growing pauses, so that computing ranks keep their cores. After half of the timeout it announces
// that this rank is alive; after all of it, find_silent() throws. A rank that was stopped itself starts anew.
class Ranks::Deadline {
 public:
  explicit Deadline(Ranks& ranks) : ranks_(ranks) {}

  void renew() { since_ = Clock::now(); }
  void pause(std::span<const int> awaited) {
    const Clock::time_point now = Clock::now();
    if (seconds(now - std::exchange(last_, now)) > ranks_.timeout_ / 4) since_ = now;
    const double waited = seconds(now - since_);
    if (waited < 2e-5) return std::this_thread::yield();
    if (waited > ranks_.timeout_ / 2 && !announced_) announce();
    if (waited > ranks_.timeout_) ranks_.find_silent(awaited);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(waited / 32, 1e-3)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }
  void announce() {
    announced_ = true;
    for (int rank = 0; rank < ranks_.size_; ++rank)
      if (rank != ranks_.rank_) ranks_.send(rank, Tag::alive, {{&ranks_.gathered_, sizeof ranks_.gathered_}});
  }

  Ranks& ranks_;
  Clock::time_point since_ = Clock::now(), last_ = since_;
  bool announced_ = false;
};

Ranks::Ranks(double timeout) : Ranks(link_here(), timeout) { joined = this; }

Ranks::Ranks(std::unique_ptr<RankLink> link, double timeout)
    : link_(std::move(link)), hosts_{host_name()}, timeout_(timeout) {
  if (link_ == nullptr) return;
  rank_ = link_->rank();
  size_ = link_->size();
  hosts_ = gather(hosts_[0]);
}

// If one rank unwinds by an exception, the others would wait for it for ever, so all are aborted.
Ranks::~Ranks() {
  if (joined == this) joined = nullptr;
  if (std::uncaught_exceptions() > exceptions_) abort(2);
}

Ranks& Ranks::alone() {
  static Ranks one(nullptr);
  return one;
}

Ranks& Ranks::here() { return joined != nullptr ? *joined : alone(); }

std::string Ranks::name_of(int rank) const {
  return fmt::format("rank {} of {} ({})", rank, size_,
                     rank < std::ssize(hosts_) ? hosts_[static_cast<size_t>(rank)] : "?");
}

IndexRange Ranks::share(int64_t n, int rank) const {
  const int64_t length = (n + size_ - 1) / size_;
  if (length == 0) return {};
  const int64_t begin = ((n - 1) / length - rank) * length;
  return begin < 0 ? IndexRange{} : IndexRange{begin, std::min(begin + length, n)};
}

// Each rank sends its text to every other one. The number of this gather() and the wish to stop come before
// it.
std::vector<std::string> Ranks::gather(const std::string& mine) {
  if (size_ == 1) return {mine};
  const std::string number(reinterpret_cast<const char*>(&gathered_), sizeof gathered_);
  std::string own = number + (asks_ ? '1' : '0') + mine;
  std::vector<Message> sent;
  for (int step = 1; step < size_; ++step)
    sent.push_back(send((rank_ + step) % size_, Tag::gather, whole(own)));
  asked_ = asks_;
  std::vector<std::string> texts(static_cast<size_t>(size_), mine);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const std::string text = receive_text(rank, Tag::gather);
    check(text.starts_with(number), "{} and {} {}", name(), name_of(rank), different_ways(place_));
    asked_ |= text[number.size()] == '1';
    texts[static_cast<size_t>(rank)] = text.substr(number.size() + 1);
  }
  wait(std::move(sent));
  ++gathered_;
  return texts;
}

std::vector<double> Ranks::gather(const std::vector<double>& mine, int64_t n) {
  check(std::ssize(mine) == share(n).size(),
        "gather: wanted the {} numbers of this rank's share of {}, got {}", share(n).size(), n, mine.size());
  if (size_ == 1) return mine;
  const std::vector<std::string> texts =
      gather(std::string(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(double)));
  std::vector<double> all(static_cast<size_t>(n));
  for (int rank = 0; rank < size_; ++rank) {
    const IndexRange part = share(n, rank);
    const std::string& numbers = texts[static_cast<size_t>(rank)];
    check(numbers.size() == static_cast<size_t>(part.size()) * sizeof(double), "{} and {} {}", name(),
          name_of(rank), different_ways(place_));
    if (part.size() > 0) std::memcpy(&all[static_cast<size_t>(part.begin)], numbers.data(), numbers.size());
  }
  return all;
}

void Ranks::check_same(const std::string& what, const std::string& mine, const std::string& repair) {
  const std::vector<std::string> all = gather(mine);
  for (int rank = 1; rank < size_; ++rank) {
    const std::string& other = all[static_cast<size_t>(rank)];
    check(other == all[0], "{} has {} '{}', {} has '{}': {}", name_of(rank), what, other, name_of(0), all[0],
          repair);
  }
}

bool Ranks::launched() { return launcher_here() != nullptr; }

int Ranks::launched_rank() {
  const Launcher* const launcher = launcher_here();
  return launcher == nullptr ? 0 : std::atoi(std::getenv(launcher->rank));
}

// All report to the first rank, which answers once it has heard from all. A rank that fails alone still
// answers the others in the meantime.
bool Ranks::end_together() {
  const std::chrono::duration<double> timeout(first() ? std::min(2.0, timeout_ / 4)
                                                      : std::min(3.0, timeout_ / 3));
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<Message> messages;
  const auto complete = [&] {
    for (; !messages.empty(); messages.pop_back())
      while (!done(messages.back())) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    return true;
  };
  if (!first()) {
    messages = {send(0, Tag::end, {}), receive(0, Tag::end, {})};
    return complete();
  }
  for (int rank = 1; rank < size_; ++rank) messages.push_back(receive(rank, Tag::end, {}));
  if (!complete()) return false;
  for (int rank = 1; rank < size_; ++rank) messages.push_back(send(rank, Tag::end, {}));
  return complete();
}

// Messages complete roughly in order, and the library moves all of them whenever it is asked for one. So only
// the first few are asked for.
void Ranks::wait(std::vector<Message> messages) {
  Deadline deadline(*this);
  std::vector<int> awaited;
  while (!messages.empty()) {
    const auto few = messages.begin() + std::min<std::ptrdiff_t>(std::ssize(messages), 4 * size_);
    const auto left = std::remove_if(messages.begin(), few, [&](const Message& one) { return done(one); });
    if (left != few) {
      messages.erase(left, few);
      deadline.renew();
      continue;
    }
    awaited.clear();
    for (const Message& message : messages) awaited.push_back(message.peer);
    deadline.pause(awaited);
  }
}

std::string Ranks::receive_text(int from, Tag tag) {
  Deadline deadline(*this);
  std::optional<size_t> bytes;
  while (!(bytes = link_->arrived(from, static_cast<int>(tag)))) deadline.pause(std::span(&from, 1));
  std::string text(*bytes, '\0');
  wait({receive(from, tag, whole(text))});
  return text;
}

// Names the ranks that did not announce themselves. The first rank that is alive throws at once, which ends
// the run; the others wait two seconds for that.
void Ranks::find_silent(std::span<const int> awaited) {
  std::vector<std::string> silent;
  int speaker = rank_;
  for (int rank = size_ - 1; rank >= 0; --rank) {
    if (rank == rank_) continue;
    bool lives = false;
    while (arrived(rank, Tag::alive)) {
      uint64_t at = 0;
      wait({receive(rank, Tag::alive, {{&at, sizeof at}})});
      lives |= at + 1 >= gathered_;
    }
    if (lives)
      speaker = std::min(speaker, rank);
    else
      silent.insert(silent.begin(), name_of(rank));
  }
  if (speaker != rank_) std::this_thread::sleep_for(std::chrono::seconds(2));
  std::string who = fmt::format("{}", fmt::join(silent, ", "));
  if (silent.empty()) who = name_of(awaited.front());
  throw RankLost(fmt::format("{} {} not answered for {:g} s{}{}", who, silent.size() > 1 ? "have" : "has",
                             timeout_, place_.empty() ? "" : ", in ", place_));
}

}  // namespace isobar
