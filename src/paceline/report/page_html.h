// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/report/page_section.h"

// The pieces that `render_page` puts together.

namespace paceline::report {

/// `text` as it is to be read, in an element or a quoted attribute; control
/// characters are gone.
std::string html_text(std::string_view text);

/// The same for text of several lines.
std::string html_lines(std::string_view text);

/// A JSON text that may stand inside a script element: no "<" is left in it,
/// and it parses to the same value.
std::string script_json(const std::string& json);

/// A table with its groups of columns; the first column heads the rows.
std::string sheet_html(const Sheet& sheet);

/// What page/charts.js draws.
nlohmann::ordered_json chart_json(const Chart& chart);

/// The points of a chart as a table, for readers without eyes or scripts;
/// empty for distributions.
Sheet chart_sheet(const Chart& chart);

/// The sections' markup; the specifications of their charts go to `charts`,
/// where a figure's data-chart is an index.
std::string sections_html(const std::vector<Section>& sections,
                          nlohmann::ordered_json& charts);

}  // namespace paceline::report
