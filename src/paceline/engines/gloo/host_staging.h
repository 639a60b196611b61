// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>

#include "paceline/engines/backend_wrapper.h"

namespace paceline::engines {

/// Sends and receives tensors on a GPU through memory of the host.  c10d copies the tensors of
/// Gloo's collectives to the host and back; the tensor of a message it does not copy, and Gloo
/// cannot read memory of a GPU.
///
/// A message leaves when the stream that was current at the call has done what was in it; until
/// then a thread waits for it.  wait() of a receive puts the copy to the GPU into the stream that
/// is current then.  The message has as many elements as the tensor that receives it.
class HostStaging final : public BackendWrapper {
 public:
  using BackendWrapper::BackendWrapper;

 private:
  Work perform(const Operation& operation, const Issue& issue) override;
  Work send_staged(const Operation& operation);
  Work receive_staged(const Operation& operation);

  std::shared_future<Work> last_sent_;  // messages leave in their order
};

}  // namespace paceline::engines
