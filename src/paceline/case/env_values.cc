// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/env_values.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/variables.h"

namespace paceline::cases {

bool is_env_name(std::string_view name) { return name.starts_with(kEnvPrefix); }

RawValues env_of_flags(const std::vector<std::string>& texts) {
  RawValues values;
  for (const std::string& text : texts) {
    if (text.empty()) {
      throw UsageError("--env: is empty; leave it out, or give a value");
    }
    for (const auto& [name, list] : variables_from(text, "--env")) {
      std::vector<RawValue>& to = values[fmt::format("{}{}", kEnvPrefix, name)];
      for (std::string& value : split_at(list, ',')) {
        to.push_back({std::move(value), "--env " + name});
      }
    }
  }
  return values;
}

}  // namespace paceline::cases
