// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline::records {

/// Checks JSON against the keywords of JSON Schema 2020-12 that our schemas use; a keyword that it
/// does not know is itself an error, so that no rule is passed over.
class SchemaChecker {
 public:
  explicit SchemaChecker(nlohmann::json schema) : root_(std::move(schema)) {}

  /// What is wrong, one sentence each; empty when `value` is valid.
  std::vector<std::string> check(const nlohmann::json& value) {
    errors_.clear();
    check(root_, value, "");
    return errors_;
  }

 private:
  using Json = nlohmann::json;

  void fail(const std::string& where, const std::string& what) {
    errors_.push_back(fmt::format("{}: {}", where.empty() ? "/" : where, what));
  }

  static bool has_type(const Json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "null" && value.is_null()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer());
  }

  void check_type(const Json& rule, const Json& value, const std::string& where) {
    const Json types = rule.is_array() ? rule : Json::array({rule});
    for (const Json& type : types) {
      if (has_type(value, type.get<std::string>())) {
        return;
      }
    }
    fail(where, fmt::format("is not of type {}", rule.dump()));
  }

  void check_members(const Json& schema, const Json& value, const std::string& where) {
    for (const Json& key : schema.value("required", Json::array())) {
      if (!value.contains(key.get<std::string>())) {
        fail(where, fmt::format("lacks {}", key.dump()));
      }
    }
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [key, member] : value.items()) {
      const auto rule = properties.find(key);
      check(rule == properties.end() ? others : *rule, member, where + "/" + key);
    }
  }

  const Json& follow(const std::string& reference) const {
    return root_.at(Json::json_pointer(reference.substr(1)));
  }

  void check(const Json& schema, const Json& value, const std::string& where) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) {
        fail(where, "is not allowed");
      }
      return;
    }
    static const std::set<std::string> kNotes{
        "$schema", "$defs",    "title",      "description",
        "default", "required", "properties", "additionalProperties"};
    for (const auto& [keyword, rule] : schema.items()) {
      if (keyword == "$ref") {
        check(follow(rule.get<std::string>()), value, where);
      } else if (keyword == "type") {
        check_type(rule, value, where);
      } else if (keyword == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
          fail(where, fmt::format("is none of {}", rule.dump()));
        }
      } else if (keyword == "const") {
        if (value != rule) {
          fail(where, fmt::format("is not {}", rule.dump()));
        }
      } else if (keyword == "minimum") {
        if (value.is_number() && value < rule) {
          fail(where, fmt::format("is below {}", rule.dump()));
        }
      } else if (keyword == "items") {
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
          check(rule, value[i], fmt::format("{}/{}", where, i));
        }
      } else if (!kNotes.contains(keyword)) {
        fail(where, "the schema uses the unknown keyword " + keyword);
      }
    }
    if (value.is_object()) {
      check_members(schema, value, where);
    }
  }

  Json root_;
  std::vector<std::string> errors_;
};

}  // namespace paceline::records
