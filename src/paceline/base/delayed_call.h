// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace paceline {

/// How long a command may print nothing before it reports what it is doing.
inline constexpr std::chrono::seconds kNoticeDelay{5};

/// Calls `call` once, on a thread of its own, unless this object is destroyed within `delay`.
class DelayedCall {
 public:
  DelayedCall(std::chrono::milliseconds delay, std::function<void()> call);

 private:
  std::jthread thread_;
};

}  // namespace paceline
