// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/layout.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::report {
namespace {

constexpr std::string_view kGap = "  ";

std::string padding(std::size_t width, std::string_view text) {
  const std::size_t shown = shown_width(text);
  return std::string(width > shown ? width - shown : 0, ' ');
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string join_cells(const std::vector<std::string>& cells,
                       const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks = padding(widths[i], cells[i]);
    line += i == 0 ? cells[i] + blanks : std::string(kGap) + blanks + cells[i];
  }
  return line;
}

// Bytes of the UTF-8 character at the start of `text` where it would move a
// cursor (C1 controls) or turn the direction of the text around it; else 0.
std::size_t unseen_character(std::string_view text) {
  const auto byte = [&text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) {
    return 2;
  }
  const bool turns =
      byte(0) == 0xE2 &&
      ((byte(1) == 0x80 && ((byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                            byte(2) == 0x8E || byte(2) == 0x8F)) ||
       (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
  return turns ? 3 : 0;
}

}  // namespace

Grid::Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Grid::add_row(std::vector<std::string> cells) {
  PACELINE_CHECK_EQ(cells.size(), columns_.size());
  lines_.push_back({std::move(cells), ""});
}

void Grid::add_sentence(std::vector<std::string> cells, std::string sentence) {
  PACELINE_CHECK(cells.size() < columns_.size());
  lines_.push_back({std::move(cells), std::move(sentence)});
}

std::vector<std::size_t> Grid::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    widths.push_back(shown_width(column.header));
  }
  for (const Line& line : lines_) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      widths[i] = std::max(widths[i], shown_width(line.cells[i]));
    }
  }
  // The last column of a group makes room for the group's name.
  for (std::size_t begin = 0, end = 0; begin < columns_.size(); begin = end) {
    std::size_t room = 0;
    while (end < columns_.size() &&
           columns_[end].group == columns_[begin].group) {
      room += widths[end] + (end == begin ? 0 : kGap.size());
      ++end;
    }
    const std::size_t needed = shown_width(columns_[begin].group);
    widths[end - 1] += needed > room ? needed - room : 0;
  }
  return widths;
}

std::string Grid::groups_line(const std::vector<std::size_t>& widths) const {
  std::string line;
  std::size_t column_end = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    column_end += widths[i] + (i == 0 ? 0 : kGap.size());
    const bool last_of_group =
        i + 1 == columns_.size() || columns_[i + 1].group != columns_[i].group;
    if (last_of_group && !columns_[i].group.empty()) {
      const std::size_t used =
          shown_width(line) + shown_width(columns_[i].group);
      line += std::string(column_end - std::min(column_end, used), ' ');
      line += columns_[i].group;
    }
  }
  return line;
}

std::string Grid::text() const {
  const std::vector<std::size_t> width = widths();
  std::vector<std::string> headers;
  for (const Column& column : columns_) {
    headers.push_back(column.header);
  }
  std::string text = without_trailing_blanks(groups_line(width)) +
                     without_trailing_blanks(join_cells(headers, width));
  for (const Line& line : lines_) {
    std::string row = join_cells(line.cells, width);
    if (!line.sentence.empty()) {
      const std::string head = row + std::string(kGap);
      row = hanging(head, line.sentence);
      row.pop_back();
    }
    text += without_trailing_blanks(std::move(row));
  }
  return text;
}

std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
      }));
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t unseen =
        byte < 0x20 || byte == 0x7F ? 1 : unseen_character(text);
    if (c == '\n' || c == '\t' || c == '\r') {
      out += ' ';
    } else {
      out += unseen > 0 ? '?' : c;
    }
    text.remove_prefix(std::max<std::size_t>(unseen, 1));
  }
  return out;
}

std::string hanging(std::string_view head,
                    std::string_view text,
                    std::size_t width) {
  const std::size_t indent = shown_width(head);
  std::string out(head);
  std::size_t column = indent;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::size_t length = shown_width(word);
    if (column > indent && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += length;
  }
  return out + "\n";
}

}  // namespace paceline::report
