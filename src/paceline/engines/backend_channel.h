// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/engines/engine.h"

namespace paceline::engines {

/// Makes a channel over any c10d backend that is already connected.
std::unique_ptr<Channel> make_backend_channel(c10::intrusive_ptr<c10d::Backend> backend,
                                              const ChannelSpec& spec,
                                              int concurrent_collectives = 0);

}  // namespace paceline::engines
