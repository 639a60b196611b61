// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/ledger_backend.h"

#include <utility>

#include <fmt/ranges.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/engines/transfer_log.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
namespace {

[[noreturn]] void reject(const at::Tensor& tensor, std::string_view operation,
                         std::string_view wanted) {
  const auto strides = tensor.layout() == at::kStrided
                           ? fmt::format("[{}]", fmt::join(tensor.strides(), ", "))
                           : std::string("that it does not have");
  throw WorldError(
      fmt::format("{}: the tensor of sizes [{}] and strides {} is not {}; engines move just the "
                  "elements that follow a pointer",
                  operation, fmt::join(tensor.sizes(), ", "), strides, wanted));
}

}  // namespace

void require_dense(const at::Tensor& tensor, std::string_view operation) {
  if (tensor.layout() != at::kStrided || !tensor.is_non_overlapping_and_dense()) {
    reject(tensor, operation, "dense");
  }
}

void require_contiguous(const at::Tensor& tensor, std::string_view operation) {
  if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) {
    reject(tensor, operation, "contiguous");
  }
}

LedgerBackend::LedgerBackend(c10::intrusive_ptr<c10d::Backend> inner)
    : BackendWrapper(std::move(inner)) {}

Ledger LedgerBackend::ledger() const {
  const std::lock_guard lock(mutex_);
  return ledger_;
}

void LedgerBackend::set_step(plan::Step step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
}

void LedgerBackend::count_from(plan::Step first) {
  const std::lock_guard lock(mutex_);
  first_counted_ = first;
}

Ledger LedgerBackend::counted() const {
  const std::lock_guard lock(mutex_);
  return counted_;
}

std::vector<CollectiveSpan> LedgerBackend::take_transfers() {
  return transfers_ ? transfers_->take() : std::vector<CollectiveSpan>();
}

// Only the sending rank books a message.
void LedgerBackend::add_call(const Operation& operation) {
  if (operation.kind == Operation::Kind::kReceive) {
    return;
  }
  const bool message = operation.kind == Operation::Kind::kSend;
  const std::int64_t payload = operation.payload_bytes();
  const std::string pattern(message ? plan::kMessageOperation : plan::name_of(operation.pattern));
  const std::int64_t bytes =
      message ? payload : plan::wire_bytes(operation.pattern, payload, getSize());
  const std::lock_guard lock(mutex_);
  ledger_.add_call(pattern, bytes);
  if (step_ >= first_counted_) {
    counted_.add_call(pattern, bytes);
  }
}

LedgerBackend::Work LedgerBackend::perform(const Operation& operation, const Issue& issue) {
  for (const auto* side : {&operation.payload, &operation.others}) {
    for (const at::Tensor& tensor : *side) {
      if (operation.flat) {
        require_contiguous(tensor, operation.name);
      } else {
        require_dense(tensor, operation.name);
      }
    }
  }
  add_call(operation);
  const bool logs = transfers_ != nullptr && operation.kind == Operation::Kind::kCollective &&
                    operation.pattern == plan::Pattern::kAllReduce;
  const std::int64_t start_ns = logs ? steady_ns() : 0;
  Work work = issue();
  if (logs) {
    transfers_->watch(operation.pattern, operation.payload.front(), start_ns, work);
  }
  return work;
}

void TransferLog::watch(plan::Pattern pattern, const at::Tensor& payload, std::int64_t start_ns,
                        const c10::intrusive_ptr<c10d::Work>& work) {
  if (!payload.is_cpu()) {
    return;
  }
  const auto future = futures_.of(work);
  if (future == nullptr) {
    return;
  }
  const CollectiveSpan begun{.pattern = pattern,
                             .payload_bytes = static_cast<std::int64_t>(payload.nbytes()),
                             .start_ns = start_ns};
  future->addCallback([begun, ended = ended_](c10::ivalue::Future& done) {
    if (done.hasError()) {
      return;
    }
    CollectiveSpan transfer = begun;
    transfer.end_ns = steady_ns();
    const std::lock_guard lock(ended->mutex);
    ended->transfers.push_back(transfer);
  });
}

std::vector<CollectiveSpan> TransferLog::take() {
  const std::lock_guard lock(ended_->mutex);
  return std::exchange(ended_->transfers, {});
}

}  // namespace paceline::engines
