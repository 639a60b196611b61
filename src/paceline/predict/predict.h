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
#include "paceline/records/run_record.h"

namespace paceline::predict {

struct Prediction {
  std::shared_ptr<const simulator::Job> job;
  simulator::Costs costs;
  simulator::StepTimes times;         // with communication
  simulator::StepTimes compute_only;  // without communication
  /// The step under perfect linear scaling: that of one device, with its update, for any number of
  /// ranks.  With measured figures it is the step of the fewest measured ranks.
  plan::Picoseconds linear = 0;
  std::string linear_from = "one device";
  Bound bound;
  ErrorBar bar;
  records::RunRecord record;
  std::vector<records::Span> spans;  // only with `with_spans`, like rank_names
  std::map<int, std::string> rank_names{};

  /// Returns the examples/s of all ranks that train together, in the steady state.
  double samples_per_s() const;
  /// Returns the examples/s of all ranks if a step took `linear`, as under perfect linear scaling.
  double linear_samples_per_s() const;
  plan::Picoseconds exposed() const { return times.step - compute_only.step; }
};

/// Plans the job and executes the plan in virtual time.
///
/// Layer times are the request's profile, scaled to `samples_per_s` if that is given.  Without a
/// profile they are a roofline over the network's layers, scaled to the throughput of one device
/// that the request or the cluster file gives.  Without a throughput they are the roofline of the
/// device's data sheet, and the record has a warning.  Throws UsageError for an impossible request.
Prediction predict(const PredictRequest& request, bool with_spans = false);

/// Returns a record without samples for a request for which predict() throws UsageError, to stand
/// beside records of possible requests.
records::RunRecord rejected_record(const PredictRequest& request, const std::string& why);

struct PredictedStep {
  plan::Picoseconds step = 0;
  plan::Rank training_ranks = 1;
};

/// Returns the same step as predict(), without making a record.
PredictedStep step_of(const PredictRequest& request);

/// Returns the seconds of one device's step that the update takes.
double update_seconds_of(const PredictRequest& request);

/// Returns the request's batch; if it gives none, that of the cluster file's throughput, or 32, for
/// each micro-batch.
int batch_size_of(const PredictRequest& request);

/// Returns lines for people: the step, the rate, the parts of the step (model work, kernels,
/// exposed communication), the bound, and the error bar.
std::string summary_of(const Prediction& prediction);

}  // namespace paceline::predict
