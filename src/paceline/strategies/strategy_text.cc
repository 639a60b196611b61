// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy_text.h"

#include "paceline/base/text.h"

namespace paceline::strategies {

std::vector<PartText> parts_of_text(std::string_view strategy) {
  std::vector<PartText> parts;
  for (const std::string& text : split_at(strategy, '+')) {
    const std::size_t colon = text.find(':');
    PartText& part = parts.emplace_back(PartText{text.substr(0, colon), {}});
    if (colon != std::string::npos) {
      part.options = split_at(text.substr(colon + 1), ',');
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

bool is_option(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && text.find(':') > equals;
}

}  // namespace paceline::strategies
