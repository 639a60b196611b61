// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy_text.h"

#include <algorithm>

#include "paceline/base/text.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Up to the first of these marks, `_` read as `-`.
std::string name_in(std::string_view text, std::string_view marks) {
  std::string name(text.substr(0, text.find_first_of(marks)));
  std::ranges::replace(name, '_', '-');
  return name;
}

bool begins_with_part(std::string_view text) {
  const std::string name = name_in(text, ":+,");
  return std::ranges::any_of(strategy_axes(), [&](const AxisInfo& axis) {
    return std::ranges::count(axis.rows, name, &RowInfo::name) > 0;
  });
}

bool begins_with_option(std::string_view text) {
  const std::string key = name_in(text, "=:+,");
  if (text.substr(key.size(), 1) != "=") {
    return false;
  }
  return std::ranges::any_of(strategy_axes(), [&](const AxisInfo& axis) {
    return std::ranges::any_of(axis.rows, [&](const RowInfo& row) {
      return std::ranges::count(row.options, key, &OptionInfo::key) > 0;
    });
  });
}

bool ends_in_file(std::string_view text) {
  return text.find("=edges:") != std::string_view::npos;
}

/// The pieces of `text` at `mark`; one that is in a file's name goes on where
/// the next does not begin anew.
template <class BeginsAnew>
std::vector<std::string> pieces_of(std::string_view text,
                                   char mark,
                                   const BeginsAnew& begins_anew) {
  std::vector<std::string> pieces;
  for (std::string& piece : split_at(text, mark)) {
    if (!pieces.empty() && ends_in_file(pieces.back()) && !begins_anew(piece)) {
      pieces.back() += mark + piece;
    } else {
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

}  // namespace

std::vector<PartText> parts_of_text(std::string_view strategy) {
  std::vector<PartText> parts;
  for (const std::string& text : pieces_of(strategy, '+', begins_with_part)) {
    const std::size_t colon = text.find(':');
    PartText& part = parts.emplace_back(PartText{text.substr(0, colon), {}});
    if (colon != std::string::npos) {
      part.options = pieces_of(text.substr(colon + 1), ',', begins_with_option);
    }
  }
  return parts;
}

std::string names_in_text(std::string_view strategy) {
  std::string names;
  for (const PartText& part : parts_of_text(strategy)) {
    names += (names.empty() ? "" : "+") + part.name;
  }
  return names;
}

bool goes_on(std::string_view before, std::string_view next) {
  const std::size_t equals = next.find('=');
  const bool is_option =
      equals != std::string_view::npos && next.find(':') > equals;
  return is_option ||
         (ends_in_file(pieces_of(before, '+', begins_with_part).back()) &&
          !begins_with_part(next));
}

}  // namespace paceline::strategies
