// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>

#include "paceline/engines/backend_wrapper.h"

namespace paceline::engines {

/// Sends and receives GPU tensors through host memory.  c10d copies the tensors of Gloo's
/// collectives to the host and back, but not the tensors of messages, and Gloo cannot read GPU
/// memory.
///
/// A message leaves when the stream that was current at the call has done its earlier work; until
/// then a thread waits.  wait() of a receive enqueues the copy to the GPU in the stream that is
/// current at that time.  The message has as many elements as the tensor that receives it.
class HostStaging final : public BackendWrapper {
 public:
  using BackendWrapper::BackendWrapper;

 private:
  Work perform(const Operation& operation, const Issue& issue) override;
  Work send_staged(const Operation& operation);
  Work receive_staged(const Operation& operation);

  std::shared_future<Work> last_sent_;  // messages leave in the order of their calls
};

}  // namespace paceline::engines
