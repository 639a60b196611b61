// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/report/console.h"
#include "paceline/report/page/embedded.h"
#include "paceline/report/summary_json.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// Returns `skeleton` with each {{name}} replaced by its text.  The texts themselves are not
// searched for names.
std::string fill_template(std::string_view skeleton,
                          const std::map<std::string_view, std::string>& texts) {
  std::string out;
  while (true) {
    const std::size_t begin = skeleton.find("{{");
    out += skeleton.substr(0, begin);
    if (begin == std::string_view::npos) {
      return out;
    }
    const std::size_t end = skeleton.find("}}", begin);
    PACELINE_CHECK(end != std::string_view::npos);
    out += texts.at(skeleton.substr(begin + 2, end - begin - 2));
    skeleton.remove_prefix(end + 2);
  }
}

// Returns the names of the experiments, at most three.
std::string default_title(std::span<const RunRecord> records) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const RunRecord& record : records) {
    add_once(names, record.experiment.empty() ? "records" : record.experiment);
  }
  const std::size_t left = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - left);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     left > 0 ? fmt::format(" and {} more", left) : "");
}

}  // namespace

PageAssets page_assets() {
  return {.skeleton = embedded::kSkeleton,
          .style = embedded::kStyle,
          .scripts = {embedded::kD3, embedded::kPlot, embedded::kCharts, embedded::kElements,
                      embedded::kRows, embedded::kSections, embedded::kScaling, embedded::kTraining,
                      embedded::kScript},
          .licences = {embedded::kD3Licence, embedded::kPlotLicence}};
}

std::string script_json(const std::string& json) {
  std::string out;
  for (const char c : json) {
    // In JSON these characters occur only inside strings, where escapes are allowed.
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string render_page(std::span<const RunRecord> records, const std::string& title,
                        const PageAssets& assets) {
  std::string licences;
  for (const std::string_view licence : assets.licences) {
    licences += fmt::format("<pre>{}</pre>\n", html_escaped(licence));
  }
  std::string scripts;
  for (const std::string_view script : assets.scripts) {
    scripts += fmt::format("<script>\n{}</script>\n", script);
  }
  const SummaryReport report = summary_report(records, Detail::kFull);
  const std::string shown = printable(title.empty() ? default_title(records) : title);
  return fill_template(assets.skeleton,
                       {{"title", html_escaped(shown)},
                        {"style", std::string(assets.style)},
                        {"tables", html_escaped(console_text(report.document))},
                        {"licences", licences},
                        {"data", script_json(records::to_line(report_json(report, records)))},
                        {"scripts", scripts}});
}

}  // namespace paceline::report
