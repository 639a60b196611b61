// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace paceline {

/// Throws UsageError that begins with `origin` if `text` is not JSON.
nlohmann::json parse_json(std::string_view text, std::string_view origin = "");

/// A value of a JSON document, with its path for error messages.  If a value does not have the type
/// or range that a function expects, the function throws UsageError with the path.  A JsonNode
/// refers to its parent, which must live longer.
struct JsonNode {
  using Origin = std::function<std::string(const JsonNode&)>;

  const nlohmann::json& value;
  const JsonNode* parent = nullptr;
  std::string_view key = {};  // of the document's root: its name in errors
  std::size_t index = 0;      // index in the parent, if that is an array
  /// Set in the document's root only: returns the beginning of an error message about a node.
  const Origin* origin = nullptr;

  /// Throws UsageError "ranks[1].step_ns[2]: WHY".
  [[noreturn]] void fail(std::string_view why) const;

  /// Throws UsageError "ranks[1].step_ns[2]: expected EXPECTED, found "x"".
  [[noreturn]] void reject(std::string_view expected) const;

  /// Returns the value of a key of this object, or nothing if the key is missing.
  std::optional<JsonNode> find(std::string_view name) const;

  /// As find(), but also returns nothing if the value is null.
  std::optional<JsonNode> find_not_null(std::string_view name) const;

  JsonNode at(std::string_view name) const;

  void check_object() const;

  /// Throws UsageError if this object has keys that are not in `known`.
  void check_keys(const std::set<std::string_view>& known) const;

  /// Calls `call` with the node of each item of this array.
  void each(auto&& call) const {
    if (!value.is_array()) {
      reject("an array");
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      call(JsonNode{value[i], this, {}, i});
    }
  }

  /// Returns the integer, from `least` to `most`.  `expected` describes the accepted values in an
  /// error; by default "an integer from 1 to 9", with the limits.
  std::uint64_t integer(std::uint64_t least, std::uint64_t most,
                        std::string_view expected = "") const;

  double number(double least, double most, std::string_view expected) const;

  /// Returns any finite number.
  double number() const;

  bool boolean() const;

  const std::string& text(std::string_view expected = "a text") const;

 private:
  std::string path() const;
};

}  // namespace paceline
