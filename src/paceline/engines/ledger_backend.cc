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

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
}

// Requires every tensor to be dense; returns their bytes.
std::int64_t dense_bytes(const std::vector<at::Tensor>& tensors,
                         std::string_view operation) {
  std::int64_t total = 0;
  for (const auto& tensor : tensors) {
    require_dense(tensor, operation);
    total += bytes_of(tensor);
  }
  return total;
}

[[noreturn]] void refuse(const at::Tensor& tensor,
                         std::string_view operation,
                         std::string_view wanted) {
  const auto strides =
      tensor.layout() == at::kStrided
          ? fmt::format("[{}]", fmt::join(tensor.strides(), ", "))
          : std::string("that it does not have");
  throw WorldError(fmt::format(
      "{}: the tensor of sizes [{}] and strides {} is not {}; engines move "
      "just the elements that follow a pointer",
      operation,
      fmt::join(tensor.sizes(), ", "),
      strides,
      wanted));
}

}  // namespace

void require_dense(const at::Tensor& tensor, std::string_view operation) {
  if (tensor.layout() != at::kStrided ||
      !tensor.is_non_overlapping_and_dense()) {
    refuse(tensor, operation, "dense");
  }
}

void require_contiguous(const at::Tensor& tensor, std::string_view operation) {
  if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) {
    refuse(tensor, operation, "contiguous");
  }
}

LedgerBackend::LedgerBackend(c10::intrusive_ptr<c10d::Backend> inner)
    : BackendWrapper(std::move(inner)) {}

Ledger LedgerBackend::ledger() const {
  const std::lock_guard lock(mutex_);
  return ledger_;
}

std::vector<Transfer> LedgerBackend::take_transfers() {
  return transfers_ ? transfers_->take() : std::vector<Transfer>();
}

void LedgerBackend::book(plan::Pattern pattern, std::int64_t payload) {
  book(std::string(plan::name_of(pattern)),
       plan::wire_bytes(pattern, payload, getSize()));
}

void LedgerBackend::book(const std::string& name, std::int64_t wire_bytes) {
  const std::lock_guard lock(mutex_);
  ledger_.book(name, wire_bytes);
}

LedgerBackend::Work LedgerBackend::allreduce(
    std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) {
  book(plan::Pattern::kAllReduce, dense_bytes(tensors, "all-reduce"));
  const std::int64_t start_ns = transfers_ ? steady_ns() : 0;
  Work work = inner_->allreduce(tensors, options);
  if (transfers_) {
    transfers_->watch(
        plan::Pattern::kAllReduce, tensors.front(), start_ns, work);
  }
  return work;
}

LedgerBackend::Work LedgerBackend::broadcast(
    std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) {
  book(plan::Pattern::kBroadcast, dense_bytes(tensors, "broadcast"));
  return inner_->broadcast(tensors, options);
}

LedgerBackend::Work LedgerBackend::allgather(
    std::vector<std::vector<at::Tensor>>& outputs,
    std::vector<at::Tensor>& inputs,
    const c10d::AllgatherOptions& options) {
  std::int64_t payload = 0;
  for (const auto& list : outputs) {
    payload += dense_bytes(list, "all-gather");
  }
  dense_bytes(inputs, "all-gather");
  book(plan::Pattern::kAllGather, payload);
  return inner_->allgather(outputs, inputs, options);
}

LedgerBackend::Work LedgerBackend::_allgather_base(
    at::Tensor& output,
    at::Tensor& input,
    const c10d::AllgatherOptions& options) {
  require_contiguous(input, "all-gather");
  require_contiguous(output, "all-gather");
  book(plan::Pattern::kAllGather, bytes_of(output));
  return inner_->_allgather_base(output, input, options);
}

LedgerBackend::Work LedgerBackend::_reduce_scatter_base(
    at::Tensor& output,
    at::Tensor& input,
    const c10d::ReduceScatterOptions& options) {
  require_contiguous(input, "reduce-scatter");
  require_contiguous(output, "reduce-scatter");
  book(plan::Pattern::kReduceScatter, bytes_of(input));
  return inner_->_reduce_scatter_base(output, input, options);
}

LedgerBackend::Work LedgerBackend::send(std::vector<at::Tensor>& tensors,
                                        int to,
                                        int tag) {
  book(std::string(plan::kMessages), dense_bytes(tensors, "send"));
  return inner_->send(tensors, to, tag);
}

LedgerBackend::Work LedgerBackend::recv(std::vector<at::Tensor>& tensors,
                                        int from,
                                        int tag) {
  dense_bytes(tensors, "receive");  // booked where it is sent
  return inner_->recv(tensors, from, tag);
}

void TransferLog::watch(plan::Pattern pattern,
                        const at::Tensor& payload,
                        std::int64_t start_ns,
                        const c10::intrusive_ptr<c10d::Work>& work) {
  if (!payload.is_cpu()) {
    return;
  }
  const auto future = futures_.of(work);
  if (future == nullptr) {
    return;
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

}  // namespace paceline::engines
