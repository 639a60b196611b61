// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/signals.h"

#include <algorithm>
#include <ctime>

namespace paceline::launch {

int first_pending_signal(std::initializer_list<int> signals) {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  const auto* const found =
      std::ranges::find_if(signals, [&](int signal) { return sigismember(&pending, signal) == 1; });
  return found == signals.end() ? 0 : *found;
}

BlockedSignals::BlockedSignals(std::initializer_list<int> signals) {
  sigemptyset(&blocked_);
  for (const int signal : signals) {
    sigaddset(&blocked_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int BlockedSignals::wait(std::chrono::milliseconds timeout) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec limit{static_cast<time_t>(seconds.count()),
                       static_cast<long>(std::chrono::nanoseconds(timeout - seconds).count())};
  return std::max(0, sigtimedwait(&blocked_, nullptr, &limit));
}

}  // namespace paceline::launch
