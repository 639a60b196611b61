// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "paceline/engines/mpi/process.h"

namespace paceline::engines::mpi {

struct Call;  // engines/mpi/mpi_call.h

/// c10d's operations on CPU tensors as MPI requests.  A work completes its future on the thread
/// that saw its end; wait() helps MPI to make progress.  If an operation takes longer than the time
/// limit, or MPI rejects it, this operation and all later ones of this backend fail.
///
/// A mean is MPI's sum and one division, in the tensor's type.  Sums of bf16 and fp16 are rounded
/// once per hop (engines/mpi/reduction.h).
class MpiBackend final : public c10d::Backend {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  struct Limits {
    std::chrono::milliseconds timeout{};
    /// The most elements of one MPI call; longer operations are split.
    std::int64_t count = std::numeric_limits<int>::max();
  };

  MpiBackend(Process& process, std::shared_ptr<Communicator> communicator, int rank, int world,
             Limits limits);

  const std::string getBackendName() const override { return "mpi"; }
  void setTimeout(std::chrono::milliseconds timeout) override { limits_.timeout = timeout; }
  void setSequenceNumberForGroup() override {}
  std::uint64_t getSequenceNumberForGroup() override { return 0; }

  WorkPtr allreduce(std::vector<at::Tensor>& tensors,
                    const c10d::AllreduceOptions& options) override;
  WorkPtr broadcast(std::vector<at::Tensor>& tensors,
                    const c10d::BroadcastOptions& options) override;
  WorkPtr allgather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr send(std::vector<at::Tensor>& tensors, int to, int tag) override;
  WorkPtr recv(std::vector<at::Tensor>& tensors, int from, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;
  /// Fails the operations in flight and all later ones.
  void abort() override;

 private:
  Call all_gather(const at::Tensor& out, const at::Tensor& in, std::chrono::milliseconds timeout);
  Call message(const at::Tensor& values, c10d::OpType type, int peer, int tag);
  WorkPtr start(Call call);
  void fail(const std::exception_ptr& error);

  Process& process_;
  std::shared_ptr<Communicator> communicator_;
  Limits limits_;
};

}  // namespace paceline::engines::mpi
