// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/mpi_work.h"

#include <exception>

namespace paceline::engines::mpi {

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

}  // namespace paceline::engines::mpi
