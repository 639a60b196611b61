// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/predict/measured_fit.h"
#include "paceline/predict/roofline.h"

// Checks that reject measurements which contradict each other, the cluster's description or
// physics, and that warn of measurements which the fit does not explain.

namespace paceline::predict {
namespace {

constexpr const char* kRateWords = "; rate= is the samples/s of all ranks together";

/// Returns the most operations/s of the device with numbers of any type of at least `dtype`'s bits;
/// empty if the cluster file does not say.  The file's rate may be of another type than the
/// program's products: tensor cores multiply 16-bit numbers 8 times as fast as a V100's 32-bit
/// units, and twice as fast as TF32 from A100 on, and 8-bit numbers twice as fast again (NVIDIA,
/// data sheets of V100, A100 and H100).
std::optional<double> most_flops(const cluster::ClusterDevice& device, plan::DType dtype) {
  constexpr double kTensorCoreFlops = 100e12;  // FLOPS that only tensor cores reach
  const bool in_8_bits = dtype == plan::DType::kF8;
  if (in_8_bits && device.fp8_flops_per_s) {
    return device.fp8_flops_per_s;
  }
  if (!device.flops_per_s) {
    return std::nullopt;
  }
  const double in_16_bits = (*device.flops_per_s < kTensorCoreFlops ? 8 : 2) * *device.flops_per_s;
  return (in_8_bits ? 2 : 1) * in_16_bits;
}

}  // namespace

/// Throws UsageError if a measurement is given twice, if two measurements of one case have
/// different step times, or if a log's samples per step are not ranks times batch size.
void MeasuredFit::check_figures() const {
  constexpr double kContradiction = 0.05;
  for (std::size_t i = 0; i < checked_.size(); ++i) {
    const MeasuredFigure& it = checked_[i].figure;
    const std::int64_t samples = std::int64_t{it.ranks} * it.batch_size;
    if (it.samples_per_step && *it.samples_per_step != samples) {
      throw UsageError(fmt::format(
          "--measured '{}': {} with a batch of {} each take {} samples a step, and its "
          "log says {}",
          it.words, counted(it.ranks, "rank"), it.batch_size, samples, *it.samples_per_step));
    }
    for (std::size_t j = 0; j < i; ++j) {
      const MeasuredFigure &a = checked_[j].figure, &b = checked_[i].figure;
      if (a.ranks != b.ranks || a.batch_size != b.batch_size || a.accumulate != b.accumulate ||
          a.strategy != b.strategy || a.ranks_per_host != b.ranks_per_host) {
        continue;
      }
      if (a.words == b.words) {
        throw UsageError(fmt::format("--measured '{}': is given twice", a.words));
      }
      if (std::abs(std::log(*a.step_s / *b.step_s)) > kContradiction) {
        throw UsageError(
            fmt::format("--measured '{}' contradicts '{}': of one case they give steps of {:.4g} "
                        "ms and of {:.4g} ms",
                        b.words, a.words, *b.step_s * 1e3, *a.step_s * 1e3));
      }
    }
  }
}

/// Returns a clause on the least time that the measured job's bytes need on the described links.
/// Returns an empty text if nothing describes the links, or if that time is less than half of the
/// step.
std::string MeasuredFit::wire_time_clause(const MeasuredFigure& figure) const {
  const bool across = cluster::ranks_per_host(request_of(figure).cluster, figure.ranks).size() > 1;
  const cluster::ClusterLink* link =
      job_.cluster.link(across ? cluster::LinkScope::kHosts : cluster::LinkScope::kDevices);
  if (!described_ || job_.machine || link == nullptr) {
    return "";
  }
  PredictRequest request = priced(request_of(figure), at_, 1);
  request.measured = {};
  const double wire_s = plan::seconds_of(predict(request).bound.wire);
  constexpr double kMuch = 0.5, kGigabits = 8e-9;
  return wire_s < kMuch * *figure.step_s
             ? ""
             : fmt::format(
                   "; its bytes alone need at least {:.4g} ms on the described {} of {:.4g} Gbit/s",
                   wire_s * 1e3, link->name, kGigabits * static_cast<double>(link->bytes_per_s));
}

/// Returns the measurement without which the others agree best.
const CheckedFigure& MeasuredFit::most_contradictory_figure() const {
  const auto off = [this](const CheckedFigure& it) {
    return std::abs(std::log(simulated_s(it.figure, at_) / it.measured_s));
  };
  const CheckedFigure* odd = &*std::ranges::max_element(checked_, {}, off);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < checked_.size() && checked_.size() > 2; ++i) {
    MeasuredFit others = *this;
    others.checked_.erase(others.checked_.begin() + static_cast<std::ptrdiff_t>(i));
    others.sort_figures();
    try {
      others.fit();
    } catch (const UsageError&) {
      continue;  // the other measurements cannot be simulated
    }
    if (others.objective_ < least) {
      least = others.objective_;
      odd = &checked_[i];
    }
  }
  return *odd;
}

void MeasuredFit::check_fit_explains_figures() const {
  constexpr double kContradiction = 0.1;
  const bool explained = std::ranges::all_of(checked_, [&](const CheckedFigure& it) {
    return std::abs(std::log(simulated_s(it.figure, at_) / it.measured_s)) <= kContradiction;
  });
  if (explained) {
    return;
  }
  const CheckedFigure& odd = most_contradictory_figure();
  const double fitted = simulated_s(odd.figure, at_);
  throw UsageError(fmt::format(
      "--measured '{}': no speed of a device and of the links explains a step of {:.4g} ms{}; "
      "those that fit best give {:.4g} ms{}{}",
      odd.figure.words, odd.measured_s * 1e3,
      checked_.size() > 1 ? " beside the other figures" : "", fitted * 1e3,
      fitted > odd.measured_s ? wire_time_clause(odd.figure) : "",
      odd.figure.samples_per_s ? kRateWords : ""));
}

/// Throws UsageError if a device would compute faster than its description allows.
void MeasuredFit::check_flops() const {
  const auto most = most_flops(job_.cluster.device, job_.network.model.dtype);
  if (!most || job_.network.work.empty()) {
    return;
  }
  RooflineOptions peak =
      roofline_of(job_.cluster.device, job_.cost_table().roofline, job_.network.model.dtype);
  peak.flops_per_s = *most;
  peak.memory_bytes_per_s = std::numeric_limits<double>::infinity();
  peak.strided = 1;
  const double update = update_seconds_of(without_fitted_costs(checked_.front().figure));
  for (const int batch : {least_batch_, most_batch_}) {
    const plan::LayerProfile profile = roofline_profile(job_.network, batch, peak);
    const double least = plan::seconds_of(profile.forward_total() + profile.backward_total());
    const double fitted = one_device_s(batch, at_) - update;
    if (fitted < least) {
      const CheckedFigure& it = *std::ranges::find_if(
          checked_, [&](const CheckedFigure& one) { return one.figure.micro_batch() == batch; });
      throw UsageError(fmt::format(
          "--measured '{}': leaves a device {:.3g} ms for the {:.3g} TFLOP of {} samples, which "
          "are {:.4g} TFLOP/s; a device with the cluster file's flops of {:.4g} TFLOP/s reaches at "
          "most {:.4g}{}; the figure, --dtype or the description of the cluster is wrong",
          it.figure.words, fitted * 1e3, least * *most * 1e-12, batch,
          least * *most / fitted * 1e-12, job_.cluster.device.flops_per_s.value_or(*most) * 1e-12,
          *most * 1e-12, wire_time_clause(it.figure)));
    }
  }
}

/// Throws UsageError if the fitted compute times are unknown or impossible.
void MeasuredFit::check_compute() const {
  check_flops();
  constexpr double kUndetermined = 1;  // standard deviation of the logarithm of the compute time
  if (std::sqrt(covariance_[0][0]) > kUndetermined) {
    throw UsageError(
        fmt::format("--measured '{}': determines nothing: the step hardly depends on what the "
                    "devices compute{}",
                    checked_.front().figure.words, wire_time_clause(checked_.front().figure)));
  }
  if (one_device_s(most_batch_, at_) < one_device_s(least_batch_, at_)) {
    throw UsageError(
        fmt::format("--measured: a device that takes {:.4g} ms for a batch of {} and {:.4g} ms for "
                    "one of {} is what explains the figures best, so they contradict each other",
                    one_device_s(least_batch_, at_) * 1e3, least_batch_,
                    one_device_s(most_batch_, at_) * 1e3, most_batch_));
  }
  constexpr double kContradiction = 0.05;
  for (const CheckedFigure& it : checked_) {
    const double doubled = std::log2(most_ranks_on_a_host(request_of(it.figure)));
    if (value(Unknown::kHostShare, at_) * doubled < -kContradiction) {
      throw UsageError(fmt::format(
          "--measured '{}': a device that computes faster the more of them share a host is what "
          "explains the figures best, so they contradict each other",
          it.figure.words));
    }
  }
}

/// Warns of fitted link constants that are improbable for the links as the cluster describes them.
void MeasuredFit::warn_of_constants() {
  constexpr double kFar = 3;  // in standard deviations of the prior
  const bool rated = std::ranges::any_of(
      checked_, [](const CheckedFigure& it) { return it.figure.samples_per_s.has_value(); });
  for (std::size_t k = 0; described_ && k < unknowns_.size(); ++k) {
    const double away = std::abs(at_[k]) / unknowns_[k].prior;
    const Unknown unknown = unknowns_[k].unknown;
    const bool compute = unknown == Unknown::kCompute || unknown == Unknown::kComputeOfMore;
    if (!compute && away > kFar) {
      warnings_.push_back(
          {.code = "unlikely-constant",
           .seen =
               fmt::format("{} would have to be {:.3g} {}, {:.0f} standard deviations from what "
                           "the cluster's description makes likely",
                           constants_[k].name, constants_[k].value, constants_[k].unit, away),
           .why = "what the figures lose by more ranks or another batch need not be lost in links: "
                  "input, hosts or slower devices may take it",
           .advice = fmt::format("trust predictions near the measured ranks and batches alone{}",
                                 rated ? kRateWords : "")});
    }
  }
}

/// Warns of measurements whose fitted step differs more from the measured one than their errors
/// explain.
void MeasuredFit::warn_of_figures() {
  for (const CheckedFigure& it : checked_) {
    const double off = std::log(it.fitted_s / it.measured_s);
    if (std::abs(off) > kUnexplainedDeviations * it.figure.spread) {
      warnings_.push_back(
          {.code = "unexplained-figure",
           .seen = fmt::format("'{}' is {:.1f} % {} than the fit to all figures, {:.1f} standard "
                               "deviations of its error",
                               it.figure.words, 100 * std::abs(std::expm1(off)),
                               off < 0 ? "slower" : "faster", std::abs(off) / it.figure.spread),
           .why = "neither compute nor the links explain the difference from the other figures; "
                  "intervals are wider by as much",
           .advice = "measure it again, or add figures of other numbers of ranks"});
    }
  }
}

}  // namespace paceline::predict
