// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "paceline/validate/cell.h"
#include "paceline/validate/constants.h"
#include "paceline/validate/plan_cache.h"
#include "paceline/validate/survey_cell.h"

namespace paceline::validate {

/// Step times of the seven methods, by simulation of their plans on hosts of 4
/// devices.
class SurveyModel {
 public:
  double step_seconds(const SurveyCell& cell, const Constants& constants);
  double samples_per_s(const SurveyCell& cell, const Constants& constants);

 private:
  /// Cells of other names can be the same simulation.
  struct Last {
    std::vector<double> constants;
    double seconds = 0;
  };

  PlanCache plans_;
  std::map<std::pair<std::string, Wire>, Last> last_;
};

/// Whether the cell's prediction changes with the constant.
bool depends_on(const SurveyCell& cell, Constant constant);

}  // namespace paceline::validate
