// Profile: where the time of a program goes, op by op and module by module.
//
//   Profile profile;                                  // this thread's time is counted from here on
//   for (…) { Tape tape; tape.backward(loss_of(model)); optimizer.step(); }
//   for (const ProfileRow& row : profile.result().rows) fmt::print("{} {} s\n", row.name, row.seconds);
//
// Ops run one after the other. So the end of each op is a mark on the thread's timeline, and the time since
// the mark before belongs to that op: the intervals together are all of the time. (An op that the tape need
// not record counts with the next one.) Without a tape the modules mark, not the ops. Other time counts
// toward the current phase ("optimizer", "data", "evaluation"; core/phase.h), or toward "other".
//
// A profile listens to the thread that made it (tape_listener.h), and to other threads through a Timeline of
// their own. While another listener, such as a TapeTrace, hides it, all time counts toward the phase.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "../core/phase.h"
#include "tape_listener.h"

namespace isobar {

// What an interval of time was spent on.
struct Activity {
  // untaped: in a module while no tape recorded.
  enum class Part : uint8_t { forward, backward, untaped, other };

  const char* name = "other";           // lives as long as the program: "linear"; null: not counted
  const std::string* module = nullptr;  // the same, or null
  Part part = Part::other;
  bool product = false;         // of matrices in f32: bounded by arithmetic, not by memory
  double flops = 0, bytes = 0;  // the least that it takes; 0 where that is not known
  int64_t rows = 0;             // of a product's left matrix
};
// Returns "forward", "backward", ….
const char* name_of(Activity::Part part);

// The sums over several intervals.
struct Spent {
  int64_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;
  double thread_seconds = 0;  // seconds times the threads that the op could use

  void add(const Spent& other);
};

// All intervals of one activity.
struct ProfileRow : Spent {
  std::string name, module;
  Activity::Part part = Activity::Part::other;
  bool product = false;
  int64_t rows = 0;  // of the last call
};

// What Profile::result() returns.
struct ProfileResult {
  std::vector<ProfileRow> rows = {};  // those that took the most time first
  int64_t steps = 0;                  // of optimizers, where they follow a backward
  int64_t walks = 0;                  // backwards
  double seconds = 0;                 // of all rows
  double outside = 0;                 // seconds before the first tape and after the last step
};

class Profile;

// The marks of one thread.
class Timeline : public TapeListener, public PhaseListener {
 public:
  using Clock = std::chrono::steady_clock;

  // This thread's time belongs to the profile while it lives.
  explicit Timeline(Profile& profile);
  ~Timeline();
  Timeline(const Timeline&) = delete;

  // The timeline of this thread, or null.
  static Timeline* here() { return static_cast<Timeline*>(Phase::current.listener); }
  Profile& profile() const { return profile_; }

 private:
  friend class Profile;
  struct Interval {
    Activity activity;
    Clock::time_point end;
  };
  using Key = std::tuple<const char*, const std::string*, Activity::Part>;
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  // Before the first tape; in steps that have ended; since then.
  enum Stage { before, in_steps, after, stages };
  struct Totals {
    Activity last;
    std::array<Spent, stages> spent;
  };
  void opened() override;
  void called() override;
  void recorded(uint64_t tape, const Node& node, const Tensor& y,
                std::span<const Tensor* const> inputs) override;
  void backward_begins() override;
  void walking(uint64_t tape, const Node& node, const Tensor& dy) override;
  void backward_ends() override;
  void phase_ends() override;

  // Records that the time since the last mark was spent on this activity, or on the current phase.
  void mark(const Activity& activity);
  void mark_phase() { mark({.name = Phase::current.name}); }
  void fold();

  Profile& profile_;
  PhaseListener* const outer_;
  const int threads_;
  // Steps begin with the first tape; from then on the first intervals are kept for the trace.
  bool begun_ = false, walked_ = false;
  uint64_t step_;  // the last one of this thread's optimizers
  std::vector<std::optional<Activity>>
      nodes_;  // whose backward runs, for each backward pass, the outer first
  int64_t steps_ = 0, walks_ = 0;
  Clock::time_point folded_;       // the end of the last interval that is in the totals
  Clock::time_point first_begin_;  // the begin of first_[0]
  std::vector<Interval> marks_, first_;
  std::unordered_map<Key, Totals, Hash> totals_;
};

class Profile {
 public:
  // How many intervals of a thread the trace shows: the first ones from the first tape on.
  static constexpr size_t kept = 20000;

  [[nodiscard]] Profile();
  ~Profile();

  // The steps that have ended, of this thread and of those whose timelines have ended; without an optimizer's
  // step all of the time from the first tape on; without a tape all of it. Call it on the thread that made
  // the profile.
  ProfileResult result();
  // The first intervals in Chrome's trace format, for ui.perfetto.dev or chrome://tracing: one JSON object.
  std::string trace();

 private:
  friend class Timeline;
  struct Row {
    ProfileRow row;
    std::array<Spent, Timeline::stages> spent;
  };
  struct Thread {
    Timeline::Clock::time_point begin;
    std::vector<Timeline::Interval> intervals;
  };
  void take(Timeline& timeline);

  std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, Activity::Part>, Row> rows_;
  std::vector<Thread> threads_;
  bool begun_ = false;
  int64_t steps_ = 0, walks_ = 0;
  const Timeline::Clock::time_point begin_ = Timeline::Clock::now();
  std::unique_ptr<Timeline> own_;
};

}  // namespace isobar
