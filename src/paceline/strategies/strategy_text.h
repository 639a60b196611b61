// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// How a strategy's text is cut.  `+` and `,` separate, but in the name of a
// file, `topology=edges:FILE`: that goes on until a `+` before the name of a
// part, or a `,` before the key of an option and `=`.

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

/// Whether `next`, which a comma separates from the strategy `before` in a list
/// of strategies, belongs to it: an option of it, or more of a file's name.
bool goes_on(std::string_view before, std::string_view next);

}  // namespace paceline::strategies
