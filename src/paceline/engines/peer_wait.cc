// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/peer_wait.h"

#include <future>
#include <memory>

#include <ATen/core/ivalue.h>

#include "paceline/engines/background.h"
#include "paceline/engines/thread_device.h"
#include "paceline/engines/work_futures.h"
#include "paceline/launch/rank_monitor.h"

namespace paceline::engines {

std::chrono::milliseconds PeerWait::limit() const { return launch::kPeerWaitFactor * timeout; }

void PeerWait::wait_for(const Channel::Work& work) const {
  const auto future = WorkFutures().of(work);
  if (future == nullptr) {  // then wait() is the only way, and allowed once
    get_within(run_in_background([work, its_device = device] {
                 set_thread_device(its_device);
                 work->wait();
               }),
               limit(), idle);
    return;
  }
  const auto ended = std::make_shared<std::promise<void>>();
  future->addCallback([ended](c10::ivalue::Future& /*done*/) { ended->set_value(); });
  get_within(ended->get_future(), limit(), idle);
  work->wait();
}

}  // namespace paceline::engines
