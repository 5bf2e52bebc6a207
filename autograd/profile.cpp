#include "profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>

#include "../core/json_string.h"
#include "../core/parallel.h"
#include "../core/steps.h"
#include "op_costs.h"

namespace isobar {
namespace {

double seconds_of(Timeline::Clock::duration time) { return std::chrono::duration<double>(time).count(); }
double microseconds_of(Timeline::Clock::duration time) { return 1e6 * seconds_of(time); }

// A complete event of Chrome's format; times in microseconds.
void add_event(std::string& text, const Activity& activity, double start, double duration, int tid) {
  const char* const kind = activity.part == Activity::Part::other ? "other" : name_of(activity.part);
  fmt::format_to(
      std::back_inserter(text),
      ",\n{{\"name\": {}, \"cat\": {}, \"ph\": \"X\", \"ts\": {:.3f}, \"dur\": {:.3f}, \"pid\": 1, "
      "\"tid\": {}, \"args\": {{\"module\": {}, \"flops\": {}, \"bytes\": {}}}}}",
      json_string(activity.name), json_string(kind), start, duration, tid,
      json_string(activity.module != nullptr ? *activity.module : ""), activity.flops, activity.bytes);
}

}  // namespace

const char* name_of(Activity::Part part) {
  constexpr const char* names[] = {"forward", "backward", "no tape", ""};
  static_assert(std::size(names) == static_cast<size_t>(Activity::Part::other) + 1);
  return names[static_cast<size_t>(part)];
}

Timeline::Timeline(Profile& profile)
    : profile_(profile),
      outer_(std::exchange(Phase::current.listener, this)),
      threads_(threads()),
      step_(steps::last_here()) {
  constexpr size_t marks = 4096;  // stay in the second-level cache
  marks_.reserve(marks);
  first_.reserve(Profile::kept);
  folded_ = Clock::now();
}

Timeline::~Timeline() {
  mark_phase();
  Phase::current.listener = outer_;
  profile_.take(*this);
  const std::lock_guard lock(profile_.mutex_);
  profile_.threads_.push_back({first_begin_, std::move(first_)});
}

void Timeline::opened() {
  mark_phase();
  if (begun_) return;
  fold();
  begun_ = true;
  first_begin_ = folded_;
}

// Ops that a tape records have marks of their own, and those of a node's backward belong to that node.
void Timeline::called() {
  if (Tape::active() != nullptr || !nodes_.empty()) return;
  if (recording.scope == nullptr)
    mark_phase();
  else
    mark({.name = "ops", .module = recording.scope, .part = Activity::Part::untaped});
}

void Timeline::recorded(uint64_t, const Node& node, const Tensor&, std::span<const Tensor* const>) {
  mark(cost_of(node, Activity::Part::forward));
}

void Timeline::backward_begins() {
  if (nodes_.empty()) mark_phase();
  nodes_.emplace_back();
}

// A node's time has the sums of its gradients and those of other nodes, so it ends where the next one begins.
void Timeline::walking(uint64_t, const Node& node, const Tensor&) {
  if (nodes_.empty()) return;  // this timeline began in the backward of a node
  if (nodes_.back()) mark(*nodes_.back());
  nodes_.back() = cost_of(node, Activity::Part::backward);
}

void Timeline::backward_ends() {
  if (nodes_.back()) mark(*nodes_.back());
  nodes_.pop_back();
  if (nodes_.empty()) ++walks_, walked_ = true;
}

// Where the phase was an optimizer's step, a step of the training ends, if a backward pass came before.
void Timeline::phase_ends() {
  mark_phase();
  const uint64_t step = steps::last_here();
  if (std::exchange(step_, step) == step || !std::exchange(walked_, false)) return;
  fold();
  for (auto& [key, totals] : totals_) totals.spent[in_steps].add(std::exchange(totals.spent[after], Spent()));
  ++steps_;
}

size_t Timeline::Hash::operator()(const Key& key) const {
  const auto [name, module, part] = key;
  return std::hash<const void*>()(name) * 31 + std::hash<const void*>()(module) * 7 +
         static_cast<size_t>(part);
}

void Spent::add(const Spent& other) {
  calls += other.calls;
  seconds += other.seconds;
  flops += other.flops;
  bytes += other.bytes;
  thread_seconds += other.thread_seconds;
}

void Timeline::mark(const Activity& activity) {
  marks_.push_back({activity, Clock::now()});
  if (marks_.size() == marks_.capacity()) fold();
}

// Adds the marks to the totals.
void Timeline::fold() {
  for (const Interval& interval : marks_) {
    const Activity& activity = interval.activity;
    if (begun_ && first_.size() < Profile::kept) first_.push_back(interval);
    const double seconds = seconds_of(interval.end - std::exchange(folded_, interval.end));
    if (activity.name == nullptr) continue;
    Totals& totals = totals_[{activity.name, activity.module, activity.part}];
    totals.last = activity;
    totals.spent[begun_ ? after : before].add({.calls = 1,
                                               .seconds = seconds,
                                               .flops = activity.flops,
                                               .bytes = activity.bytes,
                                               .thread_seconds = threads_ * seconds});
  }
  marks_.clear();
}

Profile::Profile() { own_ = std::make_unique<Timeline>(*this); }
Profile::~Profile() { own_.reset(); }

// Moves what the timeline has counted to the profile.
void Profile::take(Timeline& timeline) {
  timeline.fold();
  const std::lock_guard lock(mutex_);
  begun_ |= timeline.begun_;
  steps_ += std::exchange(timeline.steps_, 0);
  walks_ += std::exchange(timeline.walks_, 0);
  for (auto& [key, totals] : timeline.totals_) {
    const Activity& last = totals.last;
    const std::string module = last.module != nullptr ? *last.module : "";
    Row& row = rows_[{last.name, module, last.part}];
    row.row.name = last.name;
    row.row.module = module;
    row.row.part = last.part;
    row.row.product = last.product;
    row.row.rows = last.rows;
    for (size_t stage = 0; stage < Timeline::stages; ++stage)
      row.spent[stage].add(std::exchange(totals.spent[stage], Spent()));
  }
}

ProfileResult Profile::result() {
  assert(Timeline::here() == own_.get());
  own_->mark_phase();
  take(*own_);
  const std::lock_guard lock(mutex_);
  ProfileResult result{.rows = {}, .steps = steps_, .walks = walks_, .seconds = 0, .outside = 0};
  for (const auto& [key, counted] : rows_) {
    ProfileRow row = counted.row;
    for (const Timeline::Stage stage : {Timeline::before, Timeline::in_steps, Timeline::after}) {
      const Spent& spent = counted.spent[stage];
      if (steps_ > 0 ? stage == Timeline::in_steps : !begun_ || stage != Timeline::before)
        row.add(spent);
      else
        result.outside += spent.seconds;
    }
    result.seconds += row.seconds;
    if (row.calls > 0) result.rows.push_back(std::move(row));
  }
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return result;
}

std::string Profile::trace() {
  take(*own_);
  const std::lock_guard lock(mutex_);
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  int tid = 0;
  const auto add = [&](Timeline::Clock::time_point begin, const std::vector<Timeline::Interval>& intervals) {
    fmt::format_to(std::back_inserter(text),
                   "{}\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"args\": "
                   "{{\"name\": \"thread {}\"}}}}",
                   tid > 0 ? "," : "", tid, tid);
    for (const Timeline::Interval& interval : intervals) {
      const Timeline::Clock::time_point start = std::exchange(begin, interval.end);
      if (interval.activity.name != nullptr)
        add_event(text, interval.activity, microseconds_of(start - begin_),
                  microseconds_of(interval.end - start), tid);
    }
    ++tid;
  };
  add(own_->first_begin_, own_->first_);
  for (const Thread& thread : threads_) add(thread.begin, thread.intervals);
  return text + "\n]}\n";
}

}  // namespace isobar
