// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/calibration_tables.h"

#include <utility>

#include <fmt/format.h>

namespace paceline::cli {

report::Document calibration_tables(const predict::Calibration& calibration) {
  report::Table constants{
      .title = "calibrated on records",
      .columns = {
          {.name = "constant", .align = report::Align::kLeft},
          {.name = "value"},
          {.name = "unit", .align = report::Align::kLeft},
          {.name = fmt::format("{:.0f} % interval", calibration.level * 100)},
          {.name = "from", .align = report::Align::kLeft}}};
  for (const predict::CalibratedConstant& it : calibration.constants) {
    constants.rows.push_back({{it.name,
                               fmt::format("{:.4g}", it.value),
                               it.unit,
                               it.interval ? fmt::format("[{:.4g}, {:.4g}]",
                                                         it.interval->low,
                                                         it.interval->high)
                                           : "-",
                               it.from}});
  }
  report::Table cases{
      .columns = {{.name = "case", .align = report::Align::kLeft},
                  {.name = "ranks"},
                  {.name = "measured", .unit = "ms"},
                  {.name = "with these constants", .unit = "ms"},
                  {.name = "difference", .unit = "%"}}};
  for (const predict::ExplainedCase& it : calibration.cases) {
    cases.rows.push_back(
        {{it.configuration.strategy,
          fmt::format("{}", it.configuration.ranks),
          fmt::format("{:.3f}", it.measured_s * 1e3),
          fmt::format("{:.3f}", it.simulated_s * 1e3),
          fmt::format("{:+.1f}", (it.simulated_s / it.measured_s - 1) * 100)}});
  }
  return {.tables = {std::move(constants), std::move(cases)}};
}

}  // namespace paceline::cli
