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

/// Throws UsageError that begins with `origin` where `text` is not JSON.
nlohmann::json parse_json(std::string_view text, std::string_view origin = "");

/// A value of a JSON document and the way to it, which is spelled out in errors only.  What is not
/// as a call wants it is a UsageError with that way.  A place found in another one points to it:
/// the other must live longer.
struct JsonPlace {
  using Origin = std::function<std::string(const JsonPlace&)>;

  const nlohmann::json& value;
  const JsonPlace* parent = nullptr;
  std::string_view key = {};  // of the whole document: what errors call it
  std::size_t index = 0;      // where the parent is an array
  /// Of the whole document: what an error at a place begins with.
  const Origin* origin = nullptr;

  /// ranks[1].step_ns[2]: WHY
  [[noreturn]] void fail(std::string_view why) const;

  /// ranks[1].step_ns[2]: expected EXPECTED, found "x"
  [[noreturn]] void reject(std::string_view expected) const;

  /// What is under a key of this object, or nothing where the key is missing.
  std::optional<JsonPlace> find(std::string_view name) const;

  /// The same, and nothing where it is null.
  std::optional<JsonPlace> find_known(std::string_view name) const;

  JsonPlace at(std::string_view name) const;

  void check_object() const;

  /// Rejects an object with keys that are not among these.
  void check_keys(const std::set<std::string_view>& known) const;

  /// Calls `call` with the place of each item of this array.
  void each(auto&& call) const {
    if (!value.is_array()) {
      reject("an array");
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      call(JsonPlace{value[i], this, {}, i});
    }
  }

  /// `expected` says what is wanted; by default "an integer from 1 to 9".
  std::uint64_t integer(std::uint64_t least, std::uint64_t most,
                        std::string_view expected = "") const;

  double number(double least, double most, std::string_view expected) const;

  /// Any finite number.
  double number() const;

  bool boolean() const;

  const std::string& text(std::string_view expected = "a text") const;

 private:
  std::string path() const;
};

}  // namespace paceline
