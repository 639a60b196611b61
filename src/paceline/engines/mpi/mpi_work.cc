// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/mpi_work.h"

#include <chrono>
#include <utility>

namespace paceline::engines::mpi {

MpiWork::MpiWork(c10d::OpType type, std::vector<at::Tensor> outputs, Progress& progress)
    : c10d::Work(-1, type),
      outputs_(std::move(outputs)),
      progress_(progress),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

bool MpiWork::wait(std::chrono::milliseconds timeout) {
  const auto begun = std::chrono::steady_clock::now();
  Backoff backoff;
  while (!isCompleted()) {
    if (progress_.poll()) {
      backoff.reset();
    } else {
      backoff.wait();
    }
    TORCH_CHECK(timeout == kNoTimeout || std::chrono::steady_clock::now() - begun < timeout,
                "timed out after ", timeout.count(), " ms of waiting for MPI");
  }
  if (const auto error = exception()) {
    std::rethrow_exception(error);
  }
  return true;
}

void MpiWork::end(const std::exception_ptr& error) {
  finish(error);
  if (error) {
    future_->setError(error);
  } else {
    future_->markCompleted(c10::IValue(outputs_));
  }
}

}  // namespace paceline::engines::mpi
