// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "paceline/runtime/executor.h"

namespace paceline::runtime {

/// Where an engine's threads report.  It outlives the executor: a report that
/// comes late finds no owner.
struct Executor::Mailbox {
  std::recursive_mutex mutex;
  Executor* owner = nullptr;
};

}  // namespace paceline::runtime
