// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/report/page_section.h"
#include "paceline/report/scale.h"
#include "paceline/report/summary.h"

// Rows of a table as series of a chart.

namespace paceline::report {

Look look_of(const Row& row);

/// The series of `chart` for the row's origin; made where there is none yet.
Series& series_for(Chart& chart, const Row& row);

/// `estimate` in the unit of `scale`, with the text that the table shows.
Point point_of(std::string name,
               const stats::Estimate& estimate,
               const Scale& scale);

/// Says in the chart's note what its whiskers are, and marks those points of
/// which they are something else than of others.
void explain_whiskers(Chart& chart);

/// The name of a row where no column says its number of ranks.
std::string name_with_ranks(const Row& row);

}  // namespace paceline::report
