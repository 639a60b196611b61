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

/// The parts of `text` between the marks: one more than it has marks, and empty ones where nothing
/// is between them.
std::vector<std::string> split_at(std::string_view text, char mark);

/// Fewest single-character insertions, deletions, replacements and swaps of neighbors that turn `a`
/// into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known names that are nearest to `name`, each at most a third of its length away, in their
/// order.  Case is no difference.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known);

/// The first of them: what `name` was most likely meant to be.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

/// The words of an error about an unknown name:
///   unknown model 'resnet5'; did you mean 'resnet50'? Known: lenet, resnet50
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string> known);

/// "1 case", "3 cases".
std::string counted(std::int64_t number, std::string_view noun);

/// Text of a file from elsewhere, fit for a terminal: printable and short.
std::string shown(std::string_view text);

/// The words of an error about `text`, which is not JSON, from what nlohmann's library said of it:
///   not JSON: column 2: syntax error while parsing object key
/// With the line where there are several.
std::string not_json(std::string_view text, std::string_view said);

/// `text` without blanks and newlines at both ends.
std::string_view trimmed(std::string_view text);

/// The number that the whole text is; nothing where it is none, or one too large.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return stop == end && error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Adds a value to a list that has each once; false where it was there.
template <class Value>
bool add_once(std::vector<Value>& values, std::type_identity_t<Value> value) {
  const bool is_new = std::ranges::find(values, value) == values.end();
  if (is_new) {
    values.push_back(std::move(value));
  }
  return is_new;
}

/// What a list of keys and values has for a key, which is added where it is missing.
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
