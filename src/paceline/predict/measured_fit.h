// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/predict/measured_figure.h"
#include "paceline/predict/predict.h"
#include "paceline/simulator/job_cache.h"
#include "paceline/stats/interval.h"

namespace paceline::predict {

/// A constant of the simulator, as determined from the measurements.
struct MeasuredConstant {
  std::string name, unit;
  double value = 0;
  stats::Interval interval{};  // the 95 % interval
  /// The text of the measurement (MeasuredFigure::words) that determines the constant.  Empty if
  /// none does; the value is then that of the cluster's description.
  std::string by{};
};

/// A measurement with its step time, measured and fitted.
struct CheckedFigure {
  MeasuredFigure figure{};
  double measured_s = 0, fitted_s = 0;  // seconds per step
  /// The step time by a fit to the other measurements alone.  Empty if these do not determine the
  /// compute time.
  std::optional<double> predicted_from_others_s{};
};

/// Returns the number of ranks on the host with the most ranks.
int most_ranks_on_a_host(const PredictRequest& request);

/// The error of the logarithm of a step whose costs come from measured figures, as standard
/// deviations of independent parts.
struct StepErrors {
  double log_step_s = 0;
  std::vector<double> constants{};  // errors due to the fitted constants, by independent part
  double strategy = 0;              // error of a strategy that was not measured
  double job = 0;                   // error that is equal for all strategies of a job

  /// Returns half the width of the 95 % interval of the step's logarithm.
  double half_width() const;
  stats::Interval interval_s() const;
};

/// Returns the smallest difference, as a share of the faster step, by which two steps of one job
/// differ with a probability of 95 %.  Errors that both steps share do not count.
double least_distinguishable_share(const StepErrors& one, const StepErrors& other);

/// Fits constants of the simulator to measured figures of one job.
///
/// Each figure's step is simulated with its own plan.  The unknowns are
///
///   compute       the step of one device alone, at the smallest and the largest
///                 measured batch; nothing is known of it beforehand
///   network rate  the reached share of the described rate between hosts, and
///   device rate   of that inside a host: each a factor of e^0.35 either way
///   host share    how much longer devices compute for each doubling of those of
///                 their host: by a factor of e^0.033 either way
///   start         added to the described start of a collective: 30 us either
///                 way, or as much as the described start if that is longer
///
/// No rate is above the described one.  With a single figure whose step waits for the network, the
/// rates and the start keep their priors, so the interval of compute is wide where the network
/// dominates.  Behind an emulated link they then keep the described values.  The host share is
/// fitted only if figures differ in the number of ranks per host, if none gives a step without
/// communication, which would determine the share directly, and if the engine is no published
/// program, whose costs include the share.  If a link's collectives were measured alone
/// (cluster::LinkFit), its rate has a factor of e^0.1, and the start 30 us.  The fit takes the most
/// probable unknowns (stats/prior_fit.h).  Its prior standard deviations are the ones above.  The
/// error of a figure is 0.3 % of a step; for records it is the scatter of their runs, but at least
/// 0.1 %.  So one figure determines compute exactly, and a figure that hardly depends on the
/// network leaves it as described.  If nothing describes the links, their rates, the latency of a
/// hop and the slow-down of compute under transfers are unknown with far larger deviations.
///
/// Between two measured batches, a device's step is linear in the batch.  If only one batch was
/// measured, the update, and a start of 5 us of each module's kernels (one in forward, two in
/// backward), do not change with the batch; the rest scales as a roofline does.
class MeasuredFit {
 public:
  /// `job` gives everything but the ranks, batches and strategies of the figures.  If it has a
  /// machine, that is an emulated link, of which only the added start and the slow-down of compute
  /// are fitted.  Without a machine and without links of the cluster, nothing describes the links.
  /// Throws UsageError, with one sentence, for figures that contradict each other or determine
  /// nothing.
  MeasuredFit(PredictRequest job, std::vector<MeasuredFigure> figures);

  /// Returns the request with the fitted costs.  It must be of the measured job.
  PredictRequest priced(PredictRequest request) const;

  const std::vector<MeasuredConstant>& constants() const { return constants_; }
  const std::vector<CheckedFigure>& checked() const { return checked_; }
  const std::vector<records::Warning>& warnings() const { return warnings_; }

  /// Simulates each measured job with constants that are fitted to the other measurements alone.
  void predict_each_from_others();

  /// Returns the interval that holds the step of `request` with a probability of 95 %.  Its width
  /// comes from the covariance of the unknowns, the error of a figure, and the errors of
  /// predictions from published figures, which grow with the distance from what was measured.
  stats::Interval interval_of(const PredictRequest& request) const {
    return errors_of(request).interval_s();
  }

  /// Returns the independent parts of the error from which interval_of() follows.
  StepErrors errors_of(const PredictRequest& request) const;

  /// Returns this fit with one more measurement, whose time is taken to be the predicted one.  The
  /// constants stay; their smaller uncertainty follows from the design, without a measurement.
  /// Returns this fit unchanged if is_measured() of the same figure.
  MeasuredFit if_measured(MeasuredFigure figure) const;

  /// Returns this fit as if collectives had been measured on the links that it fits.  Empty if it
  /// fits no links or all have such measurements.
  std::optional<MeasuredFit> if_collectives_measured() const;

  /// Returns whether one of the measurements is of the same case.
  bool is_measured(const MeasuredFigure& figure) const;

  /// Returns the measurement with the fewest ranks among those with this batch, or among all if
  /// none has this batch.  If several have as few ranks, returns the one with the nearest batch.
  const CheckedFigure& smallest(int batch_size) const;

 private:
  enum class Unknown : std::uint8_t {
    kCompute,        // compute time at the smallest batch
    kComputeOfMore,  // compute time at the largest batch
    kNetworkRate,
    kDeviceRate,
    kLatency,
    kStart,
    kSlowdown,
    kHostShare
  };
  using Values = std::vector<double>;  // one value for each element of unknowns_
  /// A fitted unknown: the standard deviation of its prior, where the search for it begins, and its
  /// upper bound.  Its printed value is scale * shape(unknown).
  struct FittedUnknown {
    Unknown unknown{};
    std::string name;
    const char* unit = "";
    double prior = 0, scale = 1;
    double (*shape)(double) = [](double at) { return std::exp(at); };
    double start = 0, most = INFINITY;
  };

  /// The relative error of a measured step whose scatter is unknown.
  static constexpr double kDefaultRelativeError = 0.003;
  /// A measurement counts as unexplained if its residual exceeds this number of standard
  /// deviations.
  static constexpr double kUnexplainedDeviations = 2;
  // The medians (bytes/s, seconds, share) of the prior if nothing describes the links.
  static constexpr double kUsualRate = 3e9, kUsualLatency = 10e-6, kUsualSlowdown = 0.02;

  void complete(MeasuredFigure& figure) const;
  void sort_figures();
  void check_figures() const;
  void choose_unknowns();
  void add_links();
  void add_rate(cluster::LinkScope scope);
  void add_host_share();
  Values values_of(double FittedUnknown::*member) const;
  bool has_collective_fits(cluster::LinkScope scope) const;
  bool fits(Unknown unknown) const;
  double value(Unknown unknown, const Values& at) const;
  PredictRequest request_of(const MeasuredFigure& figure) const;
  /// Returns the figure's job without fitted costs; links that nothing describes get an arbitrary
  /// rate.
  PredictRequest without_fitted_costs(const MeasuredFigure& figure) const;
  PredictRequest priced(PredictRequest request, const Values& at, double crowding) const;
  void set_machine(const Values& at, PredictRequest& request) const;
  double one_device_s(int batch_size, const Values& at) const;
  double fixed_s() const;
  /// Returns the seconds that one device alone takes for a micro-batch of `batch_size` samples, if
  /// it takes `measured_s` for `measured` samples.
  double seconds_at_batch(double measured_s, int measured, int batch_size) const;
  /// Returns how many times longer the ranks of a figure compute than those of the figure with
  /// fewest ranks; 1 if that was not measured.
  double compute_slowdown_of(const MeasuredFigure& figure) const;
  double simulated_s(const MeasuredFigure& figure, const Values& at) const;
  std::vector<int> hosts_of_measured_size(plan::Rank ranks) const;
  void resolve_rates();
  void fit();
  void solve(const Values& start);
  void solve_from(const Values& start);
  Values residuals_at(const Values& at) const;
  double objective_at(const Values& at) const;
  void solve_links();
  Values with_rates(Values at, double log_rate) const;
  Values best_start() const;
  bool waits_for_network(const MeasuredFigure& figure) const;
  std::string wire_time_clause(const MeasuredFigure& figure) const;
  const CheckedFigure& most_contradictory_figure() const;
  void check_fit_explains_figures() const;
  void check_flops() const;
  void check_compute() const;
  void explain();
  void warn_of_constants();
  void warn_of_figures();
  MeasuredConstant constant_of(std::size_t k) const;
  /// Returns the text of the measurement that determines unknown `k` most; empty if none determines
  /// it.
  std::string determined_by(std::size_t k) const;
  void set_extrapolation_errors(const PredictRequest& request, StepErrors& errors) const;
  /// Returns the number of doublings between a micro-batch and the nearest measured one.
  double doublings_to_measured(int micro_batch) const;
  /// Returns values for the unknowns of `other`, which has more measurements, from the constants of
  /// this fit.
  Values constants_for(const MeasuredFit& other) const;
  void find_covariance();

  PredictRequest job_;
  bool described_ = true, swept_ = false;
  cluster::LinkSharing link_sharing_ = cluster::LinkSharing::kDevice;
  std::vector<CheckedFigure> checked_;
  std::vector<FittedUnknown> unknowns_;
  Values at_;
  std::vector<Values> covariance_, influence_;
  double objective_ = 0;
  /// The factor of all errors of the fit: the root of objective_ over the number of residuals, at
  /// least 1 and the largest residual above kUnexplainedDeviations.  Above 1, the figures scatter
  /// more than their own errors say (Birge, Physical Review 40, 1932).
  double scatter_ = 1;
  double compute_slowdown_ = 1;  // slow-down of compute by the host's other ranks, with most ranks
  int least_batch_ = 0, most_batch_ = 0;
  double compute_guess_s_ = 0, fixed_s_ = 0;
  std::shared_ptr<simulator::JobCache> own_jobs_;
  std::vector<MeasuredConstant> constants_;
  std::vector<records::Warning> warnings_;
};

/// Replaces the error bar of a prediction, which comes from published tables, by the interval of
/// the fit, and its linear-scaling baseline by one from the smallest measured number of ranks.
/// `request` must be the predicted request, without fitted costs.
void set_measured_results(const MeasuredFit& fit, const PredictRequest& request,
                          Prediction& prediction);

/// Returns the line that gives the predicted rate per rank relative to that of the fewest measured
/// ranks; empty if none was measured with this batch.
std::string efficiency_text(const MeasuredFit& fit, const Prediction& prediction);

}  // namespace paceline::predict
