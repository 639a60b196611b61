// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "paceline/engines/backend_wrapper.h"
#include "paceline/engines/ledger.h"
#include "paceline/engines/transfer_log.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::engines {

/// A c10d backend that wraps another backend: it books the operations and rejects tensors that are
/// not dense.
///
/// Channel and c10d::Reducer both use this backend, so the ledger is complete.  Gloo reads and
/// writes the first numel() elements after the data pointer, whatever the strides are, and reports
/// no error; so density is a condition of correctness, not of speed.  Barriers are not booked.
class LedgerBackend final : public BackendWrapper {
 public:
  explicit LedgerBackend(c10::intrusive_ptr<c10d::Backend> inner);

  Ledger ledger() const;

  /// These functions implement those of Channel.
  void set_step(plan::Step step);
  void count_from(plan::Step first);
  Ledger counted() const;

  /// From now on logs the times of every all-reduce; must be called before the first operation.
  void record_transfers() { transfers_ = std::make_unique<TransferLog>(); }
  std::vector<CollectiveSpan> take_transfers();

  const c10::intrusive_ptr<c10d::Backend>& inner() const { return inner_; }

 private:
  Work perform(const Operation& operation, const Issue& issue) override;
  void add_call(const Operation& operation);

  mutable std::mutex mutex_;  // the Reducer calls from the backward thread
  Ledger ledger_, counted_;
  plan::Step step_ = -1;  // -1: operations before the first step belong to none
  plan::Step first_counted_ = std::numeric_limits<plan::Step>::max();
  std::unique_ptr<TransferLog> transfers_;  // null: transfers are not logged
};

/// Throws WorldError that shows sizes and strides unless the tensor's elements are exactly the
/// numel() elements after its data pointer, in any order.
void require_dense(const at::Tensor& tensor, std::string_view operation);

/// Throws WorldError that shows sizes and strides unless the tensor's elements are exactly the
/// numel() elements after its data pointer, in row-major order.
void require_contiguous(const at::Tensor& tensor, std::string_view operation);

}  // namespace paceline::engines
