// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/peer_wait.h"

#include <future>
#include <memory>

#include <ATen/core/ivalue.h>

#include "paceline/base/error.h"
#include "paceline/engines/background.h"
#include "paceline/engines/work_futures.h"
#include "paceline/launch/rank_monitor.h"

namespace paceline::engines {

std::chrono::milliseconds PeerWait::limit() const {
  return launch::kPeersFactor * timeout;
}

void PeerWait::wait_for(const Channel::Work& work) const {
  const auto comes = [&](const auto& end) {
    if (!comes_within(end, limit(), idle)) {
      throw WorldError(
          fmt::format("timed out, a peer did not take part within {:g} s",
                      std::chrono::duration<double>(limit()).count()));
    }
  };
  const auto future = WorkFutures().of(work);
  if (future == nullptr) {  // may be waited for once
    auto end = run_in_background<void>([work] { work->wait(); });
    comes(end);
    end.get();
    return;
  }
  const auto ended = std::make_shared<std::promise<void>>();
  future->addCallback(
      [ended](c10::ivalue::Future& /*done*/) { ended->set_value(); });
  comes(ended->get_future());
  work->wait();
}

}  // namespace paceline::engines
