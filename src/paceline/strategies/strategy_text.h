// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// How a strategy's text is cut, at each `+` and `,`.

namespace paceline::strategies {

/// A part of a strategy as a text has it, whether this program knows it or not.
struct PartText {
  std::string name;
  std::vector<std::string> options;  // KEY=VALUE each
};

/// NAME:KEY=VALUE,...+NAME+...
std::vector<PartText> parts_of_text(std::string_view strategy);

/// The names of the parts alone: "fusion+ps".
std::string names_in_text(std::string_view strategy);

/// Whether this piece of a list of strategies, which commas separate, is an option of the strategy
/// before it.
bool is_option(std::string_view text);

}  // namespace paceline::strategies
