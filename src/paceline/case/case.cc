// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/case.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "paceline/case/field.h"
#include "paceline/case/same.h"

namespace paceline::cases {

void Case::forget(const std::string& key) {
  for (const Field& field : fields()) {
    if (field.json.form == JsonForm::kStated && field.json_name() == key) {
      const Value usual = default_value(field);
      access_of<Case>(field).set(
          *this,
          std::holds_alternative<int>(usual)
              ? Value(field.json.unstated)
              : std::visit([](const auto& value) { return Value(std::decay_t<decltype(value)>()); },
                           usual));
      unstated.insert(key);
    }
  }
}

std::string Case::role_of(int rank) const {
  if (!has_tables()) {
    return "";
  }
  if (rank < trainers) {
    return fmt::format("trainer {}", rank);
  }
  if (rank < trainers + servers) {
    return fmt::format("server {}", rank - trainers);
  }
  return servers > 0 && rank == trainers + servers ? "master" : "";
}

std::string Case::key() const { return key_without(*this, {}); }

bool Case::operator==(const Case& other) const {
  return unstated == other.unstated && std::ranges::all_of(fields(), [&](const Field& field) {
           return value_of(field, *this) == value_of(field, other);
         });
}

}  // namespace paceline::cases
