// What the library says of a process that sees a folder as /sys/fs/cgroup.
//
//   const TemporaryFolder groups;
//   groups.write("cpu.max", "50000 100000");
//   CHECK(answer_under(groups, available_threads) == 1);
#pragma once

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>

#include "../child_process.h"
#include "../temporary_folder.h"

namespace isobar {

// f() of a child process that sees this folder, at most 254; 255 where the system does not allow that.
template <class F>
int answer_under(const TemporaryFolder& control_groups, const F& f) {
  const int answer = in_child([&] {
    const bool seen = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                      mount(control_groups.path().c_str(), "/sys/fs/cgroup", nullptr, MS_BIND, nullptr) == 0;
    return seen ? std::min(static_cast<int>(f()), 254) : 255;
  });
  REQUIRE(answer >= 0);
  return answer;
}

}  // namespace isobar
