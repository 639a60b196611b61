// SPDX-License-Identifier: Apache-2.0
#include "paceline/comm/transfer_log.h"

#include <utility>

#include "paceline/base/clock.h"

namespace paceline::comm {

void TransferLog::watch(plan::Pattern pattern,
                        const at::Tensor& payload,
                        std::int64_t start_ns,
                        const c10::intrusive_ptr<c10d::Work>& work) {
  if (!payload.is_cpu()) {
    return;
  }
  c10::intrusive_ptr<c10::ivalue::Future> future;
  try {
    future = work->getFuture();
  } catch (const c10::Error&) {
    return;  // a work that has none
  }
  const Transfer begun{
      .pattern = pattern,
      .payload_bytes = static_cast<std::int64_t>(payload.nbytes()),
      .start_ns = start_ns};
  future->addCallback([begun, ended = ended_](c10::ivalue::Future& done) {
    if (done.hasError()) {
      return;
    }
    Transfer transfer = begun;
    transfer.end_ns = steady_ns();
    const std::lock_guard lock(ended->mutex);
    ended->transfers.push_back(transfer);
  });
}

std::vector<Transfer> TransferLog::take() {
  const std::lock_guard lock(ended_->mutex);
  return std::exchange(ended_->transfers, {});
}

}  // namespace paceline::comm
