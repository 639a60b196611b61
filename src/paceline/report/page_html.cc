// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page_html.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/report/layout.h"

namespace paceline::report {
namespace {

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
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// "90.9 [85.0, 95.4]": the interval in a quieter color, with its mark.
std::string cell_html(const std::string& cell) {
  const std::size_t bracket = cell.find(" [");
  if (bracket == std::string::npos ||
      !(cell.ends_with(']') || cell.ends_with("]*"))) {
    return html_text(cell);
  }
  return fmt::format("{} <span class=\"interval\">{}</span>",
                     html_text(cell.substr(0, bracket)),
                     html_text(cell.substr(bracket + 1)));
}

std::string group_row(const std::vector<Grid::Column>& columns) {
  std::string row = "<tr class=\"groups\">";
  for (std::size_t begin = 0, end = 0; begin < columns.size(); begin = end) {
    const std::string& group = columns[begin].group;
    end = begin + 1;
    while (end < columns.size() && columns[end].group == group) {
      ++end;
    }
    const std::string span =
        end - begin > 1 ? fmt::format(" colspan=\"{}\"", end - begin) : "";
    row += group.empty() ? fmt::format("<td{}></td>", span)
                         : fmt::format("<th scope=\"colgroup\"{}>{}</th>",
                                       span,
                                       html_text(group));
  }
  return row + "</tr>\n";
}

std::string head_html(const std::vector<Grid::Column>& columns) {
  const bool grouped =
      std::any_of(columns.begin(), columns.end(), [](const auto& column) {
        return !column.group.empty();
      });
  std::string text = "<thead>\n" + (grouped ? group_row(columns) : "") + "<tr>";
  for (const Grid::Column& column : columns) {
    text += fmt::format("<th scope=\"col\">{}</th>", html_text(column.header));
  }
  return text + "</tr>\n</thead>\n";
}

std::string line_html(const Sheet::Line& line, std::size_t columns) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < line.cells.size(); ++i) {
    if (i > 0) {
      row += fmt::format("<td>{}</td>", cell_html(line.cells[i]));
    } else if (line.link.empty()) {
      row += fmt::format("<th scope=\"row\">{}</th>", html_text(line.cells[i]));
    } else {
      row += fmt::format(R"(<th scope="row"><a href="#{}">{}</a></th>)",
                         html_text(line.link),
                         html_text(line.cells[i]));
    }
  }
  if (!line.sentence.empty()) {
    row += fmt::format(R"(<td class="sentence" colspan="{}">{}</td>)",
                       columns - line.cells.size(),
                       html_text(line.sentence));
  }
  return row + "</tr>\n";
}

std::string paragraph(const char* css_class, const std::string& text) {
  return text.empty()
             ? ""
             : fmt::format(
                   "<p class=\"{}\">{}</p>\n", css_class, html_text(text));
}

std::string figure_html(const Chart& chart, std::size_t index) {
  std::string text = fmt::format(
      "<figure data-chart=\"{}\">\n<figcaption>{}</figcaption>\n{}"
      "<div class=\"plot\"></div>\n",
      index,
      html_text(chart.title),
      paragraph("note", chart.note));
  const Sheet numbers = chart_sheet(chart);
  if (!numbers.lines.empty()) {
    text += "<details class=\"numbers\"><summary>Numbers</summary>\n" +
            sheet_html(numbers) + "</details>\n";
  }
  return text + "</figure>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  return escaped(printable(text));
}

std::string html_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += html_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
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

std::string sheet_html(const Sheet& sheet) {
  std::string text =
      R"(<div class="scroll" tabindex="0" role="region" aria-label=")" +
      html_text(sheet.heading) + "\">\n<table>\n<caption>" +
      html_text(sheet.heading) + "</caption>\n" + head_html(sheet.columns) +
      "<tbody>\n";
  for (const Sheet::Line& line : sheet.lines) {
    text += line_html(line, sheet.columns.size());
  }
  return text + "</tbody>\n</table>\n</div>\n";
}

std::string sections_html(const std::vector<Section>& sections,
                          nlohmann::ordered_json& charts) {
  std::string text;
  for (const Section& section : sections) {
    const char* const heading = section.inner ? "h3" : "h2";
    text += fmt::format("<section{}>\n<{}>{}</{}>\n{}",
                        section.inner ? " class=\"inner\"" : "",
                        heading,
                        html_text(section.title),
                        heading,
                        paragraph("note", section.note));
    if (!section.charts.empty()) {
      text += "<div class=\"charts\">\n";
      for (const Chart& chart : section.charts) {
        text += figure_html(chart, charts.size());
        charts.push_back(chart_json(chart));
      }
      text += "</div>\n";
    }
    if (section.sheet) {
      text += sheet_html(*section.sheet);
    }
    text += "</section>\n";
  }
  return text;
}

}  // namespace paceline::report
