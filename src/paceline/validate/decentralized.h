// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "paceline/validate/cell.h"
#include "paceline/validate/constants.h"
#include "paceline/validate/plan_cache.h"

namespace paceline::validate {

/// BlueFog's charts: ResNet-50 on machines of 8 V100 with 25 Gb/s between
/// them.  The rate of one device is the charts' frame of linear scaling.
class DecentralizedModel {
 public:
  double samples_per_s(const Cell& cell, const Constants& constants);

 private:
  std::map<int, TimedNetwork> networks_;  // by batch size
  PlanCache plans_;
};

}  // namespace paceline::validate
