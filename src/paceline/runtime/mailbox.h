// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "paceline/engines/work_futures.h"
#include "paceline/runtime/executor.h"

namespace paceline::runtime {

/// Where an engine's threads report.  It outlives the executor: a report that
/// comes late finds no owner.  It owns no thread, so the last to let go of it
/// may be any of them.
struct Executor::Mailbox {
  std::recursive_mutex mutex;
  Executor* owner = nullptr;

  engines::WorkFutures futures;
};

}  // namespace paceline::runtime
