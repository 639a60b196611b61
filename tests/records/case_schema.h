// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/case/field.h"
#include "paceline/case/json.h"

namespace paceline::cases {

using nlohmann::ordered_json;

/// What the value of a key may be.
struct JsonSchema {
  const Field& field;

  ordered_json operator()(const std::string& /*usual*/) const { return {{"type", "string"}}; }
  ordered_json operator()(bool /*usual*/) const { return {{"type", "boolean"}}; }
  ordered_json operator()(double /*usual*/) const { return {{"type", "number"}}; }
  ordered_json operator()(const std::vector<int>& /*usual*/) const {
    return {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}};
  }
  ordered_json operator()(const Variables& /*usual*/) const {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }
  template <std::integral T>
  ordered_json operator()(T /*usual*/) const {
    return {{"type", "integer"}, {"minimum", field.json.minimum}};
  }
};

/// The JSON schema of a case, the definition `configuration` in docs/record.schema.json.
inline ordered_json schema() {
  ordered_json required = ordered_json::array();
  ordered_json properties = ordered_json::object();
  for (const Field& field : fields()) {
    const std::string name(field.json_name());
    const JsonForm form = field.json.form;
    if (form != JsonForm::kUnlessDefault) {
      required.push_back(name);
    }
    ordered_json& property = properties[name] = std::visit(JsonSchema{field}, default_value(field));
    if (form == JsonForm::kStated || form == JsonForm::kOrNull) {
      property["type"] = {property["type"], "null"};
    }
    property["description"] = field.help;
    property["default"] =
        form == JsonForm::kOrNull ? ordered_json() : json_of(default_value(field));
  }
  return {{"description",
           "What was asked for. A key that has null among its types beside its own is null where "
           "the source of the record, a log of another program, does not say it. A key that is not "
           "required is there where its value is not the default. Everything but label, discard "
           "and not_run is part of the case's key."},
          {"type", "object"},
          {"additionalProperties", false},
          {"required", required},
          {"properties", properties}};
}

}  // namespace paceline::cases
