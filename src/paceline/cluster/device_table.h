// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace paceline::cluster {

/// Returns the rate of the device's memory in bytes/s, by the data sheets in data/devices.toml.
/// Empty unless the device's name identifies one of them.
std::optional<double> data_sheet_memory_rate(std::string_view device);

}  // namespace paceline::cluster
