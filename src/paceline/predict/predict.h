// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paceline/predict/bound.h"
#include "paceline/predict/error_bar.h"
#include "paceline/predict/predict_request.h"
#include "paceline/predict/run_record.h"
#include "paceline/predict/trace.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

struct Prediction {
  std::shared_ptr<const simulator::Job> job;
  simulator::Costs costs;
  simulator::StepTimes times;         // with communication
  simulator::StepTimes compute_only;  // without communication
  /// The null model: the step of one device, update included, whatever the ranks.
  plan::Picoseconds linear = 0;
  Bound bound;
  ErrorBar bar;
  records::RunRecord record;
  std::vector<records::Span> spans;  // filled on request, with rank_names
  std::map<int, std::string> rank_names{};

  /// The throughput of all ranks that train together, in the steady state.
  double samples_per_s() const;
  /// That throughput if steps took as long as on one device.
  double linear_samples_per_s() const;
  plan::Picoseconds exposed() const { return times.step - compute_only.step; }
};

/// Plans the job and executes the plan in virtual time.
///
/// Layer times are the request's profile, stretched to `samples_per_s` where that is given; else a
/// roofline over the network's layers, stretched to the throughput of one device that the request
/// or the cluster file gives; else the roofline of the device's figures as they are, which the
/// record warns of. Throws UsageError for a request that cannot be.
Prediction predict(const PredictRequest& request, bool with_spans = false);

/// The record of a request that predict() throws UsageError for, beside others that can be: it has
/// no samples.
records::RunRecord rejected_record(const PredictRequest& request, const std::string& why);

struct PredictedStep {
  plan::Picoseconds step = 0;
  plan::Rank training_ranks = 1;
};

/// What predict() says of the step, without a record of it.
PredictedStep step_of(const PredictRequest& request);

/// The part of one device's step, in seconds, that is the update.
double update_seconds_of(const PredictRequest& request);

/// The request's batch; where it says none, that of the cluster file's throughput, or 32.
int batch_size_of(const PredictRequest& request);

/// Lines for people: step, rate, where the time goes (model work and kernels without communication,
/// and what that adds), the bound, the error bar.
std::string summary_of(const Prediction& prediction);

}  // namespace paceline::predict
