// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/measured_tables.h"

#include <utility>

#include <fmt/format.h>

namespace paceline::cli {
namespace {

std::string off(double predicted, double measured) {
  return fmt::format("{:+.1f}", (predicted / measured - 1) * 100);
}

}  // namespace

report::Document measured_tables(const predict::MeasuredFit& fit) {
  report::Table constants{
      .title = "from the measured figures",
      .columns = {{.name = "constant", .align = report::Align::kLeft},
                  {.name = "value"},
                  {.name = "unit", .align = report::Align::kLeft},
                  {.name = "95 % interval"},
                  {.name = "determined by", .align = report::Align::kLeft}}};
  for (const predict::MeasuredConstant& it : fit.constants()) {
    constants.rows.push_back(
        {{it.name,
          fmt::format("{:.4g}", it.value),
          it.unit,
          fmt::format("[{:.4g}, {:.4g}]", it.interval.low, it.interval.high),
          it.by.empty() ? "no figure" : it.by}});
  }
  report::Table figures{
      .columns = {{.name = "figure", .align = report::Align::kLeft},
                  {.name = "measured", .unit = "ms"},
                  {.name = "with these constants", .unit = "%"},
                  {.name = "from the other figures", .unit = "%"}}};
  for (const predict::CheckedFigure& it : fit.checked()) {
    figures.rows.push_back(
        {{it.figure.words,
          fmt::format("{:.3f}", it.measured_s * 1e3),
          off(it.fitted_s, it.measured_s),
          it.foreseen_s ? off(*it.foreseen_s, it.measured_s) : "-"}});
  }
  return {.tables = {std::move(constants), std::move(figures)}};
}

}  // namespace paceline::cli
