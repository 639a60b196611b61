// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Splits the text of a strategy at each `+` and `,`.

namespace paceline::strategies {

/// One part of a strategy's text, whether or not the name is known.
struct PartText {
  std::string name;
  std::vector<std::string> options;  // each KEY=VALUE
};

/// Splits a text of the form NAME:KEY=VALUE,...+NAME+... into its parts.
std::vector<PartText> parts_of_text(std::string_view strategy);

/// The names of the parts without options, such as "fusion+ps".
std::string names_in_text(std::string_view strategy);

/// Whether `text`, a piece of a comma-separated list of strategies, is an option of the strategy
/// before it.
bool is_option(std::string_view text);

}  // namespace paceline::strategies
