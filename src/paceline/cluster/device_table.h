// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline::cluster {

/// Returns the first word of a device's name that has a digit, in upper case: "A100" of
/// "NVIDIA A100-SXM4-80GB".  Empty if the name, such as "cpu", has none.
std::string device_model(std::string_view device);

/// Returns the rate of the device's memory in bytes/s, by the data sheets in data/devices.toml.
/// Empty unless the device's name identifies one of them.
std::optional<double> data_sheet_memory_rate(std::string_view device);

}  // namespace paceline::cluster
