// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::launch {

/// The network interface for reaching other hosts: that of the default route, else the first one
/// that is up and no loopback; empty where there is none.
///
/// Asked for explicitly because the engine's own choice, the address that the host's name stands
/// for, is a loopback address on many distributions.
std::string outward_interface();

/// Throws UsageError that lists what this host has unless it has `name`.
void require_interface(const std::string& name);

/// The first IPv4 address of `name`, as text; empty where it has none.
std::string interface_address(const std::string& name);

}  // namespace paceline::launch
