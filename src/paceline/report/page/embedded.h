// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Texts that the build puts into the program: files of this folder and of
// third_party/.

namespace paceline::report::embedded {

extern const std::string_view kSkeleton;  // page.html
extern const std::string_view kStyle;     // page.css
extern const std::string_view kD3;        // third_party/d3
extern const std::string_view kPlot;      // third_party/observable_plot
extern const std::string_view kD3Licence;
extern const std::string_view kPlotLicence;
extern const std::string_view kCharts;      // charts.js
extern const std::string_view kElements;    // elements.js
extern const std::string_view kSections;    // sections.js
extern const std::string_view kScaling;     // scaling.js
extern const std::string_view kFrameworks;  // frameworks.js
extern const std::string_view kTraining;    // training.js
extern const std::string_view kScript;      // page.js

}  // namespace paceline::report::embedded
