// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "paceline/engines/collective_span.h"
#include "paceline/engines/work_futures.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::engines {

/// Records the start and end of collectives that other code issues without taking times, such as
/// c10d::Reducer.
///
/// The end is the time at which the work's future is completed.  On the CPU that is when the
/// engine's thread has done the work.  A CUDA work's future completes when the work is queued, so
/// CUDA works are not recorded, nor are works without a future.
class TransferLog {
 public:
  /// Reports that `work` was called at `start_ns`.  Any thread may call this function.
  void watch(plan::Pattern pattern, const at::Tensor& payload, std::int64_t start_ns,
             const c10::intrusive_ptr<c10d::Work>& work);

  /// Returns the transfers that have ended since the last call.
  std::vector<CollectiveSpan> take();

 private:
  struct Ended {
    std::mutex mutex;
    std::vector<CollectiveSpan> transfers;
  };
  WorkFutures futures_;
  std::shared_ptr<Ended> ended_ = std::make_shared<Ended>();
};

}  // namespace paceline::engines
