// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paceline/record/run_record.h"
#include "paceline/sim/bound.h"
#include "paceline/sim/error_bar.h"
#include "paceline/sim/predict_request.h"
#include "paceline/sim/run_record.h"
#include "paceline/sim/trace.h"

namespace paceline::sim {

struct Prediction {
  std::unique_ptr<Job> job;
  Costs costs;
  StepTimes times;         // with communication
  StepTimes compute_only;  // the same without
  Bound bound;
  ErrorBar bar;
  record::RunRecord record;
  std::vector<record::Span> spans;  // filled on request, with rank_names
  std::map<int, std::string> rank_names{};

  /// Of all ranks that train, in the steady state.
  double samples_per_s() const;
  Picoseconds exposed() const { return times.step - compute_only.step; }
};

/// Plans the job and executes the plan in virtual time.
///
/// Layer times are the request's profile, stretched to `samples_per_s` where
/// that is given; else a roofline over the network's layers, stretched to the
/// throughput of one device that the request or the cluster file gives; else
/// the roofline of the device's figures as they are, which the record warns of.
/// Throws UsageError for a request that cannot be.
Prediction predict(const PredictRequest& request, bool with_spans = false);

/// Lines for people: step, rate, where the time goes (model work and kernels
/// without communication, and what that adds), the bound, the error bar.
std::string summary_of(const Prediction& prediction);

}  // namespace paceline::sim
