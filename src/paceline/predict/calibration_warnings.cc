// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibration_warnings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paceline::predict {

void warn_of_gaps(double most_exposed,
                  const CalibrationOptions& options,
                  Calibration& calibration) {
  auto& warnings = calibration.measured.warnings;
  constexpr double kHidden = 0.01;
  const auto& several_ranks = calibration.measured.several_ranks;
  if (most_exposed < kHidden) {
    warnings.push_back(
        {.code = "hidden-communication",
         .seen = "in no record does communication add 1 % to the step",
         .why = "what hides under compute says little of the link",
         .advice = "add runs that wait for it: --strategy bsp, or a smaller "
                   "--batch-size for all"});
  }
  const int largest = several_ranks.back().configuration.ranks;
  if (several_ranks.front().configuration.ranks == largest && !options.link &&
      !options.gives_links()) {
    warnings.push_back(
        {.code = "one-world",
         .seen = fmt::format("{} ranks are the only world of more than one",
                             largest),
         .why = "how costs grow with ranks is taken from the model of a ring",
         .advice = fmt::format("add runs of {} ranks", 2 * largest)});
  }
  if (options.link && options.gives_links()) {
    warnings.push_back(
        {.code = "links-of-records",
         .seen = fmt::format("the records ran behind an emulated link, and "
                             "cluster '{}' has links of its own",
                             options.cluster->name),
         .why = "of the cluster only the hosts are taken",
         .advice = "`paceline predict PROFILE --cluster FILE` prices its "
                   "links"});
  }
  const bool one_host =
      std::ranges::all_of(several_ranks, [](const MeasuredCase& it) {
        return it.configuration.ranks_per_host.size() < 2;
      });
  if (one_host && !options.link && !options.gives_links()) {
    warnings.push_back(
        {.code = "one-host",
         .seen = "all runs were on one host",
         .why = "nothing is known of a network; larger worlds are taken to "
                "stand on one host as well",
         .advice = "add runs on two hosts, or say with --cluster where ranks "
                   "would be"});
  }
}

void warn_of_fit(const Fitted& best, Calibration& calibration) {
  auto& warnings = calibration.measured.warnings;
  const int largest =
      calibration.measured.several_ranks.back().configuration.ranks;
  double worst = 0;
  for (const ExplainedCase& it : calibration.cases) {
    worst = std::max(worst, std::abs(it.simulated_s / it.measured_s - 1));
  }
  constexpr double kPoor = 0.05;
  if (worst > kPoor) {
    warnings.push_back(
        {.code = "poor-fit",
         .seen = fmt::format("the fit misses a case by {:.0f} %", worst * 100),
         .why = "something that the simulator does not know shaped it",
         .advice = "trust the interval, not the figure"});
  }
  constexpr double kCrowded = 1.05;
  if (best.factor > kCrowded) {
    warnings.push_back(
        {.code = "shared-compute",
         .seen = fmt::format("{} ranks compute {:.2f} times as long as one",
                             largest,
                             best.factor),
         .why = "they share cores or memory; a larger world is taken to share "
                "them as much",
         .advice = "predict worlds that have as many ranks a host"});
  }
}

}  // namespace paceline::predict
