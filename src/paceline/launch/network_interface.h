// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::launch {

/// Returns the name of the network interface for reaching other hosts: that of the default route,
/// else the first one that is up and no loopback. Returns an empty name if there is none.
///
/// It is chosen explicitly because the engine's own choice, the address to which the host's name
/// resolves, is a loopback address on many distributions.
std::string outward_interface();

/// Throws UsageError, which lists this host's interfaces, if `name` is not one of them.
void require_interface(const std::string& name);

/// Returns the first IPv4 address of the interface `name` as text; empty if it has none.
std::string interface_address(const std::string& name);

}  // namespace paceline::launch
