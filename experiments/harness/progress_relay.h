// ProgressRelay: while it lives, what this thread advances goes to a function first. The bar may be another process's.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "progress.h"

namespace isobar {

class ProgressRelay {
 public:
  // Returns whether it has taken the steps; if not, the bar shows them.
  using Take = std::function<bool(Progress&, int64_t steps, std::string_view note)>;
  explicit ProgressRelay(Take take) : take_(std::move(take)) { here_ = this; }
  ~ProgressRelay() { here_ = nullptr; }
  ProgressRelay(const ProgressRelay&) = delete;
  ProgressRelay& operator=(const ProgressRelay&) = delete;

  static bool takes(Progress& progress, int64_t steps, std::string_view note) {
    return here_ != nullptr && here_->take_(progress, steps, note);
  }

 private:
  const Take take_;
  static inline thread_local const ProgressRelay* here_ = nullptr;
};

}  // namespace isobar
