// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/case/field.h"

// Comparison of cases by chosen fields only, and texts that are equal exactly if those fields are.

namespace paceline::cases {

/// Selects fields of a case: all fields of one part, such as `Part::kWindow`, or a single member,
/// such as `&Case::strategy`.
class FieldSelector {
 public:
  FieldSelector(Part part) : of_(part) {}
  template <class T, class S>
  FieldSelector(T S::*member) : of_(address_of(default_case().*member)) {}

  bool has(const Field& field) const;

 private:
  static const Case& default_case();
  static const void* address_of(const auto& value) { return &value; }

  std::variant<Part, const void*> of_;
};

using Fields = std::initializer_list<FieldSelector>;

/// Whether two cases agree in all fields that influence the results, leaving out the fields `but`.
bool equal_except(const Case& a, const Case& b, Fields but);

/// Whether two cases have equal values in the fields `in`.
bool equal_in(const Case& a, const Case& b, Fields in);

/// The first of the fields `in` in which two cases differ although both state it, or null.
const Field* difference_in(const Case& a, const Case& b, Fields in);

/// The names and values of the fields that influence the case's result. An environment variable has
/// the name "env.NAME". Fields that the JSON form leaves out are left out, but for those of
/// embedding tables of a model that has tables.
using FieldTexts = std::vector<std::pair<std::string, std::string>>;
FieldTexts texts_of(const Case& c);
/// Those of one field: several of environment variables, none of a field that is left out.
FieldTexts texts_of(const Field& field, const Case& c);

/// Returns a text that is equal for two cases that agree in all fields that influence the result,
/// leaving out the fields `but`.
std::string key_without(const Case& c, Fields but);

/// A text that is equal for cases that agree in the fields `in`.
std::string key_of_fields(const Case& c, Fields in);

}  // namespace paceline::cases
