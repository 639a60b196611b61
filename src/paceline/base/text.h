// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace paceline {

/// Splits `text` at every `mark`.  There is one more part than marks; parts may be empty.
std::vector<std::string> split_at(std::string_view text, char mark);

/// Returns the fewest single-character insertions, deletions, replacements and swaps of neighbors
/// that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known names that are nearest to `name`, in their order, ignoring case.  A name
/// qualifies if its distance is at most a third of its length, or one.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known);

/// Returns the first nearest name, which `name` was most likely meant to be.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

/// Returns the text of an error about an unknown name:
///   unknown model 'resnet5'; did you mean 'resnet50'? Known: lenet, resnet50
std::string unknown_name_message(std::string_view kind, std::string_view name,
                                 std::span<const std::string> known);

/// Returns a number with its noun: "1 case", "3 cases".
std::string counted(std::int64_t number, std::string_view noun);

/// Returns a text from another program's file in a form fit for a message: at most 120 characters,
/// and "?" in place of those that are not printable ASCII.
std::string shown(std::string_view text);

/// Returns the text of an error about `text`, which is not JSON, from the message of nlohmann's
/// library:
///   not JSON: column 2: syntax error while parsing object key
/// The error names the line if `text` has several.
std::string not_json_message(std::string_view text, std::string_view said);

/// Returns `text` without blanks and newlines at both ends.
std::string_view trimmed(std::string_view text);

/// Returns the number that the whole text represents; nothing if it is no number, or too large.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return stop == end && error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Adds a value to a list without duplicates; returns false if the value was already there.
template <class Value>
bool add_once(std::vector<Value>& values, std::type_identity_t<Value> value) {
  const bool is_new = std::ranges::find(values, value) == values.end();
  if (is_new) {
    values.push_back(std::move(value));
  }
  return is_new;
}

/// Returns the value of a key in a list of pairs; adds the key if it is missing.
template <class Key, class Value>
Value& find_or_add(std::vector<std::pair<Key, Value>>& entries,
                   const std::type_identity_t<Key>& key) {
  auto entry = std::ranges::find(entries, key, &std::pair<Key, Value>::first);
  if (entry == entries.end()) {
    entry = entries.insert(entry, {key, Value{}});
  }
  return entry->second;
}

}  // namespace paceline
