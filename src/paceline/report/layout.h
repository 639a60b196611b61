// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline::report {

/// A table of text whose columns stand in named groups; the first column is
/// set left, the others right.
class Grid {
 public:
  struct Column {
    std::string group;  // printed once above neighbors that share it
    std::string header;
  };
  explicit Grid(std::vector<Column> columns);

  /// One cell per column.
  void add_row(std::vector<std::string> cells);
  /// The first `cells` as columns, then `sentence` over all of the others.
  void add_sentence(std::vector<std::string> cells, std::string sentence);

  /// Two lines of headers and the rows, without blanks at the ends of lines.
  std::string text() const;

 private:
  struct Line {
    std::vector<std::string> cells;
    std::string sentence;
  };
  std::vector<std::size_t> widths() const;
  std::string groups_line(const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Line> lines_;
};

/// How many characters a terminal shows of UTF-8 `text` (none of ours is wide).
std::size_t shown_width(std::string_view text);

/// `text` without control characters, which could move a terminal's cursor or
/// turn the direction of the text around them; line breaks become blanks.
std::string printable(std::string_view text);

/// `head`, then the words of `text`, broken at `width` columns; all lines but
/// the first begin with as many blanks as `head` is wide.
std::string hanging(std::string_view head,
                    std::string_view text,
                    std::size_t width = 100);

}  // namespace paceline::report
