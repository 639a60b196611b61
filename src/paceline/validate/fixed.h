// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "paceline/validate/cell.h"

namespace paceline::validate {

// Numbers of the models that are not fitted.  Each stands in the table
// of fixed.cc with its source.

// survey
inline constexpr double kMemoryRate = 500e9;   // bytes/s of the device
inline constexpr double kFlops = 10e12;        // operations/s of the device
inline constexpr double kAdamPasses = 22;      // over a tensor, by AdamW
inline constexpr double kPlanPasses = 8;       // by the plan's one update
inline constexpr double kSgdLaunch = 20e-6;    // seconds a tensor
inline constexpr double kTenGigabit = 1.25e9;  // bytes/s of the line
inline constexpr double kInfiniBand = 12.5e9;  // bytes/s of the line
inline constexpr double kBackward = 2;         // forward passes
inline constexpr double kWinograd = 2.25;      // times fewer operations
inline constexpr double kStrided = 1.5;        // times the arithmetic's time
inline constexpr double kServerPartition = 4'096'000;  // bytes, of BytePS
inline constexpr int kImageState = 159;  // beside ResNet-50's parameters
inline constexpr int kTextState = 1;     // beside BERT's
inline constexpr double kSchedulerPartition = 4e6;  // parameters
inline constexpr double kSchedulerCredit = 16e6;    // parameters
inline constexpr double kMergedBelow = 8192;        // elements, by MG-WFBP

// NCCL's tree over TCP/IP: survey, frameworks
inline constexpr double kTcpStep = 27.4e-6;  // seconds a step

// machines of V100: bytes/s that NCCL reaches in an all-reduce
inline constexpr double kNvlink2 = 22.6e9;  // of 2 devices
inline constexpr double kNvlink4 = 85.8e9;  // of 4
inline constexpr double kNvlink = 136.1e9;  // of 8

// frameworks
inline constexpr double kHorovodCycle = 5e-3;   // seconds
inline constexpr double kHorovodFused = 64;     // MiB at most
inline constexpr double kFusedMebibytes = 16;   // by OneFlow and Paddle
inline constexpr double kGroupMebibytes = 6.1;  // by NGC MXNet
inline constexpr double kApexMebibytes = 38.1;
inline constexpr double kReducerMebibytes = 25;  // by PyTorch, in ddp too
inline constexpr double kTensorFlowMebibytes = 50;

// ddp
inline constexpr double kAdapters = 4;        // of a machine
inline constexpr double kSmallMebibytes = 1;  // buckets compared with 25
inline constexpr double kFirstMebibytes = 1;  // the first bucket
inline constexpr int kMeasuredSteps = 10;     // of every rank

// decentralized
inline constexpr double kCloudHorovodMebibytes = 8;
inline constexpr double kCloudFusedMebibytes = 4;  // by BlueFog

struct FixedInfo {
  std::string_view name, unit;
  double value = 0;
  std::string_view source;
  Table table{};
  bool chosen = false;  // by how well the cells are told, among a few values
};

/// Printed beside the fitted constants.  What changes several tables stands
/// once for each.
std::span<const FixedInfo> fixed_table();

}  // namespace paceline::validate
