// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/predict/predict.h"
#include "paceline/records/samples.h"
#include "paceline/stats/mean.h"

namespace paceline::predict {
namespace {

/// Returns the mean of the shown steps, its standard error, and the seed that reproduces it.
std::string noise_text(const Prediction& prediction) {
  const simulator::StepTimes& times = prediction.times;
  const auto window = static_cast<std::ptrdiff_t>(times.window);
  std::vector<double> shown;
  for (auto it = times.steps.end() - window; it != times.steps.end(); ++it) {
    shown.push_back(plan::milliseconds_of(*it));
  }
  return fmt::format(
      "  noise of seed {}: {:.3f} ± {:.3f} ms, mean and standard error of {} steps\n",
      prediction.costs.machine.noise.seed, stats::mean(shown), stats::standard_error(shown),
      shown.size());
}

/// Returns a note if different ranks are late in different steps: the job is then faster than the
/// slowest rank's step, which tables show.
std::string drift_text(const Prediction& prediction) {
  constexpr double kNoticed = 1.01;
  const double slowest = stats::mean(records::slowest_step_s(prediction.record));
  const double step = plan::seconds_of(prediction.times.step);
  return slowest > kNoticed * step
             ? fmt::format(
                   "  ranks are late in turn: the slowest of each step takes {:.3f} ms, which is "
                   "the step of tables, and exposes more; the error bar is of the job's step\n",
                   slowest * 1e3)
             : "";
}

}  // namespace

std::string summary_of(const Prediction& prediction) {
  const simulator::StepTimes& times = prediction.times;
  const records::PredictionDetails& predicted = *prediction.record.predicted;
  const bool noisy = prediction.costs.machine.noise.any();
  std::string text = fmt::format(
      "{} on {}: step {:.3f} ms{}, {:.1f} samples/s\n"
      "  linear scaling from {}: step {:.3f} ms, {:.1f} samples/s\n"
      "  model work {:.3f} ms, {} {:.3f} ms, exposed communication {:.3f} ms\n"
      "  bound{} {}\n",
      prediction.record.configuration.strategy,
      counted(prediction.record.configuration.ranks, "rank"), plan::milliseconds_of(times.step),
      times.steady ? "" : fmt::format(" (not steady: mean of {} steps)", times.window),
      prediction.samples_per_s(), prediction.linear_from, plan::milliseconds_of(prediction.linear),
      prediction.linear_samples_per_s(), plan::milliseconds_of(prediction.compute_only.compute),
      noisy ? "update, other kernels and slower ranks" : "update and other kernels",
      plan::milliseconds_of(prediction.compute_only.step - prediction.compute_only.compute),
      plan::milliseconds_of(prediction.exposed()), noisy ? " without noise" : "",
      records::words_of(predicted.bound));
  if (predicted.error_bar) {
    text += fmt::format("  {}\n", records::words_of(*predicted.error_bar));
  }
  text += noisy ? noise_text(prediction) : drift_text(prediction);
  return text;
}

}  // namespace paceline::predict
