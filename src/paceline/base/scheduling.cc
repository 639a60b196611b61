// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/scheduling.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paceline {
namespace {

// The kernel's `struct sched_attr` in its first version, which not every
// system's headers have.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // the slice, ns; set to 0: the system's own
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

bool is_ordinary(std::uint32_t policy) {
  return policy == SCHED_OTHER || policy == SCHED_BATCH;
}

// Changes a thread if it is ordinary; returns what it was.  0: the calling one.
Attributes exchange(pid_t thread,
                    std::uint32_t policy,
                    std::uint64_t slice_ns) {
  Attributes before{.policy = SCHED_FIFO};
  if (syscall(SYS_sched_getattr, thread, &before, sizeof before, 0) == 0 &&
      is_ordinary(before.policy)) {
    Attributes now = before;
    now.policy = policy;
    now.runtime = slice_ns;
    syscall(SYS_sched_setattr, thread, &now, 0);
  }
  return before;
}

Attributes exchange(pid_t thread, Scheduling scheduling) {
  constexpr std::uint64_t kShortSliceNs = 100'000;
  return scheduling == Scheduling::kShortSlice
             ? exchange(thread, SCHED_OTHER, kShortSliceNs)
             : exchange(thread, SCHED_BATCH, 0);
}

std::set<pid_t> threads_of_process() {
  std::set<pid_t> threads;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    threads.insert(std::stoi(entry.path().filename()));
  }
  return threads;
}

}  // namespace

ScopedScheduling::ScopedScheduling(Scheduling scheduling) {
  const Attributes before = exchange(0, scheduling);
  policy_ = before.policy;
  slice_ns_ = before.runtime;
}

ScopedScheduling::~ScopedScheduling() {
  if (is_ordinary(policy_)) {
    exchange(0, policy_, slice_ns_);
  }
}

void SwitchedThreads::add_started_by(const std::function<void()>& start) {
  const std::set<pid_t> before = threads_of_process();
  start();
  std::ranges::set_difference(
      threads_of_process(), before, std::back_inserter(threads_));
}

void SwitchedThreads::schedule(Scheduling scheduling) const {
  for (const pid_t thread : threads_) {
    exchange(thread, scheduling);
  }
}

void tighten_timer_slack() {
  constexpr unsigned long kTimerSlackNs = 1'000;
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
}

}  // namespace paceline
