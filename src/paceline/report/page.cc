// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page.h"

#include <map>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/records/json.h"
#include "paceline/report/page/embedded.h"

namespace paceline::report {
namespace {

// `text` for an element or a quoted attribute; line breaks stay.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// `skeleton` with each {{name}} replaced by its text.  The texts themselves are
// not searched for names.
std::string filled(std::string_view skeleton,
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

}  // namespace

PageAssets page_assets() {
  return {.skeleton = embedded::kSkeleton,
          .style = embedded::kStyle,
          .scripts = {embedded::kD3,
                      embedded::kPlot,
                      embedded::kCharts,
                      embedded::kElements,
                      embedded::kSections,
                      embedded::kScaling,
                      embedded::kFrameworks,
                      embedded::kTraining,
                      embedded::kScript},
          .licences = {embedded::kD3Licence, embedded::kPlotLicence}};
}

std::string script_json(const std::string& json) {
  std::string out;
  for (const char c : json) {
    // These occur in JSON inside of strings only, where escapes are allowed.
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string render_page(const Page& page, const PageAssets& assets) {
  Json data = page_data(page);
  const auto tables = data["text"].get<std::string>();
  data.erase("text");
  std::string records;
  for (const records::RunRecord& record : page.records) {
    records += script_json(records::to_line(record)) + "\n";
  }
  std::string licences;
  for (const std::string_view licence : assets.licences) {
    licences += fmt::format("<pre>{}</pre>\n", escaped(licence));
  }
  std::string scripts;
  for (const std::string_view script : assets.scripts) {
    scripts += fmt::format("<script>\n{}</script>\n", script);
  }
  return filled(assets.skeleton,
                {{"title", escaped(data["title"].get<std::string>())},
                 {"style", std::string(assets.style)},
                 {"tables", escaped(tables)},
                 {"licences", licences},
                 {"data", script_json(json_text(data, -1))},
                 {"records", records},
                 {"scripts", scripts}});
}

}  // namespace paceline::report
