// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/case.h"

#include <fmt/format.h>

#include "paceline/case/field.h"
#include "paceline/case/same.h"

namespace paceline::cases {
namespace {

/// The value of a field that is not stated.
struct Unstated {
  int integer;

  Value operator()(int /*usual*/) const { return integer; }
  template <class T>
  Value operator()(const T& /*usual*/) const {
    return T{};
  }
};

}  // namespace

void Case::forget(const std::string& key) {
  for (const Field& field : fields()) {
    if (field.json.form == Form::kStated && field.json_name() == key) {
      access_of<Case>(field).set(*this,
                                 std::visit(Unstated{field.json.unstated}, usual_value(field)));
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

std::string Case::key() const { return key_but(*this, {}); }

}  // namespace paceline::cases
