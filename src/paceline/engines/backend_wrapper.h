// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "paceline/plan/comm_plan.h"

namespace paceline::engines {

/// An operation that is to be issued to the wrapped backend.
struct Operation {
  enum class Kind : std::uint8_t { kCollective, kSend, kReceive };

  std::string_view name;  // used in errors
  Kind kind = Kind::kCollective;
  plan::Pattern pattern{};  // only if the operation is a collective
  int peer = 0, tag = 0;    // only if the operation is a message
  /// The tensors of the longer side (input or output); their bytes are the payload.
  std::vector<at::Tensor> payload;
  std::vector<at::Tensor> others{};  // the tensors of the shorter side, if they are separate
                                     // tensors
  std::vector<at::Tensor> outputs{};
  /// The tensors are sequences of elements, of which each rank has a part; they must be contiguous.
  bool flat = false;

  std::int64_t payload_bytes() const;
};

/// A c10d backend that wraps another backend, which does the work.  The operations that channels
/// and c10d::Reducer use go through perform().  Names, time limits, sequence numbers, groups and
/// barriers, which carry no data, are forwarded; every other operation throws c10d's "does not
/// support".
///
/// Single-tensor collectives have their old names: PyTorch 2.11 to 2.14 all have these, and forward
/// them to the new names where those exist.
class BackendWrapper : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;

  explicit BackendWrapper(c10::intrusive_ptr<c10d::Backend> inner)
      : c10d::Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)) {}

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  void shutdown() override { inner_->shutdown(); }
  void setTimeout(std::chrono::milliseconds timeout) override { inner_->setTimeout(timeout); }
  void setSequenceNumberForGroup() override { inner_->setSequenceNumberForGroup(); }
  std::uint64_t getSequenceNumberForGroup() override { return inner_->getSequenceNumberForGroup(); }
  bool supportsCoalescing() const override { return inner_->supportsCoalescing(); }
  void startCoalescing() override { inner_->startCoalescing(); }
  Work endCoalescing() override { return inner_->endCoalescing(); }
  Work barrier(const c10d::BarrierOptions& options) override { return inner_->barrier(options); }

  Work allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) final;
  Work broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) final;
  Work allgather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                 const c10d::AllgatherOptions& options) final;
  Work _allgather_base(at::Tensor& output, at::Tensor& input,
                       const c10d::AllgatherOptions& options) final;
  Work _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                            const c10d::ReduceScatterOptions& options) final;
  Work send(std::vector<at::Tensor>& tensors, int to, int tag) final;
  Work recv(std::vector<at::Tensor>& tensors, int from, int tag) final;

 protected:
  using Issue = std::function<Work()>;

  /// Calls `issue`, which hands the operation to the wrapped backend.
  virtual Work perform(const Operation& operation, const Issue& issue) = 0;

  const c10::intrusive_ptr<c10d::Backend> inner_;
};

}  // namespace paceline::engines
