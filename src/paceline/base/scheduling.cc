// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/scheduling.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paceline {
namespace {

// The first version of the kernel's `struct sched_attr`, which some systems' headers lack.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // the time slice in ns; setting 0 selects the system's default
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

constexpr std::uint64_t kShortSliceNs = 100'000;

bool is_ordinary(std::uint32_t policy) { return policy == SCHED_OTHER || policy == SCHED_BATCH; }

// Changes the calling thread's scheduling if its policy is ordinary, and returns the former
// scheduling.
Attributes exchange_scheduling(std::uint32_t policy, std::uint64_t slice_ns) {
  Attributes before{.policy = SCHED_FIFO};
  if (syscall(SYS_sched_getattr, 0, &before, sizeof before, 0) == 0 && is_ordinary(before.policy)) {
    Attributes now = before;
    now.policy = policy;
    now.runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &now, 0);
  }
  return before;
}

}  // namespace

ScopedScheduling::ScopedScheduling(Scheduling scheduling) {
  if (scheduling == Scheduling::kUnchanged) {
    policy_ = SCHED_FIFO;  // with this policy the destructor changes nothing
    return;
  }
  const Attributes before = scheduling == Scheduling::kShortSlice
                                ? exchange_scheduling(SCHED_OTHER, kShortSliceNs)
                                : exchange_scheduling(SCHED_BATCH, 0);
  policy_ = before.policy;
  // The kernel reports the system's default slice as a number too. Any slice other than
  // kShortSliceNs is taken to be that default.
  slice_ns_ = before.runtime == kShortSliceNs ? kShortSliceNs : 0;
}

ScopedScheduling::~ScopedScheduling() {
  if (is_ordinary(policy_)) {
    exchange_scheduling(policy_, slice_ns_);
  }
}

void tighten_timer_slack() {
  constexpr unsigned long kTimerSlackNs = 1'000;
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
}

}  // namespace paceline
