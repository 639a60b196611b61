// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "paceline/engines/future_work.h"
#include "paceline/engines/mpi/progress.h"

namespace paceline::engines::mpi {

/// An operation in flight: wait() tests the requests itself, so that no thread must be woken.
class MpiWork final : public FutureWork {
 public:
  MpiWork(c10d::OpType type, std::vector<at::Tensor> outputs, Progress& progress)
      : FutureWork(std::move(outputs), type), progress_(progress) {}

  bool wait(std::chrono::milliseconds timeout) override;

 private:
  Progress& progress_;
};

}  // namespace paceline::engines::mpi
