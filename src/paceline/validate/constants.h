// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "paceline/validate/cell.h"

namespace paceline::validate {

/// Every number of the models that no published table of hardware gives.
enum class Constant : std::uint8_t {
  // survey, all methods
  kBusRate,
  kBusUnderCompute,
  kCollectivePerRank,
  kWaitUnderCompute,
  kAdamLaunch,
  kTcp10Rate,
  kIpoibRate,
  kIpoibDecline,
  // survey, ByteScheduler on all-reduce
  kSchedulerCall,
  kSchedulerSpread,
  kSchedulerTcp,
  // survey, BytePS
  kServerBusRate,
  kServerBusUnderCompute,
  kServerTcp10Rate,
  kServerIpoibRate,
  kServerIpoibGrowth,
  // frameworks
  kFrameworkTcpRate,
  kFrameworkPerRank,
  kFrameworkJitter,
  kFrameworkAgreement,
  kFrameworkInput,
  // ddp
  kDdpHook,
  kDdpCopyRate,
  kDdpUnderTransfer,
  kDdpLaunch,
  kDdpStraggler,
  kDdpNoise,
  kDdpLateStep,
  // decentralized
  kCloudRate,
  kCloudRingRate,
  kCloudDecline,
  kCloudPerRank,
  kCloudMessage,
  kCloudUnderTransfer,
  kCount
};

inline constexpr std::size_t kConstants =
    static_cast<std::size_t>(Constant::kCount);

/// One row of the table of constants.
struct ConstantInfo {
  Constant id{};
  Table table{};
  std::string_view name;
  std::string_view unit;
  double before = 0;  // any cell: a data sheet, or a round number of the order
  double value = 0;   // fitted on all published cells of its table
  std::string_view meaning;
};

/// All of them, in the order of the enumeration; every one is fitted.
std::span<const ConstantInfo> constant_table();

/// A value for every constant.  All are above zero.
class Constants {
 public:
  /// The values of the table.
  Constants();

  /// What is known before any cell.  Fits begin here, so that none has seen a
  /// cell which it is not shown; a constant that no shown cell depends on
  /// keeps this value.
  static Constants before();

  double operator[](Constant id) const {
    return values_[static_cast<std::size_t>(id)];
  }
  double& operator[](Constant id) {
    return values_[static_cast<std::size_t>(id)];
  }

 private:
  std::vector<double> values_;
};

/// Those of a table.
std::vector<Constant> constants_of(Table table);

}  // namespace paceline::validate
