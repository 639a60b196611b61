// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/case/field.h"

// Which cases are alike, and in what.

namespace paceline::cases {

/// A part of a case, or one member of it: `Part::kWindow`, `&Case::strategy`.
class Which {
 public:
  Which(Part part) : of_(part) {}
  template <class T, class S>
  Which(T S::*member) : of_(address_of(usual().*member)) {}

  bool has(const Field& field) const;

 private:
  static const Case& usual();
  static const void* address_of(const auto& value) { return &value; }

  std::variant<Part, const void*> of_;
};

using Fields = std::initializer_list<Which>;

/// Whether everything that shapes the results of the two cases is the same, but for these.
bool same_but(const Case& a, const Case& b, Fields but);

/// Whether these are the same.
bool same_in(const Case& a, const Case& b, Fields in);

/// The first of these in which two cases differ that both state it, or null.
const Field* difference_in(const Case& a, const Case& b, Fields in);

/// The names of what shapes the case's result, and its values.  Of a variable of the environment
/// the name is "env.NAME".  What the JSON form leaves out is left out, but not the usual embedding
/// tables of a model with tables.
using Texts = std::vector<std::pair<std::string, std::string>>;
Texts texts_of(const Case& c);

/// A text that is equal for cases that are the same but for these.
std::string key_but(const Case& c, Fields but);

/// A text that is equal for cases that are the same in these.
std::string key_in(const Case& c, Fields in);

}  // namespace paceline::cases
