// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paceline::report {

/// What stands where a value is missing.
inline constexpr std::string_view kMissing = "-";

/// The number of characters that a terminal shows of UTF-8 `text`; each counts as one column.
std::size_t shown_width(std::string_view text);

/// `text` without control characters, which could move a terminal's cursor or
/// turn the direction of the text around them.  Line breaks become blanks.
std::string printable(std::string_view text);

/// `head`, then the words of `text`, broken at `width` columns.  All lines but
/// the first begin with as many blanks as `head` is wide.
std::string hanging(std::string_view head, std::string_view text, std::size_t width = 100);

/// `bytes` with a decimal unit (kB, MB, GB = 10^9 B) and three digits.
std::string format_bytes(std::int64_t bytes);

/// `text` for an element or a quoted attribute of HTML; line breaks stay.
std::string html_escaped(std::string_view text);

}  // namespace paceline::report
