// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A constant of the simulator, as the figures have it.
struct MeasuredConstant {
  std::string name, unit;
  double value = 0;
  stats::Interval interval{};  // of 95 %
  /// The words of the figure that determines it; empty: no figure does, and the value is that of
  /// the description of the cluster.
  std::string by{};
};

/// A figure, as the fit explains it.
struct CheckedFigure {
  MeasuredFigure figure{};
  double measured_s = 0, fitted_s = 0;  // of a step
  /// What the other figures alone say; empty: there is none that determines compute.
  std::optional<double> foreseen_s{};
};

/// How far the logarithm of a step may be off whose prices are from measured figures, as standard
/// deviations of errors that are independent of each other.
struct StepErrors {
  double log_step_s = 0;
  std::vector<double> constants{};  // of the fitted constants
  double strategy = 0;              // of a strategy that was not measured
  double job = 0;  // of a figure and of the distance from what was measured, whatever the strategy

  /// What lies within 95 % on either side of the logarithm.
  double reach() const;
  stats::Interval interval_s() const;
};

/// By what share of the faster two steps of one job must differ to be told apart with a probability
/// of 95 %.  What is off in both of them does not count.
double distinguishable_by(const StepErrors& one, const StepErrors& other);

/// Constants of the simulator from measured figures of one job.
///
/// Each figure's step is simulated with its own plan.  The unknowns are
///
///   compute       the step of one device alone, at the smallest and the
///   largest
///                 measured batch; nothing is known of it beforehand
///   network rate  what is reached of the described rate between hosts, and of
///   device rate   that inside a host: a factor of e^0.35 either way
///   start         of a collective, beside the described one: 30 us, or as much
///                 as that, either way
///
/// the last three only where there are several numbers of ranks; of links whose collectives were
/// measured alone (cluster::LinkFit) a factor of e^0.1, and 30 us.  The most probable unknowns are
/// taken (stats/prior_fit.h), with these figures as standard deviations before anything is
/// measured, and 0.3 % of a step, of records the scatter of their runs but at least 0.1 %, as the
/// error of a figure.  So one
/// figure determines compute exactly, and a figure that hardly depends on the network leaves it as
/// described.  Where nothing describes the links, their rates, the latency of a hop and what
/// compute loses under transfers are unknown by far more.
///
/// Between two measured batches the step of a device is linear in the batch.  Where one batch was
/// measured, the update and a start of 5 us of each module's kernel, one forward and two backward,
/// are the same for another one, and the rest has a roofline's ratio.
class MeasuredFit {
 public:
  /// `job` is all but a figure's ranks, batch and strategy.  A machine that it
  /// brings is an emulated link, of which nothing is fitted but what software adds.  `described`:
  /// whether the cluster or the machine describes the links.  Throws UsageError, one sentence, for
  /// figures that contradict each other or determine nothing.
  MeasuredFit(PredictRequest job, std::vector<MeasuredFigure> figures, bool described = true);

  /// The request, of this job, priced as the figures say.
  PredictRequest priced(PredictRequest request) const;

  const std::vector<MeasuredConstant>& constants() const { return constants_; }
  const std::vector<CheckedFigure>& checked() const { return checked_; }
  const std::vector<records::Warning>& warnings() const { return warnings_; }

  /// Simulates each figure with the constants of the others alone.
  void foresee_each();

  /// Where the step of `request` lies with a probability of 95 %: the covariance of the unknowns,
  /// the error of a figure, and what predictions from published figures were off, which grows with
  /// the distance from what was measured.
  stats::Interval interval_of(const PredictRequest& request) const {
    return errors_of(request).interval_s();
  }

  /// The parts of that interval.
  StepErrors errors_of(const PredictRequest& request) const;

  /// This fit with one more figure, whose time is taken to be what this fit foresees: the constants
  /// stay, and how sure they are follows from the design, without a measurement.  Of a figure that
  /// is_known() it is this fit.
  MeasuredFit if_measured(MeasuredFigure figure) const;

  /// This fit where the links that it fits have measured fits of collectives; empty: it fits none,
  /// or they have them.
  std::optional<MeasuredFit> if_swept() const;

  /// Whether one of the figures is of the same case.
  bool is_known(const MeasuredFigure& figure) const;

  /// The figure with the fewest ranks, of those with this batch where there are some.
  const CheckedFigure& smallest(int batch_size) const;

 private:
  enum class Unknown : std::uint8_t {
    kCompute,        // at the smallest batch
    kComputeOfMore,  // at the largest batch
    kNetworkRate,
    kDeviceRate,
    kLatency,
    kStart,
    kSlowdown
  };
  using Values = std::vector<double>;  // by unknowns_

  /// The error of a figure of which no scatter is known, as a share of the step.
  static constexpr double kErrorOfAFigure = 0.003;
  // Medians where nothing describes the links.
  static constexpr double kUsualRate = 3e9, kUsualLatency = 10e-6, kUsualSlowdown = 0.02;

  void complete(MeasuredFigure& figure) const;
  void sort_figures();
  void check_figures() const;
  void choose_unknowns();
  void add_links();
  double prior_of_rate(cluster::LinkScope scope) const;
  bool is_swept(cluster::LinkScope scope) const;
  bool fits(Unknown unknown) const;
  double value(Unknown unknown, const Values& at) const;
  PredictRequest request_of(const MeasuredFigure& figure) const;
  /// The figure's job before anything is fitted; links that nothing describes have any rate.
  PredictRequest unpriced(const MeasuredFigure& figure) const;
  PredictRequest priced(PredictRequest request, const Values& at, double crowding) const;
  void put_machine(const Values& at, PredictRequest& request) const;
  double alone_s(int batch_size, const Values& at) const;
  double fixed_s() const;
  /// What a device takes alone for a micro-batch of `batch_size` where it takes `measured_s` for
  /// `measured` samples.
  double scaled_s(double measured_s, int measured, int batch_size) const;
  /// How much longer the ranks of a figure compute than those of the smallest one; 1: not measured.
  double crowding_of(const MeasuredFigure& figure) const;
  double simulated_s(const MeasuredFigure& figure, const Values& at) const;
  std::vector<int> hosts_like_measured(plan::Rank ranks) const;
  void resolve_rates();
  void solve();
  void solve_from(const Values& start);
  Values residuals_at(const Values& at) const;
  double squares_at(const Values& at) const;
  void solve_links();
  void start_at_best_rate();
  void check_explained() const;
  void explain();
  MeasuredConstant constant_of(std::size_t k) const;
  /// The words of the figure that says most of it; empty where none does.
  std::string determined_by(std::size_t k) const;
  void put_distance(const PredictRequest& request, StepErrors& errors) const;
  /// The unknowns of `other`, which has more figures, where this fit has its constants.
  Values constants_for(const MeasuredFit& other) const;
  void find_covariance();

  PredictRequest job_;
  bool described_ = true, swept_ = false;
  cluster::LinkSharing within_ = cluster::LinkSharing::kDevice;
  std::vector<CheckedFigure> checked_;
  std::vector<Unknown> unknowns_;
  Values prior_, start_, at_;
  std::vector<Values> covariance_, influence_;
  double objective_ = 0;
  double crowding_ = 1;  // of the largest number of ranks
  int least_batch_ = 0, most_batch_ = 0;
  double first_guess_s_ = 0, fixed_s_ = 0;
  std::shared_ptr<simulator::JobCache> own_jobs_;
  std::vector<MeasuredConstant> constants_;
  std::vector<records::Warning> warnings_;
};

/// Gives the prediction of `request`, whose prices are not set, the interval of the fit in place of
/// the error bar of published tables.
void put_interval(const MeasuredFit& fit, const PredictRequest& request, Prediction& prediction);

/// The line that says the prediction's rate for a rank beside that of the fewest measured ranks.
std::string efficiency_text(const MeasuredFit& fit, const Prediction& prediction);

}  // namespace paceline::predict
