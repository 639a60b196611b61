// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace paceline {

/// How long a command may be silent.
inline constexpr std::chrono::seconds kSilence{5};

/// Asks for patience: calls `speak` once, on a thread of its own, if it still
/// exists `after` its making.
class Patience {
 public:
  Patience(std::chrono::milliseconds after, std::function<void()> speak);

 private:
  std::jthread thread_;
};

}  // namespace paceline
