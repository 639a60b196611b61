// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paceline::report {

/// The text that stands for a missing value.
inline constexpr std::string_view kMissingValueText = "-";

/// Returns the number of characters of UTF-8 `text`; each counts as one column of a terminal.
std::size_t display_width(std::string_view text);

/// Replaces control characters, which could move a terminal's cursor or change the direction of the
/// text around them, by "?".  Line breaks and tabs become blanks.
std::string printable(std::string_view text);

/// Returns `head`, then the words of `text`, wrapped at `width` columns.  All lines but the first
/// are indented by the width of `head`.
std::string with_hanging_indent(std::string_view head, std::string_view text,
                                std::size_t width = 100);

/// Returns `bytes` with a decimal unit (kB, MB, GB = 10^9 B, TB) and three digits.
std::string format_bytes(std::int64_t bytes);

/// Escapes `text` for an element or a quoted attribute of HTML; line breaks stay.
std::string html_escaped(std::string_view text);

}  // namespace paceline::report
