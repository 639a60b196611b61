// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/validate/cell.h"
#include "paceline/validate/constants.h"
#include "paceline/validate/plan_cache.h"

namespace paceline::validate {

/// ddl-benchmarks' key: method, model, network, GPUs.
struct SurveyCell {
  std::string method, model, network;
  int gpus = 4;

  int nodes() const { return gpus / 4; }
  bool serves() const { return method.ends_with("-PS"); }
};

/// Throws UsageError for a method, model or network that the survey has not.
SurveyCell survey_cell(const Cell& cell);

/// The rows that contradict physics: PS over "100GbE" that equal the 10GbE
/// ones, while the same system with a server-side flag does not.  They are
/// predicted as 10GbE, for they most likely ran over it.
bool ran_over_10gbe(const SurveyCell& cell);

/// Step times of the seven methods, by simulation of their plans on nodes of 4
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
  std::map<std::string, Last> last_;
};

/// Whether the cell's prediction changes with the constant.
bool depends_on(const SurveyCell& cell, Constant constant);

}  // namespace paceline::validate
