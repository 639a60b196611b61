// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "paceline/validate/cell.h"

namespace paceline::validate {

// Numbers of the models that are not fitted.  Each stands in the table
// of fixed.cc with its source.

inline constexpr double kMemoryRate = 500e9;   // bytes/s of the device
inline constexpr double kFlops = 10e12;        // operations/s of the device
inline constexpr double kAdamPasses = 22;      // over a tensor, by AdamW
inline constexpr double kSgdLaunch = 20e-6;    // seconds a tensor
inline constexpr double kTenGigabit = 1.25e9;  // bytes/s of the line
inline constexpr double kInfiniBand = 12.5e9;  // bytes/s of the line
inline constexpr double kTcpStep = 27.4e-6;    // seconds a message
inline constexpr double kBackward = 2;         // forward passes
inline constexpr double kWinograd = 2.25;      // times fewer operations
inline constexpr double kStrided = 1.5;        // times the arithmetic's time

// frameworks
inline constexpr double kHorovodCycle = 5e-3;  // seconds
inline constexpr double kHorovodFused = 64;    // MiB at most
inline constexpr double kFusedMebibytes = 16;  // by OneFlow and Paddle

struct FixedInfo {
  std::string_view name, unit;
  double value = 0;
  std::string_view source;
  Table table{};
  bool chosen = false;  // by how well the cells are told, among a few values
};

/// Printed beside the fitted constants.
std::span<const FixedInfo> fixed_table();

}  // namespace paceline::validate
