// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/timer_slack.h"

#include <sys/prctl.h>

namespace paceline {

void tighten_timer_slack() {
  constexpr unsigned long kTimerSlackNs = 1'000;
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
}

}  // namespace paceline
