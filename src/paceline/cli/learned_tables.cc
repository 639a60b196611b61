// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/learned_tables.h"

#include <utility>

#include <fmt/format.h>

namespace paceline::cli {

report::Document learned_tables(const predict::Learned& learned) {
  report::Table constants{
      .title = "learned from records",
      .columns = {
          {.name = "constant", .align = report::Align::kLeft},
          {.name = "value"},
          {.name = "unit", .align = report::Align::kLeft},
          {.name = fmt::format("{:.0f} % interval", learned.level * 100)},
          {.name = "from", .align = report::Align::kLeft}}};
  for (const predict::LearnedConstant& it : learned.constants) {
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
  for (const predict::ExplainedCase& it : learned.cases) {
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
