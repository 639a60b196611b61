// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace paceline {

/// A TCP port of this host that was free a moment ago, for a server whose port
/// must be known before it listens.  Throws WorldError where there is none.
std::uint16_t free_port();

}  // namespace paceline
