// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "paceline/engines/mpi/progress.h"

namespace paceline::engines::mpi {

/// An operation in flight: wait() tests the requests itself, so that no thread must be woken.
class MpiWork final : public c10d::Work {
 public:
  MpiWork(c10d::OpType type, std::vector<at::Tensor> outputs, Progress& progress);

  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

  /// Must be called once; completes the future, whose callbacks run in this thread.
  void end(const std::exception_ptr& error);

 private:
  std::vector<at::Tensor> outputs_;
  Progress& progress_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace paceline::engines::mpi
