// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/env_values.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::experiment {
namespace {

// What Paceline tells a rank, which a case cannot change.
constexpr auto kTaken = std::to_array<std::string_view>({"RANK",
                                                         "WORLD_SIZE",
                                                         "LOCAL_RANK",
                                                         "MASTER_ADDR",
                                                         "MASTER_PORT",
                                                         "OMP_NUM_THREADS",
                                                         "PACELINE_CASE"});

void check_name(const std::string& name, const std::string& where) {
  const bool is_name =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_';
      });
  if (!is_name) {
    throw UsageError(fmt::format(
        "{}: '{}' is no name of an environment variable", where, name));
  }
  if (std::ranges::find(kTaken, name) != kTaken.end()) {
    throw UsageError(
        fmt::format("{}: Paceline itself sets {} for each rank{}",
                    where,
                    name,
                    name == "OMP_NUM_THREADS" ? "; take --threads" : ""));
  }
}

}  // namespace

bool is_env_name(std::string_view name) {
  return name.starts_with(kEnvPrefix);
}

std::string env_text(const std::map<std::string, std::string>& variables) {
  return variables.empty() ? "" : nlohmann::json(variables).dump();
}

std::map<std::string, std::string> env_from(const std::string& text,
                                            const std::string& where) {
  if (text.empty()) {
    return {};
  }
  if (text.starts_with('{')) {
    try {
      return nlohmann::json::parse(text)
          .get<std::map<std::string, std::string>>();
    } catch (const nlohmann::json::exception& error) {
      throw UsageError(fmt::format("{}: {}", where, error.what()));
    }
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("{}: '{}' is not NAME=VALUE", where, text));
  }
  check_name(text.substr(0, equals), where);
  return {{text.substr(0, equals), text.substr(equals + 1)}};
}

RawValues env_of_flags(const std::vector<std::string>& texts) {
  RawValues values;
  for (const std::string& text : texts) {
    if (text.empty()) {
      throw UsageError("--env: is empty; leave it out, or give a value");
    }
    for (const auto& [name, list] : env_from(text, "--env")) {
      std::vector<RawValue>& to = values[fmt::format("{}{}", kEnvPrefix, name)];
      for (std::string& value : split_at(list, ',')) {
        to.push_back({std::move(value), "--env " + name});
      }
    }
  }
  return values;
}

}  // namespace paceline::experiment
