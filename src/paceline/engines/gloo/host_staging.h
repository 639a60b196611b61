// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>

#include "paceline/engines/backend_wrapper.h"

namespace paceline::engines {

/// Sends and receives tensors on a GPU through memory of the host.  Gloo copies
/// the tensors of its collectives itself; a message it reads from the pointer
/// of the tensor, which on a GPU no host can read.
///
/// A message leaves when the stream that was current at the call has done what
/// was in it.  wait() of a receive puts the copy to the GPU into the stream
/// that is current then, and takes the message to fill its room.
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
