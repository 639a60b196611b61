// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/json_place.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline {

nlohmann::json parse_json(std::string_view text, std::string_view origin) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("{}{}", origin, not_json_message(text, error.what())));
  }
}

std::string JsonNode::path() const {
  if (parent == nullptr) {
    return "";
  }
  const std::string above = parent->path();
  if (parent->value.is_array()) {
    return fmt::format("{}[{}]", above, index);
  }
  return fmt::format("{}{}{}", above, above.empty() ? "" : ".", shown(key));
}

void JsonNode::fail(std::string_view why) const {
  const JsonNode* root = this;
  while (root->parent != nullptr) {
    root = root->parent;
  }
  const std::string way = this == root ? std::string(key) : path();
  throw UsageError(fmt::format("{}{}{}{}", root->origin == nullptr ? "" : (*root->origin)(*this),
                               way, way.empty() ? "" : ": ", why));
}

void JsonNode::reject(std::string_view expected) const {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  const std::string found = value.is_array()    ? "an array"
                            : value.is_object() ? "an object"
                                                : shown(value.dump(-1, ' ', true, kReplace));
  fail(fmt::format("expected {}, found {}", expected, found));
}

std::optional<JsonNode> JsonNode::find(std::string_view name) const {
  check_object();
  const auto found = value.find(name);
  if (found == value.end()) {
    return std::nullopt;
  }
  return JsonNode{*found, this, name};
}

std::optional<JsonNode> JsonNode::find_not_null(std::string_view name) const {
  const auto found = find(name);
  return found && !found->value.is_null() ? found : std::nullopt;
}

JsonNode JsonNode::at(std::string_view name) const {
  const auto found = find(name);
  if (!found) {
    fail(fmt::format("key '{}' is missing", name));
  }
  return *found;
}

void JsonNode::check_keys(const std::set<std::string_view>& known) const {
  check_object();
  for (const auto& [name, item] : value.items()) {
    if (!known.contains(name)) {
      fail(fmt::format("unknown key '{}'; known are {}", shown(name), fmt::join(known, ", ")));
    }
  }
}

void JsonNode::check_object() const {
  if (!value.is_object()) {
    reject("an object");
  }
}

std::uint64_t JsonNode::integer(std::uint64_t least, std::uint64_t most,
                                std::string_view expected) const {
  // A number in a document that was made in memory, not parsed, may be signed although it is not
  // negative.
  const bool natural =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  const std::uint64_t number = natural ? value.get<std::uint64_t>() : 0;
  if (!natural || number < least || number > most) {
    reject(expected.empty() ? fmt::format("an integer from {} to {}", least, most)
                            : std::string(expected));
  }
  return number;
}

double JsonNode::number(double least, double most, std::string_view expected) const {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= least && number <= most)) {
    reject(expected);
  }
  return number;
}

double JsonNode::number() const {
  constexpr double kMost = std::numeric_limits<double>::max();
  return number(-kMost, kMost, "a number");
}

bool JsonNode::boolean() const {
  if (!value.is_boolean()) {
    reject("true or false");
  }
  return value.get<bool>();
}

const std::string& JsonNode::text(std::string_view expected) const {
  if (!value.is_string()) {
    reject(expected);
  }
  return value.get_ref<const std::string&>();
}

}  // namespace paceline
