// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline {

/// The calling thread is woken within 1 us of its time from now on, not within
/// the 50 us by which the kernel is otherwise late to save wake-ups.
void tighten_timer_slack();

}  // namespace paceline
