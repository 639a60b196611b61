// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/variables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

// Variables that Paceline sets for each rank and that a case cannot change.
constexpr auto kTaken =
    std::to_array<std::string_view>({"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
                                     "MASTER_PORT", "OMP_NUM_THREADS", "PACELINE_CASE"});

void check_name(const std::string& name, const std::string& where) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (!is_name) {
    throw UsageError(fmt::format("{}: '{}' is no name of an environment variable", where, name));
  }
  if (std::ranges::find(kTaken, name) != kTaken.end()) {
    throw UsageError(fmt::format("{}: Paceline itself sets {} for each rank{}", where, name,
                                 name == "OMP_NUM_THREADS" ? "; take --threads" : ""));
  }
}

}  // namespace

std::string variables_text(const Variables& variables) {
  return variables.empty() ? "" : nlohmann::json(variables).dump();
}

Variables variables_from(const std::string& text, const std::string& where) {
  if (text.empty()) {
    return {};
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("{}: '{}' is not NAME=VALUE", where, text));
  }
  check_name(text.substr(0, equals), where);
  return {{text.substr(0, equals), text.substr(equals + 1)}};
}

}  // namespace paceline::cases
